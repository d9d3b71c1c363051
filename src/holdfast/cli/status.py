"""`holdfast status`: whether a host runs here, and how it is doing."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import click

from holdfast.cli.exits import Exit, in_words
from holdfast.cli.options import host_options, settings_from
from holdfast.cli.output import as_json, emit, emit_json

if TYPE_CHECKING:
    from holdfast.cli.shapes import HostStatus

__all__ = ["SCHEMAS", "command"]

SCHEMAS: Final = ("status",)

_WORDS: Final = {
    "running": "running",
    "starting": "starting: clients cannot come yet",
    "silent": "running, but it does not answer; `holdfast doctor` may know why",
    "stopped": "not running; `holdfast up` starts it",
}

_EXITS: Final = {"running": Exit.OK, "starting": Exit.OK, "silent": Exit.FAILED, "stopped": Exit.NO_HOST}


@click.command("status")
@as_json()
@host_options(("data_dir",))
def command(as_json: bool, **given: Any) -> None:
    """Tell whether a host runs here, and how it is doing.

    Ends with exit code 0 if it runs, 3 if not, 1 if it does not answer.
    """
    with in_words():
        from holdfast.cli import local

        status = local.described(settings_from(given).data_dir)
        if as_json:
            emit_json(status)
        else:
            emit("".join(f"{name:10}{text}\n" for name, text in _rows(status) if text))
    sys.exit(_EXITS[status.state])


def _rows(status: HostStatus) -> list[tuple[str, str]]:
    from holdfast.cli.local import duration

    since = f", for {duration(status.uptime)}" if status.uptime is not None else ""
    return [
        ("host", _WORDS[status.state]),
        ("process", f"{status.pid}{since}" if status.pid else ""),
        ("version", status.version or ""),
        ("address", status.address or ""),
        ("socket", status.socket or ""),
        ("sessions", _counted(status.sessions)),
        ("turns", f"{status.turns_running} running" if status.turns_running is not None else ""),
        ("clients", _counted(status.connections)),
        ("memory", f"{status.memory / 2**20:.0f} MiB" if status.memory else ""),
        ("data", status.data_dir),
        ("log", status.log or ""),
    ]


def _counted(number: int | None) -> str:
    return "" if number is None else str(number)
