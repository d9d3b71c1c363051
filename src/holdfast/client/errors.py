"""What can go wrong for somebody who talks to a host.

HoldfastError
├── EnvironmentFailure
│   └── NoHost            nobody answers there, or not us
├── RpcError              the host answered a request with an error
├── Refused               the host refused an action; `reason` is its sentence
├── Interrupted           the connection broke: nobody knows whether it was done
├── Gone                  the channel or the connection is no more
└── Unsupported           this host cannot do that
"""

from __future__ import annotations

from holdfast.protocol.errors import EnvironmentFailure, HoldfastError

__all__ = ["Gone", "Interrupted", "NoHost", "Refused", "Unsupported"]


class NoHost(EnvironmentFailure):
    """Nobody answers, or whoever does lets us not in."""


class Refused(HoldfastError):
    """The host refused an action; nothing has changed."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Interrupted(HoldfastError):
    """The connection broke before the answer came, and saying it again might do it twice.

    `is_unheard`: it is known at least that nothing was done.
    """

    def __init__(self, message: str, *, is_unheard: bool = False) -> None:
        super().__init__(message)
        self.is_unheard = is_unheard


class Gone(HoldfastError):
    """The channel was disposed of, or the connection was closed."""


class Unsupported(HoldfastError):
    """The host did not announce what was asked of it."""
