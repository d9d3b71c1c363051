"""What is lowered, against the schemas published with each version, where those lie beside the checkout."""

from __future__ import annotations

import re
from typing import Final

import pytest

from compat import schemas, values
from holdfast.protocol.compat.bridge import bridge_for
from holdfast.protocol.compat.reducing import context_of
from holdfast.protocol.compat.step import Action
from holdfast.protocol.snapshot import STATES

VERSIONS: Final = [version for version in schemas.FOLDERS if schemas.is_here(version)]

# Actions of the corpus that are read leniently and that nobody would send.
ODD: Final = (
    "root/activeSessionsChanged: An omitted count clears the old one. (0)",
    "root/terminalsChanged: An omitted list clears the old one. (0)",
    "chat/toolCallConfirmed: Edited input of a denied call is not stored. (0)",
    "chat/toolCallConfirmed: A decision of unknown kind is kept. (0)",
)

# What came to 0.8 after its published pre-release.
LATER: Final = {("0.8.0", "session/workingDirectoryReplaced")}


@pytest.mark.parametrize("version", VERSIONS)
def test_lowered_states_are_as_published(version: str) -> None:  # CU-34, W-47
    bridge = bridge_for(version)
    assert bridge is not None
    found: dict[str, str] = {}
    for name, kind, state in values.states():
        type_name = STATES[kind].__name__
        if type_name in schemas.types_of(version):
            lowered = bridge.lower_state(kind, state, context_of(kind, state))
            _note(found, name, schemas.problems(version, type_name, lowered))
    assert found == {}


@pytest.mark.parametrize("version", VERSIONS)
def test_lowered_actions_are_as_published(version: str) -> None:  # W-47, W-48
    bridge = bridge_for(version)
    assert bridge is not None
    found: dict[str, str] = {}
    for name, kind, action in values.actions():
        if name in ODD:
            continue
        context = context_of(kind, {})
        for each in bridge.lower_action(Action(context.channel, kind, action), context):
            if (version, each.type) not in LATER:
                _note(found, name, schemas.problems(version, "StateAction", each.action))
    assert found == {}


def _note(found: dict[str, str], name: str, problems: list[str]) -> None:
    """Each problem once, with the first value that has it."""
    for problem in problems:
        found.setdefault(re.sub(r"\[\d+\]", "[]", problem), name)
