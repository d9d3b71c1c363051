"""`holdfast import`: a session that was exported, here or elsewhere, taken in again."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from holdfast.cli.exits import Exit, Stopped, in_words
from holdfast.cli.hosts import Place, at_host, run
from holdfast.cli.output import as_json, emit, emit_json

if TYPE_CHECKING:
    from holdfast.cli.shapes import Content, Export, Value
    from holdfast.client.host import Host
    from holdfast.protocol.extensions import ImportSessionResult

__all__ = ["SCHEMAS", "command"]

SCHEMAS: Final = ("import",)

# Bytes of JSON in one request. A host takes 16 MiB by default; smaller pieces leave it room for others.
_PIECE: Final = 1_000_000


@click.command("import", short_help="Take in a session that was exported.")
@click.argument("file", type=click.Path(allow_dash=True, path_type=Path))
@click.option("--agent", metavar="NAME", help="Go on with this agent.  [the one it was with]")
@click.option("--title", metavar="TEXT", help="What it is called here.  [what it was called]")
@as_json()
@at_host
def command(file: Path, agent: str | None, title: str | None, as_json: bool, place: Place) -> None:
    """Take in a session from FILE (or stdin, with -), which `holdfast export --format json` wrote.

    It keeps its URI if that is free on the host, and gets another one otherwise. Prints the URI. If anything goes
    wrong, nothing of it is there.
    """
    with in_words():
        document = _read(file)
    run(place, lambda host: _import(host, document, agent, title, as_json))


def _read(file: Path) -> Export:
    """The document in a file. Raises `Stopped` if it is none."""
    import msgspec

    from holdfast.cli.shapes import Export

    try:
        data = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise Stopped(Exit.FAILED, f"cannot read {file}: {error.strerror}") from error
    try:
        return msgspec.json.decode(data, type=Export)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        shown = "stdin" if str(file) == "-" else str(file)
        raise Stopped(Exit.FAILED, f"{shown} has no session that was exported: {error}") from None


async def _import(host: Host, document: Export, agent: str | None, title: str | None, as_json: bool) -> None:
    from holdfast.cli import shapes
    from holdfast.protocol.errors import HoldfastError
    from holdfast.protocol.extensions import ABORT_IMPORT, COMMIT_IMPORT, IMPORT_SESSION

    if IMPORT_SESSION not in host.extensions:
        raise Stopped(Exit.FAILED, "this host cannot take in sessions")
    state = document.session | ({"provider": agent} if agent else {}) | ({"title": title} if title else {})
    uri, begun = await _begin(host, document, state)
    try:
        await _fill(host, uri, document)
        await host.request(COMMIT_IMPORT, {"channel": uri})
    except HoldfastError:
        # Without this it would wait for the connection to end, which is now.
        await host.request(ABORT_IMPORT, {"channel": uri})
        raise
    renamed = {each.source: each.resource for each in begun.chats}
    source = state.get("defaultChat") or (document.chats[0]["resource"] if document.chats else "")
    chat = renamed.get(source, source)
    if as_json:
        emit_json(shapes.Created(session=uri, chat=chat))
    else:
        emit(f"{uri}\n")


async def _begin(host: Host, document: Export, state: Value) -> tuple[str, ImportSessionResult]:
    """Announce the session under its own URI, or another one if that is taken."""
    from holdfast.protocol import uris
    from holdfast.protocol.errors import ErrorCode, RpcError
    from holdfast.protocol.extensions import IMPORT_SESSION, ImportSessionResult

    params: dict[str, Any] = {
        "session": state,
        "chats": [{**_without_turns(chat), "turns": []} for chat in document.chats],
        "source": document.uri,
        **({"annotations": document.annotations} if document.annotations else {}),
        **({"createdAt": document.created_at} if document.created_at else {}),
    }
    for uri in (document.uri, uris.session(str(uuid.uuid4()))):
        try:
            result = await host.request(IMPORT_SESSION, {"channel": uri, **params}, ImportSessionResult)
        except RpcError as error:
            if error.code != ErrorCode.SESSION_ALREADY_EXISTS or uri != document.uri:
                raise
        else:
            return uri, result
    raise AssertionError("the second URI is new")


def _without_turns(chat: Value) -> Value:
    return {key: value for key, value in chat.items() if key not in ("turns", "turnsNextCursor", "activeTurn")}


async def _fill(host: Host, uri: str, document: Export) -> None:
    """Send what turns refer to, then the turns."""
    from holdfast.protocol.extensions import IMPORT_CONTENT, IMPORT_TURNS

    for content in document.contents:
        for piece in _pieces(content):
            await host.request(IMPORT_CONTENT, {"channel": uri, **piece})
    for chat in document.chats:
        for turns in _pages(chat["turns"]):
            await host.request(IMPORT_TURNS, {"channel": uri, "chat": chat["resource"], "turns": turns})


def _pieces(content: Content) -> Iterator[Value]:
    """Content in requests of a bearable size. Base64 is cut where it stays base64."""
    size = _PIECE // 4 * 4
    last = max(0, (len(content.data) - 1) // size * size)
    for start in range(0, last + 1, size):
        more = {"more": True} if start < last else {}
        data = content.data[start : start + size]
        yield {"uri": content.uri, "contentType": content.content_type, "data": data, **more}


def _pages(turns: list[Value]) -> Iterator[list[Value]]:
    """Turns in requests of a bearable size; one that is larger goes alone."""
    from holdfast.protocol.codec import encode

    page: list[Value] = []
    size = 0
    for turn in turns:
        length = len(encode(turn))
        if page and size + length > _PIECE:
            yield page
            page, size = [], 0
        page.append(turn)
        size += length
    if page:
        yield page
