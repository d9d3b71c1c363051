"""A chat as blocks."""

from __future__ import annotations

from msgspec.structs import replace

from attach import made
from holdfast.attach.model import transcript
from holdfast.attach.model.transcript import Reader
from holdfast.protocol.chat import actions, inputs, parts
from holdfast.protocol.chat import reducer as chat_reducer
from holdfast.protocol.chat.messages import MessageKind, MessageOrigin, SimpleMessageAttachment
from holdfast.protocol.chat.state import TurnState
from holdfast.protocol.codec import Unknown
from holdfast.protocol.common import ErrorInfo, UsageInfo


def test_a_turn_is_what_was_said_what_was_answered_and_how_it_ended() -> None:
    usage = UsageInfo(input_tokens=900, output_tokens=40, model="big")
    said, prose, ended = Reader().read(made.chat(made.turn("t", "Hi", made.prose("Hello"), usage=usage)))
    assert isinstance(said, transcript.Said)
    assert (said.key, said.text, said.who, said.is_sending) == ("t/said", "Hi", "", False)
    assert isinstance(prose, transcript.Prose)
    assert (prose.key, str(prose.text), prose.grows) == ("t/0", "Hello", False)
    assert isinstance(ended, transcript.Ended)
    assert ended.text == "1.2 s · big · 900 in / 40 out tokens"


def test_every_kind_of_part_has_a_block() -> None:
    request = inputs.ChatInputRequest(id="q", message="Sure?")
    failure = ErrorInfo(error_type="demo", message="broke")
    turn = made.turn(
        "t",
        "Hi",
        made.prose("x"),
        parts.ReasoningResponsePart(id="r", content="hm"),
        parts.ResourceResponsePart(uri="https://x/y", content_type="image/png", size_hint=1500),
        made.tool(made.call()),
        parts.SystemNotificationResponsePart(content="note"),
        parts.InputRequestResponsePart(request=request, response=inputs.ChatInputResponseKind.DECLINE),
        parts.ErrorResponsePart(error=failure, resumable=True),
        Unknown({"kind": "hologram"}),
        state=TurnState.ERROR,
    )
    _, *blocks, _ = Reader().read(made.chat(turn))
    assert [type(block).__name__ for block in blocks] == [
        "Prose",
        "Thinking",
        "Linked",
        "Tool",
        "Notice",
        "Asked",
        "Failed",
        "Strange",
    ]
    assert blocks[2] == transcript.Linked("t/2", turn.response_parts[2], "https://x/y", "image/png, 1.5 kB")
    assert blocks[5] == transcript.Asked("t/5", turn.response_parts[5], "Sure?", "declined")
    assert isinstance(blocks[6], transcript.Failed)
    assert blocks[6].is_resumable
    assert blocks[7] == transcript.Strange("t/7", turn.response_parts[7], "hologram")
    assert len({block.key for block in blocks}) == len(blocks)


def test_only_the_last_part_of_the_running_turn_grows() -> None:
    state = made.chat(active_turn=made.active("t", "Hi", made.prose("a", "1"), made.prose("b", "2")))
    first, second = Reader().read(state)[1:]
    assert isinstance(first, transcript.Prose)
    assert isinstance(second, transcript.Prose)
    assert (first.grows, second.grows) == (False, True)


def test_only_the_last_failure_can_be_resumed_and_not_while_a_turn_runs() -> None:
    part = parts.ErrorResponsePart(error=ErrorInfo(error_type="x", message="y"), resumable=True)
    failed = made.turn("t", "Hi", part, state=TurnState.ERROR)
    reader = Reader()

    def resumable(*blocks: transcript.Block) -> list[bool]:
        return [block.is_resumable for block in blocks if isinstance(block, transcript.Failed)]

    assert resumable(*reader.read(made.chat(failed))) == [True]
    assert resumable(*reader.read(made.chat(failed, active_turn=made.active("u", "Go")))) == [False]
    assert resumable(*reader.read(made.chat(failed, made.turn("u", "Go")))) == [False]


