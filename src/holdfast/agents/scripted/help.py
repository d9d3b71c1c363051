"""How the table of scenarios looks in Markdown, for the help and the documentation."""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.agents.scripted.play import Scenario

__all__ = ["as_markdown"]


def as_markdown(scenarios: Iterable[Scenario]) -> str:
    """A table with a row for each scenario."""
    return "| Say | What happens |\n|---|---|\n" + "".join(_row(scenario) for scenario in scenarios)


def _row(scenario: Scenario) -> str:
    also = f" or `{scenario.alias}`" if scenario.alias else ""
    return f"| `{scenario.usage}`{also} | {scenario.description} |\n"
