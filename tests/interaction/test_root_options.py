"""Options of sessions to be, and how far a creation has come (02-root, sections 4.2, 4.3 and 5)."""

from __future__ import annotations

from typing import Any

import pytest

from aio import aio
from served import Clients, Failed, Wire

ROOT = "ahp-root://"


async def resolved(client: Wire, **params: Any) -> tuple[Any, Any]:
    """Schema and values."""
    result = await client.request("resolveSessionConfig", **params)
    assert result.keys() == {"schema", "values"}
    return result["schema"], result["values"]


DEFAULTS = {"permissionMode": "ask", "speed": 100, "greeting": "Hello", "branch": "main"}


@aio
async def test_options_are_described_and_nothing_is_made(clients: Clients) -> None:
    client = await clients(ROOT)
    before = (await client.request("listSessions"))["items"]
    schema, values = await resolved(client, provider="demo", workingDirectory="file:///w")
    assert schema["type"] == "object"
    assert schema["properties"].keys() == values.keys()
    for option in schema["properties"].values():
        assert {"type", "title"} <= option.keys()
    assert values == DEFAULTS
    assert (await client.request("listSessions"))["items"] == before
    assert client.envelopes() == []


@aio
async def test_given_values_are_kept_and_completed(clients: Clients) -> None:
    client = await clients()
    given = {"permissionMode": "auto", "speed": 0, "x-own": [None, {"a": 1}]}
    assert (await resolved(client, provider="demo", config=given))[1] == {**DEFAULTS, **given}
    wrong = {"permissionMode": "chaos", "speed": "fast", "greeting": 7, "branch": "feature/any"}
    assert (await resolved(client, provider="demo", config=wrong))[1] == {**DEFAULTS, "branch": "feature/any"}
    again = (await resolved(client, provider="demo", config=given))[1]
    assert (await resolved(client, provider="demo", config=again))[1] == again


@aio
async def test_a_resolved_config_makes_a_session(clients: Clients, session: str) -> None:
    client = await clients()
    _, values = await resolved(client, provider="demo", config={"speed": 0, "isolation": "x"})
    await client.request("createSession", session, provider="demo", config=values)
    assert (await client.subscribe(session))["config"]["values"] == values


@aio
async def test_the_default_agent_answers_when_none_is_named(clients: Clients, session: str) -> None:
    client = await clients()
    assert (await resolved(client))[1] == DEFAULTS
    await client.request("createSession", session)
    assert (await client.subscribe(session))["provider"] == "demo"


@pytest.mark.parametrize("provider", ["nobody", "", "Demo"])
@aio
async def test_an_unknown_agent_is_not_found(clients: Clients, session: str, provider: str) -> None:
    client = await clients()
    for method, channel in (("resolveSessionConfig", ROOT), ("createSession", session)):
        with pytest.raises(Failed) as failed:
            await client.request(method, channel, provider=provider)
        assert failed.value.code == -32002
    with pytest.raises(Failed) as failed:
        await client.request("sessionConfigCompletions", provider=provider, property="branch")
    assert failed.value.code == -32002


@aio
async def test_values_are_completed(clients: Clients) -> None:
    client = await clients()

    async def completed(**params: Any) -> list[str]:
        items = (await client.request("sessionConfigCompletions", provider="demo", **params))["items"]
        assert all({"value", "label"} <= item.keys() for item in items)
        return [item["value"] for item in items]

    recent = await completed(property="branch")
    assert recent == await completed(property="branch", query="")
    schema, _ = await resolved(client, provider="demo")
    assert schema["properties"]["branch"]["enumDynamic"] is True
    assert recent == schema["properties"]["branch"]["enum"]
    assert (await completed(property="branch", query="rel"))[0].startswith("release/")
    assert await completed(property="branch", query="no such branch") == []
    assert await completed(property="permissionMode") == ["ask", "auto", "read-only"]


@pytest.mark.parametrize("option", ["nothing", "", "Branch"])
@aio
async def test_an_unknown_option_has_no_values(clients: Clients, option: str) -> None:
    client = await clients()
    with pytest.raises(Failed) as failed:
        await client.request("sessionConfigCompletions", provider="demo", property=option)
    assert failed.value.code == -32602


def progress(client: Wire) -> list[dict[str, Any]]:
    return [message["params"] for message in client.messages if message.get("method") == "root/progress"]


@aio
async def test_progress_grows_to_its_end(clients: Clients, session: str) -> None:
    client, other = await clients(), await clients(ROOT)
    await client.request("createSession", session, provider="demo", progressToken="token 7")
    await client.subscribe(session)
    await client.until(lambda: client.state(session)["lifecycle"] == "ready")
    await client.settled()
    frames = progress(client)
    assert len(frames) > 1
    assert {(each["channel"], each["progressToken"]) for each in frames} == {(ROOT, "token 7")}
    made = [each["progress"] for each in frames]
    assert made == sorted(made)
    assert [each["progress"] == each.get("total") for each in frames] == [*[False] * (len(frames) - 1), True]
    await other.settled()
    assert progress(other) == []


@aio
async def test_there_is_no_progress_without_a_token(clients: Clients, session: str) -> None:
    client = await clients(ROOT)
    await client.session(session)
    await client.until(lambda: client.state(session)["lifecycle"] == "ready")
    await client.settled()
    assert progress(client) == []
