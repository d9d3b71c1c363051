"""Kinds of channels that an older version does not have: nobody below sees the state of one."""

from __future__ import annotations

from typing import Any

from holdfast.protocol.compat.context import Context, Json
from holdfast.protocol.compat.layout import kind_of_state
from holdfast.protocol.compat.step import DROP, Shape

__all__ = ["unseen"]


def unseen(*kinds: str) -> Shape:
    """The shape `snapshot`: one of such a channel is left out."""

    def down(snapshot: Json, context: Context) -> Any:  # noqa: ARG001
        return DROP if kind_of_state(snapshot.get("state") or {}) in kinds else snapshot

    return Shape(down=down)
