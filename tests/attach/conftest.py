"""What tests at terminals share: a host, and a way to leave everything behind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AsyncExitStack

import pytest

from attach.seat import Room
from console import serving


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real host that the tests of a module share; each makes its own sessions."""
    with serving(tmp_path_factory.mktemp("attach")) as console:
        yield console.url


@pytest.fixture
def room(url: str) -> Room:
    """Where people sit down in an `@aio` test; left in its loop."""
    return Room(url)


@pytest.fixture
def stack() -> AsyncExitStack:
    """Closed at the end of an `@aio` test, in its loop."""
    return AsyncExitStack()
