"""Laws of the codec, for every wire type: what is encoded comes back, and nothing unknown is lost."""

from __future__ import annotations

import json
from typing import Any, cast

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import strategies
from holdfast.protocol.catalog import types_by_name
from holdfast.protocol.codec import UnionMarker, Unknown, Wire, convert, decode, encode

# One representative per type object: aliases such as ChatToolCallApprovedAction share a struct.
_TYPES = {id(found): (name, found) for name, found in sorted(types_by_name().items())}
_CASES = [pytest.param(found, id=name) for name, found in _TYPES.values()]

_quick = settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


@pytest.mark.parametrize("wire_type", _CASES)
@_quick
@given(data=st.data())
def test_decode_of_encode_is_identity(wire_type: Any, data: st.DataObject) -> None:
    value = data.draw(strategies.of(wire_type))
    encoded = encode(value)
    again = decode(wire_type, encoded)
    assert again == value
    assert encode(again) == encoded
    assert convert(wire_type, json.loads(encoded)) == value


_STRUCTS = [
    pytest.param(found, id=name)
    for name, found in _TYPES.values()
    if isinstance(found, type) and issubclass(found, Wire)
]


@pytest.mark.parametrize("wire_type", _STRUCTS)
@_quick
@given(data=st.data())
def test_absent_keys_are_never_written_as_null(wire_type: type[Wire], data: st.DataObject) -> None:  # W-37
    value = data.draw(strategies.of(wire_type))
    raw = json.loads(encode(value))
    optional = [field.encode_name for field in msgspec.structs.fields(wire_type) if not field.required]
    assert [key for key in optional if key in raw and raw[key] is None] == []


_UNIONS = [pytest.param(found, id=name) for name, found in _TYPES.values() if isinstance(found, UnionMarker)]


@pytest.mark.parametrize("union", [case for case in _UNIONS if getattr(case.values[0], "tag_field", None)])
@_quick
@given(data=st.data())
def test_unknown_variants_are_never_lost(union: UnionMarker, data: st.DataObject) -> None:  # W-56
    tag = data.draw(strategies.text.filter(lambda text: text not in union.structs))
    raw = {**data.draw(strategies.free_objects), union.tag_field: tag}
    value: Any = decode(cast("Any", union), json.dumps(raw).encode())
    assert isinstance(value, Unknown)
    assert json.loads(encode(value)) == raw
