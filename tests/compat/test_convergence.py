"""Clients of any two versions in the same chat see the same, whatever happens in whatever order.

A random story of two clients, an agent and their network is played against a host in memory. At its end both have
what a newcomer of their version is shown, and what the newer one has is, in the words of the older one, what that
one has.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, Final

from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from compat.mixed import Mixed, agreed, understood
from holdfast.host import lag
from holdfast.ports.agent import StartTurn, TurnKey
from holdfast.protocol.common import ErrorInfo
from host.bench import Bench, user
from host.conversation import CHAT, SESSION, session, speak
from vintage import VINTAGES

OOPS: Final = ErrorInfo(error_type="io", message="gone")


class Story:
    """Two clients, an agent, and what happens."""

    def __init__(self, versions: tuple[str, str]) -> None:
        self.bench = Bench()
        maker = self.bench.client("maker")
        session(maker)
        maker.drop()
        self.clients = [Mixed.begin(self.bench, version, f"c{n}") for n, version in enumerate(versions)]
        self.online = [True, True]
        self.key: TurnKey | None = None
        self.numbers = itertools.count(1)
        self.turns: list[str] = []
        self.calls: list[str] = []
        self.asked: list[str] = []

    # What clients do

    def client(self, who: int) -> Mixed:
        """One of the clients; connected."""
        if not self.online[who] or self.clients[who].closed:
            self.come_back(who)
        return self.clients[who]

    def starts(self, who: int) -> None:
        turn = f"t{next(self.numbers)}"
        self.turns.append(turn)
        self.client(who).act(
            CHAT, "chat/turnStarted", turnId=turn, message=user(f"say {turn}"), startedAt="2026-03-01T12:00:00.000Z"
        )
        self._notice()

    def _notice(self) -> None:
        """Which turn the agent plays."""
        for started in self.bench.taken(StartTurn):
            self.key = started.key
            self.calls, self.asked = [], []

    @property
    def turn(self) -> str:
        """The turn that runs, or the last one that did."""
        return self.key.turn_id if self.key is not None else self.turns[-1] if self.turns else "nobody"

    def cancels(self, who: int) -> None:
        self.client(who).act(CHAT, "chat/turnCancelled", turnId=self.turn, duration=5)
        self._notice()

    def queues(self, who: int) -> None:
        fields = {"kind": "queued", "id": f"q{next(self.numbers)}", "message": user("next")}
        self.client(who).act(CHAT, "chat/pendingMessageSet", **fields)
        self._notice()

    def steers(self, who: int) -> None:
        self.client(who).act(CHAT, "chat/pendingMessageSet", kind="steering", id="s", message=user("left"))

    def withdraws(self, who: int) -> None:
        self.client(who).act(CHAT, "chat/pendingMessageRemoved", kind="steering", id="s")

    def approves(self, who: int) -> None:
        for id in self.calls[-1:]:
            fields = {"turnId": self.turn, "toolCallId": id, "approved": True, "confirmed": "user-action"}
            self.client(who).act(CHAT, "chat/toolCallConfirmed", **fields)

    def denies(self, who: int) -> None:
        for id in self.calls[-1:]:
            fields = {"turnId": self.turn, "toolCallId": id, "approved": False, "reason": "denied"}
            self.client(who).act(CHAT, "chat/toolCallConfirmed", **fields)

    def passes(self, who: int) -> None:
        for id in self.calls[-1:]:
            fields = {"turnId": self.turn, "toolCallId": id, "approved": True}
            self.client(who).act(CHAT, "chat/toolCallResultConfirmed", **fields)

    def answers(self, who: int) -> None:
        for id in self.asked[-1:]:
            answer = {"state": "draft", "value": {"kind": "boolean", "value": True}}
            self.client(who).act(CHAT, "chat/inputAnswerChanged", requestId=id, questionId="a", answer=answer)

    def submits(self, who: int) -> None:
        for id in self.asked[-1:]:
            answers = {"a": {"state": "submitted", "value": {"kind": "boolean", "value": False}}}
            fields = {"requestId": id, "response": "accept", "answers": answers}
            self.client(who).act(CHAT, "chat/inputCompleted", **fields)

    def truncates(self, who: int) -> None:
        kept = {"turnId": self.turns[0]} if self.turns else {}
        self.client(who).act(CHAT, "chat/truncated", **kept)
        self._notice()

    def resumes(self, who: int) -> None:
        self.client(who).act(CHAT, "chat/turnResume", turnId=self.turn)
        self._notice()

    def drafts(self, who: int) -> None:
        self.client(who).act(CHAT, "chat/draftChanged", draft=user(f"draft {next(self.numbers)}"))

    def renames(self, who: int) -> None:
        self.client(who).act(SESSION, "session/titleChanged", title=f"T{next(self.numbers)}")

    def reads(self, who: int) -> None:
        self.client(who).act(SESSION, "session/isReadChanged", isRead=True)

    def reads_chat(self, who: int) -> None:
        self.client(who).act(CHAT, "chat/isReadChanged", isRead=True)

    def archives(self, who: int) -> None:
        self.client(who).act(SESSION, "session/isArchivedChanged", isArchived=bool(next(self.numbers) % 2))

    def sets_mode(self, who: int) -> None:
        self.client(who).act(SESSION, "session/configChanged", config={"mode": "auto"})

    def brings_tools(self, who: int) -> None:
        tools = [{"name": f"n{next(self.numbers)}", "inputSchema": {"type": "object"}}]
        client = self.client(who)
        client.act(SESSION, "session/activeClientSet", activeClient={"clientId": client.id, "tools": tools})

    def takes_tools(self, who: int) -> None:
        client = self.client(who)
        client.act(SESSION, "session/activeClientRemoved", clientId=client.id)

    def moves(self, who: int) -> None:
        self.client(who).act(SESSION, "session/workingDirectorySet", directory=f"file:///w{next(self.numbers)}")

    def forks(self, who: int) -> None:
        self.catches_up(who)  # an answer waits for its place
        for turn in self.turns[:1]:
            chat = f"ahp-chat:/f{next(self.numbers)}"
            source = {"kind": "fork", "chat": CHAT, "turnId": turn}
            self.client(who).ask("createChat", SESSION, chat=chat, source=source)

    # The network

    def leaves(self, who: int) -> None:
        if self.online[who]:
            self.clients[who].drop()
            self.online[who] = False

    def come_back(self, who: int) -> None:
        if self.online[who]:
            self.clients[who].drop()
        self.clients[who] = self.clients[who].back()
        self.online[who] = True

    def lags(self, who: int) -> None:
        """The client's link is full for a while."""
        client = self.client(who)
        lag.begin(self.bench.host, client.connection)

    def catches_up(self, who: int) -> None:
        client = self.client(who)
        lag.catch_up(self.bench.host, client.connection)
        self.bench.settle()

    # What the agent does

    def says(self, who: int) -> None:
        self._speak("chat/responsePart", part={"kind": "markdown", "id": f"p{next(self.numbers)}", "content": "so "})

    def _speak(self, type: str, **fields: Any) -> None:  # noqa: A002 - the protocol's word
        if self.key is not None:
            speak(self.bench, self.key, type, **fields)

    def streams(self, who: int) -> None:
        id = f"p{next(self.numbers)}"
        self._speak("chat/responsePart", part={"kind": "markdown", "id": id, "content": ""})
        for word in ("one ", "two "):
            self._speak("chat/delta", partId=id, content=word)

    def notifies(self, who: int) -> None:
        self._speak("chat/responsePart", part={"kind": "systemNotification", "content": "psst", "_meta": {"a": 1}})

    def thinks(self, who: int) -> None:
        id = f"r{next(self.numbers)}"
        self._speak("chat/responsePart", part={"kind": "reasoning", "id": id, "content": "hm"})
        self._speak("chat/reasoning", partId=id, content=", well")

    def calls_tool(self, who: int) -> None:
        id = f"k{next(self.numbers)}"
        self.calls.append(id)
        named = {"toolName": "sh", "displayName": "Shell", "intention": "look"}
        self._speak("chat/toolCallStart", toolCallId=id, **named)
        self._speak("chat/toolCallDelta", toolCallId=id, content="{}")
        self._speak("chat/toolCallReady", toolCallId=id, invocationMessage="run", toolInput="ls")

    def asks_again(self, who: int) -> None:
        for id in self.calls[-1:]:
            risk = {"status": "loading", "kind": "judge"}
            fields = {"invocationMessage": f"run {next(self.numbers)}", "riskAssessment": risk}
            self._speak("chat/toolCallReady", toolCallId=id, **fields)

    def runs_tool(self, who: int) -> None:
        for id in self.calls[-1:]:
            self._speak("chat/toolCallReady", toolCallId=id, invocationMessage="run", confirmed="not-needed")
            block = {"type": "terminal", "resource": "ahp-terminal:/1", "title": "sh"}
            self._speak("chat/toolCallContentChanged", toolCallId=id, content=[block])

    def finishes_tool(self, who: int) -> None:
        for id in self.calls[-1:]:
            block = {"type": "terminal", "resource": "ahp-terminal:/1", "title": "sh", "result": {"exitCode": who}}
            result = {"success": True, "pastTenseMessage": "ran", "content": [block]}
            review = {"requiresResultConfirmation": True} if who else {}
            self._speak("chat/toolCallComplete", toolCallId=id, result=result, **review)

    def asks(self, who: int) -> None:
        id = f"i{next(self.numbers)}"
        self.asked.append(id)
        question = {"id": "a", "kind": "boolean", "message": "Also dist/?", "required": True}
        self._speak("chat/inputRequested", request={"id": id, "questions": [question]})

    def counts(self, who: int) -> None:
        self._speak("chat/usage", usage={"inputTokens": next(self.numbers)})

    def ends(self, who: int) -> None:
        key, self.key = self.key, None
        if key is not None:
            self.bench.end(key)
            self._notice()

    def fails(self, who: int) -> None:
        key, self.key = self.key, None
        if key is not None:
            self.bench.end(key, OOPS, resumable=bool(who))
            self._notice()

    def restarts(self, who: int) -> None:
        """The host is killed and started again."""
        self.bench.restart()
        self.online = [False, False]
        self.key = None
        self._notice()

    # The end

    def agree(self) -> None:
        """Both have what newcomers are shown, and understand each other."""
        for who in (0, 1):
            self.catches_up(who)
        while self.key is not None:
            self.ends(0)
        for who in (0, 1):
            self.client(who)
        for client in self.clients:
            newcomer = Mixed.begin(self.bench, client.version, f"newcomer of {client.version}")
            for channel in client.channels:
                believed = agreed(client.version, channel, client.believed(channel))
                assert believed == agreed(client.version, channel, newcomer.snapshots[channel]), client.version
        newer, older = sorted(self.clients, key=lambda each: VINTAGES.index(each.version), reverse=True)
        for channel in older.channels:
            told = understood(newer, older.version, channel)
            assert agreed(older.version, channel, told) == agreed(older.version, channel, older.believed(channel))


