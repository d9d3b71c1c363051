"""What commands print: results on stdout, remarks on stderr, colour only for people, JSON for programs.

Nothing else writes to stdout, so that a closed pipe ends every command as it ends any Unix tool. What comes from
agents and other people is cleaned before it reaches a terminal: an escape sequence in a title moves no cursor.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import IO, TYPE_CHECKING, Any, Final, TypeVar

import click

from holdfast.cli.exits import die_of, fail

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

__all__ = [
    "as_json",
    "clean",
    "console",
    "drawn",
    "emit",
    "emit_json",
    "is_person",
    "line",
    "remark",
    "show",
    "table",
]

F = TypeVar("F", bound=Callable[..., Any])


def as_json(help_text: str = "JSON instead of text.") -> Callable[[F], F]:
    """The option `--json`, as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help=help_text)


# To stdout


def emit(text: str) -> None:
    """Write to stdout now. A reader that is gone ends the program as the signal would have, a full disk fails it."""
    if sys.stdout is None:
        fail("cannot write: stdout is closed")
    try:
        try:
            sys.stdout.write(text)
        except UnicodeEncodeError:
            # A terminal of another age; what it cannot show is no reason to show nothing.
            sys.stdout.write(text.encode(sys.stdout.encoding, "replace").decode(sys.stdout.encoding))
        sys.stdout.flush()
    except BrokenPipeError:
        # Python ignores this signal, and so it should: a host that closes its socket is no reason to die.
        die_of(signal.SIGPIPE)
    except OSError as error:
        # What is left unwritten would be tried again at the end, with a complaint of its own.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        fail(f"cannot write: {error.strerror}")


def emit_json(value: Any, *, indent: bool = True) -> None:
    """One JSON value, of wire values and output shapes alike. Without `indent` it is one line."""
    import msgspec

    from holdfast.protocol.codec import encode

    data = encode(value)
    emit((msgspec.json.format(data, indent=2) if indent else data).decode() + "\n")


def is_person(stream: IO[str] | None = None) -> bool:
    """Whether somebody looks at what is written there (stdout, if nothing is said)."""
    shown = stream or sys.stdout
    return shown is not None and shown.isatty()


@cache
def console(*, err: bool = False) -> Console:
    """Rich's door to a terminal. It honours `NO_COLOR` and `TERM=dumb`. Not for pipes."""
    from rich.console import Console

    return Console(stderr=err, highlight=False, emoji=False, markup=False)


def show(*renderables: RenderableType) -> None:
    """Print what Rich can draw, on a terminal."""
    with console().capture() as capture:
        for each in renderables:
            console().print(each)
    emit(capture.get())


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], nothing: str) -> None:
    """Rows under headings: fitted to a terminal, whole and aligned in a pipe. `nothing` is remarked without rows."""
    if not rows:
        remark(nothing)
    elif is_person():
        show(drawn(columns, rows))
    else:
        emit(aligned(columns, rows))


def aligned(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in plain text, for `grep` and `awk`."""
    lines = [[name.upper() for name in columns], *([line(cell) or "-" for cell in row] for row in rows)]
    widths = [max(len(cells[index]) for cells in lines) for index in range(len(columns))]
    return "".join(
        "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip() + "\n"
        for cells in lines
    )


def drawn(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> RenderableType:
    """A table for a terminal, cut to its width."""
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for index, name in enumerate(columns):
        drawn.add_column(name.capitalize(), style="cyan" if index == 0 else None, overflow="ellipsis", no_wrap=True)
    for row in rows:
        drawn.add_row(*(Text(line(cell)) for cell in row))
    return drawn


# To stderr


def remark(text: str) -> None:
    """Tell a person something that is not the result."""
    click.echo(clean(text), err=True)


# What others wrote

_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_SPACES: Final = re.compile(r"\s+")


def clean(text: str) -> str:
    """Text without what steers a terminal or turns its reading direction; newlines and tabs stay."""
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def line(text: str) -> str:
    """Clean text on one line."""
    return clean(_SPACES.sub(" ", text).strip())
