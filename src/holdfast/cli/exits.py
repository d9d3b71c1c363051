"""How a command ends: its exit code, and one sentence on stderr if it did not go well."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import NoReturn

import click

from holdfast.protocol.errors import EnvironmentFailure, UsageError

__all__ = ["Exit", "Stopped", "die_of", "fail", "in_words"]


class Exit(IntEnum):
    """Stable: scripts branch on them."""

    OK = 0
    FAILED = 1
    USAGE = 2
    NO_HOST = 3
    REFUSED = 4
    NEEDS_A_PERSON = 5


class Stopped(Exception):
    """A command ends here, with this code and, if there is something to say, a sentence that says what to do."""

    def __init__(self, code: Exit | int, sentence: str = "") -> None:
        super().__init__(sentence)
        self.code = code


@contextmanager
def in_words() -> Iterator[None]:
    """What goes wrong inside is told in a sentence, without a traceback, and ends the program."""
    try:
        yield
    except Stopped as stopped:
        fail(str(stopped), stopped.code)
    except UsageError as error:
        fail(str(error), Exit.USAGE)
    except EnvironmentFailure as error:
        fail(str(error), Exit.FAILED)


def die_of(number: signal.Signals) -> NoReturn:
    """End as if the signal had not been caught, so that shells know what happened."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    raise AssertionError(f"{number.name} is blocked")


def fail(sentence: str, code: int = Exit.FAILED) -> NoReturn:
    """Say what went wrong, if there is something to say, and end."""
    if sentence:
        click.echo(f"holdfast: {sentence}", err=True)
    sys.exit(code)
