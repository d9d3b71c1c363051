"""One host for all tests of a module. They share it, so each looks only at what it made itself."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from console import Console, serving


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    with serving(tmp_path_factory.mktemp("host")) as running:
        yield running
