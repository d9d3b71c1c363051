"""Where things are kept, and that nobody else gets at them."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from holdfast.protocol.errors import EnvironmentFailure
from holdfast.server import dirs


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize(
    ("platform", "environ", "data", "config"),
    [
        ("linux", {}, "/h/.local/share/holdfast", "/h/.config/holdfast"),
        ("linux", {"XDG_DATA_HOME": "/d", "XDG_CONFIG_HOME": "/c"}, "/d/holdfast", "/c/holdfast"),
        ("linux", {"XDG_DATA_HOME": "d", "XDG_CONFIG_HOME": ""}, "/h/.local/share/holdfast", "/h/.config/holdfast"),
        (
            "darwin",
            {"XDG_DATA_HOME": "/d"},
            "/h/Library/Application Support/holdfast",
            "/h/Library/Application Support/holdfast",
        ),
    ],
)
def test_the_customs_of_the_platform(platform: str, environ: dict[str, str], data: str, config: str) -> None:
    environ = {"HOME": "/h", **environ}
    assert dirs.data_dir(environ, platform) == Path(data)
    assert dirs.config_dir(environ, platform) == Path(config)


def test_windows_is_told_in_a_sentence() -> None:
    dirs.require_posix("linux")
    with pytest.raises(EnvironmentFailure, match="on Windows, run it in WSL"):
        dirs.require_posix("win32")


def test_a_data_directory_is_made_closed(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b"
    dirs.prepare_data_dir(path)
    assert _mode(path) == 0o700
    (path / "something").touch()
    dirs.prepare_data_dir(path)


def test_an_empty_directory_is_taken_over_and_closed(tmp_path: Path) -> None:
    path = tmp_path / "volume"
    path.mkdir()
    path.chmod(0o755)
    dirs.prepare_data_dir(path)
    assert _mode(path) == 0o700


def test_what_others_may_enter_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "home"
    path.mkdir()
    (path / "something").touch()
    path.chmod(0o755)
    with pytest.raises(EnvironmentFailure, match=f"others may enter {path}; run `chmod 700 {path}`"):
        dirs.prepare_data_dir(path)
    assert _mode(path) == 0o755


def test_what_is_no_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(EnvironmentFailure, match=f"cannot use {path} as data directory"):
            dirs.prepare_data_dir(path)
