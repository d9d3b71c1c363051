"""Files below an open directory, reached by names and never by symbolic links.

What goes wrong is an `OSError`, with the system's own numbers: `ELOOP` for a link, `EFBIG` for too much.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

__all__ = ["append", "copy", "create", "delete", "etag", "etag_of", "opened", "read", "replace"]

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

# Without O_NONBLOCK a pipe in the place of a file would wait for somebody at its other end.
_FILE: Final = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK

_PIECE: Final = 1 << 20


@contextmanager
def opened(root: Path, names: Sequence[str], *, make: bool = False) -> Iterator[int]:
    """A directory below `root`, open; `make` makes those that are missing."""
    directory = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in names:
            try:
                inner = _folder(name, directory)
            except FileNotFoundError:
                if not make:
                    raise
                os.mkdir(name, dir_fd=directory)
                inner = _folder(name, directory)
            os.close(directory)
            directory = inner
        yield directory
    finally:
        os.close(directory)


def _folder(name: str, directory: int) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=directory)
    except NotADirectoryError:
        # Some systems say so of a link, too.
        if stat.S_ISLNK(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from None
        raise


def read(directory: int, name: str, most: int) -> bytes:
    """A whole file of at most so many bytes."""
    with os.fdopen(_regular(directory, name, os.O_RDONLY), "rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    return data


def _regular(directory: int, name: str, flags: int) -> int:
    file = os.open(name, flags | _FILE, 0o666, dir_fd=directory)
    mode = os.fstat(file).st_mode
    if stat.S_ISREG(mode):
        return file
    os.close(file)
    raise OSError(errno.EISDIR if stat.S_ISDIR(mode) else errno.EACCES, "not a file")


def create(directory: int, name: str, data: bytes) -> None:
    """A file that was not there; `FileExistsError` if it was, in any form."""
    with os.fdopen(_regular(directory, name, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
        file.write(data)


def append(directory: int, name: str, data: bytes) -> None:
    """Put bytes at the end, wherever that is by now."""
    with os.fdopen(_regular(directory, name, os.O_WRONLY | os.O_CREAT | os.O_APPEND), "ab", buffering=0) as file:
        view = memoryview(data)
        while view:
            view = view[file.write(view) :]


def replace(directory: int, name: str, data: bytes) -> None:
    """Have a file contain these bytes, at once: nobody sees half of them. It keeps its permissions."""
    try:
        before = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        before = None
    if before is not None and not stat.S_ISREG(before.st_mode):
        raise OSError(errno.EISDIR if stat.S_ISDIR(before.st_mode) else errno.ELOOP, "not a file")
    beside = f".{uuid.uuid4().hex}"
    create(directory, beside, data)
    try:
        if before is not None:
            os.chmod(beside, stat.S_IMODE(before.st_mode), dir_fd=directory)
        os.rename(beside, name, src_dir_fd=directory, dst_dir_fd=directory)
    except OSError:
        os.unlink(beside, dir_fd=directory)
        raise


def delete(directory: int, name: str, *, recursive: bool) -> None:
    """Remove a file, a link, or a folder; one with something in it only if `recursive`."""
    if not stat.S_ISDIR(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode):
        os.unlink(name, dir_fd=directory)
    elif recursive:
        shutil.rmtree(name, dir_fd=directory)
    else:
        os.rmdir(name, dir_fd=directory)


def copy(here: int, name: str, there: int, new: str) -> None:
    """Copy a file, or a folder with what is in it. Links in it are left out."""
    if stat.S_ISDIR(os.stat(name, dir_fd=here, follow_symlinks=False).st_mode):
        _copy_folder(here, name, there, new)
        return
    source = _regular(here, name, os.O_RDONLY)
    with os.fdopen(source, "rb") as file:
        target = _regular(there, new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        with os.fdopen(target, "wb") as copied:
            shutil.copyfileobj(file, copied, _PIECE)


def _copy_folder(here: int, name: str, there: int, new: str) -> None:
    os.mkdir(new, dir_fd=there)
    source = _folder(name, here)
    try:
        target = _folder(new, there)
        try:
            with os.scandir(source) as found:
                names = [entry.name for entry in found if not entry.is_symlink()]
            for each in names:
                copy(source, each, target, each)
        finally:
            os.close(target)
    finally:
        os.close(source)


def etag(found: os.stat_result) -> str:
    """What differs whenever the content does."""
    return f"{found.st_ino:x}-{found.st_size:x}-{found.st_mtime_ns:x}"


def etag_of(directory: int, name: str) -> str | None:
    """The tag of what is there, whatever it is; None if nothing is."""
    try:
        return etag(os.stat(name, dir_fd=directory, follow_symlinks=False))
    except FileNotFoundError:
        return None
