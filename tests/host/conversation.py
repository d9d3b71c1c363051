"""The vocabulary of a conversation: sessions made, turns run, what agents say, what newcomers see."""

from __future__ import annotations

import json
from typing import Any

from holdfast.host.loading import sweep
from holdfast.ports.agent import CancelTurn, Deliver, Delivery, TurnKey
from holdfast.protocol.codec import Wire, encode
from holdfast.protocol.common import ErrorInfo
from holdfast.protocol.envelope import decode_action
from holdfast.protocol.uris import default_chat
from holdfast.testing import comparable
from host.bench import Bench, Client, user

SESSION = "play:/s"
CHAT = default_chat(SESSION)

FAILED = ErrorInfo(error_type="provider", message="The model is gone.")

# Sessions and turns


def session(client: Client, uri: str = SESSION, provider: str = "play", **params: Any) -> str:
    """A session the client made and follows, with its default chat, whose URI is returned."""
    client.request("createSession", uri, provider=provider, **params)
    client.subscribe(uri)
    client.subscribe(default_chat(uri))
    return default_chat(uri)


def follower(bench: Bench, id: str = "c2", *channels: str) -> Client:
    """Another client that follows the same channels; by default the one session and its chat."""
    client = bench.client(id)
    for channel in channels or (SESSION, CHAT):
        client.subscribe(channel)
    return client


def start(bench: Bench, client: Client, turn: str = "t1", chat: str = CHAT, **fields: Any) -> TurnKey:
    """A turn that runs."""
    client.dispatch(chat, "chat/turnStarted", turnId=turn, message=fields.pop("message", user("hello")), **fields)
    return bench.started().key


def take_turns(bench: Bench, client: Client, *turns: str, chat: str = CHAT) -> None:
    """Turns that ran and completed, each with an answer."""
    for turn in turns:
        key = start(bench, client, turn, chat)
        text(bench, key, f"answer to {turn}")
        bench.end(key)


def fail(bench: Bench, key: TurnKey, *, resumable: bool = False) -> None:
    bench.end(key, FAILED, resumable=resumable)


# What agents say


def action(type: str, **fields: Any) -> Wire:  # noqa: A002
    made = decode_action(json.dumps({"type": type, **fields}).encode())
    assert isinstance(made, Wire), f"{type} is known"
    return made


def speak(bench: Bench, key: TurnKey, type: str, **fields: Any) -> None:  # noqa: A002
    """Have the agent say an action of its turn."""
    bench.say(key, action(type, **{"turnId": key.turn_id, **fields}))


def text(bench: Bench, key: TurnKey, words: str, part: str = "p1", kind: str = "markdown") -> None:
    """A text part with these words."""
    speak(bench, key, "chat/responsePart", part={"kind": kind, "id": part, "content": ""})
    speak(bench, key, "chat/delta" if kind == "markdown" else "chat/reasoning", partId=part, content=words)


def tool(bench: Bench, key: TurnKey, id: str = "k1", *, confirmed: str | None = None, **fields: Any) -> None:
    """A tool call that is ready: it waits for confirmation, or runs if it was `confirmed`."""
    contributor = fields.pop("contributor", None)
    opening = {"contributor": contributor} if contributor else {}
    speak(bench, key, "chat/toolCallStart", toolCallId=id, toolName="bash", displayName="Run", **opening)
    ready = {"invocationMessage": "ls", "toolInput": '{"cmd":"ls"}', **fields}
    if confirmed is not None:
        ready["confirmed"] = confirmed
    speak(bench, key, "chat/toolCallReady", toolCallId=id, **ready)


OWN_TOOL = {"kind": "client", "clientId": "c1"}
DONE = {"success": True, "pastTenseMessage": "Done"}
BROKEN = {"success": False, "pastTenseMessage": "Failed", "error": {"message": "no"}}


