"""The client without `await`."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast
import holdfast.sync
from holdfast.protocol.chat.state import TurnState
from served import HostProcess, hosting


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostProcess]:
    with asyncio.Runner() as runner:
        hosted = hosting(tmp_path_factory.mktemp("host"))
        yield runner.run(hosted.__aenter__())
        runner.run(hosted.__aexit__(None, None, None))


@pytest.fixture
def host(process: HostProcess) -> Iterator[holdfast.sync.Host]:
    before = threading.active_count()
    with holdfast.sync.connect(process.url) as host:
        yield host
    assert threading.active_count() == before, "its thread has ended"


def test_a_conversation_needs_no_await(host: holdfast.sync.Host) -> None:
    session = host.create_session("demo", directory=".", title="Plain")
    said = []
    for event in session.send("approve"):
        match event:
            case holdfast.Text(text):
                said.append(text)
            case holdfast.sync.Approval() as ask:
                assert ask.title
                assert [each.id for each in session.waiting]
                ask.approve()
    assert "".join(said) == "".join(
        part.text for part in session.chat.turns[0].response_parts if hasattr(part, "text")
    )
    assert session.send("hello").outcome().state is TurnState.COMPLETE
    assert [turn.message.text for turn in session.chat.history()] == ["hello", "approve"]
    assert session.title == "Plain"
    assert "Plain" in session._repr_html_()


def test_a_form_is_filled_in_and_a_tool_offered(host: holdfast.sync.Host) -> None:
    session = host.create_session()

    @session.tool
    def shout(text: str) -> str:
        """Say it louder."""
        return text.upper()

    turn = session.send('client shout {"text": "ahoy"}')
    calls = [event.call for event in turn if isinstance(event, holdfast.ToolFinished)]
    assert [call.content[0].text for call in calls] == ["AHOY"]
    for event in session.send("form"):
        if isinstance(event, holdfast.sync.Question):
            assert event.questions
            event.decline()


def test_the_queue_and_the_list_of_sessions(host: holdfast.sync.Host) -> None:
    session = host.create_session(title="Listed")
    turn = session.send("wait").accepted()
    queued = session.chat.queue("hello")
    assert [each.id for each in session.chat.queued] == [queued]
    session.chat.unqueue(queued)
    turn.cancel()
    assert turn.outcome().state is TurnState.CANCELLED
    assert session.uri in [each.resource for each in host.sessions()]
    session.archive()
    session.dispose()
    assert session.uri not in [each.resource for each in host.sessions()]


def test_ctrl_c_ends_the_wait_and_nothing_else(host: holdfast.sync.Host) -> None:
    session = host.create_session()
    turn = session.send("wait").accepted()
    main = threading.main_thread().ident
    assert main is not None
    # As the terminal does it: to the thread that waits, whenever it does.
    threading.Timer(0.2, signal.pthread_kill, (main, signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        turn.outcome()
    assert not turn.is_over
    assert host.ping() < 10
    turn.cancel()
    assert turn.outcome().state is TurnState.CANCELLED


def test_what_is_closed_says_so(process: HostProcess, tmp_path: Path) -> None:
    host = holdfast.sync.connect(process.url)
    host.close()
    host.close()
    with pytest.raises(holdfast.UsageError, match="closed"):
        host.ping()
    before = threading.active_count()
    with pytest.raises(holdfast.NoHost):
        holdfast.sync.connect(data_dir=tmp_path)
    assert threading.active_count() == before
