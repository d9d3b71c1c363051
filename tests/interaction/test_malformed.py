"""What no client should send: each gets a clear error or silence, nothing of the host's inside, and life goes on.

INTEROP section 4 lists what the reference host makes of such input.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import pytest

from aio import Raw, aio, frame
from served import Clients, HostProcess, Wire, user

LARGEST: Final = 2_000_000
FLAGS: Final = ("--demo-auth", "--max-message", f"{LARGEST}")

PARSE, INVALID, METHOD, PARAMS = -32700, -32600, -32601, -32602
SESSION, NOT_FOUND, PROVIDER = -32001, -32008, -32002

HUGE: Final = 2**70
DEEP: Final = "[" * 100_000 + "]" * 100_000
LONG: Final = "x" * 1_000_000


class Answered(NamedTuple):
    """The id and the code of an error."""

    id: Any
    code: int


SILENCE: Final = None


def request(method: str, params: Any, id: Any = 7) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params})


def notification(method: str, params: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "method": method, "params": params})


def at_root(method: str, **params: Any) -> str:
    return request(method, {"channel": "ahp-root://", **params})


def dispatched(**params: Any) -> str:
    return notification("dispatchAction", params)


# What is no message: name -> text, answer.
NO_MESSAGES: Final[dict[str, tuple[str, Answered]]] = {
    "nothing": ("", Answered(None, PARSE)),
    "blanks": ("  \n ", Answered(None, PARSE)),
    "half an object": ('{"jsonrpc":"2.0","id":7,', Answered(None, PARSE)),
    "words": ("hello", Answered(None, PARSE)),
    "NaN": ('{"jsonrpc":"2.0","id":NaN,"method":"ping"}', Answered(None, PARSE)),
    "two objects": ('{"jsonrpc":"2.0","id":7,"method":"ping"} {}', Answered(None, PARSE)),
    "a byte order mark": ('\ufeff{"jsonrpc":"2.0","id":7,"method":"ping"}', Answered(None, PARSE)),
    "deep arrays": (DEEP, Answered(None, PARSE)),
    "half a surrogate pair": ('{"jsonrpc":"2.0","id":7,"method":"\\ud800"}', Answered(None, PARSE)),
    "null": ("null", Answered(None, INVALID)),
    "a number": ("17", Answered(None, INVALID)),
    "a string": ('"ping"', Answered(None, INVALID)),
    "an empty object": ("{}", Answered(None, INVALID)),
    "an empty batch": ("[]", Answered(None, INVALID)),
    "a batch": ("[" + at_root("ping") + "]", Answered(None, INVALID)),
    "no version of JSON-RPC": ('{"id":7,"method":"ping"}', Answered(7, INVALID)),
    "another version of JSON-RPC": ('{"jsonrpc":"1.0","id":7,"method":"ping"}', Answered(7, INVALID)),
    "a number as the version": ('{"jsonrpc":2.0,"id":7,"method":"ping"}', Answered(7, INVALID)),
    "neither method nor result": ('{"jsonrpc":"2.0","id":7}', Answered(7, INVALID)),
    "method and result": ('{"jsonrpc":"2.0","id":7,"method":"ping","result":1}', Answered(7, INVALID)),
    "result and error": (
        '{"jsonrpc":"2.0","id":7,"result":1,"error":{"code":1,"message":""}}',
        Answered(7, INVALID),
    ),
    "a number as the method": ('{"jsonrpc":"2.0","id":7,"method":7}', Answered(7, INVALID)),
    "null as the id": ('{"jsonrpc":"2.0","id":null,"method":"ping"}', Answered(None, INVALID)),
    "an object as the id": ('{"jsonrpc":"2.0","id":{},"method":"ping"}', Answered(None, INVALID)),
    "true as the id": ('{"jsonrpc":"2.0","id":true,"method":"ping"}', Answered(None, INVALID)),
}

# Requests that ask for what cannot be: name -> text, code.
BAD_REQUESTS: Final[dict[str, tuple[str, int]]] = {
    "an unknown method": (at_root("x-nobody/knows"), METHOD),
    "a method of the protocol that this host has not": (
        request("createTerminal", {"channel": "ahp-terminal:/t", "claim": {"kind": "client", "clientId": "c"}}),
        METHOD,
    ),
    "a notification as a request": (request("dispatchAction", {"channel": "ahp-root://"}), METHOD),
    "a giant method": (request(LONG, {}), METHOD),
    "a second initialize": (at_root("initialize", protocolVersions=["1.0.0"], clientId="again"), INVALID),
    "a late reconnect": (at_root("reconnect", clientId="c", lastSeenServerSeq=0, subscriptions=[]), INVALID),
    "no params": ('{"jsonrpc":"2.0","id":7,"method":"subscribe"}', PARAMS),
    "null as params": (request("subscribe", None), PARAMS),
    "positional params": (request("subscribe", ["ahp-root://"]), PARAMS),
    "a string as params": (request("subscribe", "ahp-root://"), PARAMS),
    "no channel": (request("subscribe", {}), PARAMS),
    "a number as the channel": (request("subscribe", {"channel": 1}), PARAMS),
    "a deep channel": ('{"jsonrpc":"2.0","id":7,"method":"subscribe","params":{"channel":' + DEEP + "}}", PARSE),
    "an empty channel": (request("subscribe", {"channel": ""}), NOT_FOUND),
    "a channel that is no URI": (request("subscribe", {"channel": "no uri at all"}), NOT_FOUND),
    "a channel with a zero byte": (request("subscribe", {"channel": "demo:/\0"}), NOT_FOUND),
    "a giant channel": (request("subscribe", {"channel": f"demo:/{LONG}"}), NOT_FOUND),
    "an unknown session": (request("subscribe", {"channel": "demo:/nobody"}), SESSION),
    "an unknown chat": (request("subscribe", {"channel": "ahp-chat:/nobody"}), NOT_FOUND),
    "the annotations of an unknown session": (request("subscribe", {"channel": "demo:/no/annotations"}), NOT_FOUND),
    "a string as the view": (request("subscribe", {"channel": "ahp-root://", "view": "all"}), PARAMS),
    "a string as turns": (request("subscribe", {"channel": "ahp-root://", "view": {"turns": "5"}}), PARAMS),
    "a list as the delivery": (request("subscribe", {"channel": "ahp-root://", "delivery": []}), PARAMS),
    "ping elsewhere": (request("ping", {"channel": "demo:/s"}), PARAMS),
    "a list of sessions elsewhere": (request("listSessions", {"channel": "demo:/s"}), PARAMS),
    "a string as the limit": (at_root("listSessions", limit="ten"), PARAMS),
    "a fraction as the limit": (at_root("listSessions", limit=1.5), PARAMS),
    "true as the limit": (at_root("listSessions", limit=True), PARAMS),
    "a cursor nobody made": (at_root("listSessions", cursor="page 2"), PARAMS),
    "a cursor in no script of ours": (at_root("listSessions", cursor="страница"), PARAMS),
    "a cursor with a huge number": (
        at_root("listSessions", cursor="WyIyMDI2IiwxMTgwNTkxNjIwNzE3NDExMzAzNDI0XQ=="),
        PARAMS,
    ),
    "a list as _meta": (at_root("listSessions", _meta=[]), PARAMS),
    "createSession without a channel": (request("createSession", {"provider": "demo"}), PARAMS),
    "createSession at the root": (at_root("createSession", provider="demo"), PARAMS),
    "createSession at no URI": (request("createSession", {"channel": "s", "provider": "demo"}), PARAMS),
    "createSession at a giant": (request("createSession", {"channel": f"demo:/{LONG}", "provider": "demo"}), PARAMS),
    "createSession at half a pair": (
        '{"jsonrpc":"2.0","id":7,"method":"createSession","params":{"channel":"demo:/\\ud800"}}',
        PARSE,
    ),
    "a number as the provider": (request("createSession", {"channel": "demo:/s", "provider": 1}), PARAMS),
    "an unknown provider": (request("createSession", {"channel": "demo:/s", "provider": "nobody"}), PROVIDER),
    "an empty provider": (request("createSession", {"channel": "demo:/s", "provider": ""}), PROVIDER),
    "a string of directories": (
        request("createSession", {"channel": "demo:/s", "provider": "demo", "workingDirectories": "file:///"}),
        PARAMS,
    ),
    "a list as the config": (
        request("createSession", {"channel": "demo:/s", "provider": "demo", "config": []}),
        PARAMS,
    ),
    "somebody else as the active client": (
        request(
            "createSession",
            {"channel": "demo:/s", "provider": "demo", "activeClient": {"clientId": "other", "tools": []}},
        ),
        PARAMS,
    ),
    "disposeSession of nothing": (request("disposeSession", {"channel": "demo:/nobody"}), SESSION),
    "disposeSession of the root": (at_root("disposeSession"), SESSION),
    "disposeChat of nothing": (request("disposeChat", {"channel": "ahp-chat:/nobody"}), NOT_FOUND),
    "createChat in nothing": (request("createChat", {"channel": "demo:/nobody", "chat": "ahp-chat:/c"}), SESSION),
    "moveChat of nothing": (
        request("moveChat", {"channel": "ahp-chat:/nobody", "destination": {"kind": "newSession"}}),
        NOT_FOUND,
    ),
    "fetchTurns of nothing": (request("fetchTurns", {"channel": "ahp-chat:/nobody"}), NOT_FOUND),
    "completions for nothing": (
        request("completions", {"channel": "ahp-chat:/nobody", "kind": "userMessage", "text": "", "offset": 0}),
        NOT_FOUND,
    ),
    "resourceRead of a file": (at_root("resourceRead", uri="file:///etc/passwd"), NOT_FOUND),
    "resourceRead of no URI": (at_root("resourceRead", uri=""), NOT_FOUND),
    "resourceRead of bad data": (at_root("resourceRead", uri="data:;base64,%%%"), NOT_FOUND),
    "authenticate for nothing": (at_root("authenticate", resource="https://nobody/", token="t"), PARAMS),
    "authenticate without a token": (at_root("authenticate", resource="https://demo.holdfast.example/"), PARAMS),
    "a completion of nothing": (at_root("sessionConfigCompletions", provider="demo", property="nothing"), PARAMS),
    "a completion of no property": (at_root("sessionConfigCompletions", provider="demo"), PARAMS),
    "a list as the config to resolve": (at_root("resolveSessionConfig", provider="demo", config=[1]), PARAMS),
}

# Beginnings that are none: name -> params of initialize or reconnect, code.
BAD_BEGINNINGS: Final[dict[str, tuple[str, dict[str, Any], int]]] = {
    "no versions": ("initialize", {"clientId": "c"}, PARAMS),
    "a version for a list": ("initialize", {"protocolVersions": "1.0.0", "clientId": "c"}, PARAMS),
    "numbers as versions": ("initialize", {"protocolVersions": [1], "clientId": "c"}, PARAMS),
    "a giant version": ("initialize", {"protocolVersions": ["9" * 100_000 + ".0.0"], "clientId": "c"}, PARAMS),
    "no client id": ("initialize", {"protocolVersions": ["1.0.0"]}, PARAMS),
    "an empty client id": ("initialize", {"protocolVersions": ["1.0.0"], "clientId": ""}, PARAMS),
    "a number as the client id": ("initialize", {"protocolVersions": ["1.0.0"], "clientId": 1}, PARAMS),
    "subscriptions that are no list": (
        "initialize",
        {"protocolVersions": ["1.0.0"], "clientId": "c", "initialSubscriptions": "ahp-root://"},
        PARAMS,
    ),
    "another channel": (
        "initialize",
        {"channel": "demo:/s", "protocolVersions": ["1.0.0"], "clientId": "c"},
        PARAMS,
    ),
    "an empty client id coming back": (
        "reconnect",
        {"clientId": "", "lastSeenServerSeq": 0, "subscriptions": []},
        PARAMS,
    ),
    "a stranger coming back": (
        "reconnect",
        {"clientId": "stranger", "lastSeenServerSeq": 0, "subscriptions": []},
        NOT_FOUND,
    ),
    "no number coming back": ("reconnect", {"clientId": "stranger", "subscriptions": []}, PARAMS),
    "no subscriptions coming back": ("reconnect", {"clientId": "stranger", "lastSeenServerSeq": 0}, PARAMS),
}

# Notifications nobody may answer.
BAD_NOTIFICATIONS: Final[dict[str, str]] = {
    "a method nobody knows": notification("setClientManagedSettingsPermissions", {"channel": "ahp-root://"}),
    "a request without an id": notification("listSessions", {"channel": "ahp-root://"}),
    "a notification of hosts": notification("root/sessionRemoved", {"channel": "ahp-root://", "session": "x:/y"}),
    "a giant method": notification(LONG, {}),
    "no params": '{"jsonrpc":"2.0","method":"unsubscribe"}',
    "params of the wrong shape": notification("unsubscribe", ["ahp-root://"]),
    "a number as the channel": notification("unsubscribe", {"channel": 1}),
    "what nobody follows": notification("unsubscribe", {"channel": "demo:/nobody"}),
    "no uri": notification("unsubscribe", {"channel": "\0"}),
    "an action without params": '{"jsonrpc":"2.0","method":"dispatchAction"}',
    "an action without a channel": dispatched(clientSeq=1, action={"type": "root/configChanged"}),
    "an action without a number": dispatched(channel="ahp-root://", action={"type": "root/configChanged"}),
    "an action with a text as its number": dispatched(
        channel="ahp-root://", clientSeq="1", action={"type": "root/configChanged"}
    ),
    "no action": dispatched(channel="ahp-root://", clientSeq=1),
    "null as the action": dispatched(channel="ahp-root://", clientSeq=1, action=None),
    "a text as the action": dispatched(channel="ahp-root://", clientSeq=1, action="root/configChanged"),
    "an action without a type": dispatched(channel="ahp-root://", clientSeq=1, action={"config": {}}),
    "a number as the type": dispatched(channel="ahp-root://", clientSeq=1, action={"type": 1}),
    "an action for nobody": dispatched(
        channel="demo:/nobody", clientSeq=1, action={"type": "session/titleChanged", "title": "x"}
    ),
    "an action on a giant channel": dispatched(
        channel=f"demo:/{LONG}", clientSeq=1, action={"type": "session/titleChanged", "title": "x"}
    ),
    "an answer to nothing": '{"jsonrpc":"2.0","id":99,"result":{}}',
    "an error to nothing": '{"jsonrpc":"2.0","id":99,"error":{"code":-32601,"message":"no"}}',
    "an error without an id": '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}',
}


# Actions on a chat that are refused, echoed with a reason: fields, whatever is wrong with them.
BAD_ACTIONS: Final[dict[str, dict[str, Any]]] = {
    "a type nobody knows": {"type": "x-nobody/did"},
    "an empty type": {"type": ""},
    "a giant type": {"type": LONG},
    "a type of another channel": {"type": "root/configChanged", "config": {}},
    "nothing in it": {"type": "chat/turnStarted"},
    "a number as the turn": {"type": "chat/turnStarted", "turnId": 1, "message": user("hello")},
    "a text as the message": {"type": "chat/turnStarted", "turnId": "t", "message": "hello"},
    "a message of nobody": {"type": "chat/turnStarted", "turnId": "t", "message": {"text": "hello"}},
    "a null as the turn": {"type": "chat/turnStarted", "turnId": None, "message": user("hello")},
    "a text as a bool": {
        "type": "chat/toolCallConfirmed",
        "turnId": "t",
        "toolCallId": "k",
        "approved": "yes",
    },
}


def inside(answer: Any) -> list[str]:
    """What of the host's inside an answer shows: traces, modules, paths."""
    text = json.dumps(answer)
    return re.findall(
        r"Traceback|File \W|\w+\.py\b|holdfast\.\w+|site-packages|/(?:home|tmp|usr|root|work)\b|0x[0-9a-f]{6,}", text
    )


