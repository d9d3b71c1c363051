"""Serving a host's requests for files from one folder: `connect(files=holdfast.files("./project"))`.

Fenced to the folder: every directory on the way is opened relative to the one before and no symbolic link is
followed, so that nothing that is renamed or linked meanwhile leads out of it. Read-only unless told otherwise.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import errno
import mimetypes
import os
import stat
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from holdfast.client import tree
from holdfast.protocol import uris
from holdfast.protocol.common import URI
from holdfast.protocol.errors import ErrorCode, InvalidValue, RpcError, UsageError
from holdfast.protocol.resources.commands import (
    ContentEncoding,
    DirectoryEntry,
    ResourceCopyParams,
    ResourceCopyResult,
    ResourceDeleteParams,
    ResourceDeleteResult,
    ResourceListParams,
    ResourceListResult,
    ResourceMkdirParams,
    ResourceMkdirResult,
    ResourceMoveParams,
    ResourceMoveResult,
    ResourceReadParams,
    ResourceReadResult,
    ResourceRequestParams,
    ResourceRequestResult,
    ResourceResolveParams,
    ResourceResolveResult,
    ResourceType,
    ResourceWriteMode,
    ResourceWriteParams,
    ResourceWriteResult,
)
from holdfast.protocol.timestamps import from_milliseconds

__all__ = ["files"]

_MOST: Final = 64 * 1024 * 1024
"""The largest file that is read or rewritten, in bytes: it travels in one message, a third larger."""


def files(folder: str | Path, *, writable: bool = False) -> Callable[[str, Any], Awaitable[Any]]:
    """Answers what a host asks of a client's files with those in `folder`, for `connect(files=…)`."""
    root = Path(folder).expanduser().resolve()
    if not root.is_dir():
        raise UsageError(f"{root} is not a folder")
    return _Folder(root, writable).asked


class _Place(NamedTuple):
    """An entry of the folder: the names on the way to it. The folder itself has none."""

    names: tuple[str, ...]
    uri: URI