def test_a_turn_that_the_host_has_not_heard_of_is_being_sent() -> None:
    confirmed = made.chat()
    optimistic = replace(confirmed, active_turn=made.active("t", "Hi"))
    (said,) = Reader().read(optimistic, confirmed)
    assert isinstance(said, transcript.Said)
    assert said.is_sending
    (said,) = Reader().read(optimistic, optimistic)
    assert isinstance(said, transcript.Said)
    assert not said.is_sending


def test_a_message_says_who_wrote_it_and_what_is_attached() -> None:
    message = made.message("Go", attachments=(SimpleMessageAttachment(label="a\nb"), Unknown({"type": "x"})))
    message = replace(message, origin=MessageOrigin(kind=MessageKind.AUTOMATION))
    (said, _) = Reader().read(made.chat(replace(made.turn("t", ""), message=message)))
    assert isinstance(said, transcript.Said)
    assert (said.who, said.attachments) == ("an automation", ("a b", "attachment"))


def test_older_turns_are_announced() -> None:
    older, *_ = Reader().read(made.chat(made.turn("t", "Hi"), turns_next_cursor="c"), is_loading=True)
    assert isinstance(older, transcript.Older)
    assert older.is_loading


def test_an_ended_turn_is_read_once() -> None:
    reader = Reader()
    state = made.chat(made.turn("t", "Hi", made.prose("Hello")))
    first = reader.read(state)
    longer = chat_reducer.reduce(
        state,
        actions.TurnStarted(turn_id="u", started_at="2026-10-02T09:00:00.000Z", message=made.message("More")),
    )
    second = reader.read(longer)
    assert all(old is new for old, new in zip(first, second, strict=False))


def test_what_a_delta_does_not_touch_keeps_its_source() -> None:
    reader = Reader()
    state = made.chat(active_turn=made.active("t", "Hi", made.tool(made.call()), made.prose("a", "1")))
    before = reader.read(state)
    state = chat_reducer.reduce(state, actions.Delta(turn_id="t", part_id="1", content="b"))
    after = reader.read(state)
    same = [old.source is new.source for old, new in zip(before[1:], after[1:], strict=True)]
    assert same == [True, False]


def test_an_answered_form_says_what_was_answered() -> None:
    name = inputs.ChatInputTextQuestion(id="name", title="Name", message="What?")
    rig = inputs.ChatInputMultiSelectQuestion(
        id="rig", message="Which?", options=(inputs.ChatInputOption(id="s", label="Sloop"),)
    )
    sure = inputs.ChatInputBooleanQuestion(id="sure", title="Sure", message="?")
    skipped = inputs.ChatInputTextQuestion(id="none", title="None", message="?")
    submitted = inputs.ChatInputSubmittedAnswer
    request = inputs.ChatInputRequest(
        id="q",
        questions=(name, rig, sure, skipped, Unknown({"id": "odd", "kind": "odd"})),
        answers={
            "name": submitted(value=inputs.ChatInputTextAnswerValue(value="Holdfast")),
            "rig": submitted(value=inputs.ChatInputSelectedManyAnswerValue(value=("s",), freeform_values=("own",))),
            "sure": submitted(value=inputs.ChatInputBooleanAnswerValue(value=False)),
            "none": inputs.ChatInputSkipped(),
        },
    )
    part = parts.InputRequestResponsePart(request=request, response=inputs.ChatInputResponseKind.ACCEPT)
    block = Reader().read(made.chat(made.turn("t", "Hi", part)))[1]
    assert isinstance(block, transcript.Asked)
    assert block.message == "5 questions"
    assert block.lines == ("Name: Holdfast", "Which?: Sloop, own", "Sure: no")


def test_a_cancelled_turn_says_so() -> None:
    state = made.chat(made.turn("t", "Hi", state=TurnState.CANCELLED, duration=None))
    ended = Reader().read(state)[-1]
    assert isinstance(ended, transcript.Ended)
    assert ended.text == "cancelled"


def test_a_tool_block_is_the_view_of_its_call() -> None:
    block = Reader().read(made.chat(made.turn("t", "Hi", made.tool(made.call()))))[1]
    assert isinstance(block, transcript.Tool)
    assert block.view.id == "k"
