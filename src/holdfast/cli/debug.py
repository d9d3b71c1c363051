"""`holdfast debug`: the protocol package behind a door for black-box checks.

Each command reads JSON on stdin and prints JSON on stdout, once, or line by line with `--lines`. What they
accept and print is stable; `docs/debug.md` describes it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final

import click
from msgspec import Raw

from holdfast.protocol import jsonrpc, versions
from holdfast.protocol.catalog import types_by_name
from holdfast.protocol.codec import Wire, decode, encode
from holdfast.protocol.envelope import decode_action
from holdfast.protocol.errors import HoldfastError, InvalidValue, RpcError
from holdfast.protocol.reducers import REDUCERS
from holdfast.protocol.snapshot import STATES

__all__ = ["command"]

Check = Callable[[bytes], Any]
"""Takes a JSON text, gives the value to print, raises a `HoldfastError` for what it cannot take."""

BAD_INPUT: Final = 2


@click.group("debug")
def command() -> None:
    """Check the protocol from outside: reduce, round-trip, negotiate."""


_lines = click.option("--lines", is_flag=True, help="One JSON value per line, in and out, until stdin ends.")


def _version_option(ctx: click.Context, param: click.Parameter, value: str) -> str:  # noqa: ARG001
    version = versions.parse_version(value)
    if version is None or versions.baseline_of(version) is None:
        raise click.BadParameter(f"{value!r} is not a protocol version of this host")
    return value


_version = click.option(
    "--version",
    default=str(versions.CURRENT),
    show_default=True,
    callback=_version_option,
    help="The protocol version whose shapes are read and printed.",
)


_Anything: Any = Any


class _Case(Wire, frozen=True, kw_only=True):
    initial: Raw
    actions: tuple[Raw, ...]
    reducer: str | None = None


@command.command("reduce")
@click.option("--reducer", type=click.Choice(sorted(REDUCERS)), help="The kind of channel.")
@click.option("--now", metavar="TIME", help="What the clock says, for versions whose reducers looked at theirs.")
@_version
@_lines
def reduce_(reducer: str | None, now: str | None, version: str, lines: bool) -> None:
    """Apply actions to a state.

    Reads {"initial": STATE, "actions": [ACTION, ...]} and prints the resulting state. An action that is
    unknown or malformed changes nothing. Without --reducer the value must name it: {"reducer": "chat", ...}.
    """

    def check(data: bytes) -> Any:
        case = decode(_Case, data)
        kind = reducer or case.reducer
        if kind not in REDUCERS:
            raise InvalidValue("$.reducer", f"one of {', '.join(sorted(REDUCERS))}", "another value or none")
        if _is_older(version):
            return _reduced_in(version, kind, case, now)
        state = decode(STATES[kind], bytes(case.initial))
        for action in case.actions:
            try:
                state = REDUCERS[kind](state, decode_action(action))
            except InvalidValue:
                continue
        return state

    _run(check, lines)


@command.command("roundtrip")
@click.option("--type", "type_name", required=True, metavar="TYPE", help="Such as ActionEnvelope.")
@_version
@_lines
def roundtrip(type_name: str, version: str, lines: bool) -> None:
    """Read a value of a type and print it as it is encoded again."""
    check = _roundtrip_in(version, type_name) if _is_older(version) else _roundtrip(type_name)
    _run(check, lines)


def _roundtrip(type_name: str) -> Check:
    if type_name == "JsonRpcMessage":
        return jsonrpc.parse
    if type_name not in types_by_name():
        raise _no_type(type_name)
    wanted = types_by_name()[type_name]
    return lambda data: decode(wanted, data)


def _no_type(name: str) -> click.BadParameter:
    return click.BadParameter(f"there is no type {name!r}", param_hint="--type")


# Older versions. The bridge is imported only for them.


def _is_older(version: str) -> bool:
    parsed = versions.parse_version(version)
    return parsed is not None and parsed < versions.ALIAS_0_10


def _reduced_in(version: str, kind: str, case: _Case, now: str | None) -> Any:
    from holdfast.protocol.compat.reducing import reduce_in

    initial: dict[str, Any] = decode(dict, bytes(case.initial))
    return reduce_in(version, kind, initial, [decode(_Anything, bytes(each)) for each in case.actions], now)


def _roundtrip_in(version: str, type_name: str) -> Check:
    from holdfast.protocol.compat.roundtrips import knows_type, roundtrip_in

    if not knows_type(type_name):
        raise _no_type(type_name)
    if type_name == "JsonRpcMessage":
        return jsonrpc.parse
    return lambda data: roundtrip_in(version, type_name, decode(_Anything, data))


@command.command("negotiate")
@_lines
def negotiate(lines: bool) -> None:
    """Choose a protocol version.

    Reads an array of offered versions and prints the choice, or {"error": ...}.
    """

    def check(data: bytes) -> Any:
        return versions.negotiate(decode(tuple[str, ...], data))

    _run(check, lines)


def _run(check: Check, lines: bool) -> None:
    if lines:
        for line in sys.stdin.buffer:
            if line.strip():
                _print(_answer(check, line))
        return
    try:
        answer = check(sys.stdin.buffer.read())
    except RpcError as error:
        _print({"error": jsonrpc.error_of(error)})
        _complain(error, code=BAD_INPUT if error.code == -32602 else 0)
    except HoldfastError as error:
        _complain(error, code=BAD_INPUT)
    else:
        _print(answer)


def _answer(check: Check, line: bytes) -> Any:
    try:
        return check(line)
    except HoldfastError as error:
        return {"error": jsonrpc.error_of(error)}


def _print(value: Any) -> None:
    sys.stdout.buffer.write(encode(value) + b"\n")
    sys.stdout.buffer.flush()


def _complain(error: HoldfastError, *, code: int) -> None:
    if code:
        click.echo(f"holdfast debug: {error}", err=True)
        sys.exit(code)
