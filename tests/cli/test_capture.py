"""`capture`: everything passes through its door as it is, and is written down without secrets."""

from __future__ import annotations

import asyncio
import json
import signal
import stat
import sys
from datetime import datetime
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Origin

from aio import aio
from cli.capturing import capturing
from cli.running import holdfast
from holdfast.cli.wire_log import Entry, Redactor, parsed
from holdfast.protocol.errors import UsageError
from interaction.talk import took
from served import Wire, environment, hosting


def _token(url: str) -> str:
    (token,) = parse_qs(urlsplit(url).query)["tkn"]
    return token


@aio
async def test_a_conversation_is_written_down_as_it_was(tmp_path: Path) -> None:
    async with hosting(tmp_path) as host, capturing(host) as door:
        assert _token(door.url) == _token(host.url), "a client has only the port to change"
        assert stat.S_IMODE(door.file.stat().st_mode) == 0o600
        one, two, three = Wire(door.url), Wire(door.url), Wire(door.url)
        await one.initialize("ahp-root://")
        await two.initialize(versions=("0.6.0",))
        chat = await one.session("demo:/1")
        await took(one, chat, "t1", "hello")
        await one.close()
        await two.settled()
        await two.drop()
        await three.initialize()
        while [entry.event for entry in door.entries()].count("close") < 2:
            await three.settled()
        entries = door.entries()
        for number, wire in ((1, one), (2, two)):
            heard = [entry.msg for entry in entries if (entry.conn, entry.dir) == (number, "s2c")]
            assert heard == wire.messages
            lines = [entry for entry in entries if entry.conn == number]
            assert [lines[0].event, lines[1].msg["method"]] == ["open", "initialize"]
        await three.close()
        ends = {entry.conn: (entry.dir, entry.code) for entry in entries if entry.event == "close"}
        assert ends == {1: ("c2s", 1000), 2: ("c2s", 1006)}, "as they were before the third one ended"
        times = [datetime.fromisoformat(entry.ts) for entry in entries]
        assert times == sorted(times)
        assert json.loads(door.file.read_text().splitlines()[0]).keys() == {"ts", "dir", "conn", "event"}
        said = await door.end()
        messages = len([entry for entry in door.entries() if entry.event is None])
        assert said == f"wrote {door.file}: {messages} messages of 3 connections\n"


@aio
async def test_no_secret_is_written_down(tmp_path: Path) -> None:
    async with hosting(tmp_path, "--demo-auth") as host, capturing(host) as door:
        client = Wire(door.url)
        await client.initialize("ahp-root://")
        root = client.state("ahp-root://")
        resource = next(each["resource"] for agent in root["agents"] for each in agent.get("protectedResources", []))
        await client.request("authenticate", resource=resource, token="demo-0123456789")
        chat = await client.session(
            "demo:/1", _meta={"apiKey": "sk-abcdefgh", "headers": {"Authorization": "Bearer xyz"}}
        )
        await took(client, chat, "t1", f"my token is demo-0123456789, and I use {door.url} and sk-abcdefgh")
        await client.close()
        text = door.file.read_text()
        for secret in ("demo-0123456789", "sk-abcdefgh", "Bearer xyz", _token(door.url)):
            assert secret not in text
        (given,) = [each.msg["params"] for each in door.entries() if each.msg and _method(each) == "authenticate"]
        assert (given["token"], given["resource"]) == ("***", resource)
        assert "my token is ***, and I use ws://127.0.0.1:" in text


def _method(entry: Entry) -> str | None:
    return entry.msg.get("method") if isinstance(entry.msg, dict) else None


@aio
async def test_messages_pass_byte_by_byte_and_rubbish_too(tmp_path: Path) -> None:
    async with hosting(tmp_path) as host, capturing(host) as door:
        async with connect(door.url, proxy=None) as client:
            await client.send("no JSON at all")
            through = await client.recv()
        async with connect(host.url, proxy=None) as client:
            await client.send("no JSON at all")
            assert await client.recv() == through
        assert [entry.raw for entry in door.entries() if entry.raw] == ["no JSON at all"]


@aio
async def test_ends_are_passed_on(tmp_path: Path) -> None:
    async with hosting(tmp_path) as host, capturing(host) as door:
        client = Wire(door.url)
        await client.initialize()
        await host.end(signal.SIGTERM)
        await client.gone()
        assert client.close_code == 1001
        closed = door.entries()[-1]
        assert (closed.event, closed.dir, closed.code, closed.reason) == ("close", "s2c", 1001, "the host stops")
        await client.open()
        await client.gone()
        assert client.close_code == 1013, "there is no host now"
        await host.start()
        assert (await client.reconnect())["type"] in ("replay", "snapshot")
        await host.kill()
        await client.gone()
        assert client.close_code == 1006


