"""How a client stands with its host, and what a host says that belongs to no channel's state."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

from holdfast.protocol.common import URI
from holdfast.protocol.connection.commands import AuthRequiredParams
from holdfast.protocol.root.commands import PartialSessionSummary, ProgressParams
from holdfast.protocol.session.state import SessionSummary

__all__ = [
    "AuthRequired",
    "HostEvent",
    "Notified",
    "Progress",
    "SessionAdded",
    "SessionRemoved",
    "SessionSummaryChanged",
    "Status",
    "StatusChanged",
]


class Status(StrEnum):
    """`connecting`: not there (yet, or again). `gone`: and it will not come back by itself."""

    CONNECTING = "connecting"
    CATCHING_UP = "catching up"
    LIVE = "live"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class StatusChanged:
    """`reason` says why, where there is something to say."""

    status: Status
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SessionAdded:
    summary: SessionSummary


@dataclass(frozen=True, slots=True)
class SessionRemoved:
    session: URI


@dataclass(frozen=True, slots=True)
class SessionSummaryChanged:
    session: URI
    changes: PartialSessionSummary


@dataclass(frozen=True, slots=True)
class AuthRequired:
    """A token is needed: see `Host.authenticate`."""

    params: AuthRequiredParams


@dataclass(frozen=True, slots=True)
class Progress:
    params: ProgressParams


@dataclass(frozen=True, slots=True)
class Notified:
    """Any other notification: telemetry, and what this version does not know."""

    method: str
    params: Any


HostEvent: TypeAlias = (
    StatusChanged | SessionAdded | SessionRemoved | SessionSummaryChanged | AuthRequired | Progress | Notified
)