async def heard(client: Wire, text: str) -> list[dict[str, Any]]:
    """What a client hears of what it sends, up to the answer to a ping sent behind it."""
    before = len(client.messages)
    await client.send(text)
    await client.request("ping")
    return client.messages[before:-1]


@asynccontextmanager
async def entered(host: HostProcess) -> AsyncIterator[Raw]:
    """A connection that says exactly what it is told to."""
    url = urlsplit(host.url)
    assert url.port is not None
    async with Raw.connected(url.port) as raw:
        status, _ = await raw.ask(f"/?{url.query}")
        assert status == 101
        yield raw


def check(answer: dict[str, Any], id: Any, code: int) -> None:
    assert answer.keys() == {"jsonrpc", "id", "error"}
    assert (answer["id"], answer["error"]["code"]) == (id, code), answer
    assert 0 < len(answer["error"]["message"]) < 500
    assert inside(answer) == []


@pytest.mark.parametrize("name", NO_MESSAGES)
@aio
async def test_what_is_no_message_is_answered_and_survived(clients: Clients, name: str) -> None:  # W-5, W-6
    text, expected = NO_MESSAGES[name]
    client = await clients()
    (answer,) = await heard(client, text)
    check(answer, *expected)


@pytest.mark.parametrize("name", BAD_REQUESTS)
@aio
async def test_a_bad_request_is_answered_with_what_is_wrong(clients: Clients, name: str) -> None:  # W-7, W-8
    text, code = BAD_REQUESTS[name]
    client = await clients()
    (answer,) = await heard(client, text)
    check(answer, None if code == PARSE else 7, code)


