"""Content that is kept outside of the state: read once, when somebody is about to see it."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable

from holdfast.attach.model.contents import Key, Unread, key, known
from holdfast.client.errors import Gone
from holdfast.client.host import Host
from holdfast.protocol.common import ContentRef
from holdfast.protocol.errors import HoldfastError
from holdfast.protocol.resources.commands import ContentEncoding, ResourceReadResult

__all__ = ["Library"]


class Library:
    """`contents` is what was read, and `tell` is called when that is more."""

    def __init__(self, host: Host, tell: Callable[[], None]) -> None:
        self.contents: dict[Key, str | Unread] = {}
        self._host = host
        self._tell = tell
        self._reading: set[Key] = set()

    def is_wanted(self, reference: ContentRef) -> bool:
        """Whether content can be shown, and nobody has read it yet."""
        return known(reference, self.contents) is None and key(reference) not in self._reading

    async def load(self, references: Iterable[ContentRef]) -> None:
        """Read what is not known yet. What cannot be read is known as that."""
        for reference in references:
            wanted = key(reference)
            if wanted in self.contents or wanted in self._reading:
                continue
            self._reading.add(wanted)
            try:
                self.contents[wanted] = _text(await self._host.read(reference.uri))
            except Gone:
                return
            except HoldfastError as error:
                self.contents[wanted] = Unread(str(error))
            finally:
                self._reading.discard(wanted)
            self._tell()


def _text(result: ResourceReadResult) -> str | Unread:
    if result.encoding is ContentEncoding.UTF_8:
        return result.data
    try:
        return base64.b64decode(result.data).decode()
    except ValueError:
        return Unread("not text")
