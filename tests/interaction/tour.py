"""Somebody of a given version who sees everything: every scenario, every request, every way to be refused.

What the demo agent asks for is given at once. What only a client of today can do for it, an assistant does.
"""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from holdfast.agents.scripted.table import SCENARIOS
from served import Failed, Wire
from vintage import Vintage

__all__ = ["Assistant", "Tourist", "answer_to", "assisted"]

QUICK: Final = {"speed": 0}

TYPED: Final = {
    "long": "long 20 0",
    "burst": "burst 20",
    "big": "big 70",
    "slow": "slow 3 0",
    "steer": "steer 3 0",
    "title": "title Voyage",
}
"""What is said for a scenario where its name alone would take too long."""

TOOL: Final = {"name": "look", "title": "Look", "description": "Looks", "inputSchema": {"type": "object"}}


def answer_to(question: dict[str, Any]) -> dict[str, Any]:
    """An answer that fits a question of any kind."""
    values: dict[str, Any] = {
        "text": {"kind": "text", "value": "2026-03-01" if question.get("format") == "date" else "words"},
        "number": {"kind": "number", "value": question.get("min", 1)},
        "integer": {"kind": "number", "value": int(question.get("min", 1))},
        "boolean": {"kind": "boolean", "value": True},
    }
    if question["kind"] == "single-select":
        return {"state": "submitted", "value": {"kind": "selected", "value": question["options"][0]["id"]}}
    if question["kind"] == "multi-select":
        ids = [option["id"] for option in question["options"]][: max(1, int(question.get("min", 1)))]
        return {"state": "submitted", "value": {"kind": "selected-many", "value": ids}}
    value = values[question["kind"]]
    if question.get("format") == "email":
        value = {"kind": "text", "value": "sailor@example.org"}
    if question.get("format") == "uri":
        value = {"kind": "text", "value": "https://example.org/"}
    return {"state": "submitted", "value": value}


class Assistant(Wire):
    """A client of today: signs in when a tool asks for it, and decides in the chats that others may not see."""

    async def mind(self, session: str) -> None:
        """Do so until cancelled."""
        state = await self.subscribe(session)
        default, seen = state["defaultChat"], 0
        await self.subscribe(default)
        while True:
            for envelope in await self._later(seen):
                seen += 1
                await self._react(envelope["channel"], envelope["action"], default)

    async def _later(self, seen: int) -> list[dict[str, Any]]:
        """The envelopes after the first so many; waits for one."""
        found: list[dict[str, Any]] = await self.until(lambda: self.envelopes()[seen:])
        return found

    async def _react(self, channel: str, action: dict[str, Any], default: str) -> None:
        match action["type"]:
            case "session/chatAdded":
                await self.subscribe(action["summary"]["resource"])
                await self._decide(action["summary"]["resource"])
            case "chat/toolCallAuthRequired":
                resource = action["auth"]["resource"]["resource"]
                await self.request("authenticate", resource=resource, token="t", scopes=["issues:read"])
            case "chat/toolCallReady" if channel != default:
                await self._decide(channel)

    async def _decide(self, chat: str) -> None:
        """Approve what waits."""
        turn = self.state(chat).get("activeTurn") or {}
        for part in turn.get("responseParts", ()):
            call = part.get("toolCall") or {}
            if call.get("status") == "pending-confirmation":
                fields = {"turnId": turn["id"], "toolCallId": call["toolCallId"]}
                await self.dispatch(chat, "chat/toolCallConfirmed", **fields, approved=True, confirmed="user-action")


@asynccontextmanager
async def assisted(url: str, session: str) -> AsyncIterator[Assistant]:
    """With an assistant in a session."""
    assistant = Assistant(url)
    await assistant.initialize()
    minding = asyncio.create_task(assistant.mind(session))
    try:
        yield assistant
    finally:
        minding.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await minding
        await assistant.close()


