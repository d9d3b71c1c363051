"""What tests about chats say again and again: a session begun, an action answered, a tool call awaited."""

from __future__ import annotations

from typing import Any, Final

from holdfast.testing import comparable
from served import Clients, Wire, kind_of, user

__all__ = [
    "QUICK",
    "accepted",
    "agree",
    "asked",
    "begin",
    "call",
    "cancel",
    "confirm",
    "parts",
    "refused",
    "request_part",
    "shown",
    "spoken",
    "took",
    "wait_for_call",
    "waiting",
]

QUICK: Final = {"speed": 0}
"""Session options with which the demo agent never pauses for effect."""


async def begin(client: Wire, session: str, **options: Any) -> str:
    """A session that plays without pauses and is ready; the URI of its chat."""
    chat = await client.session(session, config={**QUICK, **options})
    await client.until(lambda: client.state(session)["lifecycle"] == "ready")
    return chat


async def took(client: Wire, chat: str, turn: str, text: str) -> Any:
    """Have a turn run to its end; the turn is returned."""
    before = len(client.states[chat].turns)
    await client.say(chat, turn, text)
    return await client.ended(chat, before + 1)


async def cancel(client: Wire, chat: str, turn: str) -> Any:
    """Cancel the running turn; the turn is returned."""
    before = len(client.states[chat].turns)
    await client.dispatch(chat, "chat/turnCancelled", turnId=turn, duration=5)
    return await client.ended(chat, before + 1)


# An action and what comes back of it


async def accepted(client: Wire, channel: str, type: str, **fields: Any) -> Any:  # noqa: A002
    """Dispatch an action that is accepted; it comes back as it was sent, but for what the host fills in."""
    envelope = await client.act(channel, type, **fields)
    assert "rejectionReason" not in envelope, envelope
    assert envelope["action"] | {"type": type, **fields} == envelope["action"]
    return envelope["action"]


async def refused(client: Wire, channel: str, type: str, **fields: Any) -> str:  # noqa: A002
    """Dispatch an action that is refused and changes nothing; the reason is returned."""
    envelope = await client.act(channel, type, **fields)
    assert envelope["action"] | {"type": type, **fields} == envelope["action"]
    reason: str = envelope["rejectionReason"]
    return reason


# What everybody sees


async def shown(clients: Clients, channel: str, **params: Any) -> Any:
    """What a newcomer is shown of a channel."""
    newcomer = await clients()
    return await newcomer.subscribe(channel, **params)


async def agree(clients: Clients, channel: str, *wires: Wire) -> Any:
    """Everybody has made of the actions what a newcomer is shown, which is returned. Nothing may be going on."""
    state = await shown(clients, channel)
    kind = kind_of(channel)
    for wire in wires:
        await wire.settled()
        assert comparable(kind, wire.state(channel)) == comparable(kind, state)
    return state


async def waiting(clients: Clients, session: str) -> list[tuple[str, str]]:
    """What waits for somebody in a session: kind and chat."""
    state = await shown(clients, session)
    return [(each["kind"], each["chat"]) for each in state.get("inputNeeded", [])]


# What a turn is made of


def parts(client: Wire, chat: str) -> list[dict[str, Any]]:
    """The parts of the running turn, or of the last one."""
    state = client.state(chat)
    turn = state.get("activeTurn") or state["turns"][-1]
    found: list[dict[str, Any]] = turn["responseParts"]
    return found


def spoken(turn: dict[str, Any]) -> str:
    """The text of a turn."""
    return "".join(part["content"] for part in turn["responseParts"] if part["kind"] == "markdown")


def call(client: Wire, chat: str) -> Any:
    """The newest tool call of the running turn, or of the last one; None if there is none."""
    calls = [part["toolCall"] for part in parts(client, chat) if part["kind"] == "toolCall"]
    return calls[-1] if calls else None


async def wait_for_call(client: Wire, chat: str, status: str, text: str | None = None) -> Any:
    """Wait until the newest tool call of the running turn has this status; `text` starts the turn `t1` first."""
    if text is not None:
        await client.say(chat, "t1", text)

    def found() -> Any:
        state = client.states[chat]
        newest = call(client, chat) if state.active_turn is not None else None
        return newest if newest is not None and newest["status"] == status else None

    return await client.until(found)


async def confirm(client: Wire, chat: str, **fields: Any) -> Any:
    """Approve the newest tool call, unless the fields say otherwise; the echo's action is returned."""
    state = client.state(chat)
    fields = {"approved": True, "confirmed": "user-action"} | fields
    id, turn = call(client, chat)["toolCallId"], state["activeTurn"]["id"]
    return await accepted(client, chat, "chat/toolCallConfirmed", turnId=turn, toolCallId=id, **fields)


def request_part(client: Wire, chat: str) -> Any:
    """The newest question of the running turn, or of the last one, with its place among the parts."""
    found = [(place, part) for place, part in enumerate(parts(client, chat)) if part["kind"] == "inputRequest"]
    return found[-1] if found else None


async def asked(client: Wire, chat: str, text: str, turn: str = "t1") -> Any:
    """Start a turn that asks a question; the request is returned once it is there."""
    await client.dispatch(chat, "chat/turnStarted", turnId=turn, message=user(text))

    def found() -> Any:
        state = client.states[chat]
        return state.active_turn is not None and request_part(client, chat)

    return (await client.until(found))[1]["request"]
