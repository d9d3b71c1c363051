"""What reducers of each version did with actions for which the published cases say nothing, written out by hand.

Expected states follow from the published types and reducers of that time, not from this project's conversions.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import pytest

from corpus_cases import strip_nulls
from holdfast.protocol.compat.context import Json
from holdfast.protocol.compat.reducing import reduce_in
from vintage import at_least

VERSIONS: Final = (
    "0.1.0",
    "0.2.0",
    "0.3.0",
    "0.4.0",
    "0.5.0",
    "0.5.1",
    "0.5.2",
    "0.6.0",
    "0.7.0",
    "0.8.0",
    "0.9.0",
)

SESSION: Final = "copilot:/s"
CHAT: Final = "ahp-chat:/c"
TERMINAL: Final = "copilot:/t"
NOW: Final = "1970-01-01T00:00:09.999Z"
OOPS: Final = {"errorType": "io", "message": "m"}


class Era:
    """How one version writes things."""

    def __init__(self, version: str) -> None:
        self.version = version

    def since(self, version: str) -> bool:
        return at_least(self.version, version)

    def time(self, milliseconds: int) -> Any:
        """Of a session's summary."""
        return f"1970-01-01T00:00:0{milliseconds / 1000:.3f}Z" if self.since("0.5.0") else milliseconds

    def session(self, status: int = 1, *, modified: int = 1000, **more: Any) -> Json:
        """A session's state; `more` goes where the version has it."""
        metadata: Json = {"provider": "copilot", "title": "T", "status": status}
        held: Json = {"lifecycle": "ready", **more}
        if self.since("0.5.0"):
            return {**metadata, "activeClients": [], "chats": [], **held}
        times = {"createdAt": 1000, "modifiedAt": modified}
        conversation: Json = {"chats": []} if self.since("0.4.0") else {"turns": []}
        return {"summary": {"resource": SESSION, **metadata, **times}, **conversation, **held}

    def talk(self, status: int = 1, *, modified: int = 1000, **more: Any) -> Json:
        """The state that has the conversation: a chat's since 0.4."""
        if not self.since("0.4.0"):
            return self.session(status, modified=modified, **more)
        at = f"1970-01-01T00:00:0{modified / 1000:.3f}Z"
        return {"resource": CHAT, "title": "T", "status": status, "modifiedAt": at, "turns": [], **more}

    @property
    def talks(self) -> str:
        """The kind of channel that has the conversation."""
        return "chat" if self.since("0.4.0") else "session"

    def said(self, name: str, **fields: Any) -> Json:
        """An action of the conversation."""
        return self.act(f"{self.talks}/{name}", **fields)

    def act(self, type: str, **fields: Any) -> Json:  # noqa: A002 - the protocol's word
        """An action. In 0.1 those of sessions and terminals name theirs."""
        family = type.partition("/")[0]
        owner = {"session": SESSION, "terminal": TERMINAL}.get(family) if not self.since("0.2.0") else None
        return {"type": type, **({family: owner} if owner else {}), **fields}

    def message(self, text: str = "hi") -> Json:
        if not self.since("0.3.0"):
            return {"userMessage": {"text": text}}
        return {"message": {"text": text, "origin": {"kind": "user"}}}

    def turn(self, id: str, *parts: Json, state: str | None = None, **more: Any) -> Json:
        """A turn; one that runs without a state."""
        found: Json = {"id": id, **self.message(), "responseParts": list(parts), **more}
        if self.since("0.6.0"):
            found["startedAt"] = "1970-01-01T00:00:01.000Z"
        if state is not None:
            found["state"] = state
            if self.since("0.6.0"):
                found["duration"] = 5
        return found

    @property
    def ended(self) -> Json:
        return {"duration": 5} if self.since("0.6.0") else {}

    def ended_at(self) -> int:
        """When a conversation whose turn has ended was modified: by the clock up to 0.8, by the turn since."""
        return 1005 if self.since("0.9.0") else 9999

    def terminal(self, **more: Any) -> Json:
        running = {"lifecycle": {"status": "running"}} if self.since("0.9.0") else {}
        return {"title": "sh", "content": [], "claim": {"kind": "client", "clientId": "c"}, **running, **more}

    def claim(self) -> Json:
        """A claim of a session."""
        held = {"kind": "session", "session": SESSION, "turnId": "t", "toolCallId": "x"}
        return {**held, "chat": CHAT} if self.since("0.9.0") else held

    def shown_terminal(self, **more: Any) -> Json:
        """One of the root's terminals."""
        return {"resource": TERMINAL, "title": "sh", "claim": self.claim(), **more}