@pytest.mark.parametrize("name", BAD_BEGINNINGS)
@aio
async def test_a_bad_beginning_can_be_mended(clients: Clients, name: str) -> None:  # W-8, W-43
    method, params, code = BAD_BEGINNINGS[name]
    client = await clients.opened()
    (answer,) = await heard(client, request(method, {"channel": "ahp-root://", **params}))
    check(answer, 7, code)
    result = await client.request("initialize", protocolVersions=["1.0.0"], clientId=client.client_id)
    assert result["protocolVersion"] == "1.0.0"


@pytest.mark.parametrize("name", BAD_NOTIFICATIONS)
@aio
async def test_a_bad_notification_is_never_answered(clients: Clients, name: str) -> None:  # W-2, W-33
    client = await clients("ahp-root://")
    assert await heard(client, BAD_NOTIFICATIONS[name]) == []


@pytest.mark.parametrize("name", BAD_ACTIONS)
@aio
async def test_a_bad_action_is_refused_with_a_reason(clients: Clients, session: str, name: str) -> None:  # W-34
    client = await clients()
    chat = await client.session(session)
    await client.until(lambda: client.state(session)["lifecycle"] == "ready")
    action = BAD_ACTIONS[name]
    (refusal,) = await heard(client, dispatched(channel=chat, clientSeq=5, action=action))
    params = refusal["params"]
    assert params["action"] == action
    assert params["origin"] == {"clientId": client.client_id, "clientSeq": 5}
    assert 0 < len(params["rejectionReason"]) < 500
    assert inside(params["rejectionReason"]) == []
    assert (await client.subscribe(chat))["turns"] == []


