"""VS Code as it really talks, where that is not what a specification says (INTEROP, section 2)."""

from __future__ import annotations

from typing import Any, Final

import pytest

from aio import aio
from interaction.talk import begin, call, confirm, shown, took, wait_for_call
from served import Clients, Failed, Wire

ROOT: Final = "ahp-root://"
VERSIONS: Final = ("0.9.0", "0.7.0", "0.6.0", "0.5.2", "0.5.1")
INFO: Final = {"name": "vscode", "title": "Visual Studio Code"}


def notification(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": {"channel": ROOT, **params}}


@aio
async def test_the_first_second_of_a_window(clients: Clients) -> None:  # INTEROP 2, INTEROP 2.14
    window = clients.wire()
    await window.initialize(ROOT, versions=VERSIONS, clientInfo=INFO, _meta={"vscode.build": "1.139"})
    for _ in range(7):
        await window.dispatch(ROOT, "root/configChanged", seq=0, config={"generateTitles": True})
    await window.send(notification("setClientManagedSettingsPermissions", permissions={}))
    assert "items" in await window.request("listSessions")
    assert await window.request("ping") is None
    assert window.envelopes() == []
    assert [message for message in window.messages if "error" in message] == []


@aio
async def test_a_setting_that_is_so_already_comes_back_to_nobody(clients: Clients) -> None:  # INTEROP 2.14
    client, other = await clients(ROOT), await clients(ROOT)
    current = client.state(ROOT)["config"]["values"]
    for number in range(7):
        await client.dispatch(ROOT, "root/configChanged", seq=number, config=current, replace=number % 2 == 0)
    for each in (client, other):
        await each.settled()
        assert each.envelopes() == []


@aio
async def test_every_agent_has_a_model_that_can_be_picked(clients: Clients) -> None:  # INTEROP 2.2, INTEROP 2.18
    client = await clients(ROOT)
    for agent in client.state(ROOT)["agents"]:
        assert len(agent["models"]) >= 1
        for model in agent["models"]:
            assert model["provider"] == agent["provider"]
            assert isinstance(model["supportsVision"], bool)
            assert model["maxPromptTokens"] > 0


@pytest.mark.parametrize("root", ["ahp-root:", "ahp-root:/"])
@aio
async def test_channels_are_called_what_the_window_calls_them(  # INTEROP 2.4
    clients: Clients, session: str, root: str
) -> None:
    window = await clients(root, clientInfo=INFO)
    uri = session.replace("demo:", "copilot:")
    chat = await begin(window, uri)
    await took(window, chat, "t1", "hello")
    (added,) = [message["params"] for message in window.messages if message.get("method") == "root/sessionAdded"]
    assert (added["channel"], added["summary"]["resource"]) == (root, uri)
    assert {envelope["channel"] for envelope in window.envelopes()} == {root, uri, chat}
    number = await window.dispatch(root, "root/configChanged", config={"version": "x"})
    refusal = await window.until(lambda: window.echo(number))
    assert refusal["channel"] == root


@aio
async def test_a_permission_has_buttons(clients: Clients, session: str) -> None:  # INTEROP 2.8, INTEROP 2.10
    client = await clients()
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


@aio
async def test_remarks_can_be_followed_without_asking(clients: Clients, session: str) -> None:  # INTEROP 2.11
    window = await clients()
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


@aio
async def test_a_window_comes_back_without_a_channel(clients: Clients, session: str) -> None:  # INTEROP 2.12
    window = await clients(ROOT, clientInfo=INFO)
    chat = await begin(window, session)
    await window.drop()
    assert (await come_back(window, ROOT, session, chat))["result"]["type"] == "replay"

    stranger = clients.wire()
    answer = await come_back(stranger, ROOT, session)
    assert answer["error"]["code"] == -32008
    await stranger.request("initialize", protocolVersions=list(VERSIONS), clientId=stranger.client_id)
    assert (await stranger.request("subscribe", session))["snapshot"]["resource"] == session


@aio
async def test_an_action_sent_again_is_harmless(clients: Clients, session: str) -> None:  # INTEROP 2.13
    window = await clients()
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


@aio
async def test_completions_say_what_they_stand_for(
    clients: Clients, session: str
) -> None:  # INTEROP 2.17, INTEROP 2.6
    window = await clients()
    await begin(window, session)
    for text, key in (("/", "command"), ("look at @", "uri")):
        params: dict[str, Any] = {"kind": "userMessage", "text": text, "offset": len(text)}
        items = (await window.request("completions", session, **params))["items"]
        assert items
        assert all(item["attachment"]["_meta"][key] for item in items)


@aio
async def test_what_the_host_holds_can_be_looked_at_and_read(clients: Clients, session: str) -> None:  # INTEROP 2.20
    window = await clients()
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
