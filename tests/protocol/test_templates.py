"""URI templates: what changesets and telemetry announce."""

from __future__ import annotations

import pytest

from holdfast.protocol.errors import InvalidValue
from holdfast.protocol.templates import expand, template_variables


@pytest.mark.parametrize(
    ("template", "values", "uri"),
    [
        ("ahp-changeset:/s/session", {}, "ahp-changeset:/s/session"),
        ("ahp-changeset:/s/turn/{turnId}", {"turnId": "a/b é"}, "ahp-changeset:/s/turn/a%2Fb%20%C3%A9"),
        ("x:/c{?fromTurn,toTurn}", {"fromTurn": "1", "toTurn": "2"}, "x:/c?fromTurn=1&toTurn=2"),
        ("ahp-otlp://logs{?level}", {"level": "warn"}, "ahp-otlp://logs?level=warn"),
        ("ahp-otlp://logs{?level}", {}, "ahp-otlp://logs"),
        ("x:{/a,b}", {"a": "1", "b": "2"}, "x:/1/2"),
        ("x:{+a}", {"a": "p/q?r"}, "x:p/q?r"),
        ("x:{+a}", {"a": "100%/%2f%"}, "x:100%25/%2f%25"),
        ("x:{#a}", {"a": "f"}, "x:#f"),
        ("x:{.a}", {"a": "f"}, "x:.f"),
        ("x:{;a,b}", {"a": "1", "b": ""}, "x:;a=1;b"),
        ("x:?y=1{&a}", {"a": "1"}, "x:?y=1&a=1"),
        ("x:{a,b}", {"b": "2"}, "x:2"),
    ],
)  # fmt: skip
def test_templates_expand(template: str, values: dict[str, str], uri: str) -> None:
    assert expand(template, values) == uri


def test_template_variables_are_listed_once_in_order() -> None:
    assert template_variables("x/{b}{?a,b}") == ("b", "a")
    assert template_variables("plain") == ()


@pytest.mark.parametrize("template", ["{}", "{a:3}", "{a*}", "{ }", "{?}"])
def test_templates_beyond_plain_variables_are_refused(template: str) -> None:
    with pytest.raises(InvalidValue):
        expand(template, {"a": "1"})
