"""ISO 8601 timestamps as arithmetic: nothing here reads a clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from holdfast.protocol.common import Timestamp

__all__ = ["from_milliseconds", "plus", "to_milliseconds"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def to_milliseconds(timestamp: Timestamp) -> int:
    """Unix milliseconds; a timestamp without a zone is UTC. ValueError if it is none."""
    moment = datetime.fromisoformat(timestamp)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def from_milliseconds(milliseconds: float) -> Timestamp:
    """The wire form: UTC, three fractional digits, `Z`. ValueError outside the years 1 to 9999."""
    try:
        moment = _EPOCH + timedelta(milliseconds=int(milliseconds))
    except OverflowError as error:
        raise ValueError(f"no such date: {milliseconds!r} ms") from error
    return moment.strftime("%Y-%m-%dT%H:%M:%S.").rjust(20, "0") + f"{moment.microsecond // 1000:03d}Z"


def plus(timestamp: Timestamp, milliseconds: float) -> Timestamp:
    """The instant `milliseconds` later. ValueError if either makes no date."""
    return from_milliseconds(to_milliseconds(timestamp) + milliseconds)