def ask(bench: Bench, key: TurnKey, *questions: dict[str, Any], id: str = "q1") -> None:
    """An open request with these questions."""
    asked = questions or ({"id": "a", "kind": "boolean", "message": "Also dist/?", "required": True},)
    speak(bench, key, "chat/inputRequested", request={"id": id, "questions": list(asked)})


# What becomes of it


def deliveries(bench: Bench) -> list[Delivery]:
    """What the agent was given since this was last asked."""
    return [effect.delivery for effect in bench.taken(Deliver)]


def cancelled(bench: Bench) -> list[TurnKey]:
    """The turns the agent was told to stop."""
    return [effect.key for effect in bench.taken(CancelTurn)]


def newcomer(bench: Bench) -> Client:
    """A client nobody has met."""
    return bench.client(f"newcomer-{len(bench.clients)}")


def snapshot(bench: Bench, channel: str = CHAT, **params: Any) -> Any:
    """What a newcomer is shown of a channel."""
    client = newcomer(bench)
    shown = client.subscribe(channel, **params)
    client.drop()
    return shown


def parts(bench: Bench, chat: str = CHAT) -> Any:
    """The response parts of the running turn, or of the last one."""
    state = snapshot(bench, chat)
    return (state.get("activeTurn") or state["turns"][-1])["responseParts"]


def call(bench: Bench, id: str = "k1", chat: str = CHAT) -> Any:
    """A tool call of the running turn, or of the last one."""
    calls = [part["toolCall"] for part in parts(bench, chat) if part["kind"] == "toolCall"]
    (found,) = [each for each in calls if each["toolCallId"] == id]
    return found


def waiting(bench: Bench, uri: str = SESSION) -> list[tuple[str, str]]:
    """What waits for somebody in a session: kind and chat."""
    return [(each["kind"], each["chat"]) for each in snapshot(bench, uri).get("inputNeeded", [])]


def answers(client: Client, chat: str = CHAT) -> list[dict[str, Any]]:
    """The accepted actions a client received on a channel, whole."""
    return [each["action"] for each in client.envelopes(chat) if "rejectionReason" not in each]


def last(client: Client, type: str, chat: str = CHAT) -> dict[str, Any]:  # noqa: A002
    """The latest accepted action of a type."""
    return [each for each in answers(client, chat) if each["type"] == type][-1]


def reduced(client: Client, channel: str = CHAT) -> dict[str, Any]:
    """What a client made of its snapshot and all actions since."""
    kind, state = client.states[channel]
    return comparable(kind, json.loads(encode(state)))


def agree(bench: Bench, *clients: Client, channel: str = CHAT) -> None:
    """Everybody has what a newcomer is shown."""
    stranger = newcomer(bench)
    stranger.subscribe(channel)
    shown = reduced(stranger, channel)
    stranger.drop()
    for client in clients:
        assert reduced(client, channel) == shown


def refused(bench: Bench, client: Client, type: str, chat: str = CHAT, **fields: Any) -> str:  # noqa: A002
    """Dispatch what must be refused, to its sender only, with no effect; the reason is returned."""
    before = snapshot(bench, chat), list(bench.effects)
    seen = {each: len(each.messages) for each in bench.clients}
    number = client.dispatch(chat, type, **fields)
    assert client.connection.client is not None
    (message,) = client.messages[seen[client] :]
    reason = message["params"].pop("rejectionReason")
    assert message["params"] == {
        "channel": chat,
        "action": {"type": type, **fields},
        "serverSeq": client.last_seen,
        "origin": {"clientId": client.connection.client.id, "clientSeq": number},
    }
    assert isinstance(reason, str)
    assert reason
    assert all(len(each.messages) == seen[each] for each in seen if each is not client)
    assert (snapshot(bench, chat), list(bench.effects)) == before
    return reason


def unload(bench: Bench) -> None:
    """Have the host let go of every session nobody looks at."""
    bench.advance(bench.settings.idle_unload + 1)
    sweep(bench.host)
