"""The demo agent: plays the whole protocol offline, driven by the words of the user's message.

It does no I/O and runs no model. `table` lists what it can play, `agent` picks a scenario and plays it,
`scenarios` holds them by topic, `play` is what a scenario works with.
"""

from __future__ import annotations

from holdfast.agents.scripted.agent import ScriptedAgent, demo, demo_auth

__all__ = ["ScriptedAgent", "demo", "demo_auth"]
