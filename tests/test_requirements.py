"""docs/requirements.md is complete, current, and about the specification's own numbers."""

from __future__ import annotations

import re
from typing import Final

import requirements
from shared_spec import SPEC

ROWS: Final = requirements.requirements()
TESTS: Final = requirements.evidence()

_PARTS: Final = ("01-wire", "02-root", "03-session", "04-chat")
_ROW: Final = re.compile(r"^\| ([WRSC]-\d+) \| (MUST|SHOULD|MAY) \|", re.MULTILINE)
_OBSERVED: Final = re.compile(r"^(\d+)\. ", re.MULTILINE)


def test_the_page_is_current() -> None:
    text = requirements.PAGE.read_text()
    assert text == requirements.page(ROWS, TESTS), "run scripts/requirements.py"


def test_everything_that_must_be_has_a_test_or_a_reason() -> None:
    assert [each.id for each in requirements.untested(ROWS, TESTS) if each.level == "MUST"] == []


def test_tests_name_requirements_that_exist() -> None:
    assert {id: TESTS[id] for id in TESTS.keys() - ROWS.keys()} == {}


def test_nothing_is_excused_that_is_shown() -> None:
    assert [each.id for each in ROWS.values() if each.reason and TESTS.get(each.id)] == []


def test_wordings_are_short_and_differ() -> None:
    texts = [each.text for each in ROWS.values()]
    assert [text for text in texts if len(text.split()) > 12] == []
    assert len(set(texts)) == len(texts)


def test_ids_and_levels_are_those_of_the_specification() -> None:
    """Where the specification lies beside the checkout; elsewhere the numbers only have to be without a gap."""
    ours = {each.id: each.level for each in ROWS.values()}
    published: dict[str, str] = {}
    for part in _PARTS:
        file = SPEC / f"{part}.md"
        published |= dict(_ROW.findall(file.read_text())) if file.exists() else {}
    observed = SPEC / "INTEROP.md"
    if observed.exists():
        section = observed.read_text().partition("\n## 2.")[2].partition("\n## ")[0]
        published |= {f"I-2.{number}": "MUST" for number in _OBSERVED.findall(section)}
    assert ours == (published or ours)
    for name in requirements.TITLES:
        numbers = [int(re.split(r"[-.]", id)[-1]) for id in ours if id.startswith(f"{name}-")]
        assert numbers == list(range(1, len(numbers) + 1))


SOURCE: Final = '''
TABLE = [
    1,  # W-1
]


# S-1, INTEROP 2.3
@mark  # S-2
@mark(
    "x",  # UTF-8, XC-4
    "y",  # C-3
)
async def test_one(  # R-10
    a, b
):
    assert a == b  # C-4


def helper():  # W-5
    """# W-6"""
    text = "# W-7"


class TestTwo:
    def test_two(self): ...  # W-8, W-9
'''


def test_a_comment_belongs_to_the_test_it_stands_in_or_above() -> None:
    assert list(requirements.ids_in(SOURCE)) == [
        ("W-1", ""),
        ("S-1", "test_one"),
        ("I-2.3", "test_one"),
        ("S-2", "test_one"),
        ("C-3", "test_one"),
        ("R-10", "test_one"),
        ("C-4", "test_one"),
        ("W-5", ""),
        ("W-8", "test_two"),
        ("W-9", "test_two"),
    ]
