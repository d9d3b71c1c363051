"""`holdfast up`: a host in the background."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

import click

from holdfast.cli.exits import in_words
from holdfast.cli.options import host_options, settings_from
from holdfast.cli.output import as_json, emit, emit_json, remark

__all__ = ["SCHEMAS", "command"]

SCHEMAS: Final = ("up",)


@click.command("up")
@click.option("--with-token", is_flag=True, help="Print the URL with the token in it, to be pasted into a client.")
@click.option(
    "--timeout", type=click.FloatRange(min=0), default=30.0, metavar="SECONDS", help="How long to wait.  [30]"
)
@as_json()
@host_options()
def command(with_token: bool, timeout: float, as_json: bool, **given: Any) -> None:
    """Start a host in the background, and wait until clients may come.

    Prints its URL. One that runs already is left as it is, with the options it has. It goes on when the terminal is
    closed, until `holdfast down`; it logs into log/host.log in the data directory (`holdfast logs`). To have it
    started with the machine, see `holdfast service`.

    Takes the same options as `serve`.
    """
    with in_words():
        from holdfast.cli import daemon, local
        from holdfast.cli.shapes import Up

        settings = settings_from(given)
        host, was_there = daemon.start(settings, given, timeout)
        status = local.described(settings.data_dir)
        url = local.shown_address(host)
        secret = local.token(settings.data_dir) if with_token and host.address else None
        if secret is not None:
            url += f"?tkn={quote(secret)}"
        if as_json:
            known = {name: getattr(status, name) for name in status.__struct_fields__}
            emit_json(Up(**known, url=url, new=not was_there))
            return
        emit(url + "\n")
        remark(f"{'was running already' if was_there else 'started'} (process {host.pid}); `holdfast down` stops it")
