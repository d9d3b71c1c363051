"""Kinds of channels that an older version does not have: nobody below can subscribe to one or see its state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from holdfast.protocol.compat.context import Context, Json
from holdfast.protocol.compat.step import DROP, Call, ConvertCall, Shape
from holdfast.protocol.errors import ErrorCode, RpcError

__all__ = ["not_subscribed", "unseen"]


def not_subscribed(*schemes: str) -> Mapping[str, ConvertCall]:
    """Requests from below that subscribe: refused for such a channel, or less such channels."""

    def subscribe(call: Call, context: Context) -> Iterable[Call]:  # noqa: ARG001
        channel = str(call.params.get("channel"))
        if _is_one(channel, schemes):
            raise RpcError(ErrorCode.NOT_FOUND, f"there is no channel {channel[:200]!r} in the negotiated version")
        return (call,)

    def listing(key: str) -> ConvertCall:
        def known_only(call: Call, context: Context) -> Iterable[Call]:  # noqa: ARG001
            wanted = call.params.get(key)
            if not isinstance(wanted, list):
                return (call,)
            known = [each for each in wanted if not _is_one(each, schemes)]
            return (call if known == wanted else call._replace(params={**call.params, key: known}),)

        return known_only

    return {
        "subscribe": subscribe,
        "initialize": listing("initialSubscriptions"),
        "reconnect": listing("subscriptions"),
    }


def unseen(*schemes: str) -> Shape:
    """The shape `snapshot`: one of such a channel is left out of its list."""

    def down(snapshot: Json, context: Context) -> Any:  # noqa: ARG001
        return DROP if _is_one(snapshot.get("resource"), schemes) else snapshot

    return Shape(down=down)


def _is_one(uri: object, schemes: Iterable[str]) -> bool:
    return isinstance(uri, str) and uri.partition(":")[0].lower() in schemes
