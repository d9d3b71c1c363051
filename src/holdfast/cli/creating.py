"""Making a session from what was said on the command line: `new` does, and `send` without a session."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from holdfast.cli.answers import pairs, simple_value
from holdfast.cli.exits import Exit, Stopped
from holdfast.cli.hosts import Place
from holdfast.cli.output import line
from holdfast.protocol import uris
from holdfast.protocol.common import URI
from holdfast.protocol.errors import InvalidValue
from holdfast.protocol.session.state import SessionConfigSchema

if TYPE_CHECKING:
    from holdfast.client.host import Host
    from holdfast.client.session import Session

__all__ = ["Wanted", "checked_config", "create", "directory_uri", "session_options"]

F = TypeVar("F", bound=Callable[..., Any])


class Wanted(NamedTuple):
    """The session somebody wants."""

    agent: str | None
    directories: tuple[str, ...]
    title: str | None
    config: tuple[str, ...]

    @property
    def is_said(self) -> bool:
        """Whether anything was said about it."""
        return self != Wanted(None, (), None, ())


def session_options(command: F) -> F:
    """What a new session is to be, as `agent`, `directory`, `title` and `config`."""
    for flag, settings in (
        ("--config", {"multiple": True, "metavar": "KEY=VALUE", "help": "An option of the agent; may be repeated."}),
        ("--title", {"metavar": "TEXT", "help": "What the session is called."}),
        (
            "--directory",
            {
                "multiple": True,
                "metavar": "DIR",
                "help": "Where it works; may be repeated.  [here, if the host is on this machine]",
            },
        ),
        ("--agent", {"metavar": "NAME", "help": "Who is talked to; see `holdfast agents`.  [the host's first one]"}),
    ):
        command = click.option(flag, **settings)(command)
    return command


async def create(host: Host, wanted: Wanted, place: Place) -> Session:
    """Make the session. Raises `Stopped` if the agent has no such option."""
    directories = [directory_uri(each) for each in wanted.directories or _here(place)]
    config = {key: simple_value(value) for key, value in pairs(wanted.config).items()}
    if config:
        first = directories[0] if directories else None
        resolved = await host.resolve_config(wanted.agent, directory=first, config=config)
        checked_config(resolved.schema, config)
    return await host.create_session(wanted.agent, directories=directories, config=config or None, title=wanted.title)


def checked_config(schema: SessionConfigSchema, config: dict[str, Any]) -> None:
    """Raise `Stopped` for an option the agent does not have, or a value it does not take."""
    for key, value in config.items():
        known = schema.properties.get(key)
        if known is None:
            names = ", ".join(schema.properties) or "none"
            raise Stopped(Exit.USAGE, f"the agent has no option {line(key)!r}; it has {names}")
        if known.enum is not None and not getattr(known, "enum_dynamic", False) and value not in known.enum:
            raise Stopped(Exit.USAGE, f"{key} is one of {', '.join(map(str, known.enum))}, not {line(str(value))!r}")


def _here(place: Place) -> tuple[str, ...]:
    # On another machine our directory is a name like any other, and most likely of something that is not there.
    return () if place.is_elsewhere else (str(Path.cwd()),)


def directory_uri(given: str) -> URI:
    """A path, absolute or not, or a URI, as a URI."""
    try:
        uris.parse(given)
    except InvalidValue:
        return uris.file_uri(str(Path(given).expanduser().absolute()))
    return given
