"""Text that grows by small pieces without being copied each time.

A streamed part receives a megabyte in 20-byte deltas, and every delta makes a new immutable state. `Text`
values of one stream share a list of chunks and remember how many of them are theirs: appending to the newest
value adds one chunk, appending to an older one forks. The pieces are joined when somebody reads them, once.

Wire structs annotate such fields as `StreamedText`: plain `str` as decoded, `Text` once a reducer appended.
Both compare, hash, encode and print alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

__all__ = ["StreamedText", "Text", "append"]

# Chunks that may wait unjoined. A list entry costs 8 bytes and a 20-byte string 69, so unjoined deltas take
# about four times their size; joining every 4,096 of them bounds that at a third of a megabyte per stream.
_LOOSE_CHUNKS: Final = 4096


class _Chunks(list[str]):
    """The shared pieces; the first `settled` of them were joined from smaller ones before."""

    __slots__ = ("settled",)
    settled: int


class Text:
    """An immutable string, cheap to append to. `str(text)` is its value."""

    __slots__ = ("_chunks", "_count")
    _chunks: _Chunks
    _count: int

    def __init__(self, value: str = "") -> None:
        self._hold(value)

    def append(self, more: str) -> Text:
        """Return this text followed by `more`; this value stays what it is."""
        chunks = self._chunks
        count = self._count
        if len(chunks) != count:
            chunks = _fork(chunks, count)
        if count - chunks.settled >= _LOOSE_CHUNKS:
            chunks = _settle(chunks)
            count = len(chunks)
        chunks.append(more)
        return _of(chunks, count + 1)

    def _hold(self, value: str) -> None:
        self._chunks = _chunks(value)
        self._count = 1

    def __str__(self) -> str:
        if self._count > 1:
            self._hold("".join(self._chunks[: self._count]))
        return self._chunks[0]

    def __repr__(self) -> str:
        return f"Text({str(self)!r})"

    def __len__(self) -> int:
        return len(str(self))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Text):
            return self is other or str(self) == str(other)
        if isinstance(other, str):
            return str(self) == other
        return NotImplemented

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> tuple[type[Text], tuple[str]]:
        return (Text, (str(self),))


_new = object.__new__


def _of(chunks: _Chunks, count: int) -> Text:
    text = _new(Text)
    text._chunks = chunks
    text._count = count
    return text


def _chunks(value: str, *loose: str) -> _Chunks:
    chunks = _Chunks((value, *loose))
    chunks.settled = 1
    return chunks


def _fork(chunks: _Chunks, count: int) -> _Chunks:
    fork = _Chunks(chunks[:count])
    fork.settled = min(chunks.settled, count)
    return fork


def _settle(chunks: _Chunks) -> _Chunks:
    """Join the loose pieces, and every settled one too once there are as many of those."""
    keep = chunks.settled if chunks.settled < _LOOSE_CHUNKS else 0
    settled = _Chunks((*chunks[:keep], "".join(chunks[keep:])))
    settled.settled = len(settled)
    return settled


def append(text: StreamedText | None, more: str) -> Text:
    """Return `text` followed by `more`; an absent text counts as empty."""
    if type(text) is Text:
        return text.append(more)
    return _of(_chunks(str(text) if text else "", more), 2)


# msgspec decodes and validates the field as a string, natively; `Text` values reach the encoder's hook.
if TYPE_CHECKING:
    StreamedText: TypeAlias = str | Text
else:
    StreamedText = str
