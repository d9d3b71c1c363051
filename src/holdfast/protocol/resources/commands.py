"""Params and results of the `resource*` commands. The receiver owns the namespace."""

from __future__ import annotations

from holdfast.protocol.codec import ClosedEnum, OpenEnum, Wire
from holdfast.protocol.common import URI, Number, Timestamp
from holdfast.protocol.params import Empty, RootParams

__all__ = [
    "ContentEncoding",
    "DirectoryEntry",
    "ResourceCopyParams",
    "ResourceCopyResult",
    "ResourceDeleteParams",
    "ResourceDeleteResult",
    "ResourceListParams",
    "ResourceListResult",
    "ResourceMkdirParams",
    "ResourceMkdirResult",
    "ResourceMoveParams",
    "ResourceMoveResult",
    "ResourceReadParams",
    "ResourceReadResult",
    "ResourceRequestParams",
    "ResourceRequestResult",
    "ResourceResolveParams",
    "ResourceResolveResult",
    "ResourceType",
    "ResourceWriteMode",
    "ResourceWriteParams",
    "ResourceWriteResult",
]


class ContentEncoding(ClosedEnum):
    BASE64 = "base64"
    UTF_8 = "utf-8"


class ResourceWriteMode(ClosedEnum):
    TRUNCATE = "truncate"
    APPEND = "append"
    INSERT = "insert"


class ResourceType(OpenEnum):
    FILE = "file"
    DIRECTORY = "directory"
    SYMLINK = "symlink"


class ResourceReadParams(RootParams, frozen=True, kw_only=True):
    """`encoding` is a wish; the result says what it became."""

    uri: URI
    encoding: ContentEncoding | None = None


class ResourceReadResult(Wire, frozen=True, kw_only=True):
    data: str
    encoding: ContentEncoding
    content_type: str | None = None


class ResourceWriteParams(RootParams, frozen=True, kw_only=True):
    """`position` counts bytes of the resource; for `append` it counts back from the end."""

    uri: URI
    data: str
    encoding: ContentEncoding
    content_type: str | None = None
    create_only: bool | None = None
    mode: ResourceWriteMode | None = None
    position: int | None = None
    if_match: str | None = None


class ResourceWriteResult(Empty, frozen=True, kw_only=True):
    pass


class ResourceListParams(RootParams, frozen=True, kw_only=True):
    uri: URI


class DirectoryEntry(Wire, frozen=True, kw_only=True):
    name: str
    type: ResourceType


class ResourceListResult(Wire, frozen=True, kw_only=True):
    entries: tuple[DirectoryEntry, ...]


class ResourceCopyParams(RootParams, frozen=True, kw_only=True):
    source: URI
    destination: URI
    fail_if_exists: bool | None = None


class ResourceCopyResult(Empty, frozen=True, kw_only=True):
    pass


class ResourceMoveParams(RootParams, frozen=True, kw_only=True):
    source: URI
    destination: URI
    fail_if_exists: bool | None = None


class ResourceMoveResult(Empty, frozen=True, kw_only=True):
    pass


class ResourceDeleteParams(RootParams, frozen=True, kw_only=True):
    uri: URI
    recursive: bool | None = None


class ResourceDeleteResult(Empty, frozen=True, kw_only=True):
    pass


class ResourceResolveParams(RootParams, frozen=True, kw_only=True):
    uri: URI
    follow_symlinks: bool | None = None


class ResourceResolveResult(Wire, frozen=True, kw_only=True):
    """stat and realpath in one; `etag` changes whenever the content does."""

    uri: URI
    type: ResourceType
    size: Number | None = None
    mtime: Timestamp | None = None
    ctime: Timestamp | None = None
    content_type: str | None = None
    etag: str | None = None


class ResourceMkdirParams(RootParams, frozen=True, kw_only=True):
    uri: URI


class ResourceMkdirResult(Empty, frozen=True, kw_only=True):
    pass


class ResourceRequestParams(RootParams, frozen=True, kw_only=True):
    """Ask for access. Neither flag means read."""

    uri: URI
    read: bool | None = None
    write: bool | None = None


class ResourceRequestResult(Empty, frozen=True, kw_only=True):
    pass
