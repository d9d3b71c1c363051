"""Make docs/requirements.md: every numbered requirement, and the tests that show it.

    python scripts/requirements.py

Requirements are in docs/requirements.toml. A test shows the ones that its comments name: `# W-29, S-4`, or
`# INTEROP 2.5` for `I-2.5`. A comment belongs to the test it stands in or right above. What has neither a test nor a
reason is printed, with exit code 1.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[1]
DATA: Final = ROOT / "docs" / "requirements.toml"
PAGE: Final = ROOT / "docs" / "requirements.md"
TESTS: Final = ROOT / "tests"

TITLES: Final = {
    "W": "Messages and connections",
    "R": "The root",
    "S": "Sessions",
    "C": "Chats",
    "I": "What real clients depend on",
}

_ID: Final = re.compile(r"\b(?:([WRSC])-(\d+)|INTEROP (2\.\d+))\b")


class Requirement(NamedTuple):
    """One numbered promise."""

    id: str
    level: str
    text: str
    deferred: str | None = None
    """What has to be built first."""
    reason: str | None = None
    """Why there is nothing to test here."""

    @property
    def excuse(self) -> str | None:
        return self.deferred or self.reason


class Evidence(NamedTuple):
    """A test, and the file it is in, as seen from the tests' directory."""

    file: str
    test: str


def requirements() -> dict[str, Requirement]:
    """The data file, by id and in its order."""
    data = tomllib.loads(DATA.read_text())
    found = [
        Requirement(f"{section}-{number}", **fields)
        for section, rows in data.items()
        for number, fields in rows.items()
    ]
    return {each.id: each for each in found}


def evidence() -> dict[str, list[Evidence]]:
    """The tests that show each requirement, by id."""
    found: dict[str, list[Evidence]] = defaultdict(list)
    for file in sorted(TESTS.rglob("test_*.py")):
        for id, test in ids_in(file.read_text()):
            shown = Evidence(file.relative_to(TESTS).as_posix(), test)
            if shown not in found[id]:
                found[id].append(shown)
    return found


def ids_in(source: str) -> Iterator[tuple[str, str]]:
    """The ids that comments name, each with the test the comment belongs to; none for a table of the module's."""
    comments = {
        token.start[0]: token.string
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    }
    owners: dict[int, str] = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            owners |= dict.fromkeys(_lines_of(node, comments), node.name)
    for line, text in sorted(comments.items()):
        for section, number, observed in _ID.findall(text):
            yield f"I-{observed}" if observed else f"{section}-{number}", owners.get(line, "")


def _lines_of(node: ast.FunctionDef | ast.AsyncFunctionDef, comments: Mapping[int, str]) -> range:
    """A function with its decorators and the comments right above."""
    first = min(node.lineno, *(each.lineno for each in node.decorator_list), node.lineno)
    while first - 1 in comments:
        first -= 1
    assert node.end_lineno is not None, "parsed from text"
    return range(first, node.end_lineno + 1)


def untested(rows: Mapping[str, Requirement], tests: Mapping[str, Sequence[Evidence]]) -> list[Requirement]:
    """What has neither a test nor a reason."""
    return [each for each in rows.values() if not tests.get(each.id) and not each.excuse]


# The page

_HEAD: Final = """\
# What is promised, and what shows it

Every numbered requirement of the Agent Host Protocol 1.0.0, in our words, and the tests that name it. Made by
`scripts/requirements.py` from [requirements.toml](requirements.toml) and the comments in the tests; a test fails when
this page is not up to date.
"""


def page(rows: Mapping[str, Requirement], tests: Mapping[str, Sequence[Evidence]]) -> str:
    """The whole page."""
    by_section: dict[str, list[Requirement]] = defaultdict(list)
    for each in rows.values():
        by_section[each.id[0]].append(each)
    parts = [_HEAD, _summary(by_section, tests)]
    parts += [_section(name, found, tests) for name, found in by_section.items()]
    return "\n".join(parts)


def _summary(by_section: Mapping[str, list[Requirement]], tests: Mapping[str, Sequence[Evidence]]) -> str:
    lines = ["| | requirements | with a test | not yet, or not here | open |", "|---|---|---|---|---|"]
    for name, found in by_section.items():
        tested = sum(bool(tests.get(each.id)) for each in found)
        excused = sum(not tests.get(each.id) and bool(each.excuse) for each in found)
        counts = (len(found), tested, excused, len(found) - tested - excused)
        lines.append(f"| {TITLES[name]} | {' | '.join(map(str, counts))} |")
    return "\n".join([*lines, ""])


def _section(name: str, found: list[Requirement], tests: Mapping[str, Sequence[Evidence]]) -> str:
    lines = [f"## {TITLES[name]}", "", "| | | | shown by |", "|---|---|---|---|"]
    lines += [f"| {each.id} | {each.level} | {each.text} | {_shown_by(each, tests)} |" for each in found]
    return "\n".join([*lines, ""])


def _shown_by(each: Requirement, tests: Mapping[str, Sequence[Evidence]]) -> str:
    by_file: dict[str, list[str]] = defaultdict(list)
    for file, test in tests.get(each.id, ()):
        by_file[file].append(f"`{test}`" if test else "a table")
    shown = [f"[{file}](../tests/{file}): {', '.join(names)}" for file, names in by_file.items()]
    if each.deferred:
        shown.append(f"not yet: {each.deferred}")
    if each.reason:
        shown.append(each.reason)
    return "<br>".join(shown) or "**nothing**"


def main() -> int:
    """Write the page; 1 if something is open."""
    rows, tests = requirements(), evidence()
    PAGE.write_text(page(rows, tests))
    missing = untested(rows, tests)
    for each in missing:
        print(f"{each.id} {each.level}: {each.text}")
    print(f"{len(rows)} requirements, {len(missing)} of them with neither a test nor a reason")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
