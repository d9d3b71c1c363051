"""Options: where they come from, what they may be, and what is said when they cannot be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdfast.protocol.errors import UsageError
from holdfast.server.loading import load
from holdfast.server.settings import OPTIONS, Settings, SettingsError, effective


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """The environment of a user who has set nothing."""
    return {
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
    }


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def _refusal(flags: dict[str, Any], environ: dict[str, str], config: Path | None = None) -> str:
    with pytest.raises(SettingsError) as refused:
        load(flags, environ, config)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_without_anything_the_defaults_hold(environ: dict[str, str], tmp_path: Path) -> None:
    settings = load({}, environ)
    data_dir = tmp_path / "data" / "holdfast"
    assert settings == Settings(data_dir=data_dir, unix_socket=data_dir / "run" / "holdfast.sock")
    assert set(settings.origins.values()) == {"default"}
    assert (settings.listen, settings.port, settings.max_message, settings.frame_budget) == (
        "127.0.0.1",
        7447,
        16 * 1024 * 1024,
        900_000,
    )
    assert settings.is_loopback


@pytest.mark.parametrize("missing", range(5))
def test_precedence(environ: dict[str, str], tmp_path: Path, missing: int) -> None:
    config = tmp_path / "x" / "other.toml"
    user = tmp_path / "config" / "holdfast" / "holdfast.toml"
    sources = ["--port", "HOLDFAST_PORT", str(config), str(user), "default"]
    flags = {"port": "1"} if missing < 1 else {"port": None}
    if missing < 2:
        environ["HOLDFAST_PORT"] = "2"
    _write(config, "port = 3\n" if missing < 3 else "")
    _write(user, "port = 4\n" if missing < 4 else "")
    settings = load(flags, environ, config)
    assert settings.port == [1, 2, 3, 4, 7447][missing]
    assert settings.origins["port"] == sources[missing]


def test_every_option_can_be_given_in_every_way(environ: dict[str, str], tmp_path: Path) -> None:
    given: dict[str, tuple[str, Any]] = {
        "data_dir": ("/d", Path("/d")),
        "listen": ("::1", "::1"),
        "port": ("0", 0),
        "unix_socket": ("off", None),
        "no_token": ("yes", True),
        "allow_insecure": ("on", True),
        "tls_cert": ("/c.pem", Path("/c.pem")),
        "tls_key": ("/k.pem", Path("/k.pem")),
        "allowed_hosts": ("a.example, b.example", ("a.example", "b.example")),
        "allowed_origins": ("https://a.example", ("https://a.example",)),
        "max_message": ("32MiB", 32 * 2**20),
        "frame_budget": ("0", 0),
        "rate_limit": ("10", 10),
        "rate_burst": ("20", 20),
        "outbox_high_water": ("2 MB", 2_000_000),
        "outbox_limit": ("0.5GiB", 2**29),
        "outbox_time": ("1min", 60.0),
        "compression": ("false", False),
        "durability": ("power", "power"),
        "log_file": ("/l", Path("/l")),
        "replay_age": ("36h", 129_600.0),
        "replay_bytes": ("900kB", 900_000),
        "undo_window": ("2w", 1_209_600.0),
        "keep_sessions": ("90d", 7_776_000.0),
        "idle_unload": ("90", 90.0),
        "grace": ("1.5s", 1.5),
        "client_tool_timeout": ("250ms", 0.25),
        "drain_timeout": ("1m", 60.0),
        "demo_auth": ("TRUE", True),
        "log_level": ("debug", "debug"),
        "log_format": ("json", "json"),
    }
    assert set(given) == set(OPTIONS)
    expected = {name: value for name, (_, value) in given.items()}

    by_flags = load({name: text for name, (text, _) in given.items()}, environ)
    by_environ = load({}, {**environ, **{OPTIONS[name].variable: text for name, (text, _) in given.items()}})
    toml = _write(tmp_path / "all.toml", "".join(f'{name} = "{text}"\n' for name, (text, _) in given.items()))
    by_file = load({}, environ, toml)
    for settings in (by_flags, by_environ, by_file):
        assert {name: getattr(settings, name) for name in OPTIONS} == expected
    assert all(by_flags.origins[name] == OPTIONS[name].flag for name in OPTIONS)


def test_a_file_may_use_toml_values_dashes_and_paths_relative_to_itself(
    environ: dict[str, str], tmp_path: Path
) -> None:
    config = _write(
        tmp_path / "etc" / "holdfast.toml",
        'data-dir = "sessions"\nmax_message = 1_000_000\ngrace = 2.5\nno_token = true\nunix_socket = false\n'
        'allowed_hosts = ["a.example", "b.example"]\n',
    )
    settings = load({}, {**environ, "HOLDFAST_CONFIG": str(config)})
    assert settings.data_dir == tmp_path / "etc" / "sessions"
    assert (settings.max_message, settings.grace, settings.no_token, settings.unix_socket) == (
        1_000_000,
        2.5,
        True,
        None,
    )
    assert settings.hosts == ("a.example", "b.example", "127.0.0.1")


def test_other_paths_are_relative_to_where_the_host_is_started(
    environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert load({"data_dir": "d"}, environ).data_dir == tmp_path / "d"
    assert load({"data_dir": "~/d"}, environ).data_dir == tmp_path / "home" / "d"
    assert load({"data_dir": Path("d")}, environ).unix_socket == tmp_path / "d" / "run" / "holdfast.sock"


def test_what_is_not_given_does_not_count(environ: dict[str, str]) -> None:
    settings = load({"port": None, "allowed_hosts": ()}, {**environ, "HOLDFAST_PORT": "", "HOLDFAST_UNKNOWN": "x"})
    assert set(settings.origins.values()) == {"default"}


@pytest.mark.parametrize(
    ("listen", "host", "port"),
    [
        ("0.0.0.0", "0.0.0.0", 7447),
        ("127.0.0.1:80", "127.0.0.1", 80),
        ("[::1]:0", "::1", 0),
        ("[::1]", "::1", 7447),
        ("::1", "::1", 7447),
        ("box.example:1", "box.example", 1),
    ],
)
def test_listen_may_have_a_port(environ: dict[str, str], listen: str, host: str, port: int) -> None:
    settings = load({"listen": listen, "allow_insecure": True}, environ)
    assert (settings.listen, settings.port) == (host, port)
    assert settings.origins["port"] == ("--listen" if port != 7447 else "default")


def test_the_port_with_more_right_stands(environ: dict[str, str]) -> None:
    assert load({"port": 1}, {**environ, "HOLDFAST_LISTEN": "localhost:2"}).port == 1
    assert load({"listen": "localhost:2"}, {**environ, "HOLDFAST_PORT": "1"}).port == 2
    assert load({"listen": "localhost:2", "port": 2}, environ).port == 2
    assert _refusal({"listen": "localhost:2", "port": 1}, environ) == "--listen says port 2, --port says 1"


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        ({"port": "x"}, "--port: expected a port, 0 to 65535, got 'x'"),
        ({"port": "70000"}, "--port: expected a port, 0 to 65535, got '70000'"),
        ({"port": "-1"}, "--port: expected a port, 0 to 65535, got '-1'"),
        (
            {"max_message": "16M"},
            "--max-message: expected a size such as 16MiB, 900kB or a number of bytes, got '16M'",
        ),
        ({"grace": "soon"}, "--grace: expected a time such as 30s, 5min, 24h, 7d or a number of seconds, got 'soon'"),
        ({"no_token": "maybe"}, "--no-token: expected true or false, got 'maybe'"),
        ({"durability": "all"}, "--durability: expected one of process, power, got 'all'"),
        ({"rate_limit": "1.5"}, "--rate-limit: expected a whole number, not negative, got '1.5'"),
        ({"listen": ":80"}, "--listen: expected HOST or HOST:PORT, got ':80'"),
        ({"listen": "[::1]80"}, "--listen: expected HOST or HOST:PORT, got '[::1]80'"),
        ({"listen": "localhost:http"}, "--listen: expected HOST or HOST:PORT, got 'localhost:http'"),
        ({"outbox_high_water": "1kB"}, "--outbox-high-water: at least 64KiB"),
        ({"outbox_limit": "1MiB"}, "--outbox-limit: more than outbox_high_water is needed"),
        ({"tls_cert": "c.pem"}, "--tls-cert needs a key beside it, --tls-key"),
        ({"tls_key": "k.pem"}, "--tls-key needs a certificate beside it, --tls-cert"),
        (
            {"no_token": True, "listen": "0.0.0.0", "allow_insecure": True},
            "--no-token is for loopback only: everybody who reaches 0.0.0.0 would be let in",
        ),
        (
            {"listen": "box.example"},
            (
                "--listen: other machines reach box.example, and the token would travel readably;"
                " give --tls-cert and --tls-key, or --allow-insecure behind a proxy or in a private network"
            ),
        ),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(environ: dict[str, str], flags: dict[str, Any], sentence: str) -> None:
    assert _refusal(flags, environ) == sentence


def test_beyond_loopback_with_tls_or_on_purpose(environ: dict[str, str]) -> None:
    assert not load({"listen": "::", "tls_cert": "c", "tls_key": "k"}, environ).is_loopback
    assert load({"listen": "0.0.0.0", "allow_insecure": True}, environ).hosts == ("0.0.0.0",)


def test_what_is_wrong_in_a_file_or_variable_is_named(environ: dict[str, str], tmp_path: Path) -> None:
    config = tmp_path / "c.toml"
    assert _refusal({}, {**environ, "HOLDFAST_GRACE": "x"}).startswith("HOLDFAST_GRACE: expected a time")
    assert _refusal({}, environ, config) == f"cannot read {config}: No such file or directory"
    _write(config, "prot = 1")
    assert _refusal({}, environ, config) == f"{config}: there is no option 'prot'; is it port?"
    _write(config, "[agents]\nx = 1")
    assert _refusal({}, environ, config) == f"{config}: there is no option 'agents'"
    _write(config, "port = true")
    assert _refusal({}, environ, config) == f"{config}: port: expected a port, 0 to 65535, got True"
    _write(config, "grace = true")
    assert _refusal({}, environ, config).startswith(f"{config}: grace: expected a time")
    _write(config, "listen = 5")
    assert _refusal({}, environ, config) == f"{config}: listen: expected a text, got 5"
    _write(config, "allowed_hosts = [1]")
    assert _refusal({}, environ, config).startswith(f"{config}: allowed_hosts: expected a list of texts")
    _write(config, "port =")
    assert _refusal({}, environ, config).startswith(f"{config} is not TOML: ")
    config.write_bytes(b'listen = "\xff"')
    assert _refusal({}, environ, config).startswith(f"{config} is not TOML: ")
    assert issubclass(SettingsError, UsageError)


def test_effective_values_are_shown_as_they_can_be_given(environ: dict[str, str]) -> None:
    flags = {
        "max_message": 3 * 2**20,
        "grace": "90s",
        "allowed_hosts": "a,b",
        "listen": "localhost:80",
        "outbox_time": 0.5,
    }
    settings = load(flags, environ)
    shown = {one.name: (one.value, one.origin) for one in effective(settings)}
    assert list(shown) == list(OPTIONS)
    assert shown["max_message"] == ("3MiB", "--max-message")
    assert shown["frame_budget"] == ("900kB", "default")
    assert shown["grace"] == ("90s", "--grace")
    assert shown["outbox_time"] == ("0.5s", "--outbox-time")
    assert shown["undo_window"] == ("7d", "default")
    assert shown["allowed_hosts"] == ("a,b", "--allowed-hosts")
    assert (shown["listen"], shown["port"]) == (("localhost", "--listen"), ("80", "--listen"))
    assert shown["no_token"] == ("false", "default")
    assert shown["tls_cert"] == ("off", "default")
    again = load(
        {name: value for name, (value, _) in shown.items() if not name.startswith("tls_") and value}, environ
    )
    assert again == settings
