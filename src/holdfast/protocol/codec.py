"""Wire structs to JSON bytes and back: open unions, open enums, absent versus null.

How the protocol's rules (01-wire, section 20) are kept:

* `None` is the only default of a wire struct and means "key absent"; a `null` that arrives in an optional key
  is read as absent and never written. Inside free-form JSON (`Any`) null is a value. Patches (`Patch`) use
  `UNSET` for "leave as it is".
* Every union a peer may extend is written `OpenUnion[A | B]`. msgspec hands such a position to our hook,
  which finds the struct by its discriminator and keeps what it does not know as `Unknown`, whole.
* Every enum is a `WireEnum`: unknown values decode to a member of their own that equals its string.

Everything malformed, whatever its cause, is one exception: `InvalidValue`.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, Union, cast, get_args

import msgspec
from msgspec import UNSET, Raw, UnsetType
from msgspec.structs import force_setattr

from holdfast.protocol.errors import InvalidValue
from holdfast.protocol.text import Text

__all__ = [
    "ClosedEnum",
    "ClosedUnion",
    "OpenEnum",
    "OpenUnion",
    "Patch",
    "Patched",
    "Unknown",
    "Wire",
    "WireEnum",
    "convert",
    "decode",
    "decoder",
    "encode",
    "to_json",
]

T = TypeVar("T")


class Wire(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Base of every value on the wire: immutable, snake_case here, camelCase there."""


if TYPE_CHECKING:
    Patched: TypeAlias = Union[T, UnsetType]  # noqa: UP007 - a generic alias needs the spelled-out form
else:
    Patched = Union[T, UnsetType, None]  # noqa: UP007


class Patch(Wire, frozen=True, kw_only=True):
    """Base of a partial value: an attribute that is `UNSET` was not sent and stays as it is.

    Attributes are annotated `Patched[X]` and default to `UNSET`; a `null` that arrives reads as `UNSET`.
    """

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            if getattr(self, name) is None:
                force_setattr(self, name, UNSET)

    def given(self) -> dict[str, Any]:
        """The attributes that were sent, by name."""
        values = ((name, getattr(self, name)) for name in self.__struct_fields__)
        return {name: value for name, value in values if value is not UNSET}


class WireEnum(enum.StrEnum):
    """A string enum that keeps values it does not know."""

    @classmethod
    def _missing_(cls, value: object) -> WireEnum | None:
        if not isinstance(value, str):
            return None
        member = str.__new__(cls, value)
        member._name_ = value
        member._value_ = value
        return member

    @property
    def is_known(self) -> bool:
        """Whether this is one of the values the protocol lists."""
        return self._value_ in type(self)._value2member_map_


class OpenEnum(WireEnum):
    """An enum that releases within a major version may extend."""


class ClosedEnum(WireEnum):
    """An enum that only a new major version may extend; decoded as leniently as an open one."""


class Unknown:
    """A union variant this version does not know, kept verbatim. `raw` is not to be changed."""

    __slots__ = ("raw",)

    def __init__(self, raw: dict[str, Any]) -> None:
        self.raw = raw

    def __repr__(self) -> str:
        return f"Unknown({self.raw!r})"

    def __eq__(self, other: object) -> bool:
        return self.raw == other.raw if isinstance(other, Unknown) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(sorted(self.raw)))


class UnionMarker(type):
    """A position in a struct whose value is chosen by a discriminator, at run time.

    msgspec checks the hook's result against the annotation with `isinstance`, so a marker claims everything.
    """

    tag_field: str
    structs: dict[str, type[Wire]]
    closed: bool

    def __instancecheck__(cls, instance: object) -> bool:
        return True

    def resolve(cls, raw: object) -> object:
        """Turn untyped JSON into the variant its discriminator names."""
        if type(raw) is not dict:
            raise ValueError(f"Expected `object`, got `{_kind_of(raw)}`")
        tag = raw.get(cls.tag_field)
        struct = cls.structs.get(tag) if isinstance(tag, str) else None
        if struct is not None:
            return msgspec.convert(raw, struct, dec_hook=_from_json)
        if not isinstance(tag, str):
            arrived = "nothing" if tag is None else f"`{_kind_of(tag)}`"
            raise ValueError(f"Expected `str`, got {arrived} - at `$.{cls.tag_field}`")  # noqa: TRY004
        return Unknown(raw)


@cache
def _union_marker(union: object, closed: bool) -> UnionMarker:
    structs: tuple[type[Wire], ...] = get_args(union) or (union,)
    tag_fields = {struct.__struct_config__.tag_field for struct in structs}
    assert len(tag_fields) == 1, f"variants disagree on their discriminator: {structs}"
    marker = UnionMarker("Union_" + "_".join(struct.__name__ for struct in structs), (), {})
    marker.tag_field = str(tag_fields.pop())
    marker.structs = {str(struct.__struct_config__.tag): struct for struct in structs}
    marker.closed = closed
    return marker


if TYPE_CHECKING:
    OpenUnion: TypeAlias = Union[T, Unknown]  # noqa: UP007 - a generic alias needs the spelled-out form
    ClosedUnion: TypeAlias = Union[T, Unknown]  # noqa: UP007
