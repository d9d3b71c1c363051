"""Every option of the host, its value, and where that came from.

The fields of `Settings` are the table: `OPTIONS` lists them with their kind, default, help, flag and variable, for
the command line and the documentation. `loading.load` reads them from flags, the environment and files.
"""

from __future__ import annotations

import dataclasses
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from holdfast.protocol.errors import UsageError
from holdfast.server.values import BOOL, COUNT, DURATION, PATH, PORT, SIZE, TEXT, TEXTS, Kind, choice, optional

__all__ = ["OPTIONS", "Effective", "Option", "Settings", "SettingsError", "effective"]

_DAY: Final = 86_400
_MIB: Final = 2**20


class SettingsError(UsageError):
    """An option that cannot be; the text names where it was given."""


def _is(kind: Kind, help_text: str) -> Mapping[str, Any]:
    return {"kind": kind, "help": help_text}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The options of one host. Sizes are bytes, times seconds. Made by `loading.load`."""

    data_dir: Path = field(default=Path(), metadata=_is(PATH, "Where sessions, the token and the socket are kept."))
    listen: str = field(default="127.0.0.1", metadata=_is(TEXT, "The address to listen on, HOST or HOST:PORT."))
    port: int = field(default=7447, metadata=_is(PORT, "The port to listen on; 0 picks one."))
    unix_socket: Path | None = field(
        default=None, metadata=_is(optional(PATH), "The unix socket; run/holdfast.sock in the data directory.")
    )

    no_token: bool = field(default=False, metadata=_is(BOOL, "Let every program on this machine in without a token."))
    allow_insecure: bool = field(default=False, metadata=_is(BOOL, "Listen beyond this machine without TLS."))
    tls_cert: Path | None = field(default=None, metadata=_is(PATH, "The TLS certificate chain, PEM."))
    tls_key: Path | None = field(default=None, metadata=_is(PATH, "The key of the certificate, PEM."))
    allowed_hosts: tuple[str, ...] = field(
        default=(), metadata=_is(TEXTS, "Names clients may call this host by, besides localhost; * is any.")
    )
    allowed_origins: tuple[str, ...] = field(
        default=(), metadata=_is(TEXTS, "Web pages that may connect, such as https://*.example.org; * is any.")
    )

    max_message: int = field(default=16 * _MIB, metadata=_is(SIZE, "The largest message taken from a client."))
    frame_budget: int = field(
        default=900_000, metadata=_is(SIZE, "Larger messages to clients are sent in pages; 0 never does that.")
    )
    rate_limit: int = field(
        default=50_000, metadata=_is(COUNT, "Messages a second from one client, lastingly; 0 is no limit.")
    )
    rate_burst: int = field(default=100_000, metadata=_is(COUNT, "Messages a client may send at once."))
    outbox_high_water: int = field(
        default=_MIB, metadata=_is(SIZE, "A client that so much waits for is lagging, and catches up later.")
    )
    outbox_limit: int = field(
        default=16 * _MIB, metadata=_is(SIZE, "A client that so much waits for is disconnected.")
    )
    outbox_time: float = field(default=30, metadata=_is(DURATION, "A client that lags for so long is disconnected."))
    compression: bool = field(default=True, metadata=_is(BOOL, "Compress for clients on other machines."))

    durability: Literal["process", "power"] = field(
        default="process",
        metadata=_is(choice("process", "power"), "What acknowledged changes survive: kill -9, or a power cut too."),
    )
    replay_age: float = field(
        default=_DAY, metadata=_is(DURATION, "For so long a client can come back without loading everything again.")
    )
    replay_bytes: int = field(default=64 * _MIB, metadata=_is(SIZE, "How much is kept for that, for each session."))
    undo_window: float = field(
        default=7 * _DAY, metadata=_is(DURATION, "For so long a deleted session can be restored.")
    )
    keep_sessions: float = field(
        default=0, metadata=_is(DURATION, "Sessions in which nothing happened for so long are deleted; 0 keeps all.")
    )
    idle_unload: float = field(
        default=300, metadata=_is(DURATION, "A session that nobody uses leaves memory after this time.")
    )

    grace: float = field(
        default=30, metadata=_is(DURATION, "A client whose connection dropped stays active for so long.")
    )
    client_tool_timeout: float = field(
        default=300, metadata=_is(DURATION, "How long a tool call waits for the client that offers the tool.")
    )
    drain_timeout: float = field(
        default=10, metadata=_is(DURATION, "How long running turns may take to end when the host stops.")
    )
    demo_auth: bool = field(default=False, metadata=_is(BOOL, "Offer the demo provider that asks for a token."))

    log_level: Literal["debug", "info", "warning", "error"] = field(
        default="info", metadata=_is(choice("debug", "info", "warning", "error"), "What is logged.")
    )
    log_file: Path | None = field(
        default=None, metadata=_is(optional(PATH), "Log into this file, which is kept small, instead of to stderr.")
    )
    log_format: Literal["auto", "human", "json"] = field(
        default="auto",
        metadata=_is(choice("auto", "human", "json"), "For people or for programs; auto: people on a terminal."),
    )

    origins: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    """Name of an option -> where its value came from, for a person."""

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the address."""
        try:
            return ipaddress.ip_address(self.listen).is_loopback
        except ValueError:
            return self.listen.lower() == "localhost"

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names clients may use in a Host header, for `gate.Gate`."""
        return (*self.allowed_hosts, self.listen)


class Option(NamedTuple):
    """One row of the table."""

    name: str
    kind: Kind
    default: Any
    help: str
    flag: str
    variable: str

    def place(self, origin: str) -> str:
        """What to call this option in a sentence: its flag or variable, or the file and the key in it."""
        return origin if origin in (self.flag, self.variable) else f"{origin}: {self.name}"


def _row(definition: dataclasses.Field[Any]) -> Option:
    name = definition.name
    kind, help_text = definition.metadata["kind"], definition.metadata["help"]
    flag, variable = f"--{name.replace('_', '-')}", f"HOLDFAST_{name.upper()}"
    return Option(name, kind, definition.default, help_text, flag, variable)


OPTIONS: Final = {one.name: _row(one) for one in dataclasses.fields(Settings) if one.metadata}


class Effective(NamedTuple):
    """One option as it is in force, for `holdfast config`."""

    name: str
    value: str
    origin: str


def effective(settings: Settings) -> list[Effective]:
    """Every option with its value and where that came from. There is no secret among them."""
    return [
        Effective(option.name, _shown(option, getattr(settings, option.name)), settings.origins[option.name])
        for option in OPTIONS.values()
    ]


def _shown(option: Option, value: Any) -> str:
    return option.kind.show(value) if value is not None else "off"
