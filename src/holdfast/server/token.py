"""The connection token: a file that only its owner can read, and what it is compared with.

Everybody who connects over TCP has to know it, on this machine too: other users share the loopback interface. It is
made on the first start, and replaced with `holdfast token --rotate`, which a running host notices.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import re
import secrets
from pathlib import Path
from typing import Final

from holdfast.places import open_private
from holdfast.protocol.errors import EnvironmentFailure
from holdfast.server import logs

__all__ = ["TokenFile"]

_log: Final = logs.logger("holdfast.token")

_TOKEN_BYTES: Final = 32  # 256 bits, 43 characters

# What survives a URL as it is. A token that somebody chose has to be long enough not to be guessed.
_VALID: Final = re.compile(r"[A-Za-z0-9._~-]{16,256}")
_LONGEST: Final = 256


class TokenFile:
    """The token in the file at `path`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, ...] | None = None
        self._token = ""

    def load_or_create(self) -> str:
        """The token, made if there is none yet. Raises `EnvironmentFailure` if others could have read it."""
        with contextlib.suppress(FileNotFoundError):
            return self.load()
        fresh = self._write_beside()
        try:
            # Linked, not moved: of two hosts that start at once both use the token of the first.
            with contextlib.suppress(FileExistsError):
                os.link(fresh, self._path)
        except OSError as error:
            raise EnvironmentFailure(f"cannot make {self._path}: {error.strerror}") from error
        finally:
            fresh.unlink()
        return self.load()

    def rotate(self) -> str:
        """Replace the token, at once or not at all. Connections that are open stay open."""
        self._write_beside().replace(self._path)
        return self.load()

    def load(self) -> str:
        """The token as it is now. Raises `FileNotFoundError` or `EnvironmentFailure`."""
        text, status = open_private(self._path, _LONGEST + 2)
        token = text.strip()
        if _VALID.fullmatch(token) is None:
            raise EnvironmentFailure(f"{self._path} holds no token; make a new one with `holdfast token --rotate`")
        logs.SECRETS.register(token)
        self._token, self._seen = token, _version(status)
        return token

    def is_token(self, text: str) -> bool:
        """Whether `text` is the token, in constant time. Notices a rotation; without a valid file nothing is."""
        try:
            if self._seen != _version(self._path.stat()):
                self.load()
        except (OSError, EnvironmentFailure) as error:
            _log.error("nobody is let in", why=str(error))
            return False
        return hmac.compare_digest(text.encode("utf-8", "surrogatepass"), self._token.encode())

    def _write_beside(self) -> Path:
        """A new token, in a file of its own beside the place where it belongs."""
        fresh = self._path.with_name(f".{self._path.name}.{os.getpid()}.{secrets.token_hex(4)}")
        try:
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w") as file:
                file.write(secrets.token_urlsafe(_TOKEN_BYTES) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            fresh.unlink(missing_ok=True)
            raise EnvironmentFailure(f"cannot make {self._path}: {error.strerror}") from error
        return fresh


def _version(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_mtime_ns, status.st_mode
