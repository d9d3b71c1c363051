"""Fixtures for pytest. Say `pytest_plugins = ["holdfast.testing.pytest"]` in your conftest.py.

    @pytest.fixture
    def holdfast_agents():
        return [MyAgent()]

    def test_it_greets(holdfast_session):
        assert holdfast_session.send("hello").outcome().text == "Hello!"

It is not loaded by itself: pytest would rewrite the assertions of all of Holdfast in every project that has it
installed. Whoever writes asynchronous tests uses `holdfast.testing.local_host` in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from holdfast import sync
    from holdfast.agents.port import Agent
    from holdfast.testing.synchronous import SyncLocalHost

__all__ = ["holdfast_agents", "holdfast_host", "holdfast_local", "holdfast_options", "holdfast_session"]


@pytest.fixture
def holdfast_agents() -> Sequence[Agent]:
    """The agents of the host, to be overridden; the first is the default. Without any it is the demo agent."""
    return ()


@pytest.fixture
def holdfast_options() -> dict[str, Any]:
    """What else `holdfast.testing.local_host` is given, to be overridden: `clock`, `ids`, options of the host."""
    return {}


@pytest.fixture
def holdfast_local(holdfast_agents: Sequence[Agent], holdfast_options: dict[str, Any]) -> Iterator[SyncLocalHost]:
    """A whole host in memory. Its connections can be broken, and it can be restarted."""
    from holdfast.testing.synchronous import sync_local_host

    with sync_local_host(holdfast_agents, **holdfast_options) as local:
        yield local


@pytest.fixture
def holdfast_host(holdfast_local: SyncLocalHost) -> sync.Host:
    """A client of that host, as `holdfast.sync.connect` gives it."""
    return holdfast_local.connect()


@pytest.fixture
def holdfast_session(holdfast_host: sync.Host) -> sync.Session:
    """A new session of the default agent."""
    return holdfast_host.create_session()
