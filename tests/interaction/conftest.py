"""One real host for each test module, and clients for each test.

A module may say with what flags its host is started (`FLAGS`), and what program that is (`PROGRAM`). Tests share it:
each takes session URIs of its own (`session`, or more made from it) and as many clients as it likes (`clients`).
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator

import pytest

from served import Clients, HostProcess, hosting


@pytest.fixture(scope="module")
def host(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostProcess]:
    """A running host."""
    flags = getattr(request.module, "FLAGS", ("--demo-auth",))
    with asyncio.Runner() as runner:
        program = getattr(request.module, "PROGRAM", None)
        process = hosting(tmp_path_factory.mktemp("host"), *flags, program=program)
        host = runner.run(process.__aenter__())
        yield host
        runner.run(process.__aexit__(None, None, None))
    assert [each for each in host.logged() if each["level"] == "error"] == [], "nothing went wrong inside"


@pytest.fixture
def clients(host: HostProcess) -> Clients:
    """`await clients("ahp-root://")` is a client that has shaken hands; all are closed at the end of the test."""
    return Clients(host)


@pytest.fixture
def session() -> str:
    """The URI of a session that nobody has made yet."""
    return f"demo:/{uuid.uuid4()}"
