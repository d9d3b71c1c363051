"""`holdfast debug`: the protocol package behind a door for black-box checks.

Each command reads JSON on stdin and prints JSON on stdout, once, or line by line with `--lines`. What they
accept and print is stable; `docs/debug.md` describes it.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NoReturn

import click
from msgspec import Raw

from holdfast.cli.exits import Exit
from holdfast.protocol import jsonrpc, timestamps, versions
from holdfast.protocol.catalog import types_by_name
from holdfast.protocol.codec import Wire, decode, encode
from holdfast.protocol.envelope import decode_action
from holdfast.protocol.errors import ErrorCode, HoldfastError, InvalidValue, RpcError
from holdfast.protocol.reducers import REDUCERS
from holdfast.protocol.snapshot import STATES

__all__ = ["command"]

Check = Callable[[bytes], Any]
"""Takes a JSON text, gives the value to print, raises a `HoldfastError` for what it cannot take."""

# Larger than any state worth checking, smaller than what a machine would miss.
_MOST_BYTES: Final = 256 * 1024 * 1024


def _end(reason: object, code: Exit = Exit.USAGE) -> NoReturn:
    """Bad usage and bad input alike end in one line, so that whoever reads our stderr need not tell them apart."""
    click.echo(f"holdfast debug: {reason}", err=True)
    sys.exit(code)


@contextmanager
def _in_one_line() -> Iterator[None]:
    try:
        yield
    except click.UsageError as error:
        _end(error.format_message())


class _Check(click.Command):
    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        with _in_one_line():
            return super().make_context(*args, **extra)


class _Checks(click.Group):
    command_class = _Check

    def invoke(self, ctx: click.Context) -> Any:
        with _in_one_line():
            return super().invoke(ctx)


@click.group("debug", cls=_Checks)
def command() -> None:
    """Check the protocol from outside: reduce, round-trip, negotiate."""


_lines = click.option("--lines", is_flag=True, help="One JSON value per line, in and out, until stdin ends.")


def _version_option(ctx: click.Context, param: click.Parameter, value: str) -> str:  # noqa: ARG001
    release = value.partition("-")[0]
    version = versions.parse_version(release)
    if version is None or versions.baseline_of(version) is None:
        raise click.BadParameter(f"{value!r} is not a protocol version of this host")
    return release


_version = click.option(
    "--version",
    default=str(versions.CURRENT),
    show_default=True,
    callback=_version_option,
    help="The protocol version whose shapes are read and printed.",
)

_KINDS: Final = {kind.lower(): kind for kind in REDUCERS}


def _kind_of(name: str | None) -> str | None:
    """The kind of channel a name means: `resourceWatch`, or `resource-watch` as command lines like it."""
    return None if name is None else _KINDS.get(name.replace("-", "").lower())


def _reducer_option(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:  # noqa: ARG001
    kind = _kind_of(value)
    if value is not None and kind is None:
        raise click.BadParameter(f"{value!r} is none of {', '.join(sorted(REDUCERS))}")
    return kind


def _now_option(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:  # noqa: ARG001
    try:
        if value is not None:
            timestamps.to_milliseconds(value)
    except ValueError as error:
        raise click.BadParameter(f"{value!r} is not an ISO 8601 timestamp") from error
    return value


_Anything: Any = Any


class _Case(Wire, frozen=True, kw_only=True):
    initial: Raw
    actions: tuple[Raw, ...]
    reducer: str | None = None


@command.command("reduce")
@click.option(
    "--reducer", metavar="KIND", callback=_reducer_option, help=f"The kind of channel: {', '.join(sorted(REDUCERS))}."
)
@click.option(
    "--now",
    metavar="TIME",
    callback=_now_option,
    help="What the clock says, for versions whose reducers looked at theirs.",
)
@_version
@_lines
def reduce_(reducer: str | None, now: str | None, version: str, lines: bool) -> None:
    """Apply actions to a state.

    Reads {"initial": STATE, "actions": [ACTION, ...]} and prints the resulting state. An action that is
    unknown or malformed changes nothing. Without --reducer the value must name it: {"reducer": "chat", ...}.
    """

    def check(data: bytes) -> Any:
        case = decode(_Case, data)
        kind = reducer or _kind_of(case.reducer)
        if kind is None:
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
        _end(f"there is no type {type_name!r}")
    wanted = types_by_name()[type_name]
    return lambda data: decode(wanted, data)


# Older versions. The bridge is imported only for them.


def _is_older(version: str) -> bool:
    return versions.older_form(version) is not None


def _reduced_in(version: str, kind: str, case: _Case, now: str | None) -> Any:
    from holdfast.protocol.compat.reducing import reduce_in

    initial: dict[str, Any] = decode(dict, bytes(case.initial))
    return reduce_in(version, kind, initial, [decode(_Anything, bytes(each)) for each in case.actions], now)


def _roundtrip_in(version: str, type_name: str) -> Check:
    from holdfast.protocol.compat.roundtrips import knows_type, roundtrip_in

    if not knows_type(type_name):
        _end(f"there is no type {type_name!r}")
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
        try:
            offered = decode(tuple[str, ...], data)
        except InvalidValue as error:
            raise RpcError(ErrorCode.INVALID_PARAMS, str(error)) from None
        return versions.negotiate(offered)

    _run(check, lines)


def _run(check: Check, lines: bool) -> None:
    stdin = sys.stdin.buffer if sys.stdin else io.BytesIO()
    if lines:
        while line := _limited(stdin.readline):
            _print(_answer(check, line))
        return
    try:
        answer = encode(check(_limited(stdin.read)))
    except RpcError as error:
        _print(_refusal(error))
        if error.code == ErrorCode.INVALID_PARAMS:
            _end(error)
    except HoldfastError as error:
        _end(error)
    else:
        _print(answer)


def _limited(read: Callable[[int], bytes]) -> bytes:
    data = read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        _end(f"the input is larger than {_MOST_BYTES >> 20} MiB")
    return data


def _answer(check: Check, line: bytes) -> bytes:
    try:
        return encode(check(line))
    except HoldfastError as error:
        return _refusal(error)


def _refusal(error: HoldfastError) -> bytes:
    return encode({"error": jsonrpc.error_of(error)})


def _print(answer: bytes) -> None:
    try:
        sys.stdout.buffer.write(answer + b"\n")
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise  # click knows what to do: the reader has seen enough
    except OSError as error:
        _end(f"cannot write: {error.strerror}", Exit.FAILED)