@aio
async def test_nobody_comes_in_without_the_token(tmp_path: Path) -> None:
    async with hosting(tmp_path) as host, capturing(host) as door:
        address = door.url.partition("?")[0]
        for url in (address, f"{address}?tkn=wrong"):
            with pytest.raises(InvalidStatus) as refused:
                await connect(url, proxy=None)
            assert refused.value.response.status_code == 403
        with pytest.raises(InvalidStatus):
            await connect(door.url, proxy=None, origin=Origin("https://somewhere.example"))
        token = {"Authorization": f"Bearer {_token(door.url)}"}
        async with connect(address, proxy=None, additional_headers=token):
            pass
        assert door.entries()[0].conn == 1


@aio
async def test_a_program_is_run_with_a_host_behind_the_door(tmp_path: Path) -> None:
    async with hosting(tmp_path) as host:
        file = tmp_path / "talk.jsonl"
        data = ("--data-dir", str(host.data_dir))
        program = (sys.executable, "-m", "holdfast", "send", "hello")
        done = await asyncio.to_thread(holdfast, tmp_path, "capture", "--out", str(file), *data, "--", *program)
        assert (done.code, done.out.startswith("Hello!")) == (0, True)
        entries = list(parsed(file.read_bytes().splitlines(), "log"))
        assert "createSession" in {_method(entry) for entry in entries if entry.dir == "c2s"}
        to_stdout = await asyncio.to_thread(
            holdfast, tmp_path, "capture", *data, "--", sys.executable, "-c", "import sys; sys.exit(7)"
        )
        assert (to_stdout.code, to_stdout.out) == (7, "")


@aio
async def test_without_a_file_the_log_is_all_of_stdout(tmp_path: Path) -> None:
    async with hosting(tmp_path) as host:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "holdfast", "capture", "--data-dir", str(host.data_dir)),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=environment(tmp_path),
        )
        assert process.stderr is not None
        word, _, url = (await process.stderr.readline()).decode().strip().partition(" ")
        assert word == "ready"
        client = Wire(url)
        await client.initialize()
        await client.close()
        process.send_signal(signal.SIGTERM)
        out, err = await process.communicate()
        assert (process.returncode, err) == (0, b"")
        events = [entry.event or entry.dir for entry in parsed(out.splitlines(), "stdout")]
        assert events == ["open", "c2s", "s2c", "close"]


def test_a_program_that_is_not_there_and_a_file_that_cannot_be(tmp_path: Path) -> None:
    done = holdfast(tmp_path, "capture", "--", "/nowhere/program")
    assert (done.code, done.err) == (1, "holdfast: cannot start /nowhere/program: No such file or directory\n")
    done = holdfast(tmp_path, "capture", "--out", str(tmp_path / "no" / "file"), "--", "true")
    assert done.code == 1
    assert "cannot write" in done.err


# Secrets


@pytest.mark.parametrize(
    ("key", "is_secret"),
    [
        *[(key, True) for key in ("token", "accessToken", "refresh_token", "client-secret", "password", "X-Api-Key")],
        *[(key, True) for key in ("OPENAI_API_KEY", "Authorization", "Set-Cookie", "credentials", "privateKey")],
        *[(key, False) for key in ("progressToken", "inputTokens", "tokenizer", "key", "title", "keyboard")],
    ],
)
def test_which_keys_have_secrets(key: str, is_secret: bool) -> None:
    line = Redactor().line(json.dumps({"a": [{key: "value-of-it"}]}), "c2s", 1)
    assert (b"value-of-it" not in line) == is_secret


def test_a_secret_is_one_from_then_on_everywhere() -> None:
    redactor = Redactor('odd"secret')
    before = redactor.line('{"text": "hunter2-hunter2 and odd\\"secret"}', "c2s", 1)
    assert b"hunter2-hunter2" in before
    assert b"odd" not in before
    redactor.line('{"password": "hunter2-hunter2", "token": ""}', "c2s", 1)
    assert b"hunter2-hunter2" not in redactor.line('{"text": "hunter2-hunter2"}', "s2c", 1)
    assert b"hunter2-hunter2" not in redactor.line("rubbish hunter2-hunter2", "s2c", 1)
    assert json.loads(redactor.line('{"token": ""}', "c2s", 1))["msg"] == {"token": ""}


def test_what_is_no_log_is_named() -> None:
    with pytest.raises(UsageError, match=r"^talk, line 2 is not of a wire log"):
        list(parsed([b"", b'{"jsonrpc": "2.0"}'], "talk"))
