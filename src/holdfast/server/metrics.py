"""Numbers about a running host, in the text format that Prometheus reads.

    registry = Registry()
    actions = registry.counter("holdfast_actions_total", "Actions accepted.")
    registry.gauge("holdfast_sessions", "Sessions in memory.", lambda: len(sessions))
    commits = registry.histogram("holdfast_commit_seconds", "Time to commit.", SECONDS)
    actions.add(); commits.observe(0.0012); registry.text()

A family may have several children that differ in their labels: `registry.counter(name, help, transport="unix")`.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Final, Protocol, TypeVar

from holdfast.protocol.errors import UsageError

__all__ = ["BYTES", "SECONDS", "Counter", "Gauge", "Histogram", "Registry"]

SECONDS: Final = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Buckets for times, from half a millisecond to ten seconds."""

BYTES: Final = (256.0, 1024.0, 4096.0, 16384.0, 65536.0, 262144.0, 1048576.0, 4194304.0, 16777216.0)
"""Buckets for sizes, from 256 bytes to 16 MiB."""


class _Child(Protocol):
    def lines(self, name: str, labels: str) -> list[str]: ...


class Counter:
    """A number that only grows."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value: float = 0

    def add(self, amount: float = 1) -> None:
        """Count `amount` more."""
        self.value += amount

    def lines(self, name: str, labels: str) -> list[str]:
        """The lines of the text format."""
        return [f"{name}{_braces(labels)} {_number(self.value)}"]


class Gauge:
    """A number that is asked for when somebody wants to know."""

    __slots__ = ("_read",)

    def __init__(self, read: Callable[[], float]) -> None:
        self._read = read

    def lines(self, name: str, labels: str) -> list[str]:
        """The lines of the text format."""
        return [f"{name}{_braces(labels)} {_number(self._read())}"]


class Histogram:
    """How often something had which size, in buckets with fixed upper bounds."""

    __slots__ = ("_bounds", "_counts", "_sum")

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = tuple(bounds)
        self._counts = [0] * (len(self._bounds) + 1)
        self._sum = 0.0

    def observe(self, value: float) -> None:
        """Count one occurrence."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    def lines(self, name: str, labels: str) -> list[str]:
        """The lines of the text format."""
        lines = []
        total = 0
        for bound, count in zip((*self._bounds, math.inf), self._counts, strict=True):
            total += count
            comma = "," if labels else ""
            lines.append(f'{name}_bucket{{{labels}{comma}le="{_number(bound)}"}} {total}')
        return [
            *lines,
            f"{name}_sum{_braces(labels)} {_number(self._sum)}",
            f"{name}_count{_braces(labels)} {total}",
        ]


C = TypeVar("C", bound=_Child)


class _Family:
    def __init__(self, kind: str, help_text: str) -> None:
        self.kind = kind
        self.help_text = help_text
        self.children: dict[str, _Child] = {}


class Registry:
    """All the numbers of one host, in the order they were made."""

    def __init__(self) -> None:
        self._families: dict[str, _Family] = {}

    def counter(self, name: str, help_text: str, /, **labels: str) -> Counter:
        """A counter; by custom its name ends in `_total`."""
        return self._add("counter", name, help_text, labels, Counter())

    def gauge(self, name: str, help_text: str, read: Callable[[], float], /, **labels: str) -> Gauge:
        """A gauge that calls `read`."""
        return self._add("gauge", name, help_text, labels, Gauge(read))

    def total(self, name: str, help_text: str, read: Callable[[], float], /, **labels: str) -> Gauge:
        """A counter that somebody else keeps; calls `read`."""
        return self._add("counter", name, help_text, labels, Gauge(read))

    def histogram(self, name: str, help_text: str, bounds: Sequence[float], /, **labels: str) -> Histogram:
        """A histogram with these upper bounds, ascending."""
        return self._add("histogram", name, help_text, labels, Histogram(bounds))

    def text(self) -> str:
        """Everything, as Prometheus reads it."""
        lines = []
        for name, family in self._families.items():
            lines += [f"# HELP {name} {family.help_text}", f"# TYPE {name} {family.kind}"]
            for labels, child in family.children.items():
                lines += child.lines(name, labels)
        return "\n".join([*lines, ""])

    def _add(self, kind: str, name: str, help_text: str, labels: dict[str, str], child: C) -> C:
        family = self._families.setdefault(name, _Family(kind, help_text))
        key = ",".join(f'{label}="{_escaped(value)}"' for label, value in labels.items())
        if family.kind != kind or key in family.children:
            raise UsageError(f"{name}{_braces(key)} cannot be made: there is a {family.kind} of that name already")
        family.children[key] = child
        return child


def _braces(labels: str) -> str:
    return f"{{{labels}}}" if labels else ""


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _number(value: float) -> str:
    if value == math.inf:
        return "+Inf"
    return str(int(value)) if float(value).is_integer() else repr(float(value))
