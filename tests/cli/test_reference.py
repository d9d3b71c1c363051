"""docs/cli.md and docs/schemas say what the commands do now."""

from __future__ import annotations

import json

import jsonschema

import cli_reference


def test_the_page_is_up_to_date() -> None:
    assert cli_reference.PAGE.read_text() == cli_reference.page(), "run scripts/cli_reference.py"


def test_the_schemas_are_up_to_date() -> None:
    there = {file.name: json.loads(file.read_text()) for file in cli_reference.SCHEMAS.iterdir()}
    assert there == {name: json.loads(text) for name, text in cli_reference.schemas().items()}


def test_the_schemas_are_schemas() -> None:
    for text in cli_reference.schemas().values():
        jsonschema.Draft202012Validator.check_schema(json.loads(text))
