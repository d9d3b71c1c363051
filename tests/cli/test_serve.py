"""`holdfast serve` as people and programs run it: a process, its ready line, its end."""

from __future__ import annotations

import asyncio
import itertools
import json
import signal
import stat
import sys
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from aio import aio
from served import HostProcess, Wire, environment, hosting, user

SESSION = "demo:/0197b1a2-0000-7000-8000-000000000001"


async def _holdfast(directory: Path, *arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
    """Run the command to its end: exit code, stdout, stderr."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "holdfast", *arguments),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment(directory),
    )
    async with asyncio.timeout(15):
        out, err = await process.communicate(stdin)
    return process.returncode or 0, out.decode(), err.decode()


def _get(url: str, **headers: str) -> str:
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=10) as answer:
        text: str = answer.read().decode()
        return text


@asynccontextmanager
async def _client(host: HostProcess, *subscriptions: str) -> AsyncIterator[Wire]:
    client = Wire(host.url)
    await client.initialize(*subscriptions)
    try:
        yield client
    finally:
        await client.close()


@aio
async def test_a_first_conversation(tmp_path: Path) -> None:
    async with hosting(tmp_path) as host, _client(host, "ahp-root://") as one, _client(host) as two:
        chat = await one.session(SESSION)
        await two.subscribe(SESSION)
        await two.subscribe(chat)
        await one.say(chat, "t1", "hello")
        turns = [await client.ended(chat) for client in (one, two)]
        assert turns[0] == turns[1]
        assert turns[0]["state"] == "complete"
        assert "".join(part["content"] for part in turns[0]["responseParts"])
        assert one.actions("root/activeSessionsChanged") == [
            {"type": "root/activeSessionsChanged", "activeSessions": 1}
        ]


@aio
async def test_the_ready_line_is_all_of_stdout_and_the_only_place_of_the_token(tmp_path: Path) -> None:
    async with hosting(tmp_path) as host:
        url = urlsplit(host.url)
        (token,) = parse_qs(url.query)["tkn"]
        assert (url.scheme, url.hostname, url.path) == ("ws", "127.0.0.1", "/")
        async with _client(host):
            pass
        file = host.data_dir / "token"
        assert file.read_text().strip() == token
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert token not in host.log.read_text()
        events = [(entry["logger"], entry["event"]) for entry in host.logged()]
        assert events[0] == ("holdfast.serve", "listening")
        assert ("holdfast.access", "opened") in events


@aio
async def test_nobody_comes_in_without_the_token(tmp_path: Path) -> None:
    async with hosting(tmp_path) as host:
        address = host.url.partition("?")[0]
        for url in (address, f"{address}?tkn=wrong"):
            with pytest.raises(InvalidStatus) as refused:
                await connect(url, proxy=None)
            assert refused.value.response.status_code == 403
        (token,) = parse_qs(urlsplit(host.url).query)["tkn"]
        async with connect(address, proxy=None, additional_headers={"Authorization": f"Bearer {token}"}):
            pass


@aio
async def test_what_was_said_is_there_after_a_kill_and_clients_continue_by_replay(tmp_path: Path) -> None:
    async with hosting(tmp_path) as host:
        client = Wire(host.url)
        await client.initialize("ahp-root://")
        chat = await client.session(SESSION)
        await client.say(chat, "t1", "markdown")
        before = await client.ended(chat)
        await host.kill()
        await client.gone()
        await host.start()
        client.url = host.url
        assert (await client.reconnect())["type"] == "replay"
        assert client.state(chat)["turns"] == [before]
        await client.say(chat, "t2", "hello")
        await client.ended(chat, turns=2)
        await client.close()


@aio
async def test_sigterm_ends_with_0_after_running_turns(tmp_path: Path) -> None:
    async with hosting(tmp_path) as host:
        client = Wire(host.url)
        await client.initialize()
        chat = await client.session(SESSION)
        await client.say(chat, "t1", "long 60 100")
        await client.until(lambda: client.actions("chat/delta", chat))
        assert await host.end(signal.SIGTERM) == 0
        await client.gone()
        assert client.close_code == 1001
        assert [turn["state"] for turn in client.state(chat)["turns"]] == ["complete"]
        assert not (host.data_dir / "run" / "holdfast.sock").exists()


@aio
async def test_while_it_drains_no_turn_begins_and_its_patience_is_limited(tmp_path: Path) -> None:
    async with hosting(tmp_path, "--drain-timeout", "2s") as host:
        client = Wire(host.url)
        await client.initialize()
        chat, other = await client.session(SESSION), await client.session(f"{SESSION}-2")
        await client.say(chat, "t1", "wait")
        await client.until(lambda: client.actions("chat/delta", chat))
        ending = asyncio.create_task(host.end(signal.SIGTERM))
        refusals: list[str] = []
        for number in itertools.count():
            seq = await client.dispatch(other, "chat/turnStarted", turnId=f"u{number}", message=user("hello"))
            echo = await client.until(partial(client.echo, seq))
            if "rejectionReason" in echo:
                refusals.append(echo["rejectionReason"])
                break
            await client.ended(other, turns=number + 1)
        assert refusals == ["the host is shutting down"]
        assert await ending == 0
        await client.gone()
        await host.start()
        client.url = host.url
        await client.reconnect()
        (turn,) = client.state(chat)["turns"]
        assert (turn["id"], turn["state"], turn["responseParts"][-1]["resumable"]) == ("t1", "error", True)
        await client.close()


@aio
async def test_a_second_host_is_told_where_the_first_one_is(tmp_path: Path) -> None:
    async with hosting(tmp_path) as host:
        code, out, err = await _holdfast(tmp_path, "serve", "--data-dir", str(host.data_dir), "--port", "0")
        assert (code, out) == (1, "")
        assert err == (
            f"holdfast: a host is running in {host.data_dir} already"
            f" (process {host.pid}, at {host.url.partition('?')[0]})\n"
        )


@aio
async def test_usage_errors_end_with_2_and_one_line(tmp_path: Path) -> None:
    for flags in (["--port", "x"], ["--listen", "0.0.0.0"], ["--listen", "0.0.0.0", "--no-token"]):
        code, out, err = await _holdfast(tmp_path, "serve", *flags)
        assert (code, out) == (2, "")
        assert err.startswith("holdfast: ")
        assert err.count("\n") == 1


@aio
async def test_what_cannot_be_listened_on_is_told_in_a_sentence(tmp_path: Path) -> None:
    async with hosting(tmp_path) as host:
        port = str(urlsplit(host.url).port)
        code, out, err = await _holdfast(tmp_path, "serve", "--data-dir", str(tmp_path / "other"), "--port", port)
        assert (code, out) == (1, "")
        taken = f"somebody listens on port {port} of 127.0.0.1 already"
        assert err == f"holdfast: {taken}; choose another with --port, or 0 for any\n"
    long = str(tmp_path / ("s" * 120))
    flags = ["--data-dir", str(tmp_path / "other"), "--port", "0", "--unix-socket", long]
    code, _, err = await _holdfast(tmp_path, "serve", *flags)
    assert code == 1
    assert err.startswith(f"holdfast: cannot listen on {long}: the path is longer than ")
    assert err.count("\n") == 1


@aio
async def test_a_foreign_journal_is_refused_in_a_sentence(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    (data / "journal.db").write_bytes(b"This is a letter to my aunt. " * 200)
    code, _, err = await _holdfast(tmp_path, "serve", "--data-dir", str(data), "--port", "0")
    assert code == 1
    assert err == (
        f"holdfast: {data}/journal.db is not a Holdfast journal; move it away or choose another --data-dir\n"
    )


@aio
async def test_health_and_metrics(tmp_path: Path) -> None:
    async with hosting(tmp_path) as host, _client(host) as client:
        chat = await client.session(SESSION)
        await client.say(chat, "t1", "hello")
        await client.ended(chat)
        address, _, query = host.url.replace("ws://", "http://").partition("?")
        assert await asyncio.to_thread(_get, f"{address}healthz") == "ok\n"
        text = await asyncio.to_thread(_get, f"{address}metrics?{query}")
        numbers = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
        assert numbers["holdfast_connections"] == "1"
        assert numbers["holdfast_sessions"] == "1"
        assert numbers["holdfast_turns_total"] == "1"
        assert int(numbers["holdfast_actions_total"]) > 5
        assert int(numbers["holdfast_commit_seconds_count"]) > 2
        assert int(numbers["process_resident_memory_bytes"]) > 10_000_000
        with pytest.raises(urllib.error.HTTPError, match="403"):
            await asyncio.to_thread(_get, f"{address}metrics")


@aio
async def test_the_unix_socket_asks_for_no_token(tmp_path: Path) -> None:
    async with hosting(tmp_path) as host:
        client = Wire(f"unix:{host.data_dir / 'run' / 'holdfast.sock'}")
        assert (await client.initialize("ahp-root://"))["protocolVersion"] == "1.0.0"
        await client.close()


def _lines(*messages: tuple[str, dict[str, object]]) -> bytes:
    made = [
        {"jsonrpc": "2.0", "id": id, "method": method, "params": {"channel": "ahp-root://", **params}}
        for id, (method, params) in enumerate(messages)
    ]
    return b"".join(json.dumps(each).encode() + b"\n" for each in made)


@aio
async def test_a_host_over_stdio(tmp_path: Path) -> None:
    talk = _lines(("initialize", {"protocolVersions": ["1.0.0"], "clientId": "c"}), ("ping", {}))
    code, out, _ = await _holdfast(tmp_path, "serve", "--stdio", "--data-dir", str(tmp_path / "d"), stdin=talk)
    assert code == 0
    answers = [json.loads(line) for line in out.splitlines()]
    assert [answer["id"] for answer in answers] == [0, 1]
    assert answers[0]["result"]["protocolVersion"] == "1.0.0"


@aio
async def test_stdio_is_piped_to_the_host_that_owns_the_data_directory(tmp_path: Path) -> None:
    async with hosting(tmp_path) as host, _client(host) as client:
        await client.session(SESSION)
        talk = _lines(("initialize", {"protocolVersions": ["1.0.0"], "clientId": "c"}), ("listSessions", {}))
        code, out, _ = await _holdfast(tmp_path, "serve", "--stdio", "--data-dir", str(host.data_dir), stdin=talk)
        assert code == 0
        items = json.loads(out.splitlines()[1])["result"]["items"]
        assert [item["resource"] for item in items] == [SESSION]


@aio
async def test_a_rotated_token_counts_at_once(tmp_path: Path) -> None:
    async with hosting(tmp_path) as host:
        code, out, _ = await _holdfast(tmp_path, "token", "--data-dir", str(host.data_dir))
        assert (code, out.strip()) == (0, (host.data_dir / "token").read_text().strip())
        _, rotated, _ = await _holdfast(tmp_path, "token", "--rotate", "--data-dir", str(host.data_dir))
        assert rotated != out
        with pytest.raises(InvalidStatus):
            await connect(host.url, proxy=None)
        host.url = f"{host.url.partition('?')[0]}?tkn={rotated.strip()}"
        async with _client(host):
            pass


@aio
async def test_a_backup_is_made_while_it_runs_and_clients_notice_that_it_was_restored(tmp_path: Path) -> None:
    async with hosting(tmp_path) as host:
        client = Wire(host.url)
        await client.initialize("ahp-root://")
        chat = await client.session(SESSION)
        await client.say(chat, "t1", "hello")
        await client.ended(chat)
        copy = tmp_path / "copy.db"
        code, out, _ = await _holdfast(tmp_path, "backup", str(copy), "--data-dir", str(host.data_dir))
        assert (code, out) == (0, f"wrote {copy}\n")
        await client.say(chat, "t2", "hello")
        await client.ended(chat, turns=2)
        await host.kill()
        await client.gone()
        for name in ("journal.db-wal", "journal.db-shm"):
            (host.data_dir / name).unlink(missing_ok=True)
        copy.replace(host.data_dir / "journal.db")
        await host.start()
        client.url = host.url
        seen = client.last_seen
        assert (await client.reconnect())["type"] == "snapshot"
        assert client.last_seen > seen
        assert [turn["id"] for turn in client.state(chat)["turns"]] == ["t1"]
        await client.close()


@aio
async def test_config_says_what_is_in_force_and_why(tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    file.write_text('grace = "1min"\n')
    flags = ["--config", str(file), "--port", "1234"]
    code, out, _ = await _holdfast(tmp_path, "config", "--json", *flags)
    assert code == 0
    values = json.loads(out)
    assert values["port"] == {"value": "1234", "origin": "--port"}
    assert values["grace"] == {"value": "1min", "origin": str(file)}
    assert values["durability"] == {"value": "process", "origin": "default"}
    _, table, _ = await _holdfast(tmp_path, "config", *flags)
    rows = {line.split()[0]: line.split()[1:] for line in table.splitlines()}
    assert rows["port"] == ["1234", "--port"]
    assert rows.keys() == values.keys()