class Tourist(Vintage):
    """Takes part in every scenario."""

    own_calls: frozenset[str] = frozenset()
    """The tool calls that this client has to run."""

    async def see_scenario(self, talk: str, name: str) -> None:
        """Have a scenario played to its end."""
        turn, seen = f"{name}-{uuid.uuid4()}", len(self.received)
        await self.say(talk, turn, TYPED.get(name, name))
        while True:
            for message in await self._later(seen):
                seen += 1
                if message.get("method") != "action" or "rejectionReason" in message["params"]:
                    continue
                action = message["params"]["action"]
                if action.get("turnId") == turn and action["type"] in self._enders:
                    return
                await self._react(talk, turn, name, action)

    async def _later(self, seen: int) -> list[dict[str, Any]]:
        """The messages after the first so many; waits for one."""
        found: list[dict[str, Any]] = await self.until(lambda: self.received[seen:])
        return found

    @property
    def _enders(self) -> frozenset[str]:
        return frozenset(self.verb(name) for name in ("turnComplete", "turnCancelled", "error"))

    async def _react(self, talk: str, turn: str, name: str, action: dict[str, Any]) -> None:
        call = {"turnId": turn, "toolCallId": action.get("toolCallId")}
        match action["type"].partition("/")[2]:
            case "toolCallStart" if self._is_mine(action):
                self.own_calls |= {action["toolCallId"]}
            case "toolCallReady" if "confirmed" not in action:
                fields = {"approved": True, "confirmed": "user-action"}
                await self.dispatch(talk, self.verb("toolCallConfirmed"), **call, **fields)
            case "toolCallReady" if action["toolCallId"] in self.own_calls:
                result = {"success": True, "pastTenseMessage": "Looked", "content": [{"type": "text", "text": "sea"}]}
                await self.dispatch(talk, self.verb("toolCallComplete"), **call, result=result)
            case "toolCallComplete" if action.get("requiresResultConfirmation"):
                await self.dispatch(talk, self.verb("toolCallResultConfirmed"), **call, approved=True)
            case "inputRequested":
                request = action["request"]
                answers = {each["id"]: answer_to(each) for each in request.get("questions", ())}
                fields = {"requestId": request["id"], "response": "accept", "answers": answers}
                await self.dispatch(talk, self.verb("inputCompleted"), **fields)
            case "delta" | "responsePart" if name == "wait":
                await self.cancel(talk, turn)
            case "delta" if name == "steer":
                fields = {"kind": "steering", "id": f"s-{turn}", **self.message("to port")}
                await self.dispatch(talk, self.verb("pendingMessageSet"), **fields)

    def _is_mine(self, action: dict[str, Any]) -> bool:
        owner = action.get("contributor", {}).get("clientId") if self.since("0.3.0") else action.get("toolClientId")
        return bool(owner == self.client_id)

    async def bring_tools(self, session: str) -> None:
        """Offer a tool of its own to a session."""
        client = {"clientId": self.client_id, "displayName": "Tourist", "tools": [TOOL]}
        name = "activeClientSet" if self.since("0.5.0") else "activeClientChanged"
        number = await self.dispatch(session, f"session/{name}", activeClient=client)
        await self.until(lambda: self.echo(session, number))

    async def leave(self, session: str) -> None:
        """Take the tools away."""
        if self.since("0.5.0"):
            number = await self.dispatch(session, "session/activeClientRemoved", clientId=self.client_id)
        else:
            number = await self.dispatch(session, "session/activeClientChanged", activeClient=None)
        await self.until(lambda: self.echo(session, number))

    async def change_everything(self, session: str, talk: str) -> None:
        """What can be set is set."""
        numbers = [
            await self.dispatch(session, "session/titleChanged", title="Voyage"),
            await self.dispatch(session, "session/isReadChanged", isRead=True),
            await self.dispatch(session, "session/isArchivedChanged", isArchived=True),
            await self.dispatch(session, "session/isArchivedChanged", isArchived=False),
            await self.dispatch(session, "session/configChanged", config={"speed": 0, "greeting": "Ahoy"}),
        ]
        if not self.since("0.5.0"):
            numbers.append(await self.dispatch(session, "session/modelChanged", model={"id": "demo-thoughtful"}))
        if self.since("0.7.0"):
            numbers.append(await self.dispatch(session, "session/workingDirectorySet", directory="file:///w"))
        await self.until(lambda: self.echo(session, numbers[-1]))
        if self.since("0.5.0"):
            draft = await self.dispatch(talk, "chat/draftChanged", draft=self.message("later")["message"])
            await self.until(lambda: self.echo(talk, draft))
        refused = await self.dispatch(talk, self.verb("turnCancelled"), turnId="nobody", **self.duration)
        await self.until(lambda: self.echo(talk, refused))

    async def ask_everything(self, session: str, talk: str, content: str) -> None:
        """Every request that has an answer."""
        if self.since("0.2.0"):
            await self.request("ping", self.root)
            await self.request("resourceResolve", self.root, uri=content)
        await self.request("listSessions", self.root)
        asked = {"provider": "demo", "config": {"speed": 0}}
        await self.request("resolveSessionConfig", self.root, **asked)
        await self.request("sessionConfigCompletions", self.root, **asked, property="branch", query="m")
        await self.request("completions", talk, kind="userMessage", text="/he", offset=3)
        await self.request("resourceRead", self.root, uri=content)
        await self.request("authenticate", self.root, resource="https://demo.holdfast.example/", token="t")
        await self.request("authenticate", self.root, resource="https://demo.holdfast.example/", token="")
        await self.fetch_history(talk)
        if self.since("0.4.0"):
            await self._remark(session)
            await self._further_chats(session, talk)

    async def fetch_history(self, talk: str) -> None:
        if not self.since("0.5.1"):
            await self.request("fetchTurns", talk, limit=3)
            return
        state = await self.follow(talk, view={"turns": 1})
        assert await self.request("fetchTurns", talk, cursor=state["turnsNextCursor"]) == {}

    async def _remark(self, session: str) -> None:
        channel = f"{session}/annotations"
        await self.follow(channel)
        turn = {"origin": {"session": session}} if self.since("0.9.0") else {"turnId": "t1"}
        remark = {"id": "a", **turn, "resource": "file:///f", "resolved": False}
        entry = {"id": "e", "text": "hm"}
        await self.dispatch(channel, "annotations/set", annotation={**remark, "entries": [entry]})
        await self.dispatch(channel, "annotations/updated", annotationId="a", resolved=True)
        await self.dispatch(channel, "annotations/entrySet", annotationId="a", entry={"id": "f", "text": "ah"})
        await self.dispatch(channel, "annotations/entryRemoved", annotationId="a", entryId="f")
        number = await self.dispatch(channel, "annotations/removed", annotationId="a")
        await self.until(lambda: self.echo(channel, number))

    async def _further_chats(self, session: str, talk: str) -> None:
        turn = (await self.follow(talk))["turns"][-1]["id"]
        source = {"chat": talk, "turnId": turn} | ({"kind": "fork"} if self.since("0.7.0") else {})
        sources: list[dict[str, Any]] = [{}, {"source": source}]
        if self.since("0.7.0"):
            sources.append({"source": {**source, "kind": "sideChat", "selection": {"text": "Hello"}}})
        for params in sources:
            chat = f"ahp-chat:/{uuid.uuid4()}"
            await self.request("createChat", session, chat=chat, **params)
            await self.follow(chat)
            await self.request("disposeChat", chat)

    async def be_refused(self, session: str) -> None:
        """Every kind of error there is to be had."""
        fork = {"fork": {"session": session, "turnId": "nobody"}}
        asked: list[tuple[str, str, dict[str, Any]]] = [
            ("subscribe", "demo:/nobody", {}),
            ("createSession", session, {"provider": "demo"}),
            ("createSession", f"{session}-x", {"provider": "nobody"}),
            ("createSession", f"{session}-x", {"provider": "demo-auth"}),
            ("createSession", f"{session}-x", {"provider": 7}),
            ("createSession", f"{session}-x", {"provider": "demo", **fork}),
            ("resourceRead", self.root, {"uri": "ahp-content:/nothing"}),
            ("resourceRead", self.root, {"uri": "file:///etc/passwd"}),
            ("disposeSession", "demo:/nobody", {}),
            ("authenticate", self.root, {"resource": "https://demo.holdfast.example/", "token": "bad"}),
            ("authenticate", self.root, {"resource": "https://nobody.example/", "token": "t"}),
            ("nothingOfTheKind", self.root, {}),
            ("resourceWrite", self.root, {"uri": "file:///etc/passwd", "data": "", "encoding": "utf-8"}),
            ("resourceList", self.root, {"uri": "file:///nowhere"}),
        ]
        for method, channel, params in asked:
            with contextlib.suppress(Failed):
                await self.request(method, channel, **params)
                raise AssertionError(f"{method} {params} was not refused")


NAMES: Final = tuple(scenario.name for scenario in SCENARIOS)
