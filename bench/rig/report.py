"""What was measured: a figure is a name, what came of each round, and what it should be."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Figure", "Report", "Target", "at_least", "at_most"]


@dataclass(frozen=True)
class Target:
    text: str
    is_met: Callable[[float], bool]


def at_most(limit: float) -> Target:
    return Target(f"<= {limit:,g}", lambda value: value <= limit)


def at_least(limit: float) -> Target:
    return Target(f">= {limit:,g}", lambda value: value >= limit)


@dataclass(frozen=True)
class Figure:
    """The median counts."""

    question: str
    name: str
    unit: str
    values: tuple[float, ...]
    target: Target | None

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def verdict(self) -> str:
        if self.target is None:
            return ""
        return "met" if self.target.is_met(self.median) else "MISSED"

    def line(self) -> str:
        spread = f"{_number(min(self.values))} … {_number(max(self.values))}"
        target = self.target.text if self.target else ""
        return f"  {self.name:<58} {_number(self.median):>11} {self.unit:<8} {spread:<24} {target:<11} {self.verdict}"

    def as_json(self) -> dict[str, Any]:
        return {
            "question": self.question,
            "name": self.name,
            "unit": self.unit,
            "median": self.median,
            "values": self.values,
            "target": self.target.text if self.target else None,
            "verdict": self.verdict,
        }


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


@dataclass
class Report:
    """Prints figures as they come, unless they are wanted as JSON."""

    quiet: bool = False
    figures: list[Figure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    question: str = ""

    def begin(self, question: str, title: str) -> None:
        self.question = question
        self._print(f"\n{question}: {title}")

    def add(self, name: str, unit: str, values: Sequence[float], target: Target | None = None) -> Figure:
        figure = Figure(self.question, name, unit, tuple(values), target)
        self.figures.append(figure)
        self._print(figure.line())
        return figure

    def ratio(
        self, name: str, ours: Sequence[float], theirs: Sequence[float], target: Target | None = None
    ) -> Figure:
        """Ours divided by theirs, round by round."""
        return self.add(name, "x", [one / other for one, other in zip(ours, theirs, strict=True)], target)

    def note(self, text: str) -> None:
        """Something whoever reads the figures has to know. Said once."""
        if text not in self.notes:
            self.notes.append(text)
            self._print(f"  {text}")

    def _print(self, text: str) -> None:
        if not self.quiet:
            print(text, flush=True)

    @property
    def missed(self) -> int:
        return sum(figure.verdict == "MISSED" for figure in self.figures)
