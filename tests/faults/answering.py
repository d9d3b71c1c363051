"""What somebody who says yes to everything answers to an open turn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["answers_to"]


def answers_to(chat: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Everything a chat's running turn waits for: what it is, and the type and the fields of an action for it.

    A tool call may ask twice, for different things.
    """
    turn = chat.get("activeTurn")
    if turn is None:
        return
    for part in turn["responseParts"]:
        if part["kind"] == "inputRequest" and "response" not in part:
            request = part["request"]
            answers = {each["id"]: _ANSWERS[each["kind"]] for each in request.get("questions", ())}
            given = {"answers": answers} if answers else {}
            yield request["id"], "chat/inputCompleted", {"requestId": request["id"], "response": "accept", **given}
        elif part["kind"] == "toolCall":
            call = part["toolCall"]
            ids = {"turnId": turn["id"], "toolCallId": call["toolCallId"], "approved": True}
            if call["status"] == "pending-confirmation":
                about = f"{call['toolCallId']} {call.get('confirmationTitle')}"
                yield about, "chat/toolCallConfirmed", {**ids, "confirmed": "user-action"}
            elif call["status"] == "pending-result-confirmation":
                yield f"{call['toolCallId']} result", "chat/toolCallResultConfirmed", ids


def _submitted(kind: str, value: Any) -> dict[str, Any]:
    return {"state": "submitted", "value": {"kind": kind, "value": value}}


_ANSWERS = {
    "text": _submitted("text", "Mary Rose"),
    "number": _submitted("number", 12.5),
    "integer": _submitted("number", 4),
    "boolean": _submitted("boolean", True),
    "single-select": _submitted("selected", "ketch"),
    "multi-select": _submitted("selected-many", ["anchor"]),
}
