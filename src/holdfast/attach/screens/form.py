"""A form: every kind of question, filled in together with whoever else has it open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from holdfast.attach.model import form, words
from holdfast.attach.model.form import Entry, Field
from holdfast.attach.paint.bars import keys_text
from holdfast.protocol.chat.inputs import ChatInputRequest

__all__ = ["FormScreen"]

_PAUSE: Final = 0.4
"""Seconds without a key after which the others see what was entered."""

Draft = Callable[[Field, Entry], None]


class _Choices(OptionList):
    """Options to tick: one, or several."""

    class Ticked(Message):
        """Something was ticked or unticked."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space,enter", "select", "tick", show=False),
        Binding("j", "cursor_down", show=False),
        Binding("k", "cursor_up", show=False),
    ]

    def __init__(self, labels: list[tuple[str, Text]], *, several: bool) -> None:
        super().__init__(compact=True)
        self._labels = labels
        self._several = several
        self.chosen: tuple[str, ...] = ()

    def on_mount(self) -> None:
        self.show(self.chosen)

    def show(self, chosen: tuple[str, ...]) -> None:
        """Show these as ticked."""
        self.chosen = chosen
        at = self.highlighted
        on, off = ("[x] ", "[ ] ") if self._several else ("(•) ", "( ) ")
        self.set_options(
            Option(Text.assemble(on if id in chosen else off, label), id=id) for id, label in self._labels
        )
        self.highlighted = at

    def on_focus(self) -> None:
        if self.highlighted is None:
            self.highlighted = 0

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        id = str(event.option_id)
        if self._several:
            chosen = tuple(each for each, _ in self._labels if (each in self.chosen) != (each == id))
        else:
            chosen = () if self.chosen == (id,) else (id,)
        self.show(chosen)
        self.post_message(self.Ticked())


class _Question(Vertical):
    """One question: its words, its widgets, and what is wrong with what was entered."""

    def __init__(self, field: Field, entry: Entry) -> None:
        super().__init__(classes="question")
        self.field = field
        self._entry = entry
        self._choices: _Choices | None = None
        self._input: Input | None = None

    def compose(self) -> ComposeResult:
        yield Static(self._title(""), classes="title")
        if self.field.kind == "boolean":
            self._choices = _Choices([("yes", Text("yes")), ("no", Text("no"))], several=False)
        elif self.field.options:
            labels = [(option.id, _label(option)) for option in self.field.options]
            self._choices = _Choices(labels, several=self.field.kind == "many")
        if self._choices is not None:
            yield self._choices
        if self.field.has_text:
            placeholder = "or in your own words" if self._choices is not None else self.field.hint
            self._input = Input(placeholder=placeholder, compact=True, select_on_focus=False)
            yield self._input

    def on_mount(self) -> None:
        self.show(self._entry)

    def _title(self, problem: str) -> Text:
        title = Text.assemble((self.field.title or self.field.message, "bold"))
        if self.field.is_required:
            title.append(" *", "bold yellow")
        if self.field.title and self.field.message:
            title.append(f"  {self.field.message}", "")
        if problem:
            title.append(f"  {problem}", "bold red")
        elif self.field.hint:
            title.append(f"  {self.field.hint}", "dim")
        return title

    @property
    def entry(self) -> Entry:
        """What stands here."""
        chosen = self._choices.chosen if self._choices is not None else ()
        text = self._input.value if self._input is not None else ""
        if self.field.kind == "boolean":
            return Entry(flag="yes" in chosen if chosen else None)
        return Entry(text=text, chosen=chosen)

    def show(self, entry: Entry) -> None:
        """Put something here, without telling."""
        if self._choices is not None:
            flag = {True: ("yes",), False: ("no",)}.get(entry.flag) if entry.flag is not None else ()
            self._choices.show(flag or () if self.field.kind == "boolean" else entry.chosen)
        if self._input is not None and self._input.value != entry.text:
            with self.prevent(Input.Changed):
                self._input.value = entry.text

    def complain(self, problem: str) -> None:
        self.query_one(".title", Static).update(self._title(problem))

    def focus_first(self) -> None:
        target: Widget | None = self._choices or self._input
        if target is not None:
            target.focus()