class _Folder:
    """One request at a time changes something, as the protocol wants it; all of them run beside the loop."""

    def __init__(self, root: Path, writable: bool) -> None:
        self._root = root
        self._writable = writable
        self._changing = asyncio.Lock()

    async def asked(self, method: str, params: Any) -> Any:
        """The result of a request, or `RpcError`."""
        reading, writing = _READING.get(method), _WRITING.get(method)
        if reading is not None:
            return await asyncio.to_thread(self._answer, reading, params)
        if writing is None:
            raise RpcError(ErrorCode.METHOD_NOT_FOUND, f"this client has no {method[:100]}")
        if not self._writable:
            raise RpcError(ErrorCode.PERMISSION_DENIED, "this client's files may be read only")
        async with self._changing:
            return await asyncio.to_thread(self._answer, writing, params)

    def _answer(self, serve: Callable[[_Folder, Any], Any], params: Any) -> Any:
        try:
            return serve(self, params)
        except FileNotFoundError as error:
            raise RpcError(ErrorCode.NOT_FOUND, "there is no such file") from error
        except FileExistsError as error:
            raise RpcError(ErrorCode.ALREADY_EXISTS, "something is there already") from error
        except NotADirectoryError as error:
            raise RpcError(ErrorCode.NOT_FOUND, "there is no such folder") from error
        except OSError as error:
            raise _refusal(error) from error

    # Where things are

    def _place(self, uri: URI) -> _Place:
        try:
            of_client = uris.client_file(uri)
            path = uris.file_path(of_client.uri if of_client else uri)
        except InvalidValue as error:
            raise RpcError(ErrorCode.NOT_FOUND, "this client serves the files of one folder only") from error
        names = tuple(name for name in path.split("/") if name not in ("", "."))
        inside = self._root.parts[1:]
        if ".." in names or names[: len(inside)] != inside:
            raise RpcError(ErrorCode.PERMISSION_DENIED, "that is outside of the folder this client serves")
        return _Place(names[len(inside) :], uri)

    @contextmanager
    def _parent(self, place: _Place, *, make: bool = False) -> Iterator[tuple[int, str]]:
        """The directory an entry is in, open, and its name there; `.` for the folder itself."""
        with tree.opened(self._root, place.names[:-1], make=make) as directory:
            yield directory, place.names[-1] if place.names else "."

    # Reading

    def read(self, params: ResourceReadParams) -> ResourceReadResult:
        with self._parent(self._place(params.uri)) as (directory, name):
            data = tree.read(directory, name, _MOST)
        encoding = params.encoding if params.encoding is not None and params.encoding.is_known else None
        text = None
        if encoding != ContentEncoding.BASE64:
            with contextlib.suppress(UnicodeDecodeError):
                text = data.decode()
        content_type = mimetypes.guess_type(name)[0]
        if text is not None:
            return ResourceReadResult(data=text, encoding=ContentEncoding.UTF_8, content_type=content_type)
        written = base64.b64encode(data).decode("ascii")
        return ResourceReadResult(data=written, encoding=ContentEncoding.BASE64, content_type=content_type)

    def list(self, params: ResourceListParams) -> ResourceListResult:
        with tree.opened(self._root, self._place(params.uri).names) as directory, os.scandir(directory) as found:
            entries = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in found]
        return ResourceListResult(
            entries=tuple(
                DirectoryEntry(name=name, type=ResourceType.DIRECTORY if is_folder else ResourceType.FILE)
                for name, is_folder in sorted(entries)
            )
        )

    def resolve(self, params: ResourceResolveParams) -> ResourceResolveResult:
        place = self._place(params.uri)
        with self._parent(place) as (directory, name):
            found = os.stat(name, dir_fd=directory, follow_symlinks=False)
        is_link = stat.S_ISLNK(found.st_mode)
        if is_link and params.follow_symlinks is not False:
            raise RpcError(ErrorCode.PERMISSION_DENIED, "this client does not follow symbolic links")
        is_folder = stat.S_ISDIR(found.st_mode)
        return ResourceResolveResult(
            uri=params.uri,
            type=ResourceType.SYMLINK if is_link else ResourceType.DIRECTORY if is_folder else ResourceType.FILE,
            size=None if is_folder else found.st_size,
            mtime=from_milliseconds(found.st_mtime_ns // 1_000_000),
            content_type=None if is_folder else mimetypes.guess_type(name)[0],
            etag=tree.etag(found),
        )

    def request(self, params: ResourceRequestParams) -> ResourceRequestResult:
        self._place(params.uri)
        if params.write and not self._writable:
            raise RpcError(ErrorCode.PERMISSION_DENIED, "this client's files may be read only")
        return ResourceRequestResult()

    # Writing

    def write(self, params: ResourceWriteParams) -> ResourceWriteResult:
        data = _data(params)
        position = params.position or 0
        if position < 0:
            raise RpcError(ErrorCode.INVALID_PARAMS, "a position is not negative")
        with self._parent(self._place(params.uri)) as (directory, name):
            if params.create_only:
                tree.create(directory, name, data)
                return ResourceWriteResult()
            if params.if_match is not None and params.if_match != tree.etag_of(directory, name):
                raise RpcError(ErrorCode.CONFLICT, "the file is not what it was")
            if params.mode == ResourceWriteMode.APPEND and position == 0:
                tree.append(directory, name, data)
                return ResourceWriteResult()
            try:
                before = tree.read(directory, name, _MOST)
            except FileNotFoundError:
                before = b""
            tree.replace(directory, name, _changed(before, data, params.mode, position))
        return ResourceWriteResult()

    def mkdir(self, params: ResourceMkdirParams) -> ResourceMkdirResult:
        with self._parent(self._place(params.uri), make=True) as (directory, name):
            try:
                os.mkdir(name, dir_fd=directory)
            except FileExistsError:
                if not stat.S_ISDIR(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode):
                    raise
        return ResourceMkdirResult()

    def delete(self, params: ResourceDeleteParams) -> ResourceDeleteResult:
        with self._parent(self._own(params.uri)) as (directory, name):
            tree.delete(directory, name, recursive=params.recursive is True)
        return ResourceDeleteResult()

    def move(self, params: ResourceMoveParams) -> ResourceMoveResult:
        source, destination = self._own(params.source), self._own(params.destination)
        with self._parent(source) as (here, name), self._parent(destination, make=True) as (there, new):
            if params.fail_if_exists and tree.etag_of(there, new) is not None:
                raise FileExistsError
            os.rename(name, new, src_dir_fd=here, dst_dir_fd=there)
        return ResourceMoveResult()

    def copy(self, params: ResourceCopyParams) -> ResourceCopyResult:
        source, destination = self._place(params.source), self._own(params.destination)
        if destination.names[: len(source.names)] == source.names:
            raise RpcError(ErrorCode.INVALID_PARAMS, "nothing can be copied into itself")
        with self._parent(source) as (here, name), self._parent(destination, make=True) as (there, new):
            if params.fail_if_exists and tree.etag_of(there, new) is not None:
                raise FileExistsError
            tree.copy(here, name, there, new)
        return ResourceCopyResult()

    def _own(self, uri: URI) -> _Place:
        """An entry that may be replaced or removed, which the folder itself is not."""
        place = self._place(uri)
        if not place.names:
            raise RpcError(ErrorCode.PERMISSION_DENIED, "the folder itself stays where it is")
        return place


_READING: Final[dict[str, Callable[[_Folder, Any], Any]]] = {
    "resourceRead": _Folder.read,
    "resourceList": _Folder.list,
    "resourceResolve": _Folder.resolve,
    "resourceRequest": _Folder.request,
}
_WRITING: Final[dict[str, Callable[[_Folder, Any], Any]]] = {
    "resourceWrite": _Folder.write,
    "resourceMkdir": _Folder.mkdir,
    "resourceDelete": _Folder.delete,
    "resourceMove": _Folder.move,
    "resourceCopy": _Folder.copy,
}


def _data(params: ResourceWriteParams) -> bytes:
    if params.encoding == ContentEncoding.UTF_8:
        return params.data.encode()
    if params.encoding != ContentEncoding.BASE64:
        raise RpcError(ErrorCode.INVALID_PARAMS, "data is encoded as utf-8 or base64")
    try:
        return base64.b64decode(params.data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise RpcError(ErrorCode.INVALID_PARAMS, "the data is not base64") from error


def _changed(before: bytes, data: bytes, mode: ResourceWriteMode | None, position: int) -> bytes:
    """Positions beyond the end mean the end."""
    if mode == ResourceWriteMode.APPEND:
        place = max(len(before) - position, 0)
        return before[:place] + data + before[place:]
    if mode == ResourceWriteMode.INSERT:
        return before[:position] + data + before[position:]
    if mode in (None, ResourceWriteMode.TRUNCATE):
        return before[:position] + data
    raise RpcError(ErrorCode.INVALID_PARAMS, "a file is truncated, appended to or inserted into")


_MEANINGS: Final[dict[int | None, tuple[ErrorCode, str]]] = {
    errno.ELOOP: (ErrorCode.PERMISSION_DENIED, "this client does not follow symbolic links"),
    errno.EACCES: (ErrorCode.PERMISSION_DENIED, "the system does not let this client do that"),
    errno.EPERM: (ErrorCode.PERMISSION_DENIED, "the system does not let this client do that"),
    errno.EROFS: (ErrorCode.PERMISSION_DENIED, "the system does not let this client do that"),
    errno.ENOTEMPTY: (ErrorCode.INVALID_PARAMS, "the folder is not empty"),
    errno.EISDIR: (ErrorCode.INVALID_PARAMS, "that is a folder"),
    errno.EINVAL: (ErrorCode.INVALID_PARAMS, "nothing can be moved into itself"),
    errno.ENAMETOOLONG: (ErrorCode.INVALID_PARAMS, "the name is too long"),
    errno.EFBIG: (ErrorCode.INVALID_PARAMS, f"the file is larger than {_MOST} bytes"),
}


def _refusal(error: OSError) -> RpcError:
    return RpcError(*_MEANINGS.get(error.errno, (ErrorCode.INTERNAL_ERROR, error.strerror or "it did not work")))
