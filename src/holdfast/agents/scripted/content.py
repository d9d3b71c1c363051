"""Made-up content that carries itself: references are `data:` URIs, so that whoever reads them needs no file."""

from __future__ import annotations

import base64
import difflib
import struct
import zlib
from typing import Final

from holdfast.protocol.common import URI, ContentRef, FileEdit, FileEditDiffStats, FileEditSide

__all__ = ["data_uri", "edit", "encoded", "picture", "reference"]

# Bytes. A URI has to stay below 8,192 characters, of which base64 takes four for every three bytes. Only what
# a person typed can be longer than this; the reference then shows its beginning.
_MOST_BYTES: Final = 4096


def encoded(data: bytes) -> str:
    """Base64, as JSON carries binary data."""
    return base64.b64encode(data).decode()


def data_uri(data: bytes, content_type: str) -> URI:
    """A URI that is its own content."""
    return f"data:{content_type};base64,{encoded(data)}"


def reference(content: str | bytes, content_type: str) -> ContentRef:
    """A reference to content, which can be read wherever `data:` URIs can."""
    data = content.encode() if isinstance(content, str) else content
    shown = data[:_MOST_BYTES]
    return ContentRef(
        uri=data_uri(shown, content_type),
        size_hint=len(shown),
        content_type=content_type,
        nonce=f"{zlib.crc32(shown):08x}",
    )


def edit(uri: URI, before: str, after: str, content_type: str) -> FileEdit:
    """A change of one file, with both sides and the number of lines that changed."""
    matcher = difflib.SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False)
    changes = [change for change in matcher.get_opcodes() if change[0] != "equal"]
    return FileEdit(
        before=FileEditSide(uri=uri, content=reference(before, content_type)),
        after=FileEditSide(uri=uri, content=reference(after, content_type)),
        diff=FileEditDiffStats(
            added=sum(end - start for _, _, _, start, end in changes),
            removed=sum(end - start for _, start, end, _, _ in changes),
        ),
    )


def picture(size: int = 32) -> bytes:
    """A small PNG: a sunset, from orange to violet."""
    step = 255 // size
    rows = (bytes((255 - y * step // 2, 140 - y * step // 3, y * step)) * size for y in range(size))
    pixels = b"".join(b"\0" + row for row in rows)
    header = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(pixels, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
