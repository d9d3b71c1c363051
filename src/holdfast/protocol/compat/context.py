"""What a conversion may know besides the value it converts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

__all__ = ["NOWHERE", "Context", "Json"]

Json: TypeAlias = dict[str, Any]


def _nothing() -> Json | None:
    return None


@dataclass(frozen=True, slots=True)
class Context:
    """About one channel, at the time the value was made.

    `session` is the session the channel is or belongs to, `default_chat` that session's default chat, `kind` the
    channel's kind in 1.0. `facts` is what `facts.of` recorded beside an action. The rest is known only on the way
    up, where a client's message meets the host: who sent it, and the session's present state in 1.0 form.
    """

    channel: str = ""
    kind: str = ""
    session: str = ""
    default_chat: str = ""
    facts: Json = field(default_factory=dict)
    client_id: str = ""
    now: str = ""
    """The time, as an ISO timestamp, where a version did not send one that 1.0 needs."""
    session_state: Callable[[], Json | None] = _nothing
    state: Callable[[], Json | None] = _nothing
    """The present state of the channel itself, in 1.0 form."""
    legacy: Callable[[], Json] = dict
    """What older clients chose for the session and 1.0 has no place for: `{"model": …, "agent": …}`."""
    lookup: Callable[[str], Context] | None = None
    """The context of another channel, where a message does not go to the one it is about."""

    def about(self, channel: str) -> Context:
        """The context of a channel that a message names."""
        if channel == self.channel or self.lookup is None:
            return self
        return self.lookup(channel)

    def chat_state(self) -> Json | None:
        """The present state of the conversation that a message is about: a chat's, or a session's default one's."""
        return self.state() if self.kind != "session" else self.about(self.default_chat).state()

    def at(self, channel: str) -> Context:
        """The context of a channel whose snapshot is converted; little is known of one that nobody looks up."""
        if channel == self.channel:
            return self
        if self.lookup is not None:
            return self.lookup(channel)
        return Context(channel=channel, client_id=self.client_id, now=self.now)


NOWHERE: Final = Context()