class Case(NamedTuple):
    name: str
    kind: str
    initial: Json
    actions: list[Json]
    expected: Json


def _root(era: Era) -> Iterator[Case]:
    agents: Json = {"agents": []}
    counted = era.act("root/activeSessionsChanged", activeSessions=3)
    yield Case("sessions are counted", "root", agents, [counted], {**agents, "activeSessions": 3})
    ran = {"lifecycle": {"status": "exited", "exitCode": 1}} if era.since("0.9.0") else {"exitCode": 1}
    runs = {"lifecycle": {"status": "running"}} if era.since("0.9.0") else {}
    terminals = [era.shown_terminal(**runs), era.shown_terminal(**ran)]
    told = era.act("root/terminalsChanged", terminals=terminals)
    yield Case("terminals are listed", "root", agents, [told], {**agents, "terminals": terminals})


def _session(era: Era) -> Iterator[Case]:
    failed = "failed" if era.since("0.9.0") else "creationFailed"
    creating, broken = era.session(), era.session(lifecycle=failed, creationError=OOPS)
    yield Case(
        "creation fails",
        "session",
        {**creating, "lifecycle": "creating"},
        [era.act("session/creationFailed", error=OOPS)],
        broken,
    )
    read, unread = era.session(status=33), era.session(status=1)
    for is_read, before, after in ((True, unread, read), (False, read, unread)):
        told = era.act("session/isReadChanged", isRead=is_read)
        yield Case(f"read is {is_read}", "session", before, [told], after)
    busy = era.act("session/activityChanged", activity="Working")
    shown = era.session()
    (shown if era.since("0.5.0") else shown["summary"])["activity"] = "Working"
    yield Case("activity is told", "session", era.session(), [busy], shown)


def _conversation(era: Era) -> Iterator[Case]:
    text = {"kind": "markdown", "id": "p", "content": "x"}
    running = era.talk(status=8, activeTurn=era.turn("t", text))
    done = era.turn("t", text, state="cancelled")
    yield Case(
        "a turn is cancelled",
        era.talks,
        running,
        [era.said("turnCancelled", turnId="t", **era.ended)],
        era.talk(turns=[done], modified=era.ended_at()),
    )
    part = {"kind": "error", "error": OOPS}
    told = {"part": part} if era.since("0.9.0") else {"error": OOPS}
    wrong = era.turn("t", text, *([part] if era.since("0.9.0") else []), state="error")
    wrong = wrong if era.since("0.9.0") else {**wrong, "error": OOPS}
    yield Case(
        "a turn fails",
        era.talks,
        running,
        [era.said("error", turnId="t", **era.ended, **told)],
        era.talk(status=2, turns=[wrong], modified=era.ended_at()),
    )
    first, second = era.turn("a", state="complete"), era.turn("b", state="complete")
    two = era.talk(turns=[first, second])
    cut = 1000 if era.since("0.9.0") else 9999
    yield Case(
        "history is truncated",
        era.talks,
        two,
        [era.said("truncated", turnId="a")],
        era.talk(turns=[first], modified=cut),
    )
    yield Case("history is dropped", era.talks, two, [era.said("truncated")], era.talk(turns=[], modified=cut))
    queue = [{"id": "q", **era.message("q")}, {"id": "r", **era.message("r")}]
    started = {"startedAt": "1970-01-01T00:00:01.000Z"} if era.since("0.6.0") else {}
    yield Case(
        "a queued message is its turn",
        era.talks,
        era.talk(queuedMessages=queue),
        [era.said("turnStarted", turnId="t", queuedMessageId="q", **started, **era.message("q"))],
        era.talk(
            status=8,
            modified=1000 if era.since("0.9.0") else 9999,
            queuedMessages=queue[1:],
            activeTurn={**era.turn("t"), **era.message("q")},
        ),
    )
    updated = {"id": "q", **era.message("other")}
    yield Case(
        "a queued message is replaced in its place",
        era.talks,
        era.talk(queuedMessages=queue),
        [era.said("pendingMessageSet", kind="queued", **updated)],
        era.talk(queuedMessages=[updated, queue[1]]),
    )
    yield from _questions(era, running)


