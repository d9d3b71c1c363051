"""The connection token: made once, private, replaced at once."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.protocol.errors import EnvironmentFailure
from holdfast.server.logs import SECRETS
from holdfast.server.token import TokenFile

PROGRAM = """
import sys
from pathlib import Path
from holdfast.server.token import TokenFile
print(TokenFile(Path(sys.argv[1])).load_or_create())
"""


def test_the_first_start_makes_a_token_and_the_next_ones_keep_it(tmp_path: Path) -> None:
    path = tmp_path / "token"
    token = TokenFile(path).load_or_create()
    assert len(token) == 43
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert TokenFile(path).load_or_create() == token
    assert TokenFile(path).load() == token
    assert [entry.name for entry in tmp_path.iterdir()] == ["token"]
    assert token not in SECRETS.hide(f"the token is {token}")


def test_only_the_token_is_the_token(tmp_path: Path) -> None:
    file = TokenFile(tmp_path / "token")
    token = file.load_or_create()
    assert file.is_token(token)
    for other in ("", token[:-1], token + "x", token.swapcase(), "ü", "\udcff"):
        assert not file.is_token(other)


def test_a_running_host_notices_a_rotation(tmp_path: Path) -> None:
    path = tmp_path / "token"
    host = TokenFile(path)
    old = host.load_or_create()
    new = TokenFile(path).rotate()
    assert old != new
    assert host.is_token(new)
    assert not host.is_token(old)
    assert [entry.name for entry in tmp_path.iterdir()] == ["token"]


def test_without_a_valid_token_nobody_is_let_in(tmp_path: Path) -> None:
    path = tmp_path / "token"
    host = TokenFile(path)
    token = host.load_or_create()
    path.chmod(0o644)
    assert not host.is_token(token)
    path.unlink()
    assert not host.is_token(token)
    assert not host.is_token("")
    assert not TokenFile(path).is_token("")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644])
def test_a_token_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "token"
    TokenFile(path).load_or_create()
    path.chmod(mode)
    with pytest.raises(EnvironmentFailure, match=f"others can read the token in {path}; run `chmod 600 {path}`"):
        TokenFile(path).load_or_create()
    assert TokenFile(path).rotate()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("content", [b"", b"\n", b"short", b"two words and more of them", b"x" * 300, b"\xff" * 30])
def test_a_file_without_a_token_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "token"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(EnvironmentFailure, match=str(path)):
        TokenFile(path).load_or_create()


def test_a_token_that_somebody_chose_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("correct-horse-battery-staple\n")
    path.chmod(0o600)
    assert TokenFile(path).load_or_create() == "correct-horse-battery-staple"


def test_where_nothing_can_be_written_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFailure, match="cannot make"):
        TokenFile(tmp_path / "missing" / "token").load_or_create()


def test_a_full_disk_is_told_in_a_sentence_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(EnvironmentFailure, match=f"cannot make {tmp_path}/token: No space left on device"):
        TokenFile(tmp_path / "token").load_or_create()
    assert list(tmp_path.iterdir()) == []


def test_hosts_that_start_at_once_agree(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "token")]
    hosts = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(8)]
    tokens = {host.communicate(timeout=60)[0] for host in hosts}
    assert len(tokens) == 1
    assert len(tokens.pop()) == 44
