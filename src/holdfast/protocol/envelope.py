"""Actions on their way: the union of all actions, the envelope around one, and how both are read quickly."""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, TypeAlias, Union

import msgspec

from holdfast.protocol.annotations import actions as remarks
from holdfast.protocol.automation import actions as automation
from holdfast.protocol.canvas import actions as canvas
from holdfast.protocol.changeset import actions as changeset
from holdfast.protocol.chat import actions as chat
from holdfast.protocol.codec import OpenUnion, Unknown, Wire, decode, decoder
from holdfast.protocol.common import URI
from holdfast.protocol.root import actions as root
from holdfast.protocol.session import actions as session
from holdfast.protocol.terminal import actions as terminal
from holdfast.protocol.watch import actions as watch

__all__ = [
    "ACTION_TYPES",
    "ActionEnvelope",
    "ActionOrigin",
    "StateAction",
    "action_type",
    "decode_action",
    "decode_envelope",
]


def _actions_of(module: ModuleType) -> dict[str, type[Wire]]:
    classes = (getattr(module, name) for name in module.__all__)
    return {
        str(found.__struct_config__.tag): found
        for found in classes
        if issubclass(found, Wire) and found.__struct_config__.tag_field == "type"
    }


ACTION_TYPES: Final[dict[str, type[Wire]]] = {
    tag: struct
    for module in (
        root,
        session,
        chat,
        terminal,
        changeset,
        remarks,
        watch,
        automation,
        canvas,
    )
    for tag, struct in _actions_of(module).items()
}
"""Every action of 1.0.0, by its wire type."""

if TYPE_CHECKING:
    _KnownAction: TypeAlias = Wire
    StateAction: TypeAlias = Wire | Unknown
else:
    _KnownAction = Union[tuple(ACTION_TYPES.values())]  # noqa: UP007 - built from a table
    StateAction = OpenUnion[_KnownAction]


def action_type(action: StateAction) -> str:
    """The wire type of an action, known or not."""
    if isinstance(action, Unknown):
        return str(action.raw["type"])
    return str(action.__struct_config__.tag)


class ActionOrigin(Wire, frozen=True, kw_only=True):
    """The client that dispatched an action, and its own number for it."""

    client_id: str
    client_seq: int


class ActionEnvelope(Wire, frozen=True, kw_only=True):
    """No `origin`: from the host. A `rejection_reason`: refused, and nobody reduces it."""

    channel: URI
    action: StateAction
    server_seq: int
    origin: ActionOrigin | None = None
    rejection_reason: str | None = None


class _Envelope(Wire, frozen=True, kw_only=True):
    channel: URI
    action: msgspec.Raw
    server_seq: int
    origin: ActionOrigin | None = None
    rejection_reason: str | None = None


@cache
def _closed_decoder() -> msgspec.json.Decoder[Any]:
    return decoder(_KnownAction)


def decode_action(data: bytes | msgspec.Raw) -> StateAction:
    """Read an action. The closed union is tried first: it decodes natively, several times faster."""
    try:
        action: StateAction = _closed_decoder().decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return decode(StateAction, bytes(data))  # type: ignore[arg-type]  # a union, not a class
    return action


def decode_envelope(data: bytes | msgspec.Raw) -> ActionEnvelope:
    """As `decode(ActionEnvelope, data)`, quicker."""
    outer = decode(_Envelope, bytes(data))
    return ActionEnvelope(
        channel=outer.channel,
        action=decode_action(outer.action),
        server_seq=outer.server_seq,
        origin=outer.origin,
        rejection_reason=outer.rejection_reason,
    )