def _questions(era: Era, running: Json) -> Iterator[Case]:
    request = {"id": "i", "message": "?", "questions": [{"id": "q", "kind": "boolean", "message": "Go?"}]}
    clock = {"modified": 1000 if era.since("0.9.0") else 9999}
    open_part = {"kind": "inputRequest", "request": request}
    parts = running["activeTurn"]["responseParts"]
    if era.since("0.6.0"):
        asked = era.talk(status=24, activeTurn=era.turn("t", *parts, open_part), **clock)
    else:
        asked = era.talk(status=24, activeTurn=era.turn("t", *parts), inputRequests=[request], **clock)
    yield Case("a question is asked", era.talks, running, [era.said("inputRequested", request=request)], asked)
    answers = {"q": {"state": "submitted", "value": {"kind": "boolean", "value": True}}}
    answered = {**open_part, "response": "accept", "request": {**request, "answers": answers}}
    kept = (answered,) if era.since("0.5.2") else ()
    yield Case(
        "a question is answered",
        era.talks,
        asked,
        [era.said("inputCompleted", requestId="i", response="accept", answers=answers)],
        era.talk(status=8, activeTurn=era.turn("t", *parts, *kept), **clock),
    )


def _terminal(era: Era) -> Iterator[Case]:
    plain = era.terminal()
    code = {"lifecycle": {"status": "exited", "exitCode": 3}} if era.since("0.9.0") else {"exitCode": 3}
    silent = {"lifecycle": {"status": "exited"}} if era.since("0.9.0") else {}
    for name, fields, after in (
        ("input", {"data": "ls\n"}, {}),
        ("resized", {"cols": 80, "rows": 24}, {"cols": 80, "rows": 24}),
        ("claimed", {"claim": era.claim()}, {"claim": era.claim()}),
        ("titleChanged", {"title": "top"}, {"title": "top"}),
        ("cwdChanged", {"cwd": "file:///w"}, {"cwd": "file:///w"}),
        ("exited", {"exitCode": 3}, code),
        ("exited", {}, silent),
    ):
        action = era.act(f"terminal/{name}", **fields)
        yield Case(f"terminal {name} {json.dumps(fields)[:12]}", "terminal", plain, [action], {**plain, **after})


def _customizations(era: Era) -> Iterator[Case]:
    if era.since("0.2.0"):
        on = {"enablement": [{"kind": "session", "enabled": False}]} if era.since("0.8.0") else {"enabled": False}
        plugin: Json = {"type": "plugin", "id": "x", "uri": "x:/", "name": "X"}
        before = [{**plugin, **({} if era.since("0.8.0") else {"enabled": True})}]
        told, after = era.act("session/customizationToggled", id="x", **on), [{**plugin, **on}]
        unknown = era.act("session/customizationToggled", id="nobody", **on)
    else:
        before = [{"customization": {"uri": "x:/", "displayName": "X"}, "enabled": True, "status": "loaded"}]
        told = era.act("session/customizationToggled", uri="x:/", enabled=False)
        after = [{**before[0], "enabled": False}]
        unknown = era.act("session/customizationToggled", uri="y:/", enabled=False)
    state = era.session(customizations=before)
    yield Case("a plugin is switched off", "session", state, [told], era.session(customizations=after))
    yield Case("an unknown plugin is not switched", "session", state, [unknown], state)
    if era.since("0.3.0"):
        yield from _servers(era)


def _servers(era: Era) -> Iterator[Case]:
    on = {} if era.since("0.8.0") else {"enabled": True}
    server: Json = {"type": "mcpServer", "id": "m", "uri": "m:/", "name": "M", **on, "state": {"kind": "stopped"}}
    state = era.session(customizations=[server])
    told = era.act("session/mcpServerStateChanged", id="m", state={"kind": "ready"}, channel="mcp:/m")
    ready = {**server, "state": {"kind": "ready"}, "channel": "mcp:/m"}
    yield Case("a server is ready", "session", state, [told], era.session(customizations=[ready]))
    if era.since("0.4.0") and not era.since("0.5.2"):
        flag = era.act("session/customizationToggled", id="m", enabled=False)
        yield Case("a server cannot be switched", "session", state, [flag], state)