def _label(option: Any) -> Text:
    label = Text(words.one_line(option.label))
    if option.description:
        label.append(f"  {words.one_line(option.description)}", "dim")
    if option.recommended:
        label.append("  recommended", "green")
    return label


class FormScreen(Screen["dict[str, Entry] | str | None"]):
    """Gives the entries, `decline`, or None for later."""

    AUTO_FOCUS = None  # its own, once everything has its place

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "submit", "submit", priority=True),
        Binding("ctrl+n", "decline", "decline", priority=True),
        Binding("escape", "dismiss(None)", "later", priority=True),
        Binding("down", "app.focus_next", show=False),
        Binding("up", "app.focus_previous", show=False),
    ]

    def __init__(self, title: str, request: ChatInputRequest, draft: Draft) -> None:
        super().__init__()
        self._title = title
        self.request = request
        self._draft = draft
        self._told: dict[str, Entry] = {}

    def compose(self) -> ComposeResult:
        yield Static(Text.assemble(("? ", "bold yellow"), (self._title, "bold"), no_wrap=True), classes="bar")
        with VerticalScroll(id="questions", can_focus=False):
            if self.request.url:
                where = Text.assemble("Look at ", (words.safe(self.request.url), "underline"), ", then come back.")
                yield Static(where, classes="question")
            entries = form.start(self.request)
            for field in form.fields(self.request):
                yield _Question(field, entries[field.id])
        keys = [
            ("^s", "submit" if self.request.questions else "done"),
            ("^n", "decline"),
            ("tab", "next"),
            ("esc", "later"),
        ]
        yield Static(keys_text(keys, 78), classes="bar")

    def on_mount(self) -> None:
        questions = self._questions()
        self._told = {each.field.id: each.entry for each in questions}
        if questions:
            self.call_after_refresh(questions[0].focus_first)

    def scroll_to_center(self, widget: Widget, *_: Any, **__: Any) -> None:
        """What gets the keys is shown with all of its question, and the others stay where they are."""
        whole = next((each for each in widget.ancestors if isinstance(each, _Question)), widget)
        whole.scroll_visible(animate=False)

    def _questions(self) -> list[_Question]:
        return list(self.query(_Question))

    # Together with others

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._entered()

    def on__choices_ticked(self) -> None:
        self._entered()

    def _entered(self) -> None:
        for question in self._questions():
            question.complain(form.problem(question.field, question.entry) if question.field.id in self._told else "")
        self._stop_waiting()
        self._timer = self.set_timer(_PAUSE, self._tell)

    _timer: Any = None

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.stop()

    def _tell(self) -> None:
        """Let the others see what changed here."""
        for question in self._questions():
            entry = question.entry
            if entry != self._told.get(question.field.id):
                self._told[question.field.id] = entry
                self._draft(question.field, entry)

    def renew(self, request: ChatInputRequest) -> None:
        """Somebody entered something: it appears here, except where somebody types."""
        before, self.request = self.request.answers or {}, request
        for question in self._questions():
            id = question.field.id
            answer = (request.answers or {}).get(id)
            if answer == before.get(id) or form.is_same(question.field, question.entry, answer):
                continue
            if question.entry == self._told.get(id):
                question.show(form.entry_of(answer))
                self._told[id] = question.entry

    # Its end

    def action_submit(self) -> None:
        wrong = [question for question in self._questions() if form.problem(question.field, question.entry)]
        for question in self._questions():
            question.complain(form.problem(question.field, question.entry))
        if wrong:
            wrong[0].focus_first()
            return
        self._stop_waiting()
        self.dismiss({question.field.id: question.entry for question in self._questions()})

    def action_decline(self) -> None:
        self._stop_waiting()
        self.dismiss("decline")
