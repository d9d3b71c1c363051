"""A client that does not read costs little and misses nothing. With figures: `python -m tests.faults frozen`."""

from __future__ import annotations

from pathlib import Path

from aio import aio
from faults.frozen import Frozen, Player, follow, same_as_newcomer
from faults.measuring import metric, metrics
from served import HostProcess, hosting

TURNS = 30
"""Of 100 kB. Three times the high-water mark, and more than the socket takes."""


async def _begun(host: HostProcess) -> tuple[Player, Frozen, str]:
    """A client that plays and one that is frozen, over the socket that buffers least."""
    url = f"unix:{host.data_dir / 'run' / 'holdfast.sock'}"
    player, frozen = Player(url), Frozen(url)
    chat = await player.begin()
    await follow(frozen, chat)
    frozen.freeze()
    return player, frozen, chat


@aio
async def test_what_a_frozen_client_misses_waits_in_the_journal_until_it_reads_again(tmp_path: Path) -> None:
    async with hosting(tmp_path, "--outbox-high-water", "256kiB") as host:
        player, frozen, chat = await _begun(host)
        waiting = []
        for _ in range(TURNS):
            await player.play(chat, 1)
            waiting.append((await metrics(host))["holdfast_outbox_bytes"])
        assert 256 * 1024 < max(waiting) < 2 * 256 * 1024
        assert waiting[-1] == max(waiting)
        assert len(frozen.states[chat].turns) < TURNS
        frozen.thaw()
        await frozen.ended(chat, TURNS)
        assert await same_as_newcomer(frozen.url, frozen, chat)
        deltas = len(frozen.actions("chat/delta", chat))
        assert TURNS < deltas < TURNS * 50 / 4, "what was missed came joined"
        assert (await metrics(host))["holdfast_outbox_bytes"] == 0
        await frozen.close()
        await player.close()


@aio
async def test_past_the_hard_limit_it_is_closed_with_1013_and_comes_back(tmp_path: Path) -> None:
    """What is in no journal, answers above all, is held for it. Who asks and asks and does not read is sent away."""
    async with hosting(tmp_path, "--outbox-high-water", "64kiB") as host:
        player, frozen, chat = await _begun(host)
        await player.play(chat, TURNS)
        for _ in range(8):
            await frozen.follow(chat)
        await metric(host, "holdfast_connections", 1)
        assert (await metrics(host))["holdfast_outbox_bytes"] == 0
        frozen.thaw()
        await frozen.gone()
        assert frozen.close_code == 1013
        await frozen.reconnect()
        assert await same_as_newcomer(frozen.url, frozen, chat)
        await frozen.close()
        await player.close()


@aio
async def test_who_takes_nothing_for_too_long_is_closed_with_1013(tmp_path: Path) -> None:
    async with hosting(tmp_path, "--outbox-high-water", "64kiB", "--outbox-time", "200ms") as host:
        player, frozen, chat = await _begun(host)
        await player.play(chat, TURNS)
        await metric(host, "holdfast_connections", 1)
        frozen.thaw()
        await frozen.gone()
        assert frozen.close_code == 1013
        await frozen.reconnect()
        assert await same_as_newcomer(frozen.url, frozen, chat)
        await frozen.close()
        await player.close()
