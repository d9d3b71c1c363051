"""A tool call as it is shown: one line that says how it stands, and what there is to unfold."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any, Final, NamedTuple, TypeAlias

from holdfast.attach.model import words
from holdfast.protocol.chat import tools
from holdfast.protocol.codec import Unknown
from holdfast.protocol.common import ContentRef, FileEdit, Markdown, StringOrMarkdown

__all__ = ["Body", "Section", "Standing", "ToolView", "edits_of", "input_text", "references", "tool_view"]


class Standing(Enum):
    """How a call stands, as people say it."""

    PREPARING = "preparing"
    ASKS = "asks"
    RUNNING = "running"
    SIGN_IN = "wants a sign-in"
    REVIEW = "wants its result reviewed"
    DONE = "done"
    FAILED = "failed"
    DENIED = "denied"
    SKIPPED = "skipped"
    WITHHELD = "withheld"
    UNKNOWN = "unknown"

    @property
    def is_final(self) -> bool:
        return self in _FINAL


_FINAL: Final = {Standing.DONE, Standing.FAILED, Standing.DENIED, Standing.SKIPPED, Standing.WITHHELD}

Body: TypeAlias = "str | Markdown | FileEdit | ContentRef"
"""Text verbatim, Markdown, an edit to show as a diff, or a reference to content."""


class Section(NamedTuple):
    """A part of what is unfolded. An empty label needs no heading."""

    label: str
    body: Body


class ToolView(NamedTuple):
    """`says` is what it does or did; `sections` are shown when it is unfolded."""

    id: str
    standing: Standing
    name: str
    says: StringOrMarkdown
    sections: tuple[Section, ...]
    has_edits: bool = False


def tool_view(call: tools.ToolCallState) -> ToolView:
    """A call as it is shown."""
    if isinstance(call, Unknown):
        return _unknown(call)
    standing = _standing(call)
    sections = tuple(_sections(call))
    return ToolView(
        id=call.tool_call_id,
        standing=standing,
        name=words.one_line(call.display_name or call.tool_name),
        says=_says(call),
        sections=sections,
        has_edits=any(isinstance(section.body, FileEdit) for section in sections),
    )


def _unknown(call: Unknown) -> ToolView:
    raw = call.raw
    name = str(raw.get("displayName") or raw.get("toolName") or "tool")
    says = f"in a state that this version does not know: {raw.get('status')}"
    return ToolView(str(raw.get("toolCallId") or ""), Standing.UNKNOWN, words.one_line(name), says, ())


_STANDINGS: Final[dict[type, Standing]] = {
    tools.ToolCallStreamingState: Standing.PREPARING,
    tools.ToolCallPendingConfirmationState: Standing.ASKS,
    tools.ToolCallRunningState: Standing.RUNNING,
    tools.ToolCallAuthRequiredState: Standing.SIGN_IN,
    tools.ToolCallPendingResultConfirmationState: Standing.REVIEW,
}
_REASONS: Final = {
    tools.ToolCallCancellationReason.DENIED: Standing.DENIED,
    tools.ToolCallCancellationReason.SKIPPED: Standing.SKIPPED,
    tools.ToolCallCancellationReason.RESULT_DENIED: Standing.WITHHELD,
}


def _standing(call: Any) -> Standing:
    match call:
        case tools.ToolCallCompletedState():
            return Standing.DONE if call.success else Standing.FAILED
        case tools.ToolCallCancelledState():
            return _REASONS[call.reason]
        case _:
            return _STANDINGS[type(call)]


def _says(call: Any) -> StringOrMarkdown:
    said: StringOrMarkdown = getattr(call, "past_tense_message", None) or call.invocation_message or ""
    return said or call.intention or ""


def _sections(call: Any) -> Iterator[Section]:
    """What there is to unfold, in the order in which it came to be."""
    if call.intention and words.one_line(call.intention) != words.one_line(_says(call)):
        yield Section("why", call.intention)
    yield from _asked(call)
    yield from _input(call)
    for block in getattr(call, "content", None) or ():
        yield _content(block)
    error = getattr(call, "error", None)
    if error is not None:
        yield Section("error", error.message)
    yield from _decided(call)


def _asked(call: Any) -> Iterator[Section]:
    """What a call that waits for a decision says of itself."""
    risk = getattr(call, "risk_assessment", None)
    if isinstance(risk, tools.ToolCallRiskAssessmentLoadingState):
        yield Section("risk", "being judged …")
    elif isinstance(risk, tools.ToolCallRiskAssessmentCompleteState):
        yield Section(f"risk · {100 * (1 - risk.safety):.0f} %", risk.reason)
    edits = getattr(call, "edits", None)
    for edit in edits.items if edits else ():
        yield Section("", edit)


def _input(call: Any) -> Iterator[Section]:
    if isinstance(call, tools.ToolCallStreamingState):
        if call.partial_input:
            yield Section("input", str(call.partial_input))
    elif isinstance(call.tool_input, ContentRef):
        yield Section("input", call.tool_input)
    elif call.tool_input and not _repeats(call):
        yield Section("input", input_text(call.tool_input))


def _repeats(call: Any) -> bool:
    """The input is what the edit below shows as a diff."""
    edits = edits_of(call)
    return bool(edits)


def input_text(text: str) -> str:
    """An input to read: JSON is laid out, anything else is as it is."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    if not isinstance(value, dict | list):
        return text
    if isinstance(value, dict) and len(value) == 1 and isinstance(only := next(iter(value.values())), str):
        return f"{next(iter(value))}: {only}"
    return json.dumps(value, indent=2, ensure_ascii=False)


