"""A client of 1.0 and a host that negotiated an older version: the other half of what a host does for old clients.

The client thinks in 1.0 alone. What it says goes through `request`, `dispatch` and `answer` on its way out, what it
hears through `result`, `error`, `heard` and `asked` on its way in. Hosts of `OLDEST` and newer can be spoken to so:
before that a session had no chats, and there would be no channel for what a client of 1.0 says to one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from holdfast.protocol import uris
from holdfast.protocol.common import URI
from holdfast.protocol.compat.bridge import PRIVATE, Bridge, bridge_for, public
from holdfast.protocol.compat.context import Context, Json
from holdfast.protocol.compat.layout import kind_of_state
from holdfast.protocol.compat.step import Action, Call
from holdfast.protocol.versions import Version

__all__ = ["OLDEST", "OlderHost", "older_host"]

OLDEST: Final = Version(0, 4, 0)


def _unknown() -> str:
    return ""


def older_host(
    version: str,
    state: Callable[[URI], Json | None],
    now: Callable[[], str] = _unknown,
    kind: Callable[[URI], str] | None = None,
) -> OlderHost | None:
    """What a connection that negotiated `version` needs; None if it needs nothing.

    `state` gives the confirmed state of a channel that the client follows, as 1.0 has it, or None: some older
    actions mean something only together with the state they meet. `now` is an ISO timestamp for what older hosts
    did not date. Keep the object for as long as the host knows the client: across reconnects, until `initialize`.
    """
    bridge = bridge_for(version)
    if bridge is None:
        return None
    if bridge.version < OLDEST:
        raise ValueError(f"a host of {version} is too old to be spoken to in 1.0; {OLDEST} is the oldest that is not")
    return OlderHost(bridge, state, now, kind or (lambda uri: kind_of_state(state(uri) or {}) or ""))


class OlderHost:
    """See `older_host`. Everything is JSON; nothing that is given is changed."""

    def __init__(
        self,
        bridge: Bridge,
        state: Callable[[URI], Json | None],
        now: Callable[[], str],
        kind: Callable[[URI], str],
    ) -> None:
        self.bridge = bridge
        self._state = state
        self._kind = kind
        self._now = now
        self._homes: dict[URI, URI] = {}
        """The session of each chat that was heard of."""

    # What the client says

    def request(self, method: str, params: Json) -> Call:
        """A request as the host knows it. `RpcError` with `METHOD_NOT_FOUND` if it knows nothing like it."""
        return self.bridge.lower_request(method, params, self._about(str(params.get("channel", ""))))

    def dispatch(self, channel: URI, action: Json) -> list[Json]:
        """The actions to dispatch on the channel instead of one, in order, each under a `clientSeq` of its own.

        None at all if the host has no words for it: tell the user, and apply nothing. The echo of the last one
        confirms the client's action.
        """
        about = self._about(channel)
        found = self.bridge.lower_action(Action(channel, about.kind, action), about)
        return [each.action for each in found]

    def answer(self, method: str, result: Any) -> Any:
        """The result of a request that the host made."""
        return self.bridge.lower_result(method, result)

    def refusal(self, method: str, error: Json) -> Json:
        """The `error` of a request that the host made."""
        return self.bridge.lower_error(method, error)

    # What the client hears

    def result(self, method: str, result: Any) -> Any:
        """The result of a request; `method` is its name in 1.0.

        The `actions` of a `reconnect` that is answered by a replay are left as they are: give each to `envelope`
        in turn, and apply what it gives before the next.
        """
        found = public(self.bridge.lift_result(method, result, self._about("")))
        if isinstance(found, dict):
            for snapshot in (*(found.get("snapshots") or ()), found.get("snapshot")):
                self._note(snapshot)
        return found

    def error(self, method: str, error: Json) -> Json:
        """The `error` of a request; `method` is its name in 1.0."""
        return self.bridge.lift_error(method, error)

    def envelope(self, envelope: Json) -> list[Json]:
        """The envelopes that one of the host's stands for. All have its number: apply them as one.

        None at all if it means nothing to 1.0; its number is seen all the same.
        """
        found = self.bridge.lift_envelope(envelope, self._about(""))
        shown = [each for each in found if not str(each["action"].get("type")).startswith(PRIVATE)]
        for each in shown:
            if each["action"].get("type") == "session/chatAdded":
                self._homes[each["action"]["summary"]["resource"]] = each["channel"]
        return shown

    def heard(self, method: str, params: Json) -> list[Call]:
        """The notifications that one of the host's stands for; `action` carries what `envelope` gives."""
        if method == "action":
            return [Call(method, each) for each in self.envelope(params)]
        return self.bridge.lift_notification(method, params, self._about(str(params.get("channel", ""))))

    def asked(self, method: str, params: Json) -> Call:
        """A request of the host's. `RpcError` with `METHOD_NOT_FOUND` if its version had no such thing."""
        return self.bridge.lift_request(method, params, self._about(str(params.get("channel", ""))))

    # What is known of channels

    def _about(self, channel: URI) -> Context:
        kind = self._kind(channel) if channel else ""
        session = channel if kind == "session" else self._session_of(channel)
        of_session = self._state(session) if session else None
        return Context(
            channel=channel,
            kind=kind,
            session=session,
            default_chat=str((of_session or {}).get("defaultChat") or ""),
            now=self._now(),
            session_state=lambda: of_session,
            # Long chats are long to encode: only for the few actions that need them.
            state=lambda: of_session if session == channel else self._state(channel) if channel else None,
            lookup=self._about,
        )

    def _session_of(self, channel: URI) -> URI:
        return self._homes.get(channel) or uris.annotations_owner(channel) or uris.default_chat_owner(channel) or ""

    def _note(self, snapshot: Any) -> None:
        state = snapshot.get("state") if isinstance(snapshot, dict) else None
        if isinstance(state, dict) and kind_of_state(state) == "session":
            self._homes |= {chat["resource"]: snapshot["resource"] for chat in state.get("chats") or ()}
