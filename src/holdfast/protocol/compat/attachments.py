"""Attachments that an older version has not: below they are their label, and what they are travels along.

Whoever sends such a message again, edited, sends back what it was not shown.
"""

from __future__ import annotations

from holdfast.protocol.compat.context import Context, Json
from holdfast.protocol.compat.step import Shape, without

__all__ = ["shown_as_label"]


def shown_as_label(type: str, *keys: str) -> Shape:  # noqa: A002 - the protocol's word
    """The shape of attachments for a version without this type of them, which has these keys of its own."""
    place = f"holdfast.{type}"

    def down(attachment: Json, context: Context) -> Json:  # noqa: ARG001
        if attachment.get("type") != type:
            return attachment
        hidden = {key: attachment[key] for key in keys if key in attachment}
        meta = {**(attachment.get("_meta") or {}), place: hidden}
        return {**without(attachment, *keys), "type": "simple", "_meta": meta}

    def up(attachment: Json, context: Context) -> Json:  # noqa: ARG001
        meta = attachment.get("_meta")
        hidden = meta.get(place) if isinstance(meta, dict) else None
        if attachment.get("type") != "simple" or not isinstance(hidden, dict):
            return attachment
        rest, left = without(attachment, "_meta", "modelRepresentation"), without(meta or {}, place)
        return {**rest, **({"_meta": left} if left else {}), **hidden, "type": type}

    return Shape(down, up)
