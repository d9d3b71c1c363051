"""Answering, and everything else that needs a screen of its own for a moment."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from holdfast.attach.controller import Controller
from holdfast.attach.model import asks as asking
from holdfast.attach.model import keys, transcript, words
from holdfast.attach.model.asks import AskKind, AskView, Choice
from holdfast.attach.model.folding import Fold
from holdfast.attach.model.form import Entry, Field
from holdfast.attach.model.transcript import Block
from holdfast.attach.paint import blocks as paint
from holdfast.attach.paint.console import Line, lines_of
from holdfast.attach.paint.markdown import markdown_lines
from holdfast.attach.paint.sections import sections_lines
from holdfast.attach.screens.form import FormScreen
from holdfast.attach.screens.new import NewScreen
from holdfast.attach.screens.prompt import ConfirmScreen, EditScreen, PickScreen, PromptScreen
from holdfast.attach.screens.view import DecideScreen, ViewScreen
from holdfast.attach.widgets.writing import Perform
from holdfast.protocol import status
from holdfast.protocol.common import ModelSelection

if TYPE_CHECKING:
    from holdfast.attach.screens.main import MainScreen

__all__ = ["SETTLE", "Desk"]

SETTLE: Final = 0.4
"""Seconds for which a new ask takes no decision: a key that was meant for the one before must not approve it."""


class Desk:
    """Belongs to the main screen."""

    def __init__(self, screen: MainScreen, controller: Controller, perform: Perform, settle: float) -> None:
        self._screen = screen
        self._controller = controller
        self._perform = perform
        self._settle = settle
        self._asked: object = None
        self._since = 0.0
        self._open: DecideScreen | FormScreen | None = None
        self._open_ask: AskView | None = None

    # What waits

    def renew(self, asks: Sequence[AskView]) -> None:
        """Something about what waits may have changed: an open screen follows it, or closes if it is over."""
        asked = asking.identity(asks[0]) if asks else None
        if asked != self._asked:
            self._asked, self._since = asked, time.monotonic()
        if self._open_ask is None:
            return
        same = next((each for each in asks if each.id == self._open_ask.id), None)
        if same is None or same.kind is not self._open_ask.kind:
            self._screen.notify("Somebody else was first.", markup=False)
            screen, self._open, self._open_ask = self._open, None, None
            if screen is not None and screen.is_current:
                screen.dismiss(None)
        elif isinstance(self._open, DecideScreen):
            self._open.renew(same)
        elif isinstance(self._open, FormScreen) and (request := self._controller.request_of(same)) is not None:
            self._open.renew(request)

    def _settled(self) -> bool:
        if time.monotonic() - self._since >= self._settle:
            return True
        self._screen.notify("This just came up. Look at it, then press the key again.", severity="warning")
        return False

    def decide(self, asks: Sequence[AskView], approves: bool) -> None:
        """Approve or deny what is asked first, with one key. What needs more than that is opened."""
        if not asks:
            return
        choice = asks[0].choice(approves)
        if choice is None:
            self.look(asks)
        elif self._settled():
            self._decide(asks[0], choice)

    def choose(self, asks: Sequence[AskView], key: str) -> None:
        """Decide by the key of a choice."""
        for choice in asks[0].choices if asks else ():
            if choice.key == key and self._settled():
                self._decide(asks[0], choice)

    def _decide(self, ask: AskView, choice: Choice, edited: str | None = None, reason: str | None = None) -> None:
        doing = "approve this" if choice.approves else "deny this"
        self._perform(doing, self._controller.decide, ask, choice, edited=edited, reason=reason)

    def look(self, asks: Sequence[AskView]) -> None:
        """Open what is asked first: all of it, the form, or the question for a token."""
        if not asks:
            return
        ask = asks[0]
        match ask.kind:
            case AskKind.APPROVAL | AskKind.REVIEW | AskKind.UNKNOWN:
                self._show(DecideScreen(ask, self._controller.library.contents), ask)
            case AskKind.FORM:
                self._form(ask)
            case AskKind.SIGN_IN:
                self._sign_in(ask)

    def _show(self, screen: DecideScreen, ask: AskView) -> None:
        self._open, self._open_ask = screen, ask

        def decided(found: Choice | str | None) -> None:
            latest = screen.ask
            self._open = self._open_ask = None
            if found == "edit":
                self.edit((latest,))
            elif found == "reason":
                self._deny_with_reason(latest)
            elif isinstance(found, Choice):
                self._decide(latest, found)

        self._screen.app.push_screen(screen, decided)

    def edit(self, asks: Sequence[AskView]) -> None:
        """Change the input of a tool, then approve it."""
        ask = asks[0] if asks else None
        choice = ask.choice(approves=True) if ask is not None else None
        text = self._controller.input_of(ask) if ask is not None and ask.is_editable else None
        if ask is None or choice is None or text is None:
            return

        def edited(changed: str | None) -> None:
            if changed is not None:
                self._decide(ask, choice, edited=changed if changed != text else None)

        self._screen.app.push_screen(EditScreen(f"{ask.title} Change the input, then approve it.", text), edited)

    def _deny_with_reason(self, ask: AskView) -> None:
        choice = ask.choice(approves=False)

        def given(reason: str | None) -> None:
            if reason is not None and choice is not None:
                self._decide(ask, choice, reason=reason or None)

        self._screen.app.push_screen(PromptScreen("Why not?", about="The agent is told."), given)

    def _sign_in(self, ask: AskView) -> None:
        def given(token: str | None) -> None:
            if token:
                self._perform("sign in", self._controller.sign_in, ask, token)

        about = " · ".join(filter(None, (words.plain(ask.says), *(str(each.body) for each in ask.sections))))
        self._screen.app.push_screen(PromptScreen(ask.title, about=words.safe(about), password=True), given)

    def _form(self, ask: AskView) -> None:
        request = self._controller.request_of(ask)
        if request is None:
            return

        def share(field: Field, entry: Entry) -> None:
            self._perform("share the answer", self._controller.draft_answer, ask, request, field, entry)

        screen = FormScreen(ask.title, request, share)
        self._open, self._open_ask = screen, ask

        def filled(found: dict[str, Entry] | str | None) -> None:
            self._open = self._open_ask = None
            if isinstance(found, dict):
                self._perform("submit the form", self._controller.complete_form, ask, request, found)
            elif found is not None:
                self._perform("decline the form", self._controller.decline_form, ask, request)

        self._screen.app.push_screen(screen, filled)

    # Looking

    def help(self) -> None:
        self._screen.app.push_screen(ViewScreen("Help", lambda width: markdown_lines(keys.HELP, width)))

    def view(self, block: Block | None) -> None:
        """All of a block."""
        if block is None:
            return
        contents = self._controller.library.contents
        if isinstance(block, transcript.Tool):
            view = block.view

            def draw(width: int) -> list[Line]:
                said = lines_of(paint.says(view.says), width)
                return [*said, [], *sections_lines(view.sections, width, contents, None)]

            self._screen.app.push_screen(ViewScreen(view.name, draw))
        else:
            drawing = lambda width: paint.lines(block, paint.Drawing(width, Fold.OPEN, contents))  # noqa: E731
            self._screen.app.push_screen(ViewScreen("", drawing))

    def copy(self, block: Block | None) -> None:
        """Give a block's text to the terminal's clipboard."""
        if block is not None:
            self._screen.app.copy_to_clipboard(transcript.text_of(block))
            self._screen.notify("Copied.")

    # Sessions

    def new(self) -> None:
        """Make a session."""
        agents = self._controller.host.agents

        def chosen(found: tuple[str, str, str] | None) -> None:
            if found is not None:
                self._perform("make a session", self._create, *found)

        here = self._controller.session
        folders = (here.state.working_directories or ()) if here is not None and here.is_followed else ()
        directory = words.file(folders[0]) if folders else str(Path.cwd())
        self._screen.app.push_screen(NewScreen(agents, directory), chosen)

    async def _create(self, agent: str, directory: str, title: str) -> None:
        await self._controller.create(agent, directory, title)
        self._screen.show_all()

    def session(self, what: str, uri: str) -> None:
        """Rename, archive or delete a session of the list."""
        summary = next((each for each in self._controller.sessions if each.resource == uri), None)
        if summary is None:
            return
        title = words.one_line(summary.title) or "Untitled"
        if what == "rename":
            self._rename(uri, title)
        elif what == "archive":
            archived = not summary.status & status.IS_ARCHIVED
            self._perform("archive the session", self._controller.archive, uri, archived)
        elif what == "delete":
            self._delete(uri, title)

    def _rename(self, uri: str, title: str) -> None:
        def given(changed: str | None) -> None:
            if changed:
                self._perform("rename the session", self._controller.rename, uri, changed)

        self._screen.app.push_screen(PromptScreen("Rename", title), given)

    def _delete(self, uri: str, title: str) -> None:
        def answered(sure: bool | None) -> None:
            if sure:
                self._perform("delete the session", self._controller.dispose, uri)

        about = "With everything in it, for everybody."
        self._screen.app.push_screen(ConfirmScreen(f"Delete “{title}”?", about), answered)

    def model(self) -> None:
        """Choose what the next message is for."""
        session, chat = self._controller.session, self._controller.chat
        if session is None or chat is None:
            return
        models = self._controller.host.models(session.state.provider)
        choices = [(each.id, words.one_line(each.name), words.one_line(each.id)) for each in models]
        if not choices:
            self._screen.notify("This agent offers no models.")
            return

        def chosen(found: str | None) -> None:
            if found is not None:
                text = self._screen.conversation.writing.text
                self._perform("choose the model", self._controller.set_draft, chat, text, ModelSelection(id=found))

        self._screen.app.push_screen(PickScreen("Model of what you send next", choices), chosen)
