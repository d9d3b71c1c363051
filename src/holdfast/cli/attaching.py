"""Files that go with a message, read here and sent along."""

from __future__ import annotations

import base64
import mimetypes
from pathlib import Path
from typing import Final

from holdfast.cli.exits import Exit, Stopped
from holdfast.protocol.chat.messages import MessageEmbeddedResourceAttachment

__all__ = ["attachment"]

# Bytes. A host takes messages of 16 MiB by default, and this becomes a third larger on the way.
_MOST: Final = 10_000_000


def attachment(file: Path) -> MessageEmbeddedResourceAttachment:
    """A file as an attachment. Raises `Stopped` if it cannot be read or is too large to send."""
    try:
        size = file.stat().st_size
        if size > _MOST:
            raise Stopped(Exit.FAILED, f"{file} has {size} bytes; at most {_MOST} can be attached")
        data = file.read_bytes()
    except OSError as error:
        raise Stopped(Exit.FAILED, f"cannot read {file}: {error.strerror}") from error
    content_type = mimetypes.guess_type(file.name)[0] or _guess(data)
    return MessageEmbeddedResourceAttachment(
        label=file.name, data=base64.b64encode(data).decode(), content_type=content_type
    )


def _guess(data: bytes) -> str:
    try:
        data.decode()
    except UnicodeDecodeError:
        return "application/octet-stream"
    return "text/plain"
