"""Actions of the root channel. Clients may only change the configuration."""

from __future__ import annotations

from holdfast.protocol.codec import Wire
from holdfast.protocol.common import JsonObject
from holdfast.protocol.root.state import AgentInfo
from holdfast.protocol.terminal.state import TerminalInfo

__all__ = ["ActiveSessionsChanged", "AgentsChanged", "ConfigChanged", "TerminalsChanged"]


class AgentsChanged(Wire, frozen=True, kw_only=True, tag_field="type", tag="root/agentsChanged"):
    agents: tuple[AgentInfo, ...]


class ActiveSessionsChanged(Wire, frozen=True, kw_only=True, tag_field="type", tag="root/activeSessionsChanged"):
    """An omitted count clears."""

    active_sessions: int | None = None


class TerminalsChanged(Wire, frozen=True, kw_only=True, tag_field="type", tag="root/terminalsChanged"):
    """An omitted list clears."""

    terminals: tuple[TerminalInfo, ...] | None = None


class ConfigChanged(Wire, frozen=True, kw_only=True, tag_field="type", tag="root/configChanged"):
    """Shallow merge into the values; a key is only deleted by `replace`."""

    config: JsonObject
    replace: bool | None = None
