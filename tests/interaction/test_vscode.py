"""VS Code as it really talks, where that is not what a specification says (INTEROP, section 2)."""

from __future__ import annotations

from typing import Any, Final

import pytest

from aio import aio
from interaction.modern import Modern
from interaction.talk import begin, call, cancel, confirm, shown, spoken, took, wait_for_call
from served import Clients, Failed, Wire, user

ROOT: Final = "ahp-root://"
OFFERS: Final = {
    "1.0.0": ("1.0.0", "0.10.0", "0.9.0"),
    "0.9.0": ("0.9.0", "0.7.0", "0.6.0", "0.5.2", "0.5.1"),
    "0.7.0": ("0.7.0", "0.6.0", "0.5.2", "0.5.1"),
    "0.6.0": ("0.6.0", "0.5.2", "0.5.1"),
}
"""What builds of VS Code offer, by the version they are served in."""
INFO: Final = {"name": "vscode", "title": "Visual Studio Code"}


each_build = pytest.mark.parametrize("build", OFFERS)


def window_of(clients: Clients, build: str) -> Wire:
    """A window that has not connected. What it is told is put into the words of 1.0 for the tests."""
    window = Modern(clients.host.url, build)
    clients.push_async_callback(window.close)
    return window


async def opened(clients: Clients, build: str, *subscriptions: str) -> Wire:
    """A window that has shaken hands."""
    window = window_of(clients, build)
    result = await window.initialize(*subscriptions, versions=OFFERS[build], clientInfo=INFO)
    assert result["protocolVersion"] == build
    return window


