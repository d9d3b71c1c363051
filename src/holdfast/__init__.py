"""Holdfast: an agent host for the Agent Host Protocol, where a session holds.

    async with holdfast.connect() as host:
        session = await host.create_session(agent="demo", directory=".")
        async for event in session.send("hello"):
            match event:
                case holdfast.Text(text): print(text, end="")

Names are loaded when they are first used, so that importing this costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast._version import __version__

if TYPE_CHECKING:
    from holdfast import sync as sync
    from holdfast import testing as testing
    from holdfast.client.asks import Approval, AuthenticationNeeded, Question, ResultApproval
    from holdfast.client.backoff import Retry
    from holdfast.client.chat import Chat
    from holdfast.client.errors import Gone, Interrupted, NoHost, Refused, Unsupported
    from holdfast.client.events import (
        Attachment,
        Ended,
        Event,
        Failed,
        Notice,
        Other,
        Reasoning,
        Rewritten,
        Started,
        Text,
        ToolFinished,
        ToolOutput,
        ToolReady,
        ToolStarted,
        Usage,
    )
    from holdfast.client.files import files
    from holdfast.client.fleet import Fleet
    from holdfast.client.host import CreationFailed, Host, connect
    from holdfast.client.session import Session
    from holdfast.client.status import Status
    from holdfast.client.turn import Outcome, Turn
    from holdfast.protocol.chat.messages import Message
    from holdfast.protocol.errors import EnvironmentFailure, HoldfastError, ProtocolError, RpcError, UsageError

# Module -> the names it gives to the package.
_HOMES = {
    "client.asks": ("Approval", "AuthenticationNeeded", "Question", "ResultApproval"),
    "client.backoff": ("Retry",),
    "client.chat": ("Chat",),
    "client.errors": ("Gone", "Interrupted", "NoHost", "Refused", "Unsupported"),
    "client.events": (
        "Attachment",
        "Ended",
        "Event",
        "Failed",
        "Notice",
        "Other",
        "Reasoning",
        "Rewritten",
        "Started",
        "Text",
        "ToolFinished",
        "ToolOutput",
        "ToolReady",
        "ToolStarted",
        "Usage",
    ),
    "client.files": ("files",),
    "client.fleet": ("Fleet",),
    "client.host": ("CreationFailed", "Host", "connect"),
    "client.session": ("Session",),
    "client.status": ("Status",),
    "client.turn": ("Outcome", "Turn"),
    "protocol.chat.messages": ("Message",),
    "protocol.errors": ("EnvironmentFailure", "HoldfastError", "ProtocolError", "RpcError", "UsageError"),
}
_PACKAGES = ("sync", "testing")
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Approval",
    "Attachment",
    "AuthenticationNeeded",
    "Chat",
    "CreationFailed",
    "Ended",
    "EnvironmentFailure",
    "Event",
    "Failed",
    "Fleet",
    "Gone",
    "HoldfastError",
    "Host",
    "Interrupted",
    "Message",
    "NoHost",
    "Notice",
    "Other",
    "Outcome",
    "ProtocolError",
    "Question",
    "Reasoning",
    "Refused",
    "ResultApproval",
    "Retry",
    "Rewritten",
    "RpcError",
    "Session",
    "Started",
    "Status",
    "Text",
    "ToolFinished",
    "ToolOutput",
    "ToolReady",
    "ToolStarted",
    "Turn",
    "Unsupported",
    "Usage",
    "UsageError",
    "__version__",
    "connect",
    "files",
    "sync",
    "testing",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _PACKAGES:
        return import_module(f"holdfast.{name}")
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    value = getattr(import_module(f"holdfast.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
