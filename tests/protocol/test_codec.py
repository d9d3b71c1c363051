"""The codec's promises, one by one: absence, unknown things, exact numbers, one exception for the rest."""

from __future__ import annotations

import json
from typing import Any

import pytest

from holdfast.protocol import codec
from holdfast.protocol.chat.actions import Delta
from holdfast.protocol.chat.parts import MarkdownResponsePart
from holdfast.protocol.chat.state import ChatState, Turn, TurnState
from holdfast.protocol.codec import Unknown, decode, encode
from holdfast.protocol.common import ProtectedResourceMetadata, ToolDefinition
from holdfast.protocol.envelope import ActionEnvelope, decode_action, decode_envelope
from holdfast.protocol.errors import InvalidValue
from holdfast.protocol.root.commands import PartialSessionSummary
from holdfast.protocol.session.state import SessionState, SessionSummary
from holdfast.protocol.text import Text

CHAT = {"resource": "ahp-chat:/c", "title": "C", "status": 1, "modifiedAt": "", "turns": []}


# What is no part that `chat/error` may have, and tries to tell another path.
_NO_ERROR = {"kind": "mark - at `$.fake`\ndown" + "!" * 10_000, "id": "p", "content": ""}


def _bytes(value: Any) -> bytes:
    return json.dumps(value).encode()


def _turn(*parts: Any) -> dict[str, Any]:
    message = {"text": "hi", "origin": {"kind": "user"}}
    return {"id": "t", "message": message, "responseParts": list(parts), "state": "complete"}


def test_null_in_an_optional_key_is_absent_and_never_written() -> None:
    state = decode(ChatState, _bytes({**CHAT, "activity": None, "draft": None, "activeTurn": None}))
    assert state.activity is None
    assert json.loads(encode(state)) == CHAT


def test_null_inside_free_form_json_is_a_value() -> None:
    raw = {**CHAT, "_meta": {"a": None, "b": [None, {"c": None}]}}
    assert json.loads(encode(decode(ChatState, _bytes(raw)))) == raw


def test_null_in_a_patch_leaves_things_alone_but_clears_activity() -> None:
    patch = decode(PartialSessionSummary, b'{"title":null,"activity":null,"status":8}')
    assert patch.given() == {"status": 8, "activity": ""}
    assert json.loads(encode(patch)) == {"status": 8, "activity": ""}


def test_unknown_variants_survive_inside_known_types() -> None:
    strange = {"kind": "hologram", "id": "h1", "depth": {"z": None}}
    turn = decode(Turn, _bytes(_turn({"kind": "markdown", "id": "p", "content": "x"}, strange)))
    assert turn.response_parts == (MarkdownResponsePart(id="p", content="x"), Unknown(strange))
    assert json.loads(encode(turn))["responseParts"][1] == strange


def test_unknown_variants_survive_where_only_one_variant_belongs() -> None:  # S-68
    future = {"type": "bundle", "id": "b", "extra": [None]}
    tool_call = {"status": "x-paused", "toolCallId": "k", "auth": None}
    waiting = {"kind": "toolAuthentication", "id": "w", "chat": "ahp-chat:/c", "turnId": "t", "toolCall": tool_call}
    raw = {
        "provider": "p",
        "title": "",
        "status": 1,
        "lifecycle": "ready",
        "chats": [],
        "activeClients": [{"clientId": "c", "tools": [], "customizations": [future]}],
        "inputNeeded": [waiting],
    }
    assert json.loads(encode(decode(SessionState, _bytes(raw)))) == raw


def test_the_schema_of_a_tool_is_kept_whole() -> None:
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"const": None}}}
    raw = {
        "name": "lint",
        "inputSchema": {**schema, "additionalProperties": False},
        "outputSchema": {"type": "object"},
    }
    assert json.loads(encode(decode(ToolDefinition, _bytes(raw)))) == raw


