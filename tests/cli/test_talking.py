"""What is said while a turn runs, and where it is gone on from: `cancel`, `queue`, `steer`, `fork`."""

from __future__ import annotations

from console import Console


def _busy(console: Console) -> str:
    """A session with a turn that runs until it is cancelled."""
    uri = console.text("new", "--config", "speed=0").strip()
    console.text("send", "wait", "--session", uri, "--no-wait")
    return uri


def test_what_runs_is_cancelled_and_nothing_running_is_fine(console: Console) -> None:
    uri = _busy(console)
    assert "turn" in console.json("cancel", uri, schema="cancel")
    assert "turn" not in console.json("cancel", uri, schema="cancel")
    assert console.run("cancel", uri).err == "nothing runs\n"


def test_the_queue_is_filled_ordered_and_emptied(console: Console) -> None:
    uri = _busy(console)
    for text in ("one", "two", "three"):
        console.text("queue", uri, text)
    queue = console.json("queue", uri, schema="queue")["queue"]
    assert [each["text"] for each in queue] == ["one", "two", "three"]
    console.text("queue", uri, "--first", queue[2]["id"][:13])
    console.text("queue", uri, "--remove", queue[0]["id"])
    lines = console.text("queue", uri).splitlines()
    assert [line.split()[-1] for line in lines] == ["TEXT", "three", "two"]
    assert console.run("queue", uri, "--remove", "nothing").code == 1
    console.text("cancel", uri)


def test_what_is_queued_while_nothing_runs_is_sent(console: Console) -> None:
    uri = console.text("new", "--config", "speed=0").strip()
    assert console.run("queue", uri).err == "nothing is queued\n"
    console.text("queue", uri, "hello")
    assert "hello" in console.text("send", "recall", "--session", uri)


def test_an_agent_is_steered_while_it_works(console: Console) -> None:
    uri = console.text("new", "--config", "speed=0").strip()
    with console.start("send", "wait", "--session", uri) as sending:
        sending.line()
        steered = console.json("steer", uri, "a little to the left", schema="steer")
        assert steered["session"] == uri
        sending.until("a little to the left")
        console.text("cancel", uri)


def test_nobody_is_steered_who_does_not_work(console: Console) -> None:
    uri = console.text("new").strip()
    done = console.run("steer", uri, "left")
    assert done.code == 1
    assert done.err == f"holdfast: no turn runs in {uri}; `holdfast send` begins one\n"


def test_a_chat_is_forked_and_talked_to(console: Console) -> None:
    uri = console.text("new", "--config", "speed=0").strip()
    turns = [console.json("send", text, "--session", uri, schema="send")["turn"] for text in ("hello", "usage")]
    for more, remembers in ((("--turn", turns[0][:12]), False), ((), True)):
        forked = console.json("fork", uri, *more, "--title", f"Another {remembers}", schema="fork")
        assert forked["session"] == uri
        answer = console.json("send", "recall", "--session", uri, "--chat", f"another {remembers}", schema="send")
        assert answer["chat"] == forked["chat"]
        assert "hello" in answer["text"]
        assert ("usage" in answer["text"]) is remembers


def test_a_fork_can_be_a_session_of_its_own(console: Console) -> None:
    uri = console.json("send", "hello", "--config", "speed=0", schema="send")["session"]
    forked = console.text("fork", uri, "--new-session", "--title", "On its own").strip()
    assert forked != uri
    (listed,) = console.json("sessions", "--search", "On its own", schema="sessions")
    assert listed["session"] == forked
    assert "hello" in console.text("send", "recall", "--session", forked)


def test_where_nothing_was_said_nothing_is_forked(console: Console) -> None:
    uri = console.text("new").strip()
    done = console.run("fork", uri)
    assert (done.code, done.err) == (1, "holdfast: there is nothing to fork: no turn is over yet\n")
    console.json("send", "hello", "--session", uri, schema="send")
    assert console.run("fork", uri, "--turn", "nothing").code == 1


def test_a_chat_that_is_not_there_is_told(console: Console) -> None:
    uri = console.text("new").strip()
    done = console.run("send", "hello", "--session", uri, "--chat", "no such")
    assert (done.code, done.err) == (1, "holdfast: there is no chat 'no such'\n")