else:

    class OpenUnion:
        """`OpenUnion[A | B]`: any of these structs, or an `Unknown`."""

        def __class_getitem__(cls, union: object) -> UnionMarker:
            return _union_marker(union, False)

    class ClosedUnion:
        """As `OpenUnion`, for unions that only a new major version may extend. Decoded as leniently."""

        def __class_getitem__(cls, union: object) -> UnionMarker:
            return _union_marker(union, True)


class ShapedUnion(UnionMarker):
    """A union without a discriminator: `choose` tells the struct from the object's keys, or says None."""

    choose: Callable[[dict[str, Any]], type[Wire] | None]

    def resolve(cls, raw: object) -> object:
        if type(raw) is not dict:
            raise ValueError(f"Expected `object`, got `{_kind_of(raw)}`")
        struct = cls.choose(raw)
        return Unknown(raw) if struct is None else msgspec.convert(raw, struct, dec_hook=_from_json)


def _from_json(expected: type, raw: Any) -> Any:
    """Msgspec's decoding hook. Errors become ValueError, to which msgspec adds the outer path."""
    if isinstance(expected, UnionMarker):
        try:
            return expected.resolve(raw)
        except msgspec.ValidationError as error:
            raise ValueError(str(error)) from None
    raise NotImplementedError(f"no wire form for {expected!r}")


def _to_json(value: Any) -> Any:
    """Msgspec's encoding hook."""
    if type(value) is Text:
        return str(value)
    if type(value) is Unknown:
        return value.raw
    raise NotImplementedError(f"{type(value).__name__} has no wire form")


_encoder: Final = msgspec.json.Encoder(enc_hook=_to_json)


@cache
def decoder(expected: Any) -> msgspec.json.Decoder[Any]:
    """The decoder for a type, built on first use. Prefer `decode`, which translates the exceptions."""
    return msgspec.json.Decoder(expected, dec_hook=_from_json)


def decode(expected: type[T], data: bytes | bytearray | str) -> T:
    """Read one JSON value of the `expected` type; anything else raises `InvalidValue`."""
    try:
        value: T = decoder(cast("Any", expected)).decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise _invalid(error) from None
    return value


def convert(expected: type[T], raw: Any) -> T:
    """As `decode`, for JSON that is already Python values."""
    try:
        value: T = msgspec.convert(raw, expected, dec_hook=_from_json)
    except (msgspec.ValidationError, UnicodeError, RecursionError) as error:
        raise _invalid(error) from None
    return value


def encode(value: Any) -> bytes:
    """Write a value as compact JSON. A value that JSON cannot carry raises `InvalidValue`."""
    try:
        return _encoder.encode(value)
    except (UnicodeError, RecursionError) as error:
        raise _invalid(error) from None


def to_json(value: Any) -> Any:
    """A value as plain dicts, lists, strings and numbers, as `json.loads(encode(value))` would give."""
    return msgspec.json.decode(encode(value))


_KINDS: Final = {dict: "object", list: "array", str: "str", int: "int", float: "float", bool: "bool"}


def _kind_of(value: object) -> str:
    return "null" if value is None else _KINDS.get(type(value), type(value).__name__)


# What msgspec says, as what was expected and what arrived. The second is never quoted: it may be huge, or secret.
_SHAPES: Final[tuple[tuple[re.Pattern[str], str, str], ...]] = (
    (re.compile(r"Expected `(.+)`, got `NoneType`"), r"\1", "null"),
    (re.compile(r"Expected `(.+)`, got `(.+)`"), r"\1", r"\2"),
    (re.compile(r"Expected `(.+)`, got (.+)"), r"\1", r"\2"),
    (re.compile(r"Expected `(.+)` ([<>]=? .+)"), r"\1 \2", "one out of range"),
    (re.compile(r"Expected `(.+)`"), r"\1", "another value"),
    (re.compile(r"Object missing required field `(.+)`"), r"the key `\1`", "an object without it"),
    (re.compile(r"Invalid (?:enum )?value .*", re.DOTALL), "one of the listed values", "another one"),
    (re.compile(r"JSON is malformed: (.+)"), "JSON", r"malformed JSON (\1)"),
    (re.compile(r"Input data was truncated"), "JSON", "truncated or incomplete JSON"),
    (re.compile(r"(Number|Integer value) out of range"), "a number in range", "one out of range"),
)


def _invalid(error: Exception) -> InvalidValue:
    if isinstance(error, RecursionError):
        return InvalidValue("$", "JSON of reasonable depth", "deeper nesting than this host reads")
    if isinstance(error, UnicodeError):
        return InvalidValue("$", "UTF-8 text", "bytes or characters that are not valid UTF-8")
    path, text = _split(str(error))
    for shape, expected, got in _SHAPES:
        match = shape.fullmatch(text)
        if match:
            return InvalidValue(path, match.expand(expected), match.expand(got))
    return InvalidValue(path, "a valid value", "another one")


_AT: Final = " - at `$"


def _split(text: str) -> tuple[str, str]:
    """The path and the rest of a message. Each hook adds its part of the path at the end, the outermost last."""
    path = "$"
    while text.endswith("`") and _AT in text:
        text, _, part = text.removesuffix("`").rpartition(_AT)
        path += part
    return path, text


def raw(value: Any) -> Raw:
    """Encode now, to be spliced verbatim into whatever encodes it later."""
    return Raw(encode(value))
