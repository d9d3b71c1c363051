"""The picture of the README is made from a real run."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from xml.etree import ElementTree

import picture


def test_the_picture_shows_a_real_run_and_loads_nothing(tmp_path: Path) -> None:
    svg = picture.picture(asyncio.run(picture.record()))
    ElementTree.fromstring(svg)
    shown = svg.replace("&#160;", " ")
    for words in ("Make this edit?", "Edited, as I proposed it", "connecting", "still writing", "● live"):
        assert words in shown
    assert "@font-face" not in svg
    assert set(re.findall(r'(?:url|href)\w*[=(]"?(https?:[^")]*)', svg)) == set()
    assert str(tmp_path.parent.parent) not in shown


def test_the_picture_of_the_readme_is_one_of_these() -> None:
    svg = picture.FILE.read_text().replace("&#160;", " ")
    assert svg.count('<g id="f') >= 8
    assert "kill -9" in svg