@pytest.mark.parametrize("id", ["seven", "", "x" * 100_000, 0, -1, 2**53, HUGE, 1.5], ids=lambda id: str(id)[:20])
@aio
async def test_an_id_comes_back_as_it_was_sent(clients: Clients, id: Any) -> None:  # W-1
    client = await clients()
    assert await heard(client, request("ping", {}, id)) == [{"jsonrpc": "2.0", "id": id, "result": None}]


@pytest.mark.parametrize("number", [HUGE, -HUGE, 2**63, 2**53, -(2**53), -1], ids=str)
@aio
async def test_no_number_is_too_large_to_be_survived(clients: Clients, session: str, number: int) -> None:
    client = await clients()
    chat = await client.session(session)
    assert "items" in await client.request("listSessions", limit=number)
    await client.request("subscribe", chat, view={"turns": number}, delivery={"maxLatencyMs": number})
    await client.send(
        dispatched(channel=session, clientSeq=number, action={"type": "session/titleChanged", "title": "x"})
    )
    await client.request("ping")
    title = client.state(session)["title"]
    assert title == ("x" if number == -1 else "")
    await client.drop()
    await client.open()
    result = await client.request(
        "reconnect", clientId=client.client_id, lastSeenServerSeq=number, subscriptions=[session]
    )
    assert result["type"] in ("replay", "snapshot")


