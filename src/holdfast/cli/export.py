"""`holdfast export`: a session to keep or to share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from holdfast.cli.hosts import Place, at_host, run
from holdfast.cli.output import as_json, emit, line, remark
from holdfast.cli.reaching import open_session, session_argument

if TYPE_CHECKING:
    from holdfast.cli.exporting import Whole
    from holdfast.cli.render.blocks import Block
    from holdfast.cli.render.inline import Inline
    from holdfast.client.host import Host
    from holdfast.protocol.chat.state import ChatState

__all__ = ["SCHEMAS", "command"]

SCHEMAS: Final = ("export",)

_SUFFIXES: Final = {".md": "markdown", ".markdown": "markdown", ".json": "json", ".html": "html", ".htm": "html"}


@click.command("export")
@session_argument
@click.option(
    "--format",
    "form",
    type=click.Choice(["markdown", "json", "html"]),
    help="What is written.  [what the name of FILE says, else markdown]",
)
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Written there.  [stdout]"
)
@as_json("The same as --format json.")
@at_host
def command(session: str, form: str | None, output: Path | None, as_json: bool, place: Place) -> None:
    """Write a session down, with all its chats.

    Markdown and HTML are for people; the HTML page needs nothing else and loads nothing. JSON has everything, and
    `holdfast import` reads it.
    """
    if as_json:
        form = "json"
    elif form is None:
        form = _SUFFIXES.get(output.suffix.lower(), "markdown") if output is not None else "markdown"
    written = run(place, lambda host: _written(host, session, form))
    if output is None:
        emit(written)
        return
    try:
        output.write_text(written, encoding="utf-8")
    except OSError as error:
        raise click.FileError(str(output), error.strerror or str(error)) from error
    remark(f"wrote {output}")


async def _written(host: Host, given: str, form: str) -> str:
    from holdfast.cli.exporting import as_export, contents_of, fetch

    session = await open_session(host, given)
    whole = await fetch(host, session)
    if form == "json":
        import msgspec

        from holdfast.protocol.codec import encode

        return msgspec.json.format(encode(await as_export(host, whole)), indent=1).decode() + "\n"
    contents = {each.uri: (each.content_type, each.data) for each in await contents_of(host, whole)}
    return _page(whole, contents, form)


def _page(whole: Whole, contents: Inline, form: str) -> str:
    from importlib import import_module

    from holdfast.cli.render.blocks import place

    state = whole.session
    facts = [("Agent", state.provider), ("Session", whole.uri)]
    facts += [("Created", whole.created_at)] if whole.created_at else []
    facts += [("Directory", place(each)) for each in state.working_directories or ()]
    chats = [(line(chat.title) or "(untitled)", list(_told(chat, contents))) for chat in whole.chats]
    written: str = import_module(f"holdfast.cli.render.{form}").document(
        line(state.title) or "(untitled)", facts, chats
    )
    return written


def _told(chat: ChatState, contents: Inline) -> Iterator[Block]:
    """A chat as people read it, with everything in it."""
    from holdfast.cli.render.blocks import blocks_of
    from holdfast.cli.render.inline import inlined

    for turn in chat.turns:
        yield from blocks_of(inlined(turn, contents))
    if chat.active_turn is not None:
        yield from blocks_of(inlined(chat.active_turn, contents))
