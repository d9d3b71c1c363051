"""What waits for a person, and what that person can do about it with one key."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, Final, NamedTuple

from holdfast.attach.model import tools, words
from holdfast.protocol.chat.tools import (
    ConfirmationOption,
    ConfirmationOptionKind,
    ToolCallPendingConfirmationState,
    ToolCallPendingResultConfirmationState,
)
from holdfast.protocol.codec import Unknown
from holdfast.protocol.common import URI, StringOrMarkdown
from holdfast.protocol.session import state as session

__all__ = ["AskKind", "AskView", "Choice", "asks", "identity"]


class AskKind(Enum):
    APPROVAL = "approval"
    REVIEW = "review"
    FORM = "form"
    SIGN_IN = "sign-in"
    UNKNOWN = "unknown"


class Choice(NamedTuple):
    """A decision and its key. `option` is the id of the option that the tool offered, if it did."""

    key: str
    label: str
    approves: bool
    option: str | None = None


class AskView(NamedTuple):
    """One wait. `id` names it in the session; `chat` is where it is, which need not be the chat on the screen."""

    id: str
    kind: AskKind
    chat: URI
    title: str
    says: StringOrMarkdown
    sections: tuple[tools.Section, ...] = ()
    choices: tuple[Choice, ...] = ()
    is_editable: bool = False
    call_id: str = ""

    def choice(self, approves: bool) -> Choice | None:
        """The first choice that approves, or the first that denies."""
        return next((each for each in self.choices if each.approves is approves), None)


def asks(state: session.SessionState, here: URI | None) -> tuple[AskView, ...]:
    """What waits in a session: first that of the chat which is on the screen. A client's own tools do not wait."""
    views = [view for entry in state.input_needed or () if (view := _ask(entry)) is not None]
    return tuple(sorted(views, key=lambda view: view.chat != here))


def identity(ask: AskView) -> object:
    """What a person decides about: another value means that they have to look again. A judged risk is not that."""
    asked = tuple(section for section in ask.sections if not section.label.startswith("risk"))
    return ask.id, ask.title, ask.says, asked, ask.choices


def _ask(entry: session.SessionInputRequest) -> AskView | None:
    match entry:
        case session.SessionToolConfirmationRequest():
            return _confirmation(entry)
        case session.SessionChatInputRequest():
            return _form(entry)
        case session.SessionToolAuthenticationRequest():
            return _sign_in(entry)
        case Unknown():
            raw = entry.raw
            kind = words.one_line(str(raw.get("kind")))
            return AskView(
                id=str(raw.get("id")),
                kind=AskKind.UNKNOWN,
                chat=str(raw.get("chat")),
                title="Something waits",
                says=f"of a kind that this version does not know: {kind}",
            )
        case _:
            return None


_YES: Final = Choice("y", "approve", approves=True)
_NO: Final = Choice("n", "deny", approves=False)


def _confirmation(entry: session.SessionToolConfirmationRequest) -> AskView:
    call: Any = entry.tool_call
    view = tools.tool_view(call)
    if isinstance(call, ToolCallPendingResultConfirmationState):
        return AskView(
            id=entry.id,
            kind=AskKind.REVIEW,
            chat=entry.chat,
            title=f"May the result of {view.name} be used?",
            says=view.says,
            sections=view.sections,
            choices=(Choice("y", "use it", approves=True), Choice("n", "withhold it", approves=False)),
            call_id=view.id,
        )
    if not isinstance(call, ToolCallPendingConfirmationState):
        return _of_unknown_status(entry)
    return AskView(
        id=entry.id,
        kind=AskKind.APPROVAL,
        chat=entry.chat,
        title=words.one_line(call.confirmation_title) or f"Approve {view.name}?",
        says=view.says,
        sections=view.sections,
        choices=_choices(call.options),
        is_editable=bool(call.editable),
        call_id=view.id,
    )


def _of_unknown_status(
    entry: session.SessionToolConfirmationRequest | session.SessionToolAuthenticationRequest,
) -> AskView:
    view = tools.tool_view(entry.tool_call)
    return AskView(entry.id, AskKind.UNKNOWN, entry.chat, view.name, view.says, call_id=view.id)


def _choices(options: Sequence[ConfirmationOption] | None) -> tuple[Choice, ...]:
    """`y` is the first option that approves, `n` the first that denies; the others are numbered as they come."""
    if not options:
        return (_YES, _NO)
    choices: list[Choice] = []
    taken: set[str] = set()
    for number, option in enumerate(options, 1):
        approves = option.kind == ConfirmationOptionKind.APPROVE
        letter = "y" if approves else "n"
        key = letter if letter not in taken else str(number)
        taken.add(letter)
        choices.append(Choice(key, words.one_line(option.label), approves, option.id))
    return tuple(choices)


def _form(entry: session.SessionChatInputRequest) -> AskView:
    request = entry.request
    questions = len(request.questions or ())
    title = words.one_line(request.message) or ("A question" if questions == 1 else "Some questions")
    says = words.count(questions, "question") if questions else ""
    if request.url:
        says = " · ".join(filter(None, (says, words.safe(request.url))))
    return AskView(entry.id, AskKind.FORM, entry.chat, title, says)


def _sign_in(entry: session.SessionToolAuthenticationRequest) -> AskView:
    call = entry.tool_call
    if isinstance(call, Unknown):
        return _of_unknown_status(entry)
    resource = call.auth.resource
    name = words.one_line(call.display_name)
    sections = [tools.Section("for", resource.resource_name or resource.resource)]
    if resource.resource_name:
        sections.append(tools.Section("at", resource.resource))
    if call.auth.required_scopes:
        sections.append(tools.Section("scopes", ", ".join(call.auth.required_scopes)))
    return AskView(
        id=entry.id,
        kind=AskKind.SIGN_IN,
        chat=entry.chat,
        title=f"{name} wants a token",
        says=call.auth.description or "",
        sections=tuple(sections),
        call_id=call.tool_call_id,
    )
