"""What one client of a wire log was told, added up: answers, actions by channel, the states they make. Pure.

Two clients that were told the same in other pieces have heard the same: neighbouring deltas of a text are one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final, NamedTuple

from holdfast.cli.matching import Names
from holdfast.protocol.compat.reducing import MALFORMED, reduce_in
from holdfast.protocol.errors import InvalidValue
from holdfast.protocol.uris import Kind, classify, is_root

__all__ = ["Heard", "is_delta"]

_KINDS: Final = {
    Kind.CHAT: "chat",
    Kind.TERMINAL: "terminal",
    Kind.CHANGESET: "changeset",
    Kind.ANNOTATIONS: "annotations",
    Kind.RESOURCE_WATCH: "resourceWatch",
    Kind.AUTOMATIONS: "automation",
    Kind.CANVAS: "canvas",
}

_STREAMS: Final = ("/delta", "/reasoning")

# Notifications that depend on when somebody looked.
_PASSING: Final = frozenset({"root/progress", "root/sessionSummaryChanged"})


class _Base(NamedTuple):
    """A snapshot, and how much of the channel's envelopes came before it: as they came, and joined."""

    state: dict[str, Any]
    told: int
    joined: int


class Heard:
    """One client, over all its connections. Answers go by connection and id."""

    def __init__(self) -> None:
        self.version = "1.0.0"
        self.last_seen = 0
        self.answers: dict[tuple[int, Any], dict[str, Any]] = {}
        self.asked: list[dict[str, Any]] = []
        """Requests of the host."""
        self.streams: dict[str, list[dict[str, Any]]] = {}
        """Envelopes by channel, deltas joined."""
        self.notices: dict[str, list[Any]] = {}
        self.catalogue: dict[str, dict[str, Any]] = {}
        """Summaries of sessions as notifications add them up; `{}` is one that was removed."""
        self.rejections: dict[Any, str] = {}
        """By the number the client gave its action."""
        self._told: dict[str, list[dict[str, Any]]] = {}
        """Envelopes by channel, as they came."""
        self._bases: dict[str, _Base] = {}

    def take(self, message: dict[str, Any], connection: int, methods: dict[Any, str]) -> None:
        """A message of the host. `methods` says what the requests of this connection were about.

        One that is not as the protocol has it is left alone.
        """
        with suppress(*MALFORMED):
            self._take(message, connection, methods)

    def _take(self, message: dict[str, Any], connection: int, methods: dict[Any, str]) -> None:
        if "method" not in message:
            self.answers[connection, message.get("id")] = message
            if isinstance(message.get("result"), dict):
                self._answered(methods.get(message.get("id")), message["result"])
        elif "id" in message:
            self.asked.append(message)
        elif message["method"] == "action":
            self._take_envelope(message["params"])
        else:
            self._take_notice(message["method"], message.get("params"))

    def _answered(self, method: str | None, result: dict[str, Any]) -> None:
        if method == "initialize":
            self.version = str(result.get("protocolVersion", self.version))
            self._bases.clear()
        if method == "reconnect" and result.get("type") == "snapshot":
            self._bases.clear()
        if method in ("initialize", "reconnect", "subscribe"):
            self.last_seen = max(self.last_seen, int(result.get("serverSeq", 0)))
            snapshots = result.get("snapshots") or ([result["snapshot"]] if result.get("snapshot") else [])
            for snapshot in snapshots:
                self._take_snapshot(snapshot)
            for envelope in result.get("actions", ()):
                self._take_envelope(envelope)
            for uri in result.get("missing", ()):
                self._bases.pop(uri, None)

    def _take_snapshot(self, snapshot: dict[str, Any]) -> None:
        uri = snapshot["resource"]
        self._bases[uri] = _Base(snapshot["state"], len(self._told.get(uri, ())), len(self.streams.get(uri, ())))
        self.last_seen = max(self.last_seen, int(snapshot.get("fromSeq", 0)))

    def _take_envelope(self, envelope: dict[str, Any]) -> None:
        self.last_seen = max(self.last_seen, int(envelope.get("serverSeq", 0)))
        if "rejectionReason" in envelope:
            self.rejections[envelope.get("origin", {}).get("clientSeq")] = envelope["rejectionReason"]
        # In the oldest versions the channel stands in the action.
        uri = envelope.get("channel") or _channel_of(envelope["action"])
        self._told.setdefault(uri, []).append(envelope)
        self._join(uri, envelope, len(self._told[uri]) - 1)

    def _join(self, uri: str, envelope: dict[str, Any], place: int) -> None:
        stream = self.streams.setdefault(uri, [])
        base = self._bases.get(uri)
        if stream and not (base and base.told == place) and _continues(stream[-1], envelope):
            action = stream[-1]["action"]
            joined = {**action, "content": action["content"] + envelope["action"]["content"]}
            stream[-1] = {**envelope, "action": joined}
        else:
            stream.append(envelope)

    def forget_after(self, number: int) -> None:
        """What came later was on its way when the connection was lost: this client never had it."""
        self.last_seen = min(self.last_seen, number)
        for uri, told in self._told.items():
            kept = [envelope for envelope in told if int(envelope.get("serverSeq", 0)) <= number]
            if len(kept) == len(told):
                continue
            self._told[uri], self.streams[uri] = kept, []
            for place, envelope in enumerate(kept):
                self._join(uri, envelope, place)

    def _take_notice(self, method: str, params: Any) -> None:
        if method == "root/sessionAdded":
            self.catalogue[params["summary"]["resource"]] = dict(params["summary"])
        elif method == "root/sessionRemoved":
            self.catalogue[params["session"]] = {}
        elif method == "root/sessionSummaryChanged":
            self.catalogue.setdefault(params["session"], {}).update(params["changes"])
        if method not in _PASSING and not method.startswith("otlp/"):
            self.notices.setdefault(method, []).append(params)

    # How far it is

    def lacks(self, other: Heard, names: Names) -> Iterator[tuple[str, Any]]:
        """Where this client has heard less than the other, whose names it has others for."""
        yield from (("answer", place) for place in other.answers if place not in self.answers)
        if len(self.asked) < len(other.asked):
            yield "asked", None
        for method, told in other.notices.items():
            if len(self.notices.get(method, ())) < len(told):
                yield "notice", method
        for uri, stream in other.streams.items():
            if not _reaches(self.streams.get(names.translated(uri), []), stream):
                yield "stream", uri

    def cut_to(self, other: Heard, names: Names) -> None:
        """Forget what came after as much as the other has heard: that one stopped listening in the middle."""
        for uri, stream in other.streams.items():
            mine = self.streams.get(names.translated(uri), [])
            del mine[len(stream) :]
            if mine and len(mine) == len(stream) and is_delta(stream[-1]) and is_delta(mine[-1]):
                action = mine[-1]["action"]
                content = action["content"][: len(stream[-1]["action"]["content"])]
                mine[-1] = {**mine[-1], "action": {**action, "content": content}}

    # What it believes

    def states(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The state of every channel that can be made from what was told."""
        for uri, base in self._bases.items():
            kind = _kind_of(uri)
            if kind is None:
                continue
            stream = self.streams.get(uri, [])[base.joined :]
            accepted = [each["action"] for each in stream if "rejectionReason" not in each]
            try:
                yield uri, reduce_in(self.version, kind, base.state, accepted)
            except InvalidValue:
                yield uri, base.state

    @property
    def is_in_the_middle(self) -> bool:
        """Whether a turn runs where it stopped listening."""
        return any("activeTurn" in state for _, state in self.states())


def _kind_of(uri: str) -> str | None:
    if is_root(uri, before_0_2=True):
        return "root"
    try:
        kind = classify(uri)
    except InvalidValue:
        return None
    return "session" if kind in (Kind.SESSION, Kind.FOREIGN) else _KINDS.get(kind)


def _channel_of(action: dict[str, Any]) -> str:
    return str(action.get("session") or action.get("terminal") or "ahp-root://")


def is_delta(envelope: dict[str, Any]) -> bool:
    """Whether an action adds to a text, and the next one may too."""
    action = envelope["action"]
    return str(action.get("type")).endswith(_STREAMS) and isinstance(action.get("content"), str)


def _continues(before: dict[str, Any], now: dict[str, Any]) -> bool:
    if not (is_delta(before) and is_delta(now)) or "origin" in before or "origin" in now:
        return False
    return {**before["action"], "content": ""} == {**now["action"], "content": ""}


def _reaches(mine: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> bool:
    if len(mine) != len(theirs) or not theirs:
        return len(mine) >= len(theirs)
    if not (is_delta(mine[-1]) and is_delta(theirs[-1])):
        return True
    return len(mine[-1]["action"]["content"]) >= len(theirs[-1]["action"]["content"])