def test_unknown_enum_values_survive_open_and_closed() -> None:
    raw = {**_turn(), "state": "paused", "message": {"text": "", "origin": {"kind": "integration"}}}
    turn = decode(Turn, _bytes(raw))
    assert turn.state == "paused"
    assert not turn.state.is_known
    assert turn.message.origin.kind == "integration"
    assert json.loads(encode(turn)) == raw
    assert decode(Turn, _bytes(_turn())).state is TurnState.COMPLETE
    assert TurnState.COMPLETE.is_known


def test_unknown_keys_are_tolerated() -> None:  # W-20, W-55
    action = decode_action(b'{"type":"chat/delta","turnId":"t","partId":"p","content":"x","future":{"a":1}}')
    assert action == Delta(turn_id="t", part_id="p", content="x")


def test_status_keeps_unknown_high_bits_and_refuses_what_is_no_bitset() -> None:  # W-57
    high = (1 << 31) | (1 << 20) | 8
    assert decode(ChatState, _bytes({**CHAT, "status": high})).status == high
    for wrong in (-1, 1 << 32, 1.5, "8", True):
        with pytest.raises(InvalidValue, match=r"\$\.status"):
            decode(ChatState, _bytes({**CHAT, "status": wrong}))


@pytest.mark.parametrize("number", [0, 1, 2**31, 2**53 - 1])
def test_integers_are_exact(number: int) -> None:
    raw = {"channel": "c", "action": {"type": "session/ready"}, "serverSeq": number}
    assert decode(ActionEnvelope, _bytes(raw)).server_seq == number
    assert json.loads(encode(decode_envelope(_bytes(raw)))) == raw


def test_numbers_keep_their_form() -> None:
    turn = decode(Turn, _bytes({**_turn(), "duration": 5}))
    assert isinstance(turn.duration, int)
    assert encode(decode(Turn, _bytes({**_turn(), "duration": 5.0}))).count(b"5.0") == 1


def test_metadata_of_protected_resources_is_snake_case_on_the_wire() -> None:
    resource = ProtectedResourceMetadata(resource="https://r.example", scopes_supported=("a",))
    assert encode(resource) == b'{"resource":"https://r.example","scopes_supported":["a"]}'


def test_streamed_text_encodes_as_its_string() -> None:
    part = MarkdownResponsePart(id="p", content=Text("a").append("b"))
    assert encode(part) == b'{"kind":"markdown","id":"p","content":"ab"}'
    assert part.text == "ab"
    assert part == MarkdownResponsePart(id="p", content="ab")


@pytest.mark.parametrize(
    ("wire_type", "raw", "path", "expected", "got"),
    [
        (ChatState, {**CHAT, "turns": {}}, "$.turns", "array", "object"),
        (ChatState, {**CHAT, "turns": [_turn(), 7]}, "$.turns[1]", "object", "int"),
        (ChatState, {"title": ""}, "$", "the key `resource`", "an object without it"),
        (
            ChatState,
            {**CHAT, "turns": [_turn({"kind": "markdown", "id": "p", "content": 3})]},
            "$.turns[0].responseParts[0].content",
            "str",
            "int",
        ),
        (
            ChatState,
            {**CHAT, "turns": [_turn({"id": "p"})]},
            "$.turns[0].responseParts[0].kind",
            "str",
            "nothing",
        ),
        (
            ChatState,
            {**CHAT, "turns": [_turn({"kind": 4})]},
            "$.turns[0].responseParts[0].kind",
            "str",
            "int",
        ),
        (ChatState, {**CHAT, "turns": [_turn([])]}, "$.turns[0].responseParts[0]", "object", "array"),
        (ActionEnvelope, [], "$", "object", "array"),
        (ChatState, {**CHAT, "status": -1}, "$.status", "int >= 0", "one out of range"),
        (ChatState, {**CHAT, "status": 1 << 32}, "$.status", "int <= 4294967295", "one out of range"),
        (
            ActionEnvelope,
            {"channel": "", "serverSeq": 1, "action": {"type": "chat/error", "turnId": "t", "part": _NO_ERROR}},
            "$.action.part.kind",
            "one of the listed values",
            "another one",
        ),
        (SessionSummary, None, "$", "object", "null"),
    ],
)
def test_malformed_values_name_path_expected_and_arrived(
    wire_type: Any, raw: Any, path: str, expected: str, got: str
) -> None:
    with pytest.raises(InvalidValue) as caught:
        decode(wire_type, _bytes(raw))
    assert (caught.value.path, caught.value.expected, caught.value.got) == (path, expected, got)
    with pytest.raises(InvalidValue) as caught:
        codec.convert(wire_type, raw)
    assert (caught.value.path, caught.value.expected, caught.value.got) == (path, expected, got)


