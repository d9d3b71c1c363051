"""What waits for a person, listed and decided from anywhere: `approve`, `deny`, `answer`."""

from __future__ import annotations

from typing import Any

import pytest

from console import Console


def _waiting(console: Console, prompt: str, *config: str) -> tuple[str, str]:
    """A session in which something waits, and the id of that."""
    sent = console.json("send", prompt, "--config", "speed=0", *config, "-q", schema="send", code=5)
    return sent["session"], sent["waits"][0]["id"]


def _told(console: Console, uri: str) -> str:
    """The whole session, once nothing runs in it."""
    console.text("tail", uri, "--until-idle")
    return console.text("show", uri)


def _list(console: Console, uri: str, command: str = "approve") -> list[Any]:
    listed: list[Any] = console.json(command, "--session", uri, schema="waiting")
    return listed


def test_without_an_id_everything_that_waits_is_listed(console: Console) -> None:
    tool, approval = _waiting(console, "approve make a list")
    form, question = _waiting(console, "form")
    listed = {each["id"]: each for each in console.json("approve", schema="waiting")}
    assert (listed[approval]["kind"], listed[approval]["session"]) == ("approval", tool)
    assert (listed[approval]["input"], listed[approval]["options"][0]) == ("make a list", "once")
    assert (listed[question]["kind"], listed[question]["session"]) == ("question", form)
    for command in ("deny", "answer"):
        assert [each["id"] for each in _list(console, form, command)] == [question]
    (row,) = [line for line in console.text("approve").splitlines() if "make a list" in line]
    assert row.startswith(approval.rpartition("#")[2][:8])


def test_a_tool_is_let_run(console: Console) -> None:
    uri, id = _waiting(console, "approve make")
    decided = console.json("approve", id, schema="decided")
    assert decided == [{"id": id, "session": uri, "decision": "approved"}]
    assert _list(console, uri) == []


def test_a_short_id_will_do(console: Console) -> None:
    _, id = _waiting(console, "approve make")
    done = console.run("approve", id.rpartition("#")[2][:-1])
    assert (done.code, done.out, done.err) == (0, "", "approved: Run this command?\n")


def test_with_one_of_its_options(console: Console) -> None:
    uri, id = _waiting(console, "approve make")
    console.text("approve", id, "--option", "session")
    # Allowed for the whole session: nobody is asked again.
    assert console.run("send", "approve make", "--session", uri).code == 0


def test_an_option_that_is_not_offered_is_told(console: Console) -> None:
    _, id = _waiting(console, "approve make")
    done = console.run("approve", id, "--option", "always")
    assert done.code == 2
    assert "it offers 'once', 'session'" in done.err


def test_with_another_input_where_that_is_possible(console: Console) -> None:
    uri, id = _waiting(console, "edit")
    console.text("approve", id, "--input", "boats = 7")
    assert "boats = 7" in _told(console, uri)
    _, id = _waiting(console, "approve make")
    done = console.run("approve", id, "--input", "make clean")
    assert (done.code, done.err) == (2, "holdfast: the input of run_command may not be edited\n")


def test_a_tool_is_kept_from_running(console: Console) -> None:
    uri, id = _waiting(console, "approve make")
    decided = console.json("deny", id, "--reason", "too loud", schema="decided")
    assert decided == [{"id": id, "session": uri, "decision": "denied"}]
    assert "too loud" in _told(console, uri)


def test_all_of_a_session_at_once(console: Console) -> None:
    uri, _ = _waiting(console, "parallel")
    while len(_list(console, uri)) < 2:
        pass
    decided = console.json("deny", "--all", "--session", uri, schema="decided")
    assert [each["decision"] for each in decided] == ["denied", "denied"]
    assert _list(console, uri) == []


def test_all_is_what_the_command_is_for(console: Console) -> None:
    uri, id = _waiting(console, "form")
    done = console.run("approve", "--all", "--session", uri)
    assert (done.code, done.out, done.err) == (0, "", "nothing like that waits for a person\n")
    assert [each["id"] for each in _list(console, uri)] == [id]


def test_a_result_is_given_or_kept(console: Console) -> None:
    for command, decision in (("approve", "approved"), ("deny", "denied")):
        uri, _ = _waiting(console, "review", "--config", "permissionMode=auto")
        (wait,) = _list(console, uri)
        assert wait["kind"] == "result"
        assert console.json(command, wait["id"], schema="decided")[0]["decision"] == decision


def test_a_form_is_filled_in_from_the_command_line(console: Console) -> None:
    uri, id = _waiting(console, "form")
    words = ("name=Seagull", "rig=Ketch", "gear=anchor,cat", "engine=no")
    decided = console.json("answer", id, *words, schema="decided")
    assert decided == [{"id": id, "session": uri, "decision": "accepted"}]
    page = _told(console, uri)
    for fact in ("**Name**: Seagull", "**Rig**: Ketch", "**Gear**: Anchor, cat", "**Engine**: no", "**Berths**: 4"):
        assert fact in page


def test_an_answer_that_does_not_fit_changes_nothing(console: Console) -> None:
    uri, id = _waiting(console, "form")
    for words, sentence in (
        ((), "'rig' has to be answered: How is it rigged? [sloop/ketch/schooner]"),
        (("colour=blue",), "there is no question 'colour'; the questions are name, email,"),
        (("rig=sloop", "berths=13"), "berths: expected 0 to 12"),
        (("rig",), "expected KEY=VALUE, got 'rig'"),
    ):
        done = console.run("answer", id, *words)
        assert (done.code, done.out) == (2, "")
        assert sentence in done.err
    assert [each["id"] for each in _list(console, uri)] == [id]


@pytest.mark.parametrize(
    ("words", "decision"),
    [(("answer", "--decline"), "declined"), (("answer", "--cancel"), "cancelled"), (("deny",), "declined")],
)
def test_a_form_is_turned_down(console: Console, words: tuple[str, ...], decision: str) -> None:
    _, id = _waiting(console, "form")
    assert console.json(*words, id, schema="decided")[0]["decision"] == decision


def test_a_link_is_answered_without_values(console: Console) -> None:
    _, id = _waiting(console, "link")
    assert console.json("answer", id, schema="decided")[0]["decision"] == "accepted"


def test_a_person_at_a_terminal_is_asked(console: Console) -> None:
    _, id = _waiting(console, "form")
    with console.screen("answer", id) as screen:
        screen.until("called? [1 to 40 characters] (Holdfast) ")
        screen.type("\x04")
        assert screen.end() == 1
        assert "the form was not filled in; it still waits" in screen.shown
    assert console.run("answer", id, "--decline").code == 0


def test_what_is_decided_otherwise_says_how(console: Console) -> None:
    _, approval = _waiting(console, "approve make")
    _, question = _waiting(console, "form")
    short = question.rpartition("#")[2]
    done = console.run("approve", question)
    assert (done.code, done.err) == (2, f"holdfast: {short} is decided with `holdfast answer {short}`\n")
    assert "`holdfast approve " in console.run("answer", approval, "a=b").err


def test_a_token_is_not_given_here(console: Console) -> None:
    _, id = _waiting(console, "mcp", "--config", "permissionMode=auto")
    for command in ("approve", "deny"):
        done = console.run(command, id)
        assert done.code == 1
        assert "waits for a token for" in done.err


def test_an_id_that_waits_no_more_is_told(console: Console) -> None:
    done = console.run("approve", "0000")
    assert done.code == 1
    assert done.err == "holdfast: there is no question '0000'; `holdfast approve` lists what waits\n"