@aio
async def test_seven_actions_with_the_number_0_each_count(clients: Clients, session: str) -> None:  # INTEROP 2
    client = await clients()
    await client.session(session)
    for title in "abcdefg":
        await client.dispatch(session, "session/titleChanged", seq=0, title=title)
    await client.dispatch(session, "session/titleChanged", seq=0, title="g")
    await client.request("ping")
    assert [action["title"] for action in client.actions("session/titleChanged", session)] == [*"abcdefg", "g"]


@aio
async def test_a_uri_given_twice_counts_once(clients: Clients, session: str) -> None:  # INTEROP 3
    client = await clients()
    await client.session(session)
    await client.drop()
    await client.open()
    result = await client.request(
        "reconnect",
        clientId=client.client_id,
        lastSeenServerSeq=client.last_seen,
        subscriptions=[session, session, "demo:/gone", "demo:/gone"],
    )
    assert result["missing"] == ["demo:/gone"]
    number = await client.dispatch(session, "session/titleChanged", title="once")
    await client.until(lambda: client.echo(number))
    await client.request("ping")
    assert len(client.actions("session/titleChanged", session)) == 1
    other = await clients(session, session)
    await other.close()
    assert len(other.messages[0]["result"]["snapshots"]) == 1


# Below the messages: frames


