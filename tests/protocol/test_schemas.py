"""Our types against the published JSON Schemas, where those are at hand."""

from __future__ import annotations

import pytest

import schema_diff
import shared_spec

FOLDER = shared_spec.schemas("0.8.0-dev")


@pytest.mark.skipif(not FOLDER.exists(), reason="the published schemas are not beside this checkout")
def test_every_difference_from_the_published_schemas_is_explained() -> None:
    assert schema_diff.unexplained(FOLDER) == []
