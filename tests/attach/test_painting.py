"""The transcript draws what is needed, and nothing twice."""

from __future__ import annotations

from msgspec.structs import replace
from textual.app import App, ComposeResult

from aio import aio, until
from attach import made
from holdfast.attach.model.transcript import Reader
from holdfast.attach.widgets.sheet import Entry
from holdfast.attach.widgets.transcript import Transcript
from holdfast.protocol.chat import actions
from holdfast.protocol.chat.reducer import reduce
from holdfast.protocol.chat.state import ChatState


class Shown(App[None]):
    """A transcript that counts what it draws."""

    def __init__(self) -> None:
        super().__init__()
        self.drawn: list[str] = []

    def compose(self) -> ComposeResult:
        transcript = Transcript()
        draw = transcript.sheet._draw

        def counting(entry: Entry) -> None:
            self.drawn.append(entry.block.key)
            draw(entry)

        transcript.sheet._draw = counting  # type: ignore[method-assign]
        yield transcript

    def text(self) -> str:
        """What is on the screen, without the scrollbar."""
        strips = self.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip)[:78].rstrip() for strip in strips)


def long_chat(turns: int) -> ChatState:
    answer = made.prose("# Title\n\n- a\n- b\n\ntext\n" * 3)
    said = (made.turn(str(number), f"question {number}", answer) for number in range(turns))
    return made.chat(*said, active_turn=made.active("now", "go", made.prose("", "p")))


@aio
async def test_a_long_chat_is_there_at_once_and_drawn_bit_by_bit() -> None:
    app, state = Shown(), long_chat(150)
    async with app.run_test(size=(80, 24)) as pilot:
        transcript = app.query_one(Transcript)
        transcript.show(Reader().read(state), {})
        assert not transcript.sheet.is_whole
        await pilot.pause()
        before = app.text()
        assert "❯ go" in before
        await until(lambda: transcript.sheet.is_whole)
        await pilot.pause()
        assert app.text() == before
        assert len(app.drawn) == len(set(app.drawn)), "nothing is drawn twice"
        transcript.focus()
        await pilot.press("g")
        assert "❯ question 0" in app.text()


@aio
async def test_of_an_answer_that_streams_only_its_block_is_drawn() -> None:
    app, state, reader = Shown(), long_chat(20), Reader()
    async with app.run_test(size=(80, 24)) as pilot:
        transcript = app.query_one(Transcript)
        transcript.show(reader.read(state), {})
        await until(lambda: transcript.sheet.is_whole)
        app.drawn.clear()
        for number in range(50):
            state = reduce(state, actions.Delta(turn_id="now", part_id="p", content=f"word{number} "))
            transcript.show(reader.read(state), {})
            await pilot.pause()
        assert set(app.drawn) == {"now/0"}
        assert "word49" in app.text()


@aio
async def test_what_did_not_change_is_not_drawn_again() -> None:
    app, state, reader = Shown(), long_chat(3), Reader()
    async with app.run_test(size=(80, 24)) as pilot:
        transcript = app.query_one(Transcript)
        transcript.show(reader.read(state), {})
        await until(lambda: transcript.sheet.is_whole)
        app.drawn.clear()
        transcript.show(reader.read(replace(state, title="other")), {})
        await pilot.pause()
        assert app.drawn == []


@aio
async def test_another_width_draws_anew() -> None:
    app, state = Shown(), made.chat(made.turn("t", "Hi", made.prose("many words " * 30)))
    async with app.run_test(size=(80, 24)) as pilot:
        app.query_one(Transcript).show(Reader().read(state), {})
        await pilot.pause()
        await pilot.resize_terminal(40, 24)
        await pilot.pause()
        assert max(len(line) for line in app.text().splitlines()) <= 40
        assert app.text().count("many") == 30
