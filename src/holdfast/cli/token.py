"""`holdfast token`: what clients have to know to connect."""

from __future__ import annotations

from typing import Any

import click

from holdfast.cli.exits import in_words
from holdfast.cli.options import host_options, settings_from

__all__ = ["command"]


@click.command("token", short_help="Print or replace the connection token.")
@click.option("--rotate", is_flag=True, help="Replace the token. Open connections stay; new ones need the new one.")
@host_options(("data_dir",))
def command(rotate: bool, **given: Any) -> None:
    """Print the connection token of this user's host, which is made if there is none yet.

    A running host notices a new one.
    """
    with in_words():
        from holdfast.places import token_file
        from holdfast.server import dirs
        from holdfast.server.token import TokenFile

        settings = settings_from(given)
        dirs.prepare_data_dir(settings.data_dir)
        token = TokenFile(token_file(settings.data_dir))
        click.echo(token.rotate() if rotate else token.load_or_create())