HOSTILE = {
    "nothing": b"",
    "nul bytes": b"\0" * 100,
    "byte order mark": b"\xef\xbb\xbf{}",
    "two values": b"{} {}",
    "trailing comma": b'{"a":1,}',
    "NaN": b'{"serverSeq":NaN}',
    "Infinity": b'{"serverSeq":-Infinity}',
    "number too large": b'{"channel":"c","action":{"type":"x"},"serverSeq":1e999}',
    "integer too long": b'{"channel":"c","action":{"type":"x"},"serverSeq":' + b"9" * 1_000_000 + b"}",
    "invalid UTF-8": b'{"channel":"\xff\xfe"}',
    "encoded surrogate": b'{"channel":"\xed\xa0\x80"}',
    "lone surrogate": b'{"channel":"\\ud800","action":{"type":"x"},"serverSeq":1}',
    "reversed surrogates": b'{"channel":"\\udc00\\ud800"}',
    "deep arrays": b"[" * 100_000,
    "deep arrays in a known key": b'{"channel":' + b"[" * 100_000,
    "deep arrays in an unknown key": b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "deep objects in an unknown variant": (
        b'{"channel":"c","serverSeq":1,"action":{"type":"x","a":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_002
    ),
    "control character": b'{"channel":"\x01"}',
    "comment": b"{} // hello",
    "single quotes": b"{'channel':1}",
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_bytes_give_the_one_exception(data: bytes) -> None:
    with pytest.raises(InvalidValue) as caught:
        decode(ActionEnvelope, data)
    assert len(str(caught.value)) < 300
    with pytest.raises(InvalidValue):
        decode_envelope(data)


def test_duplicate_keys_give_a_clean_value() -> None:
    action = decode_action(b'{"type":"session/titleChanged","title":"a","title":"b"}')
    assert encode(action) == b'{"type":"session/titleChanged","title":"b"}'


def test_a_hundred_megabytes_of_text_are_just_a_value() -> None:
    text = "x" * 100_000_000
    data = b'{"type":"session/titleChanged","title":"' + text.encode() + b'"}'
    assert encode(decode_action(data)) == data


def test_astral_and_control_characters_round_trip() -> None:
    raw = _bytes({"type": "session/titleChanged", "title": '🦀\u0000\u2028"\\'})
    assert json.loads(encode(decode_action(raw))) == json.loads(raw)


def test_what_json_cannot_carry_is_refused_when_encoding() -> None:
    with pytest.raises(InvalidValue):
        encode({"title": "\ud800"})
    nested: list[Any] = []
    for _ in range(100_000):
        nested = [nested]
    with pytest.raises(InvalidValue):
        encode(nested)


def test_convert_reads_plain_python_values_as_decode_reads_bytes() -> None:
    raw = {**CHAT, "turns": [_turn({"kind": "strange"})]}
    assert codec.convert(ChatState, raw) == decode(ChatState, _bytes(raw))
    with pytest.raises(InvalidValue, match=r"\$\.turns\[0\]\.responseParts\[0\]\.id"):
        codec.convert(ChatState, {**CHAT, "turns": [_turn({"kind": "markdown", "id": 1, "content": ""})]})
