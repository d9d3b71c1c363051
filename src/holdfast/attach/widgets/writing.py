"""Where people write: the composer, the completions above it, and the draft that everybody shares."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final, ParamSpec, Protocol, cast

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.timer import Timer
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from holdfast.attach.controller import Controller
from holdfast.attach.model import completing, words
from holdfast.attach.model.draft import Drafting
from holdfast.attach.widgets.composer import Composer
from holdfast.client.chat import Chat
from holdfast.protocol.chat.commands import CompletionItem
from holdfast.protocol.chat.messages import Message as ChatMessage
from holdfast.protocol.chat.messages import MessageAttachment
from holdfast.protocol.errors import HoldfastError

__all__ = ["Perform", "Writing"]

P = ParamSpec("P")


class Perform(Protocol):
    """Does something that asks the host, and tells people if it goes wrong: `Cannot <doing>: <why>`."""

    def __call__(self, doing: str, work: Callable[P, Awaitable[None]], *args: P.args, **kwargs: P.kwargs) -> None: ...


_PUBLISH: Final = 0.3
"""Seconds between two drafts that the others see while somebody types."""

_COMPLETE: Final = 0.1
"""Seconds without a key after which completions are asked for."""

_MOST: Final = 50
"""Completions that are shown. Who wants another types on."""


class Writing(Vertical):
    """Follows the shared draft as `Drafting` says, and tells when something is to be sent."""

    class Sent(Message):
        """Enter was pressed."""

        def __init__(self, text: str, attachments: tuple[MessageAttachment, ...]) -> None:
            super().__init__()
            self.text = text
            self.attachments = attachments

    def __init__(self, controller: Controller, perform: Perform, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._controller = controller
        self._perform = perform
        self._chat: Chat | None = None
        self._draft = Drafting()
        self._items: tuple[CompletionItem, ...] = ()
        self._for = ("", 0)
        """The text and the cursor that these are completions of."""
        self._attached: list[tuple[str, MessageAttachment]] = []
        self._publishing: Timer | None = None
        self._completing: Timer | None = None

    def compose(self) -> ComposeResult:
        choices = OptionList(id="completions", compact=True)
        choices.can_focus = False
        choices.display = False
        yield choices
        yield Composer(id="composer")

    @property
    def composer(self) -> Composer:
        return self.query_one(Composer)

    @property
    def elsewhere(self) -> str:
        """What somebody else types."""
        return self._draft.elsewhere

    @property
    def text(self) -> str:
        return self.composer.text

    # The draft

    def open(self, chat: Chat) -> None:
        """Another chat is shown: begin with what was left there."""
        self._chat = chat
        self._attached = []
        self._take(Drafting.opened(_text_of(chat.draft)))
        self._dismiss()

    def leave(self) -> None:
        """The chat is left: what was typed last is still published."""
        self._publish()

    def _look(self) -> None:
        """Take in what was typed, of which we may not have been told yet: nobody's letter is lost."""
        self._draft = self._draft.typed(self.composer.text)

    def hear(self) -> None:
        """The shared draft may have changed."""
        self._look()
        if self._chat is not None and self._chat.is_followed:
            self._take(self._draft.heard(_text_of(self._chat.draft)))

    def take_over(self) -> None:
        """Go on with what somebody typed elsewhere."""
        self._look()
        self._take(self._draft.taken())
        self.composer.focus()

    def put_back(self, text: str) -> None:
        """What could not be sent stands here again, unless something else does already."""
        self._look()
        if not self._draft.text:
            self._take(self._draft.typed(text))
            self._publish_soon()

    def _take(self, draft: Drafting) -> None:
        self._draft = draft
        if self.composer.text != draft.text:
            self.composer.put(draft.text)

    def _publish_soon(self) -> None:
        if self._publishing is None:
            self._publishing = self.set_timer(_PUBLISH, self._publish)

    def _publish(self) -> None:
        self._publishing = None
        self._look()
        chat = self._chat
        if self._draft.is_unpublished and chat is not None and chat.is_followed:
            self._draft = self._draft.published()
            self._perform("share the draft", self._controller.set_draft, chat, self._draft.text)

    # Typing

    @on(Composer.Typed)
    def _typed(self, event: Composer.Typed) -> None:
        event.stop()
        self._look()
        if self._draft.is_unpublished:
            self._publish_soon()
        if self._completing is not None:
            self._completing.stop()
        self._completing = self.set_timer(_COMPLETE, self._look_for_completions)

    def take_text(self) -> tuple[str, tuple[MessageAttachment, ...]]:
        """What is to be sent, which does not stand here any more; empty if there is nothing."""
        self._look()
        text = self.composer.text.strip()
        attachments = completing.kept(text, self._attached)
        if text:
            self._attached = []
            self._take(self._draft.emptied())
            self._dismiss()
        return text, attachments

    @on(Composer.Sent)
    def _sent(self, event: Composer.Sent) -> None:
        event.stop()
        text, attachments = self.take_text()
        if text:
            self.post_message(self.Sent(text, attachments))

    # Completions

    @property
    def _choices(self) -> OptionList:
        return self.query_one("#completions", OptionList)

    def _look_for_completions(self) -> None:
        self._completing = None
        composer = self.composer
        wanted = completing.wants(composer.text, composer.cursor, self._controller.triggers)
        if self._controller.is_live and wanted and self._chat is not None:
            work = partial(self._complete, self._chat, composer.text, composer.cursor)
            self.run_worker(cast(Any, work), exclusive=True, group="completions")
        else:
            self._dismiss()

    async def _complete(self, chat: Chat, text: str, cursor: int) -> None:
        try:
            items = await chat.complete(text, cursor)
        except HoldfastError:
            items = ()  # a convenience that is not there is not worth a word
        if not self._stands(text, cursor):
            return  # somebody typed on: another answer is on its way
        if not items or (len(items) == 1 and completing.accept(text, cursor, items[0]).text == text):
            self._dismiss()
            return
        self._items, self._for = items[:_MOST], (text, cursor)
        self._choices.set_options(Option(_item_text(item)) for item in self._items)
        self._choices.highlighted = 0
        self._choices.display = self.composer.picks = True

    def _stands(self, text: str, cursor: int) -> bool:
        return (self.composer.text, self.composer.cursor) == (text, cursor)

    def _dismiss(self) -> None:
        self._choices.display = self.composer.picks = False

    @on(Composer.Dismissed)
    def _dismissed(self, event: Composer.Dismissed) -> None:
        event.stop()
        self._dismiss()

    @on(Composer.Walked)
    def _walked(self, event: Composer.Walked) -> None:
        event.stop()
        self._choices.action_cursor_down() if event.by > 0 else self._choices.action_cursor_up()

    @on(Composer.Picked)
    def _picked(self, event: Composer.Picked) -> None:
        event.stop()
        at = self._choices.highlighted
        if at is None or at >= len(self._items):
            return
        if self._stands(*self._for):
            self._accept(self._items[at])
        elif self._chat is not None:
            # Typed on since these came: the same item has another range by now, or is not meant any more.
            self._perform("complete this", self._pick_again, self._chat, self._items[at].insert_text)

    async def _pick_again(self, chat: Chat, insert_text: str) -> None:
        text, cursor = self.composer.text, self.composer.cursor
        items = await chat.complete(text, cursor)
        item = next((each for each in items if each.insert_text == insert_text), None)
        if item is not None and self._stands(text, cursor):
            self._accept(item)

    def _accept(self, item: CompletionItem) -> None:
        done = completing.accept(self.composer.text, self.composer.cursor, item)
        self._attached.append((item.insert_text, done.attachment))
        self.composer.put(done.text, done.cursor)
        self._draft = self._draft.typed(done.text)
        self._publish_soon()
        self._dismiss()


def _text_of(draft: ChatMessage | None) -> str:
    return draft.text if draft is not None else ""


def _item_text(item: CompletionItem) -> Text:
    meta = getattr(item.attachment, "meta", None) or {}
    words_of = [meta.get(name) for name in ("argumentHint", "description")]
    about = "  ".join(words.one_line(each) for each in words_of if isinstance(each, str))
    return Text.assemble(words.one_line(item.insert_text), (f"  {about}", "dim"), no_wrap=True, overflow="ellipsis")
