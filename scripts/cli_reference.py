"""Writes docs/cli.md from the commands themselves, and the schemas of what they print as JSON to docs/schemas.

    python scripts/cli_reference.py

A test fails when either is out of date.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from holdfast.cli import SECTIONS, cli
from holdfast.cli.exits import Exit
from holdfast.cli.shapes import OUTPUTS

DOCS: Final = Path(__file__).parents[1] / "docs"
PAGE: Final = DOCS / "cli.md"
SCHEMAS: Final = DOCS / "schemas"

_HEAD: Final = """\
# The command line

Made from the commands by `scripts/cli_reference.py`; a test fails when this page is not up to date. Every command
tells the same about itself with `--help`.
"""

_EXITS: Final = {
    Exit.OK: "done; a turn that was waited for is complete",
    Exit.FAILED: "it did not work: a turn failed or was cancelled, a file cannot be written, no session is called so",
    Exit.USAGE: "the command was called in a way it does not understand",
    Exit.NO_HOST: "no host answers there",
    Exit.REFUSED: "the host said no",
    Exit.NEEDS_A_PERSON: "something waits for a person, and nobody is there to ask",
}


def page() -> str:
    """The whole page."""
    parts = [_HEAD, _index(), _exits()]
    context = click.Context(cli, info_name="holdfast")
    for names in SECTIONS.values():
        for name in names:
            command = cli.get_command(context, name)
            assert command is not None, name
            parts += _described(command, click.Context(command, parent=context, info_name=name))
    return "\n".join(parts)


def _index() -> str:
    rows = []
    context = click.Context(cli)
    for section, names in SECTIONS.items():
        rows.append(f"| **{section}** | |\n")
        for name in names:
            command = cli.get_command(context, name)
            assert command is not None, name
            rows.append(f"| [{name}](#holdfast-{name}) | {command.get_short_help_str(200)} |\n")
    return "| | |\n|---|---|\n" + "".join(rows)


def _exits() -> str:
    rows = "".join(f"| {code.value} | {_EXITS[code]} |\n" for code in Exit)
    return f"## Exit codes\n\n| code | meaning |\n|---|---|\n{rows}"


def _described(command: click.Command, context: click.Context) -> Iterator[str]:
    """A command, and its subcommands if it has some."""
    yield f"## {context.command_path}\n"
    yield f"```\n{context.command_path} {' '.join(command.collect_usage_pieces(context))}\n```\n"
    yield _prose(command.help or "")
    records = [record for parameter in command.get_params(context) if (record := parameter.get_help_record(context))]
    options = [(names, text) for names, text in records if "--help" not in names]
    if options:
        yield "| option | |\n|---|---|\n" + "".join(
            f"| `{_cell(names)}` | {_cell(text)} |\n" for names, text in options
        )
    schemas = [name for name in OUTPUTS if name in _schemas_of(command)]
    if schemas:
        links = ", ".join(f"[{name}](schemas/{name}.schema.json)" for name in schemas)
        yield f"What `--json` prints: {links}.\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None, name
            yield from _described(found, click.Context(found, parent=context, info_name=name))


def _schemas_of(command: click.Command) -> tuple[str, ...]:
    names: tuple[str, ...] = (
        getattr(sys.modules[command.callback.__module__], "SCHEMAS", ()) if command.callback else ()
    )
    return names


def _prose(text: str) -> str:
    """A docstring as Markdown: paragraphs on a line each, what click is told to leave alone as code."""
    paragraphs = inspect.cleandoc(text).split("\n\n")
    written = []
    for paragraph in paragraphs:
        if paragraph.startswith("\b\n"):
            written.append(f"```sh\n{inspect.cleandoc(paragraph[2:])}\n```\n")
        else:
            written.append(re.sub(r"\s*\n\s*", " ", paragraph) + "\n")
    return "\n".join(written)


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "\\|")


def schemas() -> dict[str, str]:
    """The JSON Schema of each output, by the name of its file."""
    return {f"{name}.schema.json": _schema(name, shape) for name, shape in OUTPUTS.items()}


def _schema(name: str, shape: Any) -> str:
    (schema,), definitions = msgspec.json.schema_components([shape], ref_template="#/$defs/{name}")
    found = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"holdfast {name}", **schema}
    if definitions:
        found["$defs"] = definitions
    return json.dumps(found, indent=2) + "\n"


def main() -> int:
    """Write everything."""
    PAGE.write_text(page())
    SCHEMAS.mkdir(exist_ok=True)
    wanted = schemas()
    for name, text in wanted.items():
        (SCHEMAS / name).write_text(text)
    for file in SCHEMAS.glob("*.schema.json"):
        if file.name not in wanted:
            file.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