AT_ANY_TIME: Final = (
    Story.drafts,
    Story.renames,
    Story.reads,
    Story.reads_chat,
    Story.archives,
    Story.sets_mode,
    Story.brings_tools,
    Story.takes_tools,
    Story.moves,
    Story.forks,
    Story.leaves,
    Story.lags,
    Story.catches_up,
    Story.restarts,
)
WHILE_NOTHING_RUNS: Final = (Story.truncates, *[Story.starts] * 8, *[Story.resumes] * 4)
WHILE_A_TURN_RUNS: Final = (
    Story.cancels,
    Story.queues,
    Story.steers,
    Story.withdraws,
    Story.says,
    Story.streams,
    Story.notifies,
    Story.thinks,
    Story.counts,
    *[Story.calls_tool] * 3,
    *[Story.asks] * 3,
    *[Story.ends] * 2,
    *[Story.fails] * 2,
)
WITH_A_CALL: Final = (
    *[Story.asks_again] * 4,
    *[Story.runs_tool] * 3,
    *[Story.finishes_tool] * 3,
    *[Story.approves] * 3,
    Story.denies,
    *[Story.passes] * 3,
)
WITH_A_QUESTION: Final = (*[Story.answers] * 2, *[Story.submits] * 5)


def _possible(story: Story) -> tuple[Callable[[Story, int], None], ...]:
    """What may well happen next, the likely as often as it is."""
    if story.key is None:
        return (*AT_ANY_TIME, *WHILE_NOTHING_RUNS)
    calls = WITH_A_CALL if story.calls else ()
    return (*AT_ANY_TIME, *WHILE_A_TURN_RUNS, *calls, *(WITH_A_QUESTION if story.asked else ()))


@given(versions=st.tuples(st.sampled_from(VINTAGES), st.sampled_from(VINTAGES)), data=st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_two_versions_converge(versions: tuple[str, str], data: st.DataObject) -> None:  # W-47
    story = Story(versions)
    for _ in range(data.draw(st.integers(1, 50), label="length")):
        happening, who = data.draw(st.sampled_from(_possible(story))), data.draw(st.integers(0, 1))
        note(f"story.{happening.__name__}({who})")
        happening(story, who)
    story.agree()
