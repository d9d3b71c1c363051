"""What a client believes of a host: its own actions at once, the host's word in the end, whatever was lost between.

The mirror is pure: what the host would say is written down here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from holdfast.client.mirror import Batch, Change, Lost, Mirror, Redo, Replayed, Resumed, Settled
from holdfast.protocol.chat import actions as chat
from holdfast.protocol.chat.messages import Message, MessageKind, MessageOrigin, PendingMessage
from holdfast.protocol.chat.parts import ErrorResponsePart
from holdfast.protocol.chat.state import ActiveTurn, ChatState, Turn, TurnState
from holdfast.protocol.codec import Unknown, convert
from holdfast.protocol.common import ConfigPropertySchema, ConfigSchema, ErrorInfo, UsageInfo
from holdfast.protocol.connection.commands import ReconnectReplayResult, ReconnectSnapshotResult
from holdfast.protocol.envelope import ActionEnvelope, ActionOrigin, StateAction
from holdfast.protocol.errors import ProtocolError
from holdfast.protocol.root import actions as root
from holdfast.protocol.root.state import RootConfigState, RootState
from holdfast.protocol.session import actions as session
from holdfast.protocol.session.state import SessionState
from holdfast.protocol.snapshot import Snapshot
from holdfast.protocol.uris import ROOT

ME = "me"
CHAT = "ahp-chat:/c"
NOON = "2026-05-03T12:00:00.000Z"


def message(text: str) -> Message:
    return Message(text=text, origin=MessageOrigin(kind=MessageKind.USER))


def chat_state(*turns: Turn, **more: Any) -> ChatState:
    return ChatState(resource=CHAT, title="", status=1, modified_at=NOON, turns=turns, **more)


def turn(id: str, state: TurnState = TurnState.COMPLETE) -> Turn:
    return Turn(id=id, message=message(id), response_parts=(), state=state)


def active(id: str) -> ActiveTurn:
    return ActiveTurn(id=id, started_at=NOON, message=message(id), response_parts=())


def envelope(
    seq: int,
    action: StateAction | Unknown,
    mine: int | None = None,
    *,
    by: str = ME,
    refused: str | None = None,
    channel: str = CHAT,
) -> ActionEnvelope:
    origin = None if mine is None else ActionOrigin(client_id=by, client_seq=mine)
    return ActionEnvelope(channel=channel, action=action, server_seq=seq, origin=origin, rejection_reason=refused)


def shown(state: Any, seq: int, resource: str = CHAT) -> Snapshot:
    return Snapshot(resource=resource, state=state, from_seq=seq)


def following(state: Any = None, seq: int = 10, uri: str = CHAT) -> Mirror:
    mirror = Mirror(ME)
    mirror.follow(uri)
    mirror.snapshot(shown(chat_state() if state is None else state, seq, uri))
    return mirror


def take(mirror: Mirror, *envelopes: ActionEnvelope) -> list[Change]:
    """One after the other."""
    return [change for each in envelopes for change in mirror.envelopes((each,))]


def draft(text: str) -> chat.DraftChanged:
    return chat.DraftChanged(draft=message(text))


def queued(id: str, kind: chat.PendingMessageKind = chat.PendingMessageKind.QUEUED) -> chat.PendingMessageSet:
    return chat.PendingMessageSet(kind=kind, id=id, message=message(id))


def started(id: str, **more: Any) -> chat.TurnStarted:
    return chat.TurnStarted(turn_id=id, started_at=NOON, message=message(id), **more)


def texts(mirror: Mirror) -> tuple[str | None, str | None]:
    """What people see of the draft, and what the host has confirmed."""
    drafts = [each.draft for each in (mirror.state(CHAT), mirror.channels[CHAT].confirmed)]
    return tuple(each.text if each else None for each in drafts)  # type: ignore[return-value]  # there are two


def queue(mirror: Mirror) -> list[str]:
    return [each.id for each in mirror.state(CHAT).queued_messages or ()]


# While the connection lasts


def test_an_own_action_is_seen_at_once_and_kept_when_it_is_echoed() -> None:  # W-58
    mirror = following()
    number = mirror.dispatch(CHAT, draft("a"))
    assert texts(mirror) == ("a", None)
    (change,) = take(mirror, envelope(14, draft("a"), number))
    assert change.settled == (number, None)
    assert texts(mirror) == ("a", "a")
    assert mirror.state(CHAT) is mirror.channels[CHAT].confirmed


def test_a_refused_action_leaves_no_trace() -> None:  # W-58
    mirror = following()
    before = mirror.state(CHAT)
    number = mirror.dispatch(CHAT, draft("a"))
    (change,) = take(mirror, envelope(14, draft("a"), number, refused="no"))
    assert change.settled == (number, "no")
    assert change.action is None
    assert mirror.state(CHAT) == before
    assert mirror.last_seen == 14


def test_the_host_may_say_it_differently() -> None:
    mirror = following()
    number = mirror.dispatch(CHAT, draft("a"))
    take(mirror, envelope(14, draft("A, as the host has it"), number))
    assert texts(mirror) == ("A, as the host has it",) * 2


def test_what_others_do_comes_below_what_is_pending() -> None:
    mirror = following()
    number = mirror.dispatch(CHAT, draft("mine"))
    (change,) = take(mirror, envelope(14, draft("theirs"), 7, by="they"))
    assert (change.by, change.settled) == ("they", None)
    assert texts(mirror) == ("mine", "theirs")
    take(mirror, envelope(18, draft("mine"), number))
    assert texts(mirror) == ("mine", "mine")


def test_the_same_number_of_another_client_settles_nothing() -> None:
    mirror = following()
    number = mirror.dispatch(CHAT, draft("mine"))
    take(mirror, envelope(14, draft("theirs"), number, by="they"))
    assert [entry.client_seq for entry in mirror.channels[CHAT].pending] == [number]


def test_answers_may_come_in_any_order() -> None:
    mirror = following()
    first, second, third = (mirror.dispatch(CHAT, queued(id)) for id in "abc")
    assert queue(mirror) == ["a", "b", "c"]
    take(mirror, envelope(14, queued("b"), second))
    assert queue(mirror) == ["b", "a", "c"]
    take(mirror, envelope(18, queued("a"), first, refused="no"), envelope(22, queued("c"), third))
    assert queue(mirror) == ["b", "c"]
    assert mirror.channels[CHAT].pending == []


def test_an_echo_that_comes_twice_counts_once() -> None:
    mirror = following()
    number = mirror.dispatch(CHAT, queued("a"))
    echo = envelope(14, queued("a"), number)
    take(mirror, echo)
    before = mirror.state(CHAT)
    changes = take(mirror, echo)
    assert mirror.state(CHAT) is before
    assert all(change.action is None or change.settled for change in changes)
    take(mirror, envelope(12, draft("long ago")))
    assert mirror.state(CHAT) is before


def test_what_is_newer_than_this_client_changes_nothing() -> None:  # W-59
    mirror = following()
    before = mirror.state(CHAT)
    take(mirror, envelope(14, Unknown({"type": "chat/hologram"})))
    assert mirror.state(CHAT) is before
    assert mirror.last_seen == 14


def test_channels_that_nobody_follows_only_count() -> None:
    mirror = following()
    number = mirror.dispatch("ahp-chat:/other", draft("a"))
    assert take(mirror, envelope(14, draft("b"), channel="ahp-chat:/other")) == []
    (change,) = take(mirror, envelope(18, draft("a"), number, refused="no", channel="ahp-chat:/other"))
    assert change == (None, None, (number, "no"), None, False)
    assert mirror.last_seen == 18
    assert mirror.state("ahp-chat:/other") is None


def test_what_is_forgotten_is_not_awaited() -> None:
    mirror = following()
    numbers = [mirror.dispatch(CHAT, draft(text)) for text in "ab"]
    assert mirror.forget(CHAT) == numbers
    assert mirror.forget(CHAT) == []


# Before there is a state


def test_what_comes_before_the_snapshot_waits_for_it() -> None:  # W-26
    mirror = Mirror(ME)
    mirror.follow(CHAT)
    number = mirror.dispatch(CHAT, queued("mine"))
    take(mirror, envelope(14, queued("consumed")), envelope(22, draft("later")), envelope(26, queued("mine"), number))
    assert mirror.state(CHAT) is None
    first, *_ = mirror.snapshot(shown(chat_state(), 18))
    assert first.is_renewed
    assert texts(mirror) == ("later", "later")
    assert queue(mirror) == ["mine"]
    assert mirror.channels[CHAT].pending == []
    assert mirror.last_seen == 26


def test_an_action_shows_as_soon_as_there_is_a_state() -> None:
    mirror = Mirror(ME)
    mirror.follow(CHAT)
    mirror.dispatch(CHAT, draft("a"))
    mirror.snapshot(shown(chat_state(), 18))
    assert texts(mirror) == ("a", None)


def test_a_host_that_sends_no_snapshot_is_not_listened_to_for_ever() -> None:
    mirror = Mirror(ME)
    mirror.follow(CHAT)
    flood = envelope(14, draft("x"))
    for _ in range(100_000):
        mirror.envelopes((flood,))
    with pytest.raises(ProtocolError, match="no snapshot"):
        mirror.envelopes((flood,))


# What hosts do to turns


FAILED = ErrorResponsePart(error=ErrorInfo(error_type="failed", message="It broke."), resumable=True)

ENDINGS = [
    chat.TurnComplete(turn_id="t", duration=1),
    chat.TurnCancelled(turn_id="t", duration=1),
    chat.Error(turn_id="t", duration=1, part=FAILED),
]


@pytest.mark.parametrize("ending", ENDINGS, ids=lambda action: type(action).__name__)
def test_an_end_confirms_a_beginning_that_was_not_echoed(ending: StateAction) -> None:
    mirror = following()
    number = mirror.dispatch(CHAT, started("t"))
    take(mirror, envelope(14, ending))
    state = mirror.state(CHAT)
    assert state.active_turn is None
    assert [each.id for each in state.turns] == ["t"]
    assert state == mirror.channels[CHAT].confirmed
    (change,) = take(mirror, envelope(18, started("t"), number))
    assert change.settled == (number, None)
    assert mirror.state(CHAT) == state, "the echo comes too late to begin it again"
    take(mirror, envelope(22, started("t2")))
    assert mirror.state(CHAT).active_turn.id == "t2"


def test_a_turn_that_was_begun_twice_keeps_what_it_said() -> None:
    mirror = following()
    first, again = (mirror.dispatch(CHAT, started("t")) for _ in range(2))
    usage = chat.Usage(turn_id="t", usage=UsageInfo(output_tokens=3))
    take(mirror, envelope(14, started("t"), first), envelope(18, usage), envelope(22, ENDINGS[0]))
    take(mirror, envelope(26, started("t"), again, refused="there is a turn t"))
    (over,) = mirror.state(CHAT).turns
    assert over.usage == usage.usage


@pytest.mark.parametrize("ending", ENDINGS, ids=lambda action: type(action).__name__)
def test_an_end_that_a_client_said_confirms_nothing(ending: StateAction) -> None:
    mirror = following()
    mirror.dispatch(CHAT, started("t"))
    take(mirror, envelope(14, ending, 3, by="they"))
    assert mirror.state(CHAT).active_turn.id == "t"
    assert mirror.channels[CHAT].confirmed.turns == ()


def test_the_end_of_another_turn_confirms_nothing() -> None:
    mirror = following(chat_state(active_turn=active("t")))
    mirror.dispatch(CHAT, queued("q"))
    take(mirror, envelope(14, chat.TurnComplete(turn_id="t", duration=1)))
    assert queue(mirror) == ["q"]
    assert [entry.client_seq for entry in mirror.channels[CHAT].pending] == [1]


# Configuration of the host, whose changes may be swallowed


def host_state(**values: Any) -> RootState:
    schema = ConfigSchema(type="object", properties={"x": ConfigPropertySchema(type="string", title="X")})
    return RootState(agents=(), config=RootConfigState(schema=schema, values=values))


def test_a_change_that_was_swallowed_goes_with_the_next_echo() -> None:
    mirror = following(host_state(x="1"), uri=ROOT)
    mirror.dispatch(ROOT, root.ConfigChanged(config={"x": "1"}))
    later = mirror.dispatch(ROOT, root.ConfigChanged(config={"x": "2"}))
    last = mirror.dispatch(ROOT, root.ConfigChanged(config={"x": "3"}))
    take(mirror, envelope(14, root.ConfigChanged(config={"x": "2"}), later, channel=ROOT))
    assert [entry.client_seq for entry in mirror.channels[ROOT].pending] == [last]
    assert mirror.state(ROOT).config.values == {"x": "3"}
    take(mirror, envelope(18, root.ConfigChanged(config={"x": "3"}), last, refused="no", channel=ROOT))
    assert mirror.state(ROOT).config.values == {"x": "2"}


def test_the_root_may_be_spelled_in_the_hosts_way() -> None:
    mirror = Mirror(ME)
    mirror.follow(ROOT)
    mirror.snapshot(shown(host_state(x="1"), 10, "ahp-root:/"))
    take(mirror, envelope(14, root.ConfigChanged(config={"x": "2"}), channel="ahp-root:"))
    assert mirror.state(ROOT).config.values == {"x": "2"}


# What older hosts say once and this version says twice


def test_envelopes_that_share_a_number_are_applied_as_one() -> None:
    mirror = following()
    number = mirror.dispatch(CHAT, draft("mine"))
    both = (envelope(14, queued("q")), envelope(14, draft("mine"), number))
    changes = mirror.envelopes(both)
    assert queue(mirror) == ["q"]
    assert texts(mirror) == ("mine", "mine")
    assert [change.settled for change in changes] == [None, (number, None)]
    assert mirror.envelopes(both) == [Change(mirror.channels[CHAT], both[1].action, Settled(number), ME)]
    assert queue(mirror) == ["q"]


def test_envelopes_that_share_a_number_may_be_of_several_channels() -> None:
    mirror = following()
    other = "ahp-chat:/d"
    mirror.follow(other)
    mirror.snapshot(shown(chat_state(), 10, other))
    mirror.envelopes((envelope(14, draft("here")), envelope(14, draft("there"), channel=other)))
    assert texts(mirror)[1] == "here"
    assert mirror.state(other).draft.text == "there"


def test_early_envelopes_that_share_a_number_wait_together() -> None:
    mirror = Mirror(ME)
    mirror.follow(CHAT)
    mirror.envelopes((envelope(14, queued("a")), envelope(14, queued("b"))))
    mirror.snapshot(shown(chat_state(), 10))
    assert queue(mirror) == ["a", "b"]


def test_a_replay_keeps_envelopes_together_that_share_a_number() -> None:
    mirror = following()
    both = Batch(14, (envelope(14, queued("a")), envelope(14, queued("b"))))
    resumed = mirror.resume(Replayed((both, Batch(18, ()), Batch(22, (envelope(22, draft("c")),))), ()))
    assert queue(mirror) == ["a", "b"]
    assert len(resumed.changes) == 3
    mirror.resume(Replayed((Batch(26, ()),), ()))
    assert mirror.last_seen == 26, "what means nothing here was said all the same"


# Coming back


def replay(mirror: Mirror, *envelopes: ActionEnvelope, missing: Sequence[str] = ()) -> Resumed:
    return mirror.resume(ReconnectReplayResult(actions=envelopes, missing=tuple(missing)))


def snapshots(mirror: Mirror, *found: Snapshot) -> Resumed:
    return mirror.resume(ReconnectSnapshotResult(snapshots=found))


def test_what_a_replay_contains_was_done() -> None:  # W-46
    mirror = following()
    number = mirror.dispatch(CHAT, queued("a"))
    resumed = replay(mirror, envelope(14, queued("a"), number))
    assert (resumed.again, resumed.lost) == ([], [])
    assert queue(mirror) == ["a"]
    assert mirror.state(CHAT) is mirror.channels[CHAT].confirmed


def test_what_a_replay_does_not_contain_is_said_again_under_its_number() -> None:
    mirror = following()
    numbers = [mirror.dispatch(CHAT, queued(id)) for id in "ab"]
    resumed = replay(mirror, envelope(14, draft("theirs"), 1, by="they"))
    assert resumed.again == [Redo(CHAT, queued(id), number, number) for id, number in zip("ab", numbers, strict=True)]
    assert queue(mirror) == ["a", "b"]
    take(mirror, envelope(18, queued("a"), numbers[0]), envelope(22, queued("b"), numbers[1]))
    assert queue(mirror) == ["a", "b"]
    assert mirror.channels[CHAT].pending == []
    assert mirror.dispatch(CHAT, draft("new")) > max(numbers)


def test_after_a_snapshot_only_what_does_no_harm_is_said_again() -> None:
    mirror = following()
    kept = mirror.dispatch(CHAT, draft("mine"))
    unknown = mirror.dispatch(CHAT, queued("a"))
    resumed = snapshots(mirror, shown(chat_state(), 50))
    (redo,) = resumed.again
    assert (redo.action, redo.before) == (draft("mine"), kept)
    assert redo.client_seq > unknown, "the host must answer it, also if it had heard the first"
    assert resumed.lost == [Lost(unknown, is_unheard=False)]
    assert texts(mirror) == ("mine", None)
    assert queue(mirror) == []
    take(mirror, envelope(54, draft("mine"), redo.client_seq))
    assert texts(mirror) == ("mine", "mine")


@pytest.mark.parametrize("renewed", [False, True])
def test_what_was_never_sent_is_said_now(renewed: bool) -> None:
    mirror = following()
    numbers = [mirror.dispatch(CHAT, queued(id), sent=False) for id in "ab"]
    cut = mirror.dispatch(CHAT, chat.Truncated(turn_id=None), sent=False)
    resumed = snapshots(mirror, shown(chat_state(), 50)) if renewed else replay(mirror)
    assert [redo.client_seq for redo in resumed.again] == [*numbers, cut]
    assert resumed.lost == []
    assert queue(mirror) == ["a", "b"]
    again = replay(mirror)
    assert [redo.client_seq for redo in again.again] == numbers, "by now it was sent, and may not be said twice"
    assert again.lost == [Lost(cut, is_unheard=True)]


CASES: list[tuple[str, StateAction, ChatState, bool, bool]] = [
    ("a turn that is not there", started("t"), chat_state(), True, True),
    ("a turn that runs", started("t"), chat_state(active_turn=active("t")), False, False),
    ("a turn that is over", started("t"), chat_state(turn("t")), False, False),
    ("a turn while another runs", started("t"), chat_state(active_turn=active("u")), False, False),
    ("the end of a turn that runs", ENDINGS[1], chat_state(active_turn=active("t")), True, True),
    ("the end of one that is over", ENDINGS[1], chat_state(turn("t")), False, False),
    (
        "going on with a turn that failed",
        chat.TurnResume(turn_id="t"),
        chat_state(turn("t", TurnState.ERROR)),
        True,
        False,
    ),
    (
        "going on with one that goes on",
        chat.TurnResume(turn_id="t"),
        chat_state(active_turn=active("t")),
        False,
        False,
    ),
    ("a message to be queued", queued("q"), chat_state(), True, False),
    ("a word to the running turn", queued("q", chat.PendingMessageKind.STEERING), chat_state(), True, False),
    (
        "taking back what waits",
        chat.PendingMessageRemoved(kind=chat.PendingMessageKind.QUEUED, id="q"),
        chat_state(queued_messages=(PendingMessage(id="q", message=message("q")),)),
        True,
        True,
    ),
    (
        "taking back what waits no more",
        chat.PendingMessageRemoved(kind=chat.PendingMessageKind.QUEUED, id="q"),
        chat_state(),
        False,
        False,
    ),
    ("taking back turns", chat.Truncated(turn_id="t"), chat_state(turn("t"), turn("u")), False, False),
    ("a draft", draft("d"), chat_state(), True, True),
    ("an order of the queue", chat.QueuedMessagesReordered(order=("q",)), chat_state(), True, True),
]


@pytest.mark.parametrize(
    ("action", "state", "if_lost", "if_unknown"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_what_is_said_again(action: StateAction, state: ChatState, if_lost: bool, if_unknown: bool) -> None:
    mirror = following(state)
    number = mirror.dispatch(CHAT, action)
    assert bool(replay(mirror).again) is if_lost
    mirror = following(state)
    mirror.dispatch(CHAT, action)
    resumed = snapshots(mirror, shown(state, 50))
    assert bool(resumed.again) is if_unknown
    assert resumed.lost == ([] if if_unknown else [Lost(number, is_unheard=False)])


CALL: dict[str, Any] = {"toolCallId": "c", "toolName": "ls", "displayName": "ls", "invocationMessage": "ls"}


@pytest.mark.parametrize("status", ["pending-confirmation", "running", "pending-result-confirmation"])
@pytest.mark.parametrize(
    ("action", "answers"),
    [
        (chat.ToolCallConfirmed(turn_id="t", tool_call_id="c", approved=True), "pending-confirmation"),
        (chat.ToolCallResultConfirmed(turn_id="t", tool_call_id="c", approved=True), "pending-result-confirmation"),
        (chat.ToolCallContentChanged(turn_id="t", tool_call_id="c", content=()), "running"),
    ],
    ids=["confirmed", "result", "content"],
)
def test_a_decision_is_said_again_while_it_is_waited_for(action: StateAction, answers: str, status: str) -> None:
    done = {"success": True, "pastTenseMessage": "ls"} if status == "pending-result-confirmation" else {}
    confirmed = {} if status == "pending-confirmation" else {"confirmed": "user-action"}
    call = {**CALL, "status": status, **confirmed, **done}
    running = convert(
        ActiveTurn,
        {
            "id": "t",
            "startedAt": NOON,
            "message": {"text": "t", "origin": {"kind": "user"}},
            "responseParts": [{"kind": "toolCall", "toolCall": call}],
        },
    )
    for renewed in (False, True):
        mirror = following(chat_state(active_turn=running))
        mirror.dispatch(CHAT, action)
        resumed = snapshots(mirror, shown(chat_state(active_turn=running), 50)) if renewed else replay(mirror)
        assert bool(resumed.again) is (status == answers)


def test_what_is_said_again_is_said_in_its_order() -> None:
    mirror = following()
    mirror.follow(ROOT)
    mirror.snapshot(shown(host_state(), 10, ROOT))
    actions = [(CHAT, queued("a")), (ROOT, root.ConfigChanged(config={"x": "1"})), (CHAT, queued("b"))]
    for uri, action in actions:
        mirror.dispatch(uri, action)
    assert [(redo.channel, redo.action) for redo in replay(mirror).again] == actions


def test_a_turn_may_begin_where_nothing_is_known_yet() -> None:
    mirror = Mirror(ME)
    mirror.follow(CHAT)
    number = mirror.dispatch(CHAT, started("t"), sent=False)
    assert [redo.client_seq for redo in replay(mirror).again] == [number]
    mirror.snapshot(shown(chat_state(), 20))
    assert mirror.state(CHAT).active_turn.id == "t"


def test_what_was_given_up_may_be_heard_in_the_end() -> None:
    mirror = following()
    number = mirror.dispatch(CHAT, started("t"))
    (redo,) = snapshots(mirror, shown(chat_state(), 50)).again
    take(mirror, envelope(54, started("t"), number, refused="not now"))
    assert [entry.client_seq for entry in mirror.channels[CHAT].pending] == [redo.client_seq]
    (change, _) = take(mirror, envelope(58, started("t"), number), envelope(62, ENDINGS[0]))
    assert change.settled == (redo.client_seq, None)
    assert mirror.state(CHAT).active_turn is None, "it is not shown twice"
    take(mirror, envelope(66, started("t"), redo.client_seq, refused="there is one"))
    assert [each.id for each in mirror.state(CHAT).turns] == ["t"]


def test_one_that_begins_a_turn_may_wait_instead() -> None:
    mirror = following()
    number = mirror.dispatch(CHAT, started("t"), sent=False)
    resumed = replay(mirror, envelope(14, started("u")))
    assert resumed.lost == [Lost(number, is_unheard=True)]
    assert mirror.state(CHAT).active_turn.id == "u"


def test_channels_that_are_gone_take_their_actions_with_them() -> None:
    mirror = following()
    number = mirror.dispatch(CHAT, draft("a"))
    resumed = replay(mirror, missing=[CHAT, "ahp-chat:/never-heard-of"])
    assert (resumed.gone, resumed.lost) == ([CHAT], [Lost(number, is_unheard=True)])
    assert mirror.channels == {}
    mirror = following()
    number = mirror.dispatch(CHAT, draft("a"))
    resumed = snapshots(mirror)
    assert (resumed.gone, resumed.lost) == ([CHAT], [Lost(number, is_unheard=False)])


def test_channels_without_a_state_are_not_gone() -> None:
    mirror = following()
    mirror.follow("ahp-otlp:/logs")
    number = mirror.dispatch("ahp-otlp:/logs", draft("a"), sent=False)
    assert mirror.resumable() == (CHAT,)
    resumed = snapshots(mirror, shown(chat_state(), 50))
    assert resumed.gone == []
    assert [redo.client_seq for redo in resumed.again] == [number]
    assert set(mirror.channels) == {CHAT, "ahp-otlp:/logs"}


def test_what_came_early_on_another_connection_is_dropped() -> None:
    mirror = Mirror(ME)
    mirror.follow(CHAT)
    take(mirror, envelope(400, draft("of a life before")))
    snapshots(mirror)
    mirror.snapshot(shown(chat_state(), 20))
    assert texts(mirror) == (None, None)


def test_a_host_may_count_anew() -> None:
    mirror = following(seq=1_000)
    snapshots(mirror, shown(chat_state(draft=message("a")), 20))
    assert mirror.last_seen == 20, "or what comes up to 1000 would be missed by the next replay"
    take(mirror, envelope(24, draft("b")))
    assert texts(mirror) == ("b", "b")


def test_beginning_anew_is_as_a_snapshot() -> None:
    mirror = following(seq=1_000)
    mirror.follow(ROOT)
    number = mirror.dispatch(CHAT, queued("a"))
    resumed = mirror.begin(40, (shown(chat_state(), 20), shown(host_state(), 30, ROOT)))
    assert mirror.last_seen == 40
    assert resumed.lost == [Lost(number, is_unheard=False)]
    assert mirror.resumable() == (CHAT, ROOT)
    assert sum(change.is_renewed for change in resumed.changes) == 2


def test_an_answer_of_a_kind_nobody_knows_is_as_a_snapshot_of_nothing() -> None:
    mirror = following()
    assert mirror.resume(Unknown({"type": "hologram"})).gone == [CHAT]


def test_sessions_are_settled_like_chats() -> None:
    uri = "ahp-session:/s"
    state = {"provider": "p", "title": "T", "status": 1, "lifecycle": "ready", "activeClients": [], "chats": []}
    mirror = following(convert(SessionState, state), uri=uri)
    number = mirror.dispatch(uri, session.TitleChanged(title="N"))
    assert mirror.state(uri).title == "N"
    assert replay(mirror).again == [Redo(uri, session.TitleChanged(title="N"), number, number)]
    take(mirror, envelope(14, session.TitleChanged(title="N"), number, refused="no", channel=uri))
    assert mirror.state(uri).title == "T"