def notification(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": {"channel": ROOT, **params}}


@each_build
@aio
async def test_the_first_second_of_a_window(clients: Clients, build: str) -> None:  # INTEROP 2, INTEROP 2.14
    window = window_of(clients, build)
    await window.initialize(ROOT, versions=OFFERS[build], clientInfo=INFO, _meta={"vscode.build": "1.139"})
    for _ in range(7):
        await window.dispatch(ROOT, "root/configChanged", seq=0, config={"generateTitles": True})
    await window.send(notification("setClientManagedSettingsPermissions", permissions={}))
    assert "items" in await window.request("listSessions")
    assert await window.request("ping") is None
    assert window.envelopes() == []
    assert [message for message in window.messages if "error" in message] == []


@each_build
@aio
async def test_a_setting_that_is_so_already_comes_back_to_nobody(
    clients: Clients, build: str
) -> None:  # INTEROP 2.14
    client, other = await opened(clients, build, ROOT), await clients(ROOT)
    current = client.state(ROOT)["config"]["values"]
    for number in range(7):
        await client.dispatch(ROOT, "root/configChanged", seq=number, config=current, replace=number % 2 == 0)
    for each in (client, other):
        await each.settled()
        assert each.envelopes() == []


@each_build
@aio
async def test_every_agent_has_a_model_that_can_be_picked(  # INTEROP 2.2, INTEROP 2.18
    clients: Clients, build: str
) -> None:
    client = await opened(clients, build, ROOT)
    for agent in client.state(ROOT)["agents"]:
        assert len(agent["models"]) >= 1
        for model in agent["models"]:
            assert model["provider"] == agent["provider"]
            assert isinstance(model["supportsVision"], bool)
            assert model["maxPromptTokens"] > 0


@pytest.mark.parametrize("root", ["ahp-root:", "ahp-root:/"])
@each_build
@aio
async def test_channels_are_called_what_the_window_calls_them(  # INTEROP 2.4
    clients: Clients, session: str, root: str, build: str
) -> None:
    window = await opened(clients, build, root)
    uri = session.replace("demo:", "copilot:")
    chat = await begin(window, uri)
    await took(window, chat, "t1", "hello")
    (added,) = [message["params"] for message in window.messages if message.get("method") == "root/sessionAdded"]
    assert (added["channel"], added["summary"]["resource"]) == (root, uri)
    assert {envelope["channel"] for envelope in window.envelopes()} == {root, uri, chat}
    number = await window.dispatch(root, "root/configChanged", config={"version": "x"})
    refusal = await window.until(lambda: window.echo(number))
    assert refusal["channel"] == root


@each_build
@aio
async def test_a_permission_has_buttons(  # INTEROP 2.8, INTEROP 2.10
    clients: Clients, session: str, build: str
) -> None:
    client = await opened(clients, build)
    chat = await begin(client, session)
    waiting = await wait_for_call(client, chat, "pending-confirmation", "approve")
    assert waiting["options"]
    for option in waiting["options"]:
        assert {"id", "label", "kind"} <= option.keys()
    (ready,) = client.actions("chat/toolCallReady", chat)
    assert "confirmed" not in ready
    assert ready["invocationMessage"]
    assert ready["toolInput"]
    await confirm(client, chat, selectedOptionId=waiting["options"][0]["id"])
    turn = await client.ended(chat)
    assert call(client, chat)["status"] == "completed"
    assert call(client, chat)["confirmed"] == "user-action"
    assert turn["duration"] >= 0


@each_build
@aio
async def test_remarks_can_be_followed_without_asking(  # INTEROP 2.11
    clients: Clients, session: str, build: str
) -> None:
    window = await opened(clients, build)
    await begin(window, session)
    for _ in range(2):
        result = await window.request("subscribe", f"{session}/annotations")
        assert result["snapshot"]["state"] == {"annotations": []}


async def come_back(window: Wire, *subscriptions: str) -> Any:
    """Reconnect as VS Code does: without a channel."""
    await window.open()
    params = {
        "clientId": window.client_id,
        "lastSeenServerSeq": window.last_seen,
        "subscriptions": list(subscriptions),
    }
    await window.send({"jsonrpc": "2.0", "id": 4711, "method": "reconnect", "params": params})
    answer = await window.until(lambda: next((each for each in window.messages if each.get("id") == 4711), None))
    window.messages.remove(answer)
    return answer


@each_build
@aio
async def test_a_window_comes_back_without_a_channel(  # INTEROP 2.12
    clients: Clients, session: str, build: str
) -> None:
    window = await opened(clients, build, ROOT)
    chat = await begin(window, session)
    await window.drop()
    assert (await come_back(window, ROOT, session, chat))["result"]["type"] == "replay"

    stranger = window_of(clients, build)
    answer = await come_back(stranger, ROOT, session)
    assert answer["error"]["code"] == -32008
    await stranger.request("initialize", protocolVersions=list(OFFERS[build]), clientId=stranger.client_id)
    assert (await stranger.request("subscribe", session))["snapshot"]["resource"] == session


@each_build
@aio
async def test_an_action_sent_again_is_harmless(clients: Clients, session: str, build: str) -> None:  # INTEROP 2.13
    window = await opened(clients, build)
    chat = await begin(window, session)
    await took(window, chat, "t1", "hello")
    await window.drop()
    await window.reconnect()
    first = window.actions("chat/turnStarted", chat)
    message = first[0]["message"]
    await window.dispatch(chat, "chat/turnStarted", seq=1, turnId="t1", message=message)
    await window.settled()
    assert [turn["id"] for turn in (await shown(clients, chat))["turns"]] == ["t1"]
    assert window.actions("chat/turnStarted", chat) == first


@aio
async def test_the_whole_catalogue_is_one_answer(clients: Clients, session: str) -> None:  # INTEROP 2.15
    client = await clients()
    for number in range(150):
        await client.request("createSession", f"{session}-{number}", provider="demo")
    result = await client.request("listSessions")
    assert "nextCursor" not in result
    assert len([item for item in result["items"] if item["resource"].startswith(session)]) == 150


@each_build
@aio
async def test_completions_say_what_they_stand_for(  # INTEROP 2.17, INTEROP 2.6
    clients: Clients, session: str, build: str
) -> None:
    window = await opened(clients, build)
    await begin(window, session)
    for text, key in (("/", "command"), ("look at @", "uri")):
        params: dict[str, Any] = {"kind": "userMessage", "text": text, "offset": len(text)}
        items = (await window.request("completions", session, **params))["items"]
        assert items
        assert all(item["attachment"]["_meta"][key] for item in items)


@each_build
@aio
async def test_what_the_host_holds_can_be_looked_at_and_read(  # INTEROP 2.20
    clients: Clients, session: str, build: str
) -> None:
    window = await opened(clients, build)
    chat = await begin(window, session)
    turn = await took(window, chat, "t1", "big 100")
    (part,) = [part for part in turn["responseParts"] if part["kind"] == "toolCall"]
    (content,) = part["toolCall"]["content"]
    looked = await window.request("resourceResolve", uri=content["uri"])
    assert (looked["uri"], looked["type"], looked["size"]) == (content["uri"], "file", content["sizeHint"])
    read = await window.request("resourceRead", uri=content["uri"])
    assert len(read["data"]) == content["sizeHint"] >= 100_000
    binary = await window.request("resourceRead", uri=content["uri"], encoding="base64")
    assert binary["encoding"] == "base64"
    for method in ("resourceResolve", "resourceRead"):
        with pytest.raises(Failed) as failed:
            await window.request(method, uri=content["uri"] + "x")
        assert failed.value.code == -32008


@each_build
@aio
async def test_enter_steers_and_another_key_queues(clients: Clients, session: str, build: str) -> None:  # INTEROP 2.7
    window = await opened(clients, build)
    chat = await begin(window, session)
    await wait_for_call(window, chat, "pending-confirmation", "approve")
    await window.dispatch(chat, "chat/pendingMessageSet", kind="steering", id="s", message=user("to port"))
    await window.dispatch(chat, "chat/pendingMessageSet", kind="queued", id="q", message=user("hello"))
    await window.until(lambda: window.state(chat).get("queuedMessages"))
    await confirm(window, chat)
    await window.ended(chat, 2)
    first, second = window.state(chat)["turns"]
    assert "to port" in spoken(first)
    assert second["message"]["text"] == "hello"
    assert window.state(chat).keys().isdisjoint({"steeringMessage", "queuedMessages"})


@each_build
@aio
async def test_its_own_tools_run_in_the_window(clients: Clients, session: str, build: str) -> None:  # INTEROP 2.9
    window = await opened(clients, build)
    chat = await begin(window, session)
    tool = {"name": "look", "title": "Look", "inputSchema": {"type": "object"}}
    await window.act(session, "session/activeClientSet", activeClient={"clientId": window.client_id, "tools": [tool]})
    running = await wait_for_call(window, chat, "running", "client")
    assert running["contributor"] == {"kind": "client", "clientId": window.client_id}
    waits = await window.until(lambda: window.state(session).get("inputNeeded"))
    assert [(each["kind"], each["chat"]) for each in waits] == [("toolClientExecution", chat)]
    result = {"success": True, "pastTenseMessage": "Looked", "content": [{"type": "text", "text": "the sea"}]}
    named = {"turnId": "t1", "toolCallId": running["toolCallId"]}
    await window.act(chat, "chat/toolCallComplete", **named, result=result)
    assert "the sea" in spoken(await window.ended(chat))
    await window.until(lambda: not window.state(session).get("inputNeeded"))


@each_build
@aio
async def test_nobody_is_busy_with_nothing(clients: Clients, session: str, build: str) -> None:  # INTEROP 2.19
    window = await opened(clients, build, ROOT)
    chat = await begin(window, session)
    await window.say(chat, "t1", "wait")
    await window.until(lambda: window.state(chat).get("activity"))
    await cancel(window, chat, "t1")
    await window.until(lambda: "activity" not in window.state(chat))
    (shown_chat,) = window.state(session)["chats"]
    assert shown_chat.get("activity", "") == ""
    changes = [each["changes"] for each in window.notices("root/sessionSummaryChanged") if each["session"] == session]
    assert [each["activity"] for each in changes if "activity" in each][-1] == ""
    assert "activity" not in (await shown(clients, session))