@pytest.mark.parametrize(
    ("data", "code"),
    [
        pytest.param(frame(0x2, b'{"jsonrpc":"2.0","id":1,"method":"ping"}'), 1003, id="binary"),
        pytest.param(frame(0x1, b'"\xff\xfe"'), 1007, id="not UTF-8"),
        pytest.param(frame(0x1, b"x" * (LARGEST + 1)), 1009, id="too large"),
        pytest.param(
            frame(0x1, b"x" * (LARGEST // 2 + 1), fin=False) + frame(0x0, b"x" * (LARGEST // 2 + 1)),
            1009,
            id="too large in parts",
        ),
        pytest.param(frame(0x1, b"{}", masked=False), 1002, id="not masked"),
    ],
)
@aio
async def test_a_bad_frame_closes_its_connection_only(clients: Clients, data: bytes, code: int) -> None:  # W-4
    other = await clients()
    async with entered(clients.host) as raw:
        raw.send(data)
        assert await raw.close_code() == code
    await other.request("ping")


@aio
async def test_the_largest_message_that_is_taken(clients: Clients) -> None:
    client = await clients()
    text = request("ping", {"_meta": {"x": ""}})
    padded = text.replace('""', '"' + "x" * (LARGEST - len(text)) + '"')
    assert len(padded) == LARGEST
    assert await heard(client, padded) == [{"jsonrpc": "2.0", "id": 7, "result": None}]
