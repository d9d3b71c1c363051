"""`holdfast backup`: a copy of everything a host keeps, made while it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from holdfast.cli.exits import in_words
from holdfast.cli.options import host_options, settings_from

__all__ = ["command"]


@click.command("backup", short_help="Copy everything a host keeps, while it runs.")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@host_options(("data_dir",))
def command(file: Path, **given: Any) -> None:
    """Copy the journal of this user's host to FILE, also while the host runs.

    To restore: stop the host, put the copy in the place of journal.db in the data directory, remove journal.db-wal
    and journal.db-shm if they are there, start the host. Clients notice and load everything anew.
    """
    with in_words():
        from holdfast.journal.sqlite import back_up
        from holdfast.places import journal_file

        settings = settings_from(given)
        back_up(journal_file(settings.data_dir), file)
        click.echo(f"wrote {file}")
