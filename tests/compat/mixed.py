"""Clients of any version on one host in memory: each reduces what it is told as its own version does."""

from __future__ import annotations

import json
from typing import Any, Final

from holdfast.host.connection import Connection
from holdfast.protocol.compat.bridge import bridge_for
from holdfast.protocol.compat.context import Context
from holdfast.protocol.compat.reducing import context_of, reduce_in
from holdfast.protocol.compat.step import Action
from holdfast.protocol.errors import RpcError
from holdfast.protocol.status import ACTIVITY
from host.bench import Bench, Client, Failed
from host.conversation import CHAT, SESSION

__all__ = ["Mixed", "agreed", "understood"]

KINDS: Final = {SESSION: "session", CHAT: "chat"}


class Mixed(Client):
    """A client of one version. What it says is written in 1.0 and lowered; what it hears is kept as it came."""

    def __init__(self, bench: Bench, connection: Connection, version: str, id: str) -> None:
        super().__init__(bench, connection)
        self.version = version
        self.id = id
        self.bridge = bridge_for(version)
        self.snapshots: dict[str, Any] = {}
        self.told: dict[str, list[Any]] = {}
        """The actions since each snapshot."""

    @property
    def channels(self) -> tuple[str, ...]:
        """What it follows: a session is its conversation up to 0.3."""
        alone = self.bridge is not None and self.bridge.one_conversation
        return (SESSION,) if alone else (SESSION, CHAT)

    # Connections

    @classmethod
    def begin(cls, bench: Bench, version: str, id: str) -> Mixed:
        """A client that has shaken hands and follows the session."""
        client = cls._connected(bench, version, id)
        result = client._asked("initialize", protocolVersions=[version], clientId=id)
        assert result["protocolVersion"] == version
        client.last_seen = result["serverSeq"]
        for channel in client.channels:
            client._take(client._asked("subscribe", channel)["snapshot"])
        return client

    @classmethod
    def _connected(cls, bench: Bench, version: str, id: str) -> Mixed:
        client = cls(bench, bench.host.connected(len(bench.clients) + 1), version, id)
        bench.clients.append(client)
        return client

    def back(self) -> Mixed:
        """The same client on a new connection, told what it missed."""
        client = Mixed._connected(self.bench, self.version, self.id)
        client.last_seen, client._seqs = self.last_seen, self._seqs
        client.snapshots, client.told = self.snapshots, self.told
        result = client._asked(
            "reconnect", clientId=self.id, lastSeenServerSeq=self.last_seen, subscriptions=list(self.channels)
        )
        if result["type"] == "snapshot":
            for snapshot in result["snapshots"]:
                client._take(snapshot)
        else:
            assert result["missing"] == []
            for envelope in result["actions"]:
                client._apply(envelope)
        return client

    # Sending

    def _asked(self, method: str, channel: str = "ahp-root://", **params: Any) -> Any:
        """The result of a request, in the words of this version."""
        given = {"channel": channel, **params}
        if self.bridge is not None:
            method, given = self.bridge.lower_request(method, given, _about(channel))
        id = self.request_later(method, **given)
        self.bench.settle()
        return self.answer(id)

    def ask(self, method: str, channel: str, **params: Any) -> None:
        """Ask for something that this version may not know."""
        try:
            self._asked(method, channel, **params)
        except (RpcError, Failed):
            return

    def act(self, channel: str, type: str, **fields: Any) -> None:  # noqa: A002 - the protocol's word
        """Dispatch an action, if this version has words for it."""
        sent = Action(channel, KINDS[channel], {"type": type, **fields})
        found = [sent] if self.bridge is None else self.bridge.lower_action(sent, _about(channel))
        for each in found:
            self._seqs += 1
            params = {"channel": each.channel, "clientSeq": self._seqs, "action": each.action}
            if self.bridge is not None:
                (call,) = self.bridge.lower_notification("dispatchAction", params)
                params = call.params
            self.notify("dispatchAction", **params)

    # Receiving

    def _apply(self, envelope: dict[str, Any]) -> None:
        assert envelope["serverSeq"] > self.last_seen, "numbers rise"
        self.last_seen = envelope["serverSeq"]
        action = envelope["action"]
        channel = envelope.get("channel", action.get("session", ""))
        if "rejectionReason" not in envelope and channel in self.told:
            self.told[channel].append(action)

    def _take(self, snapshot: dict[str, Any]) -> None:
        self.snapshots[snapshot["resource"]] = snapshot["state"]
        self.told[snapshot["resource"]] = []
        self.last_seen = max(self.last_seen, snapshot["fromSeq"])

    def believed(self, channel: str) -> Any:
        """What the snapshot and everything since add up to, by the reducers of this version."""
        return reduce_in(self.version, KINDS[channel], self.snapshots[channel], self.told[channel])


def _about(channel: str) -> Context:
    return Context(channel=channel, kind=KINDS.get(channel, ""), session=SESSION, default_chat=CHAT)


# Comparing

_SILENT: Final = {
    "session": ("activity", "project", "origin", "annotations"),
    "chat": ("title", "origin", "interactivity", "changes"),
}
"""What no action tells, in any version."""


def agreed(version: str, channel: str, state: Any) -> Any:
    """A state in the words of a version, less what no action tells, and what each peer took from its own clock."""
    kind, found = KINDS[channel], json.loads(json.dumps(state))
    metadata = found.get("summary", found)
    for key in _SILENT[kind]:
        metadata.pop(key, None)
    for key in ("resource", "createdAt", "modifiedAt", "changes"):
        found.get("summary", {}).pop(key, None)
    if kind == "session" and "turns" not in found:
        metadata["status"] &= ~ACTIVITY
    bridge = bridge_for(version)
    return _untimed(found) if bridge is not None and bridge.clocked else found


def _untimed(value: Any) -> Any:
    if isinstance(value, list):
        return [_untimed(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {key: _untimed(each) for key, each in value.items() if key != "modifiedAt"}


def understood(client: Mixed, version: str, channel: str) -> Any:
    """What a client believes of a channel, in the words of an older version."""
    lower, lifted = bridge_for(version), _lifted(client, channel)
    if lower is None:
        return lifted
    if lower.one_conversation and CHAT in client.channels:
        lifted = {**lifted, "x-holdfast": {"chat": _lifted(client, CHAT)}}
    return lower.lower_state(KINDS[channel], lifted, context_of(KINDS[channel], lifted))


def _lifted(client: Mixed, channel: str) -> Any:
    kind, state = KINDS[channel], client.believed(channel)
    return state if client.bridge is None else client.bridge.lift_state(kind, state, context_of(kind, state))