def _content(block: Any) -> Section:
    match block:
        case tools.ToolResultTextContent():
            return Section("", block.text)
        case tools.ToolResultFileEditContent():
            return Section("", FileEdit(before=block.before, after=block.after, diff=block.diff))
        case tools.ToolResultResourceContent():
            return Section("file", block)
        case tools.ToolResultEmbeddedResourceContent():
            return Section("", f"[{block.content_type}, {words.size(3 * len(block.data) // 4)}]")
        case tools.ToolResultTerminalContent():
            return _terminal(block)
        case tools.ToolResultSubagentContent():
            who = f"{block.agent_name}: " if block.agent_name else ""
            return Section("helper", f"{who}{block.title} (a chat of its own)")
        case Unknown():
            return Section("", f"[content this version does not know: {block.raw.get('type')}]")
        case _:
            raise AssertionError(f"a kind of content without words: {type(block).__name__}")


def _terminal(block: tools.ToolResultTerminalContent) -> Section:
    result = block.result
    if result is None:
        return Section(f"terminal · {words.one_line(block.title)}", "runs")
    code = "" if result.exit_code is None else f" · exit code {result.exit_code}"
    cut = "\n…" if result.truncated else ""
    return Section(f"terminal · {words.one_line(block.title)}{code}", (result.preview or "").rstrip("\n") + cut)


def _decided(call: Any) -> Iterator[Section]:
    option = getattr(call, "selected_option", None)
    if option is not None:
        yield Section("decided", option.label)
    if not isinstance(call, tools.ToolCallCancelledState):
        return
    if call.reason_message:
        yield Section("reason", call.reason_message)
    if call.user_suggestion is not None:
        yield Section("instead", call.user_suggestion.text)


def edits_of(call: tools.ToolCallState) -> tuple[FileEdit, ...]:
    """The edits a call asks for or has made."""
    edits = getattr(call, "edits", None)
    if edits:
        return tuple(edits.items)
    made = (block for block in getattr(call, "content", None) or ())
    return tuple(
        FileEdit(before=block.before, after=block.after, diff=block.diff)
        for block in made
        if isinstance(block, tools.ToolResultFileEditContent)
    )


def references(sections: Sequence[Section]) -> Iterator[ContentRef]:
    """What has to be read to show these sections."""
    for section in sections:
        if isinstance(section.body, FileEdit):
            yield from (side.content for side in (section.body.before, section.body.after) if side)
        elif isinstance(section.body, ContentRef):
            yield section.body
