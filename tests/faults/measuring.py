"""What a host process takes: memory, descriptors, and what it says of itself at `/metrics`."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from served import HostProcess, Wire

__all__ = ["descriptors", "load_history", "mebibytes", "metric", "metrics", "percentile", "resident"]

_PAGE = os.sysconf("SC_PAGE_SIZE")


def resident(host: HostProcess) -> int:
    """Bytes of memory."""
    return int(Path(f"/proc/{host.pid}/statm").read_text().split()[1]) * _PAGE


def mebibytes(size: float) -> str:
    return f"{size / 2**20:.1f} MiB"


def descriptors(host: HostProcess) -> list[str]:
    """Open files, sockets and whatever else, each by what it is.

    Not those of the journal: each of its three connections opens them when it first needs them.
    """
    found = []
    for each in Path(f"/proc/{host.pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            found.append(str(each.readlink()).partition(":[")[0])
    return sorted(each for each in found if "journal.db" not in each)


async def metrics(host: HostProcess) -> dict[str, float]:
    """Every number without labels."""
    address, _, query = host.url.replace("ws://", "http://").partition("?")
    text = await asyncio.to_thread(_get, f"{address}metrics?{query}")
    lines = [line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in lines if "{" not in name}


async def metric(host: HostProcess, name: str, value: float) -> None:
    """Wait until a number is what it should be."""
    async with asyncio.timeout(15):
        while (await metrics(host))[name] != value:
            pass


def _get(url: str) -> str:
    with urllib.request.urlopen(url, timeout=30) as answer:
        text: str = answer.read().decode()
        return text


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(len(ordered) * share) - 1)]


async def load_history(client: Wire, chat: str) -> None:
    """Have a client load every turn of a chat."""
    while (cursor := client.states[chat].turns_next_cursor) is not None:
        await client.request("fetchTurns", chat, cursor=cursor)
