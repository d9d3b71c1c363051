"""URI templates (RFC 6570, string variables): changesets and telemetry announce those."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from holdfast.protocol.common import URI
from holdfast.protocol.errors import InvalidValue
from holdfast.protocol.uris import quoted

__all__ = ["expand", "template_variables"]

_EXPRESSION: Final = re.compile(r"\{([+#./;?&]?)([^{}]*)\}")
_NAME: Final = re.compile(r"[A-Za-z0-9_.]+")

# Operator -> what begins the expansion, what separates, whether names are written, what stays unescaped.
_OPERATORS: Final[dict[str, tuple[str, str, bool, str]]] = {
    "": ("", ",", False, ""),
    "+": ("", ",", False, ":/?#[]@!$&'()*+,;="),
    "#": ("#", ",", False, ":/?#[]@!$&'()*+,;="),
    ".": (".", ".", False, ""),
    "/": ("/", "/", False, ""),
    ";": (";", ";", True, ""),
    "?": ("?", "&", True, ""),
    "&": ("&", "&", True, ""),
}


def template_variables(template: str) -> tuple[str, ...]:
    """The variables of a template, in order. A client ignores a template with one it does not know."""
    names = (name for match in _EXPRESSION.finditer(template) for name in match[2].split(","))
    return tuple(dict.fromkeys(names))


def expand(template: str, values: Mapping[str, str]) -> URI:
    """Expand a template; variables without a value vanish, as RFC 6570 has it."""

    def expression(match: re.Match[str]) -> str:
        first, separator, named, safe = _OPERATORS[match[1]]
        names = match[2].split(",")
        if not all(_NAME.fullmatch(name) for name in names):
            raise InvalidValue("$", "a template with plain variables", "a malformed expression")
        given = [(name, _expanded(values[name], safe)) for name in names if name in values]
        written = [_named(name, value, match[1]) if named else value for name, value in given]
        return first + separator.join(written) if written else ""

    return _EXPRESSION.sub(expression, template)


_ESCAPE: Final = re.compile(r"(%[0-9A-Fa-f]{2})")


def _expanded(value: str, safe: str) -> str:
    """A value quoted. Where reserved characters stay, escapes stay too; they are every second piece."""
    pieces = _ESCAPE.split(value) if safe else [value]
    return "".join(piece if index % 2 else quoted(piece, safe) for index, piece in enumerate(pieces))


def _named(name: str, value: str, operator: str) -> str:
    return name if operator == ";" and not value else f"{name}={value}"
