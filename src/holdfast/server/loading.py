"""Where options come from: flags, then `HOLDFAST_*` variables, then the file of `--config`, then the user's
`holdfast.toml`, then defaults. What cannot be is told in one sentence that names the place.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from holdfast.server import dirs
from holdfast.server.limits import Limits
from holdfast.server.settings import OPTIONS, Option, Settings, SettingsError
from holdfast.server.values import PORT

__all__ = ["CONFIG_FILE", "CONFIG_VARIABLE", "load"]

CONFIG_FILE: Final = "holdfast.toml"
CONFIG_VARIABLE: Final = "HOLDFAST_CONFIG"


class _Given(NamedTuple):
    """A value as somebody gave it."""

    value: Any
    origin: str
    """Where, for a person."""
    rank: int
    """0 for flags, then downwards in precedence."""
    base: Path
    """What a relative path is relative to."""


def load(flags: Mapping[str, Any], environ: Mapping[str, str], config: Path | None = None) -> Settings:
    """The settings that follow from the flags, the environment and the files. Raises `SettingsError`.

    `flags` has values by the names of options; None and an empty tuple mean that a flag was not given. `config` is
    the file of `--config`; without it, `HOLDFAST_CONFIG` may name one.
    """
    if config is None and environ.get(CONFIG_VARIABLE):
        config = Path(environ[CONFIG_VARIABLE])
    user_file = dirs.config_dir(environ) / CONFIG_FILE
    given = {
        **(_from_file(user_file, 3) if user_file.is_file() else {}),
        **(_from_file(config.expanduser(), 2) if config is not None else {}),
        **_from_environ(environ),
        **_from_flags(flags),
    }
    values = {name: _read(OPTIONS[name], one) for name, one in given.items()}
    origins = dict.fromkeys(OPTIONS, "default") | {name: one.origin for name, one in given.items()}
    _settle_port(values, origins, given)
    values.setdefault("data_dir", dirs.data_dir(environ))
    values.setdefault("unix_socket", values["data_dir"] / "run" / "holdfast.sock")
    settings = Settings(**values, origins=origins)
    for check in _CHECKS:
        check(settings)
    return settings


def _from_flags(flags: Mapping[str, Any]) -> dict[str, _Given]:
    return {
        name: _Given(value, OPTIONS[name].flag, 0, Path.cwd())
        for name, value in flags.items()
        if value is not None and value != ()
    }


def _from_environ(environ: Mapping[str, str]) -> dict[str, _Given]:
    """An empty variable counts as not set: so a container takes back what its image sets."""
    return {
        option.name: _Given(environ[option.variable], option.variable, 1, Path.cwd())
        for option in OPTIONS.values()
        if environ.get(option.variable)
    }


def _from_file(path: Path, rank: int) -> dict[str, _Given]:
    try:
        with path.open("rb") as file:
            table = tomllib.load(file)
    except OSError as error:
        raise SettingsError(f"cannot read {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is not TOML: {error}") from error
    given = {}
    for key, value in table.items():
        name = key.replace("-", "_")
        if name not in OPTIONS:
            close = difflib.get_close_matches(name, OPTIONS, 1)
            raise SettingsError(f"{path}: there is no option {key!r}" + (f"; is it {close[0]}?" if close else ""))
        given[name] = _Given(value, str(path), rank, path.absolute().parent)
    return given


def _read(option: Option, given: _Given) -> Any:
    try:
        value = option.kind.read(given.value)
    except (ValueError, TypeError) as error:
        place = option.place(given.origin)
        raise SettingsError(f"{place}: expected {option.kind.expected}, got {given.value!r}") from error
    return given.base / value if isinstance(value, Path) else value


def _settle_port(values: dict[str, Any], origins: dict[str, str], given: Mapping[str, _Given]) -> None:
    """Take HOST:PORT apart; the port in it stands unless `port` was given with more right."""
    if "listen" not in given:
        return
    values["listen"], port = _split(values["listen"], given["listen"])
    other = given.get("port")
    if port is None or (other and other.rank < given["listen"].rank):
        return
    if other and other.rank == given["listen"].rank and values["port"] != port:
        place = OPTIONS["listen"].place(origins["listen"])
        raise SettingsError(f"{place} says port {port}, {OPTIONS['port'].place(other.origin)} says {values['port']}")
    values["port"] = port
    origins["port"] = origins["listen"]


def _split(text: str, given: _Given) -> tuple[str, int | None]:
    """`127.0.0.1`, `127.0.0.1:80`, `::1`, `[::1]`, `[::1]:80`."""
    host, port = text, ""
    if text.startswith("["):
        host, _, port = text[1:].partition("]")
        host = host if port[:1] in ("", ":") else ""
        port = port[1:]
    elif text.count(":") == 1:
        host, _, port = text.partition(":")
    try:
        if not host:
            raise ValueError
        return host, PORT.read(port) if port else None
    except ValueError as error:
        place = OPTIONS["listen"].place(given.origin)
        raise SettingsError(f"{place}: expected HOST or HOST:PORT, got {text!r}") from error


def _token_is_asked_beyond_loopback(settings: Settings) -> None:
    if settings.no_token and not settings.is_loopback:
        place = _place(settings, "no_token")
        raise SettingsError(f"{place} is for loopback only: everybody who reaches {settings.listen} would be let in")


def _tls_has_both_halves(settings: Settings) -> None:
    if settings.tls_cert and not settings.tls_key:
        raise SettingsError(f"{_place(settings, 'tls_cert')} needs a key beside it, --tls-key")
    if settings.tls_key and not settings.tls_cert:
        raise SettingsError(f"{_place(settings, 'tls_key')} needs a certificate beside it, --tls-cert")


def _tls_is_used_beyond_loopback(settings: Settings) -> None:
    if not (settings.is_loopback or settings.tls_cert or settings.allow_insecure):
        raise SettingsError(
            f"{_place(settings, 'listen')}: other machines reach {settings.listen}, and the token would travel"
            " readably; give --tls-cert and --tls-key, or --allow-insecure behind a proxy or in a private network"
        )


def _sizes_make_sense(settings: Settings) -> None:
    for name, least in _LEAST.items():
        if getattr(settings, name) < least:
            raise SettingsError(f"{_place(settings, name)}: at least {OPTIONS[name].kind.show(least)}")
    if settings.outbox_limit <= settings.outbox_high_water:
        raise SettingsError(f"{_place(settings, 'outbox_limit')}: more than outbox_high_water is needed")


def _place(settings: Settings, name: str) -> str:
    return OPTIONS[name].place(settings.origins[name])


# A link tells that it has drained only after it held more than its mark; below that nobody can be called lagging.
_LEAST: Final = {"outbox_high_water": Limits().drained, "max_message": 1024, "rate_burst": 1}

_CHECKS: Final[tuple[Callable[[Settings], None], ...]] = (
    _token_is_asked_beyond_loopback,
    _tls_has_both_halves,
    _tls_is_used_beyond_loopback,
    _sizes_make_sense,
)
