"""What a log line looks like, and what never gets into one."""

from __future__ import annotations

import io
import json
import logging
import re
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.protocol.errors import EnvironmentFailure
from holdfast.server import log_files, logs


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """Other tests find logging as it was."""
    root = logging.getLogger()
    ours = logging.getLogger("holdfast")
    handlers, levels, raising = root.handlers[:], (root.level, ours.level), logging.raiseExceptions
    yield
    for handler in set(root.handlers) - set(handlers):
        handler.close()
    root.handlers[:] = handlers
    root.setLevel(levels[0])
    ours.setLevel(levels[1])
    logging.raiseExceptions = raising


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_for_people_a_line_reads_like_a_sentence() -> None:
    stream = Terminal()
    logs.configure("info", "auto", stream)
    log = logs.logger("holdfast.access")
    log.info("opened", peer="127.0.0.1:5", user_agent="editor 1.2", empty="")
    log.debug("not shown")
    assert re.fullmatch(
        r'\d\d:\d\d:\d\d\.\d{3} INFO    access: opened peer=127\.0\.0\.1:5 user_agent="editor 1\.2" empty=""\n',
        stream.getvalue(),
    )


def test_for_programs_a_line_is_a_json_object() -> None:
    stream = io.StringIO()
    logs.configure("debug", "auto", stream)
    logs.logger("holdfast.x").debug("seen", number=3, odd=object, name="ü\n", level="mine")
    line, rest = stream.getvalue().split("\n")
    value = json.loads(line)
    assert rest == ""
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", value.pop("time"))
    assert value == {
        "level": "debug",
        "logger": "holdfast.x",
        "event": "seen",
        "number": 3,
        "odd": "<class 'object'>",
        "name": "ü\n",
    }


@pytest.mark.parametrize("style", ["human", "json"])
def test_a_traceback_is_shown_and_filtered(style: logs.Format) -> None:
    stream = io.StringIO()
    logs.configure("info", style, stream)
    try:
        raise ValueError("GET /?tkn=s3cr3ts3cr3t failed")
    except ValueError:
        logs.logger("holdfast.x").exception("broken", peer="p")
    text = stream.getvalue()
    assert "ValueError: GET /?tkn=*** failed" in text
    assert "Traceback" in text
    assert text.count("\n") == 1 or style == "human"


@pytest.mark.parametrize("style", ["human", "json"])
@pytest.mark.parametrize(
    "text",
    [
        "ws://127.0.0.1:7447/?tkn=s3cr3t.s3-cr3t~x&a=b",
        "GET /?a=b&tkn=s3cr3t HTTP/1.1",
        "Authorization: Bearer s3cr3t",
        "authorization: bearer   s3cr3t, x",
        "{'Authorization': 'Bearer s3cr3t'}",
        'registered "s3cr3t" one',
    ],
)
def test_secrets_are_hidden_wherever_they_are(style: logs.Format, text: str) -> None:
    stream = io.StringIO()
    logs.configure("info", style, stream)
    logs.SECRETS.register('registered "s3cr3t" one')
    logs.logger("holdfast.x").info("said", text=text)
    logging.getLogger("some.library").warning("said %s", text)
    assert "s3cr3t" not in stream.getvalue()
    assert stream.getvalue().count("***") == 2


def test_short_texts_are_no_secrets() -> None:
    secrets = logs.Secrets()
    secrets.register("the")
    assert secrets.hide("the end") == "the end"


def test_clients_cannot_write_lines_of_their_own() -> None:
    stream = Terminal()
    logs.configure("info", "human", stream)
    logs.logger("holdfast.access").info("opened", user_agent="x\n12:00:00.000 INFO    fake\x1b[2J\x9b")
    logging.getLogger("holdfast.y").warning("a\nb")
    assert stream.getvalue().count("\n") == 2
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", stream.getvalue())


def test_other_libraries_are_heard_when_they_warn() -> None:
    stream = io.StringIO()
    logs.configure("debug", "json", stream)
    logging.getLogger("asyncio").info("chatter")
    assert stream.getvalue() == ""
    logging.getLogger("asyncio").warning("trouble")
    assert json.loads(stream.getvalue())["event"] == "trouble"
    logs.configure("info", "human", stream)
    logs.configure("info", "human", stream)
    assert len(logging.getLogger().handlers) == 1


def test_a_file_is_kept_small_and_to_its_owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_files.LogFile.__init__, "__defaults__", (2000,))
    file = tmp_path / "log" / "host.log"
    logs.configure("info", "auto", file=file)
    log = logs.logger("holdfast.access")
    for number in range(100):
        log.info("opened", number=number, url="ws://h/?tkn=abcdefgh")
    files = sorted(file.parent.iterdir())
    assert [each.name for each in files] == ["host.log", "host.log.1", "host.log.2"]
    assert all(each.stat().st_size <= 2000 for each in files)
    assert all(stat.S_IMODE(each.stat().st_mode) == 0o600 for each in files)
    entries = [json.loads(line) for each in reversed(files) for line in each.read_text().splitlines()]
    assert [entry["number"] for entry in entries] == list(range(100 - len(entries), 100))
    assert {entry["url"] for entry in entries} == {"ws://h/?tkn=***"}


def test_a_file_that_cannot_be_written_is_told_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFailure, match=r"cannot log into .*Is a directory"):
        logs.configure(file=tmp_path)


def test_a_line_for_programs_can_be_shown_to_people() -> None:
    stream = io.StringIO()
    logs.configure("info", "json", stream)
    log = logs.logger("holdfast.access")
    log.info("opened", peer="127.0.0.1:5", user_agent="editor 1.2\nforged line", count=3)
    try:
        raise ValueError("lost")
    except ValueError:
        log.exception("failed")
    opened, failed = (logs.readable(json.loads(line)) for line in stream.getvalue().splitlines())
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} INFO    access: opened peer=127.0.0.1:5"
        r' user_agent="editor 1.2\\nforged line" count=3',
        opened,
    )
    assert re.match(r".* ERROR   access: failed\nTraceback", failed)
    assert failed.endswith("ValueError: lost")
