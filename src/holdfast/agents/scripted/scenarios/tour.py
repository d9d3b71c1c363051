"""The round trip: a selection of the other scenarios in one turn, with two approvals at most."""

from __future__ import annotations

from typing import Final

from holdfast.agents.scripted.play import Play
from holdfast.agents.scripted.scenarios import media, review, text, tools

__all__ = ["tour"]

_STOPS: Final = (
    ("It can think", text.think),
    ("It can write", text.markdown),
    ("It asks before it acts", tools.approve),
    ("It shows its work", tools.slow),
    ("It lets you look first", review.edit),
    ("It can draw", media.show),
)


async def tour(play: Play) -> None:
    """Play the stops one after the other."""
    await play.say(f"{play.options.greeting}! Let me show you around, in {len(_STOPS)} stops.\n\n")
    for number, (heading, stop) in enumerate(_STOPS, 1):
        await play.say(f"\n\n### {number}. {heading}\n\n")
        await stop(play.without_arguments())
        await play.pause(0.5)
    await play.say("\n\nThat was the tour. Say `help` for everything else.\n")
