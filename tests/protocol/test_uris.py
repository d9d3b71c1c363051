"""URIs: every scheme and spelling, and what happens to hostile ones."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.protocol import uris
from holdfast.protocol.errors import InvalidValue
from holdfast.protocol.templates import expand
from holdfast.protocol.uris import ClientFile, Kind


@pytest.mark.parametrize(
    ("uri", "kind"),
    [
        ("ahp-root://", Kind.ROOT),
        ("ahp-root:", Kind.ROOT),
        ("AHP-Root:/", Kind.ROOT),
        ("ahp-session:/0b6e", Kind.SESSION),
        ("copilot:/0b6e", Kind.FOREIGN),
        ("claude:/0b6e", Kind.FOREIGN),
        ("agenthost:/root", Kind.FOREIGN),
        ("ahp-chat:/0b6e", Kind.CHAT),
        ("ahp-chat://default/Y29waWxvdDovMGI2ZQ", Kind.CHAT),
        ("ahp-chat://subagent/Y29waWxvdDovMGI2ZQ/call%2F1", Kind.CHAT),
        ("ahp-terminal:/t1", Kind.TERMINAL),
        ("agenthost-terminal:/0b6e", Kind.TERMINAL),
        ("agenthost-terminal://shell/1", Kind.TERMINAL),
        ("agenthost-terminal://bang/1", Kind.TERMINAL),
        ("ahp-changeset:/x", Kind.CHANGESET),
        ("copilot:/0b6e/changeset/session", Kind.CHANGESET),
        ("copilot:/0b6e/changeset/turn/t1", Kind.CHANGESET),
        ("copilot:/0b6e/changeset/compare/t1/t2", Kind.CHANGESET),
        ("ahp-session:/0b6e/annotations", Kind.ANNOTATIONS),
        ("copilot:/0b6e/annotations", Kind.ANNOTATIONS),
        ("ahp-resource-watch:/w", Kind.RESOURCE_WATCH),
        ("ahp-otlp://logs?level=warn", Kind.OTLP),
        ("ahp-otlp://logs/warn", Kind.OTLP),
        ("ahp-otlp:traces", Kind.OTLP),
        ("mcp://host/s/m1", Kind.MCP),
        ("ahp-automations://", Kind.AUTOMATIONS),
        ("ahp-automation:/nightly", Kind.AUTOMATION),
        ("ahp-automation-run:/r1", Kind.AUTOMATION_RUN),
        ("ahp-canvas:/c", Kind.CANVAS),
        ("file:///w/a%20b.py", Kind.FILE),
        ("vscode-agent-client://c1/file/-/w/a.py", Kind.CLIENT_FILE),
        ("virtual://c1/skills", Kind.CLIENT_FILE),
        ("x-holdfast:/thing", Kind.EXTENSION),
        ("untitled:Untitled-1", Kind.FOREIGN),
        ("https://example.com/annotations", Kind.ANNOTATIONS),
    ],
)
def test_classification(uri: str, kind: Kind) -> None:
    assert uris.classify(uri) is kind


@pytest.mark.parametrize(
    "uri", ["ahp-root://", "ahp-root:", "ahp-root:/", "AHP-ROOT://", "ahp-root://x", "ahp-root:/x"]
)
def test_every_uri_of_its_scheme_is_the_root(uri: str) -> None:  # W-61
    assert uris.is_root(uri)


@pytest.mark.parametrize("uri", ["ahp-root", "ahp-rootx://", "root:/", ":ahp-root", ""])
def test_what_is_not_the_root(uri: str) -> None:
    assert not uris.is_root(uri)


def test_old_spellings_of_the_root_count_on_old_connections_only() -> None:
    for uri in ("agenthost:/root", "ahp:/root"):
        assert uris.is_root(uri, before_0_2=True)
        assert not uris.is_root(uri)


@pytest.mark.parametrize(
    "uri",
    [
        *("", "noscheme", "/path", "//host/path", ":x", "1abc:/x", "ahp session:/x", "ahp-session:/a b"),
        *("ahp-session:/a\nb", "ahp-session:/\0", "ahp-session:/\x7f", "ahp-session:/\u2028", "a:/\ud800"),
        "ahp-session:/" + "x" * 9000,
    ],
)
def test_hostile_uris_are_refused(uri: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        uris.classify(uri)
    assert len(str(caught.value)) < 200


def test_parts() -> None:
    assert uris.parse("AB+c.d://h:1/p/q?x=1#f") == uris.Parts("ab+c.d", "h:1", "/p/q", "x=1", "f")
    assert uris.parse("copilot:/0b6e") == uris.Parts("copilot", None, "/0b6e", None, None)
    assert uris.parse("ahp-root://") == uris.Parts("ahp-root", "", "", None, None)


def test_ids_stay_one_segment_when_building() -> None:
    assert uris.session("a/b c#d") == "ahp-session:/a%2Fb%20c%23d"
    for build in (
        *(uris.session, uris.chat, uris.terminal, uris.changeset, uris.resource_watch),
        *(uris.automation, uris.automation_run, uris.canvas),
    ):
        assert uris.parse(build("../..//x?y")).path.count("/") == 1


@pytest.mark.parametrize("session", ["ahp-session:/0b6e", "copilot:/0b6e", "ahp-session:/ü%20☃"])
def test_derived_channels_name_their_session(session: str) -> None:
    assert uris.annotations_owner(uris.annotations_of(session)) == session
    assert uris.default_chat_owner(uris.default_chat(session)) == session
    assert "=" not in uris.default_chat(session)


@pytest.mark.parametrize(
    "uri",
    [
        *("ahp-chat:/x", "ahp-chat://default/", "ahp-chat://default/!!", "ahp-chat://default/YQ=="),
        *("ahp-chat://default/_w", "ahp-chat://other/YQ"),
    ],
)
def test_what_is_no_default_chat(uri: str) -> None:
    assert uris.default_chat_owner(uri) in (None, "")


@pytest.mark.parametrize("uri", ["/annotations", "x:/annotations", "annotations", "ahp-session:/s/annotationsx"])
def test_what_is_no_annotations_channel(uri: str) -> None:
    assert uris.annotations_owner(uri) in (None, "x:")


paths = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])).map(lambda path: f"/{path}")


@given(paths)
def test_file_uris_round_trip(path: str) -> None:
    assert uris.file_path(uris.file_uri(path)) == path


def test_file_names_that_are_not_text_round_trip() -> None:
    path = b"/tmp/\xff\xfe".decode("utf-8", "surrogateescape")
    assert uris.file_uri(path) == "file:///tmp/%FF%FE"
    assert uris.file_path("file:///tmp/%FF%FE") == path


def test_percent_escapes_are_decoded_once() -> None:
    assert uris.file_path("file:///a%2525b") == "/a%25b"
    assert uris.file_path("file://localhost/a") == "/a"


@pytest.mark.parametrize(
    "uri",
    [
        *("file:relative", "file://other.host/a", "file:///a%", "file:///a%zz", "file:///a%00b", "http:///a"),
        *("file:///a?x=1", "file:///a#f", "file:"),
    ],
)
def test_file_uris_that_name_no_file_here_are_refused(uri: str) -> None:
    with pytest.raises(InvalidValue):
        uris.file_path(uri)


def test_relative_paths_have_no_uri() -> None:
    with pytest.raises(InvalidValue):
        uris.file_uri("a/b")


@pytest.mark.parametrize(
    ("uri", "found"),
    [
        ("vscode-agent-client://c%2F1/file/-/w/a.py", ClientFile("c/1", "file:///w/a.py")),
        ("vscode-agent-client://c1/vscode-vfs/github/o/r", ClientFile("c1", "vscode-vfs://github/o/r")),
        ("vscode-agent-client://c1/untitled/-/x?a=/b#c", ClientFile("c1", "untitled:///x?a=/b#c")),
        ("virtual://c1/skills/x", ClientFile("c1", "virtual://c1/skills/x")),
        ("vscode-agent-client://c1/file", None),
        ("vscode-agent-client:/file/-/x", None),
        ("file:///w", None),
        ("https://h/x", None),
    ],
)
def test_files_on_clients(uri: str, found: ClientFile | None) -> None:
    assert uris.client_file(uri) == found


@pytest.mark.parametrize(
    ("uri", "level"),
    [
        ("ahp-otlp://logs", 0),
        ("ahp-otlp://logs?level=WARN", 13),
        ("ahp-otlp://logs/error", 17),
        ("ahp-otlp://logs?level=bogus", 0),
    ],
)
def test_severity_a_log_channel_asks_for(uri: str, level: int) -> None:
    assert uris.otlp_level(uri) == level


# Halves of surrogate pairs among them, which `st.text()` alone leaves out.
any_text = st.text(st.characters())


@given(any_text)
def test_what_no_uri_can_carry_is_refused_when_building(text: str) -> None:
    for build in (uris.session, uris.chat, uris.default_chat, lambda id: expand("x:{id}", {"id": id})):
        with suppress(InvalidValue):
            assert uris.parse(build(text))
    with suppress(InvalidValue):
        assert uris.parse(uris.file_uri(f"/{text}"))


@pytest.mark.parametrize("build", [uris.session, uris.default_chat, lambda id: uris.file_uri(f"/{id}")])
def test_half_a_character_has_no_uri(build: Callable[[str], str]) -> None:
    with pytest.raises(InvalidValue):
        build("a\ud800")


@given(any_text)
def test_nothing_a_peer_sends_as_a_uri_raises_anything_else(text: str) -> None:
    for read in (uris.classify, uris.client_file, uris.file_path, uris.otlp_level):
        with suppress(InvalidValue):
            read(text)
    uris.is_root(text)
    uris.annotations_owner(text)
    uris.default_chat_owner(text)
