"""A disk that fills up under a running host: clear refusals, nothing acknowledged lost, and on it goes.

The system is told to let the host's process make no file larger, which ends its writes as a full disk does: those
to the journal and those to the log.
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import pytest

from aio import aio
from served import Clients, HostProcess, hosting, user

SESSION = "demo:/0197b1a2-0000-7000-8000-0000000f0110"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits other processes")


def limit(host: HostProcess, size: int) -> None:
    """How large the host may make a file."""
    if sys.platform == "linux":
        resource.prlimit(host.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


@aio
async def test_a_turn_goes_on_when_there_is_room_again(tmp_path: Path) -> None:
    async with hosting(tmp_path) as host, Clients(host) as clients:
        client = await clients("ahp-root://")
        chat = await client.session(SESSION)
        await client.act(SESSION, "session/titleChanged", title="kept")
        await client.dispatch(chat, "chat/turnStarted", turnId="t1", message=user("long 200 200"))
        await client.until(lambda: len(client.actions("chat/delta", chat)) > 20)

        limit(host, 0)
        refusal = await client.act(SESSION, "session/titleChanged", title="lost")
        assert refusal["rejectionReason"].startswith("this could not be kept: ")
        assert str(tmp_path) not in refusal["rejectionReason"]
        assert (await client.subscribe(SESSION))["title"] == "kept"
        assert await client.request("ping") is None
        limit(host, resource.RLIM_INFINITY)

        turn = await client.ended(chat)
        assert turn["state"] == "complete"
        assert "rejectionReason" not in await client.act(SESSION, "session/titleChanged", title="on it goes")
        newcomer = await clients()
        assert (await newcomer.subscribe(chat))["turns"] == [turn]
        await host.kill()
        await host.start()
        newcomer = await clients()
        assert (await newcomer.subscribe(SESSION))["title"] == "on it goes"
        assert (await newcomer.subscribe(chat))["turns"] == [turn]


@aio
async def test_a_host_whose_disk_is_full_stops_properly(tmp_path: Path) -> None:
    async with hosting(tmp_path, "--drain-timeout", "500ms") as host, Clients(host) as clients:
        client = await clients()
        chat = await client.session(SESSION)
        await client.dispatch(chat, "chat/turnStarted", turnId="t1", message=user("long 200 200"))
        await client.until(lambda: len(client.actions("chat/delta", chat)) > 20)
        limit(host, 0)
        assert await host.end() == 0
        await client.gone()
        assert client.close_code == 1001
        await host.start()
        client.url = host.url
        await client.reconnect()
        (turn,) = client.state(chat)["turns"]
        assert turn["responseParts"][-1]["error"]["errorType"] == "hostRestart"
