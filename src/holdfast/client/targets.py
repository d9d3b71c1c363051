"""Where a host is: what people write, and how each of these is connected to.

Nothing is connected here. A local host is looked up anew each time, so that one that was started again, on another
port or with another token, is found.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import parse_qs, urlsplit

from holdfast import places
from holdfast.client.errors import NoHost
from holdfast.client.transports import Transport, spawn, web_socket
from holdfast.protocol.errors import UsageError

__all__ = ["Dial", "Target", "TargetLike", "target_of"]

Dial: TypeAlias = Callable[[], Awaitable[Transport]]
"""Connects once. Raises `NoHost`."""

TargetLike: TypeAlias = "str | Path | Sequence[str] | Dial | None"

_MOST_TOKEN: Final = 4096

_WRITTEN: Final = (
    "a host is written as ws://127.0.0.1:7447/?tkn=…, wss://…, unix:/path/to/socket, 127.0.0.1:7447, or"
    " 'exec:holdfast serve --stdio'"
)


@dataclass(frozen=True, slots=True)
class Target:
    """`shown` names it to people, without a token."""

    shown: str
    dial: Dial


def target_of(
    written: TargetLike, *, token: str | None, data_dir: Path | None, environ: Mapping[str, str], patience: float
) -> Target:
    """What somebody wrote, or None for `HOLDFAST_HOST` and else the host of the data directory."""
    folder = data_dir or Path(environ.get("HOLDFAST_DATA_DIR") or places.data_dir(environ))
    if written is None:
        # A data directory that was named by the caller says more than a variable.
        written = None if data_dir else environ.get("HOLDFAST_HOST") or None
    if written is None:
        return _local(folder, token, patience)
    if isinstance(written, Path):
        return _unix(str(written), patience)
    if isinstance(written, str):
        return _written(written, token, folder, patience)
    if callable(written):
        return Target("in memory", written)
    return _command(list(written))


def _written(text: str, token: str | None, folder: Path, patience: float) -> Target:
    scheme, _, rest = text.partition(":")
    if scheme in ("ws", "wss", "http", "https"):
        return _address(text.replace("http", "ws", 1) if scheme.startswith("http") else text, token, folder, patience)
    if scheme == "unix":
        return _unix(rest.removeprefix("//"), patience)
    if scheme == "exec":
        return _command(shlex.split(rest))
    if rest.isdecimal():
        return _address(f"ws://{text}/", token, folder, patience)
    raise UsageError(f"{text!r} is no address: {_WRITTEN}")


def _command(command: list[str]) -> Target:
    if not command:
        raise UsageError(f"a command has at least one word: {_WRITTEN}")

    async def dial() -> Transport:
        return await spawn(command)

    return Target(f"exec:{shlex.join(command)}", dial)


def _unix(path: str, patience: float) -> Target:
    async def dial() -> Transport:
        return await web_socket("", unix=path, patience=patience)

    return Target(f"unix:{path}", dial)


def _address(address: str, token: str | None, folder: Path, patience: float) -> Target:
    parts = urlsplit(address)
    if not parts.hostname:
        raise UsageError(f"{address.partition('?')[0]!r} names no machine: {_WRITTEN}")
    has_token = "tkn" in parse_qs(parts.query)
    is_here = parts.hostname in ("127.0.0.1", "localhost", "::1")

    async def dial() -> Transport:
        known = None if has_token else token or (_token(folder) if is_here else None)
        return await web_socket(address, headers=_bearer(known), patience=patience)

    return Target(address.partition("?")[0], dial)


def _local(folder: Path, token: str | None, patience: float) -> Target:
    async def dial() -> Transport:
        running = places.running(folder)
        if running is None:
            raise NoHost(f"no host runs for {folder}; start one with `holdfast serve` or `holdfast up`")
        if running.socket is not None:
            return await web_socket("", unix=running.socket, patience=patience)
        if running.address is None:
            raise NoHost(f"the host of {folder} (process {running.pid}) does not listen yet")
        address = f"{running.address.partition('?')[0]}"
        return await web_socket(address, headers=_bearer(token or _token(folder)), patience=patience)

    return Target(f"the host of {folder}", dial)


def _token(folder: Path) -> str | None:
    try:
        return places.open_private(places.token_file(folder), _MOST_TOKEN)[0].strip() or None
    except FileNotFoundError:
        return None


def _bearer(token: str | None) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"} if token else {}


def local_environment() -> Mapping[str, str]:
    """The environment of this process, the one place where it is read."""
    return os.environ
