"""What stands in the composer, and what others type meanwhile.

A chat has one draft that everybody shares. Our rule: what a person typed here is never changed under their hands.
The composer takes the shared draft when the chat is opened or when asked to, and follows it until a key is pressed;
from then on what others type is shown beside it.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Drafting"]


class Drafting(NamedTuple):
    """`text`: in the composer. `sent`: what we last made the shared draft. `shared`: the shared draft."""

    text: str = ""
    sent: str = ""
    shared: str = ""
    follows: bool = False

    @classmethod
    def opened(cls, shared: str) -> Drafting:
        """A chat is opened: its draft is where everybody left off."""
        return cls(shared, shared, shared, follows=bool(shared))

    def typed(self, text: str) -> Drafting:
        """The person here changed the composer."""
        return self if text == self.text else self._replace(text=text, follows=False)

    def heard(self, shared: str) -> Drafting:
        """The shared draft is now this."""
        if self.follows:
            return Drafting(shared, shared, shared, follows=bool(shared))
        return self._replace(shared=shared)

    def published(self) -> Drafting:
        """What stands in the composer was made the shared draft."""
        return self._replace(sent=self.text, shared=self.text)

    def taken(self) -> Drafting:
        """Go on with what others typed."""
        return Drafting.opened(self.elsewhere or self.text)

    def emptied(self) -> Drafting:
        """What was in the composer was sent."""
        return Drafting(shared="" if not self.elsewhere else self.shared)

    @property
    def is_unpublished(self) -> bool:
        """There is something here that the others do not see yet."""
        return not self.follows and self.text != self.sent

    @property
    def elsewhere(self) -> str:
        """What somebody else typed, if it is neither ours nor here."""
        return self.shared if self.shared not in (self.sent, self.text) else ""