def _changesets(era: Era) -> Iterator[Case]:
    if not era.since("0.2.0"):
        return
    edit = {"after": {"uri": "file:///f", "content": {"uri": "b:/1"}}}
    one, two = {"id": "f", "edit": edit}, {"id": "g", "edit": edit}
    state: Json = {"status": "ready", "files": [one, two]}
    removed = era.act("changeset/fileRemoved", fileId="f")
    yield Case("a file is removed", "changeset", state, [removed], {**state, "files": [two]})
    nobody = era.act("changeset/fileRemoved", fileId="h")
    yield Case("an unknown file is not removed", "changeset", state, [nobody], state)
    failed = {**state, "status": "error", "error": OOPS}
    wrong = era.act("changeset/statusChanged", status="error", error=OOPS)
    yield Case("a changeset fails", "changeset", state, [wrong], failed)
    well = era.act("changeset/statusChanged", status="ready")
    yield Case("a changeset recovers", "changeset", failed, [well], state)


def _watches(era: Era) -> Iterator[Case]:
    if era.since("0.2.0"):
        state = {"root": "file:///w", "recursive": True}
        told = era.act("resourceWatch/changed", changes={"items": [{"uri": "file:///w/f", "type": "updated"}]})
        yield Case("what is watched changes", "resourceWatch", state, [told], state)


def _annotations(era: Era) -> Iterator[Case]:
    if not era.since("0.4.0"):
        return
    where = {"origin": {"session": SESSION, "turnId": "t"}} if era.since("0.9.0") else {"turnId": "t"}
    first = {"id": "e", "text": "hm"}
    remark = {"id": "a", **where, "resource": "file:///f", "resolved": False, "entries": [first]}
    state = {"annotations": [remark]}
    removed = era.act("annotations/removed", annotationId="a")
    yield Case("a remark is removed", "annotations", state, [removed], {"annotations": []})
    other = {"id": "f", "text": "ah"}
    added = era.act("annotations/entrySet", annotationId="a", entry=other)
    longer = {"annotations": [{**remark, "entries": [first, other]}]}
    yield Case("a remark is answered", "annotations", state, [added], longer)


def _drafts(era: Era) -> Iterator[Case]:
    if era.since("0.5.0"):
        draft = {"text": "later", "origin": {"kind": "user"}, "model": {"id": "m"}}
        told, gone = era.act("chat/draftChanged", draft=draft), era.act("chat/draftChanged")
        yield Case("a draft is kept", "chat", era.talk(), [told], era.talk(draft=draft))
        yield Case("a draft is dropped", "chat", era.talk(draft=draft), [gone], era.talk())


def _choices(era: Era) -> Iterator[Case]:
    """What was chosen for a whole session, or said of it, only in old versions."""
    if era.since("0.5.0"):
        return
    state = era.session()

    def with_summary(modified: int = 9999, **more: Any) -> Json:
        return {**state, "summary": {**state["summary"], "modifiedAt": modified, **more}}

    chosen = era.act("session/modelChanged", model={"id": "m", "config": {"effort": "high"}})
    shown = with_summary(model={"id": "m", "config": {"effort": "high"}})
    yield Case("a model is chosen", "session", state, [chosen], shown)
    if era.since("0.2.0"):
        agent = era.act("session/agentChanged", agent={"uri": "file:///agent.md"})
        named = with_summary(agent={"uri": "file:///agent.md"})
        yield Case("an agent is chosen", "session", state, [agent], named)
    else:
        diffs = [{"after": {"uri": "file:///f", "content": {"uri": "b:/1"}}, "diff": {"added": 1, "removed": 0}}]
        told = era.act("session/diffsChanged", diffs=diffs)
        yield Case("what was changed is told", "session", state, [told], with_summary(1000, diffs=diffs))
        yield Case(
            "what was changed stays", "session", with_summary(1000, diffs=diffs), [], with_summary(1000, diffs=diffs)
        )


_FAMILIES: Final = (
    _root,
    _session,
    _conversation,
    _terminal,
    _customizations,
    _changesets,
    _watches,
    _annotations,
    _drafts,
    _choices,
)


@pytest.mark.parametrize(
    ("version", "case"),
    [
        pytest.param(version, case, id=f"{version}-{case.name}")
        for version in VERSIONS
        for family in _FAMILIES
        for case in family(Era(version))
    ],
)
def test_case(version: str, case: Case) -> None:
    found = reduce_in(version, case.kind, case.initial, case.actions, NOW)
    assert strip_nulls(found) == strip_nulls(case.expected)
