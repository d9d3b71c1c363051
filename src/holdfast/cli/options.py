"""The host's options as flags, made from the table in `server.settings`: whoever adds a row there has the flag."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import click

from holdfast.server.loading import load
from holdfast.server.settings import OPTIONS, Option, Settings
from holdfast.server.values import BOOL, TEXTS, Kind

__all__ = ["host_options", "settings_from"]

F = TypeVar("F", bound=Callable[..., Any])


def host_options(names: Iterable[str] = tuple(OPTIONS)) -> Callable[[F], F]:
    """A decorator that gives a command `--config` and these options of the host."""

    def decorate(command: F) -> F:
        for name in reversed(tuple(names)):
            command = _flag(OPTIONS[name])(command)
        return click.option(
            "--config",
            metavar="FILE",
            help="A file of options, instead of flags; see `holdfast config`.  [HOLDFAST_CONFIG]",
        )(command)

    return decorate


def _flag(option: Option) -> Callable[[F], F]:
    shown = "" if option.default is None or option.name == "data_dir" else option.kind.show(option.default)
    help_text = f"{option.help}{f'  [{shown}]' if shown not in ('', 'false') else ''}"
    if option.kind is BOOL:
        # A switch that is on by default has a flag to switch it off.
        flag = f"{option.flag}/--no-{option.name.replace('_', '-')}" if option.default else option.flag
        return click.option(flag, option.name, is_flag=True, default=None, help=option.help)
    return click.option(
        option.flag,
        option.name,
        metavar=option.kind.metavar,
        multiple=option.kind is TEXTS,
        help=help_text,
        shell_complete=_completer(option.kind),
    )


def _completer(kind: Kind) -> Callable[[click.Context, click.Parameter, str], list[Any]]:
    """What a shell offers for values of a kind: its words, or files."""
    *words, last = kind.metavar.split("|")

    def complete(_: click.Context, __: click.Parameter, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        if "PATH" in (*words, last):
            return [CompletionItem(incomplete, type="file")]
        return [CompletionItem(word) for word in (*words, last) if words and word.startswith(incomplete)]

    return complete


def settings_from(given: dict[str, Any]) -> Settings:
    """The settings that follow from a command's flags, the environment and the files. Raises `SettingsError`."""
    flags = {name: value for name, value in given.items() if name in OPTIONS}
    config = given.get("config")
    return load(flags, os.environ, Path(config) if config else None)
