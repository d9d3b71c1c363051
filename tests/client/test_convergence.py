"""However clients talk at once, and whatever happens to their connections: in the end all believe the same.

Programs are made at random: two to five clients act, are refused, lose connections with what was under way in them,
say things that arrive after the break, meet a host that was killed or has forgotten them. While they run, nobody
sees a message twice, or misses one of their own; at the end everybody has what a newcomer is shown, and knows what
became of everything they said.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast
from aio import run
from client.lines import Line
from holdfast.agents.turn import TurnContext
from holdfast.client.chat import message_of
from holdfast.client.following import Receipt
from holdfast.client.subscription import Subscription
from holdfast.protocol import uris
from holdfast.protocol.annotations import actions as remarks
from holdfast.protocol.annotations.state import Annotation, AnnotationEntry, AnnotationOrigin
from holdfast.protocol.chat import actions as chat
from holdfast.protocol.codec import to_json
from holdfast.protocol.envelope import StateAction
from holdfast.protocol.root import actions as root
from holdfast.protocol.session import actions as session
from holdfast.testing import Actor, LocalHost, ManualClock, asks, calls, comparable, fails, local_host, waits

_PATIENCE: Final = 2_000
"""Times everything may go on for a while; what has not happened then will not happen."""

_DAY: Final = 86_400


async def play(turn: TurnContext) -> None:
    """What is said after the `:` is what happens, letter by letter."""
    for letter in turn.message.text.partition(":")[2]:
        match letter:
            case "w":
                for word in ("so ", "it ", "is. "):
                    await turn.text(word)
                    await asyncio.sleep(0)
            case "t":
                await turn.think("Hm. ")
            case "a":
                await calls("tool", ask=True)(turn)
            case "q":
                await asks("Which?", colour=str)(turn)
            case "s":
                for steered in turn.steering():
                    await turn.take(steered)
            case "e" if not turn.resumed:
                await fails("The line is busy.", resumable=True)(turn)
            case "p":
                await waits()(turn)


SCRIPTS: Final = ("", "w", "wtw", "wawa", "wq", "we", "wsw", "wp", "waqwe", "tttwww")


class Told:
    """A turn that somebody follows, and the text they were told of it."""

    def __init__(self, turn: holdfast.Turn, message: str) -> None:
        self.turn = turn
        self.message = message
        self.text = ""

    @property
    def is_unanswered(self) -> bool:
        """Whether the host has yet to say whether it takes the message."""
        receipt = self.turn._receipt
        return not self.turn.is_over and receipt is not None and not receipt.is_settled

    async def follow(self) -> None:
        async for event in self.turn:
            match event:
                case holdfast.Text(text):
                    self.text += text
                case holdfast.Rewritten():
                    self.text = ""


@dataclass
class Player:
    """One client, and what it has said."""

    line: Line
    host: holdfast.Host
    session: holdfast.Session
    notes: Subscription
    receipts: list[Receipt] = field(default_factory=list)
    told: list[Told] = field(default_factory=list)
    queued: dict[str, Receipt] = field(default_factory=dict)
    """What it has put in the queue."""
    is_sure: bool = True
    """Nobody takes back what was said."""

    @property
    def chat(self) -> holdfast.Chat:
        return self.session.chat

    def say(self, uri: str, action: StateAction) -> Receipt:
        receipt = self.host.dispatch(uri, action)
        self.receipts.append(receipt)
        return receipt

    def messages(self) -> Counter[str]:
        """Every message this client is shown, and how often."""
        state = self.chat.state
        waiting = [*(state.queued_messages or ()), *((state.steering_message,) if state.steering_message else ())]
        running = (state.active_turn,) if state.active_turn else ()
        return Counter(each.message.text for each in (*state.turns, *running, *waiting))

    def check(self) -> None:
        shown = self.messages()
        twice = [text for text, times in shown.items() if times > 1]
        assert not twice, f"shown twice: {twice}"
        if self.is_sure:
            unanswered = {told.message for told in self.told if told.is_unanswered}
            unanswered |= {text for text, receipt in self.queued.items() if not receipt.is_settled}
            missing = [text for text in unanswered if not shown[text]]
            assert not missing, f"not shown: {missing}"


class World:
    """A host, its clients, and what happens to them."""

    def __init__(self, local: LocalHost) -> None:
        self.local = local
        self.players: list[Player] = []
        self.tasks: set[asyncio.Task[None]] = set()
        self._said = 0

    async def join(self, uri: str | None = None) -> Player:
        line = Line(self.local)
        retry = holdfast.Retry(first=0, most=0)
        host = await holdfast.connect(line.dial, client_id=f"client-{len(self.players)}", retry=retry)
        joined = await (host.create_session() if uri is None else host.session(uri))
        player = Player(line, host, joined, await host.subscribe(uris.annotations_of(joined.uri)))
        joined.chat.listen(lambda channel, _: None if channel is None else player.check())
        self.players.append(player)
        return player

    def spawn(self, work: Coroutine[Any, Any, Any]) -> None:
        """Begin something that may fail because somebody else was first, or nobody was there."""

        async def quietly() -> None:
            with contextlib.suppress(holdfast.Refused, holdfast.Interrupted):
                await work

        task = asyncio.create_task(quietly())
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    def text(self, script: str = "") -> str:
        self._said += 1
        return f"message {self._said}:{script}"

    def send(self, player: Player, script: str) -> None:
        text = self.text(script)
        told = Told(player.session.send(text), text)
        player.told.append(told)
        self.spawn(told.follow())

    async def go_on(self, times: int = 10) -> None:
        for _ in range(times):
            await asyncio.sleep(0)


Step: TypeAlias = Callable[[World, Player, int], Awaitable[None]]
STEPS: Final[dict[str, Step]] = {}
RUDE: Final = {"unqueue", "reorder", "truncate"}
"""Steps that take back what somebody said."""


def step(function: Step) -> Step:
    STEPS[function.__name__] = function
    return function


# What people do


@step
async def send(world: World, player: Player, number: int) -> None:
    world.send(player, SCRIPTS[number % len(SCRIPTS)])


@step
async def queue(world: World, player: Player, number: int) -> None:
    text = world.text(SCRIPTS[number % 4])
    _, player.queued[text] = player.chat.put_in_queue(message_of(text))
    player.receipts.append(player.queued[text])


@step
async def unqueue(world: World, player: Player, number: int) -> None:
    if player.chat.queued:
        entry = player.chat.queued[number % len(player.chat.queued)]
        world.spawn(player.chat.unqueue(entry.id))


@step
async def reorder(world: World, player: Player, number: int) -> None:
    ids = [entry.id for entry in player.chat.queued]
    player.say(player.chat.uri, chat.QueuedMessagesReordered(order=tuple(ids[number % 3 :])))


@step
async def steer(world: World, player: Player, number: int) -> None:
    world.spawn(player.chat.steer(world.text()))


@step
async def answer(world: World, player: Player, number: int) -> None:
    for ask in player.session.waiting:
        match ask:
            case holdfast.Approval():
                world.spawn(ask.approve() if number % 2 else ask.deny())
            case holdfast.Question():
                world.spawn(ask.answer(colour="red") if number % 2 else ask.decline())


@step
async def cancel(world: World, player: Player, number: int) -> None:
    world.spawn(player.chat.cancel())


@step
async def resume(world: World, player: Player, number: int) -> None:
    with contextlib.suppress(holdfast.UsageError):
        player.chat.resume()


@step
async def truncate(world: World, player: Player, number: int) -> None:
    ids = [None, *(turn.id for turn in player.chat.turns)]
    player.say(player.chat.uri, chat.Truncated(turn_id=ids[number % len(ids)]))


@step
async def draft(world: World, player: Player, number: int) -> None:
    player.say(player.chat.uri, chat.DraftChanged(draft=message_of(world.text()) if number % 4 else None))


@step
async def rename(world: World, player: Player, number: int) -> None:
    player.say(player.session.uri, session.TitleChanged(title=f"Title {number}"))


@step
async def flag(world: World, player: Player, number: int) -> None:
    player.say(player.session.uri, session.IsReadChanged(is_read=bool(number & 1)))
    player.say(player.chat.uri, chat.IsArchivedChanged(is_archived=bool(number & 2)))


@step
async def configure_host(world: World, player: Player, number: int) -> None:
    player.say(uris.ROOT, root.ConfigChanged(config={"generateTitles": bool(number & 1)}))


@step
async def remark(world: World, player: Player, number: int) -> None:
    id = f"remark-{number % 3}"
    origin = AnnotationOrigin(session=player.session.uri)
    entry = AnnotationEntry(id="1", text=world.text())
    note = Annotation(id=id, origin=origin, resource="file:///a", resolved=False, entries=(entry,))
    player.say(player.notes.uri, remarks.Set(annotation=note) if number % 4 else remarks.Removed(annotation_id=id))


@step
async def err(world: World, player: Player, number: int) -> None:
    """Say what the host refuses, on a channel that is followed or on one that is not."""
    nothing = chat.ToolCallConfirmed(turn_id="none", tool_call_id="none", approved=True)
    wrong: list[tuple[str, StateAction]] = [
        (player.chat.uri, nothing),
        (player.session.uri, session.Ready()),
        (uris.ROOT, root.ConfigChanged(config={"version": "me"})),
    ]
    player.say(*wrong[number % len(wrong)])


# What happens to connections


@step
async def breathe(world: World, player: Player, number: int) -> None:
    await world.go_on(number * 3)


@step
async def hold_in(world: World, player: Player, number: int) -> None:
    player.line.may_come_in.clear()


@step
async def hold_out(world: World, player: Player, number: int) -> None:
    player.line.holds_out = True


@step
async def let_out(world: World, player: Player, number: int) -> None:
    await player.line.let_out(number)


@step
async def free(world: World, player: Player, number: int) -> None:
    await player.line.free()


@step
async def free_in(world: World, player: Player, number: int) -> None:
    player.line.may_come_in.set()


@step
async def cut(world: World, player: Player, number: int) -> None:
    await player.line.cut()


@step
async def cut_late(world: World, player: Player, number: int) -> None:
    await player.line.cut(late=True)


@step
async def arrive(world: World, player: Player, number: int) -> None:
    await player.line.arrive()


@step
async def drop_all(world: World, player: Player, number: int) -> None:
    world.local.drop()


# What happens to the host


@step
async def restart(world: World, player: Player, number: int) -> None:
    await world.local.restart()


@step
async def age(world: World, player: Player, number: int) -> None:
    """A day goes by."""
    assert world.local.house is not None
    await world.local.advance(_DAY + 1)
    world.local.house.journal.maintain(world.local.clock.wall())


@step
async def doubt(world: World, player: Player, number: int) -> None:
    """The client has seen what the host, back from an old copy, does not know: next time it gets snapshots."""
    player.host._connection.mirror.last_seen = 2**53 - 1


@step
async def forget(world: World, player: Player, number: int) -> None:
    """A month goes by in which the host is down: nobody is known to it any more."""
    assert isinstance(world.local.clock, ManualClock)
    assert world.local.house is not None
    world.local.clock.advance(31 * _DAY * 1000)
    world.local.house.journal.maintain(world.local.clock.wall())
    await world.local.restart()


# The end


async def come_to_rest(world: World) -> None:
    """Let everything through, answer what is asked, and wait until nothing is left to happen."""
    for player in world.players:
        await player.line.arrive()
        await player.line.free()
    for _ in range(_PATIENCE):
        await world.go_on()
        await world.local.advance(0.05)
        first = world.players[0]
        if first.host.status is holdfast.Status.LIVE:
            await answer(world, first, 1)
            running = first.chat.active_turn
            if running is not None and running.message.text.endswith("p") and not first.session.waiting:
                await cancel(world, first, 0)
            if first.chat.queued and not first.chat.is_busy:
                await send(world, first, 0)  # a turn that failed or was cancelled keeps the queue waiting
        if not unrest(world):
            return
    raise AssertionError(f"still waiting: {unrest(world)}")


def unrest(world: World) -> list[object]:
    """What has still to happen."""
    found: list[object] = list(world.tasks)
    for player in world.players:
        mirror = player.host._connection.mirror
        found += () if player.host.status is holdfast.Status.LIVE else (player.host,)
        found += [channel for channel in mirror.channels.values() if channel.pending]
        found += [told.turn for told in player.told if not told.turn.is_over]
        found += [receipt for receipt in player.receipts if not receipt.is_settled]
        if player.host.status is holdfast.Status.LIVE:
            found += (*player.chat.queued, *((player.chat.active_turn,) if player.chat.active_turn else ()))
    return found


def beliefs(player: Player) -> dict[str, Any]:
    mirror = player.host._connection.mirror
    return {uri: comparable(channel.kind, to_json(channel.optimistic)) for uri, channel in mirror.channels.items()}


async def end(world: World, *, was_rude: bool) -> None:
    await come_to_rest(world)
    newcomer = await world.join(world.players[0].session.uri)
    for _ in range(_PATIENCE):  # the last words of the host may still be under way
        if all(beliefs(player) == beliefs(newcomer) for player in world.players):
            break
        await world.go_on()
    for player in world.players:
        player.check()
        assert beliefs(player) == beliefs(newcomer)
        for told in player.told:
            await check_outcome(player, told, was_rude=was_rude)
    for player in world.players:
        await player.host.close()


async def check_outcome(player: Player, told: Told, *, was_rude: bool) -> None:
    try:
        outcome = await told.turn
    except holdfast.Interrupted as error:
        if error.is_unheard:
            raise  # it could have been said again
        return  # nobody knows; it may be there or not, once at most
    if outcome.turn is not None:
        assert told.text == outcome.text
    if not was_rude and not player.chat.is_unwanted(told.turn.id):
        assert outcome.turn is not None
        assert player.messages()[outcome.turn.message.text] == 1


Program: TypeAlias = list[tuple[str, int, int]]


def perform(players: int, program: Program) -> None:
    was_rude = any(name in RUDE for name, _, _ in program)

    async def performance() -> None:
        async with local_host([Actor(play)], clock=ManualClock()) as local:
            world = World(local)
            first = await world.join()
            for _ in range(players - 1):
                await world.join(first.session.uri)
            for player in world.players:
                player.is_sure = not was_rude
            for name, who, number in program:
                await STEPS[name](world, world.players[who % players], number)
                for player in world.players:
                    player.check()
            await end(world, was_rude=was_rude)

    run(performance, 60)


def programs(*names: str, most: int) -> st.SearchStrategy[Program]:
    return st.lists(st.tuples(st.sampled_from(names), st.integers(0, 4), st.integers(0, 9)), max_size=most)


GENTLE: Final = (
    "send",
    "queue",
    "breathe",
    "hold_in",
    "free_in",
    "hold_out",
    "let_out",
    "free",
    "cut",
    "cut_late",
    "arrive",
)


@settings(max_examples=150)
@given(players=st.integers(2, 5), program=programs(*STEPS, most=40))
def test_all_believe_the_same_in_the_end(players: int, program: Program) -> None:  # W-26, W-46, W-58
    perform(players, program)


@settings(max_examples=100)
@given(players=st.integers(2, 3), program=programs(*GENTLE, "drop_all", "doubt", most=40))
def test_messages_are_neither_lost_nor_doubled(players: int, program: Program) -> None:
    perform(players, program)


# Programs that went wrong once, or that chance rarely writes.
FOUND: Final[dict[str, tuple[int, Program]]] = {
    "it began and was taken back in one replay": (
        2,
        [("hold_in", 1, 0), ("send", 1, 1), ("truncate", 1, 0), ("breathe", 0, 9), ("cut", 1, 0)],
    ),
    "somebody began, and all was taken back": (
        3,
        [("restart", 2, 5), ("queue", 3, 3), ("send", 4, 0), ("truncate", 1, 0)],
    ),
    "the host forgot the client while it came back": (
        3,
        [("hold_out", 3, 3), ("cut_late", 0, 1), ("breathe", 4, 5), ("send", 1, 9)],
    ),
    "a late connection was taken for the newest": (
        3,
        [
            ("hold_out", 0, 4),
            ("cut_late", 0, 9),
            ("breathe", 4, 5),
            ("send", 3, 5),
            ("cut_late", 3, 3),
            ("breathe", 1, 8),
            ("let_out", 0, 2),
        ],
    ),
    "what was said again arrived after the first": (
        2,
        [
            ("hold_out", 0, 0),
            ("hold_in", 0, 0),
            ("send", 0, 1),
            ("rename", 1, 1),
            ("breathe", 0, 9),
            ("doubt", 0, 0),
            ("cut_late", 0, 0),
            ("free_in", 0, 0),
            ("breathe", 0, 9),
            ("let_out", 0, 1),
            ("breathe", 0, 9),
            ("arrive", 0, 0),
            ("breathe", 0, 1),
        ],
    ),
    "somebody began while one could not": (
        2,
        [("hold_out", 0, 0), ("cut", 0, 0), ("breathe", 0, 5), ("send", 1, 3), ("send", 0, 1), ("breathe", 0, 9)],
    ),
    "several of its own could not begin": (
        2,
        [("hold_out", 3, 0), ("send", 3, 6), ("cancel", 3, 6), ("send", 3, 6), ("restart", 4, 1), ("queue", 4, 1)],
    ),
    "what was repeated was said after what followed it": (
        3,
        [("send", 0, 1), ("cut", 0, 3), ("forget", 4, 8), ("forget", 0, 6), ("queue", 3, 7), ("cancel", 3, 1)],
    ),
}


@pytest.mark.parametrize(("players", "program"), FOUND.values(), ids=FOUND)
def test_what_went_wrong_once_goes_right(players: int, program: Program) -> None:
    perform(players, program)
