"""The options of a demo session: their schema, what values they accept, and the branches to choose from.

Values come from clients and may be anything; `resolve` keeps what fits. Keys the schema does not know are other
people's business and are kept.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final, NamedTuple

from holdfast.protocol.common import JsonObject
from holdfast.protocol.root.commands import SessionConfigValueItem
from holdfast.protocol.session.state import SessionConfigPropertySchema, SessionConfigSchema

__all__ = ["SCHEMA", "Options", "PermissionMode", "complete", "read", "resolve"]


class PermissionMode(StrEnum):
    """What happens before a tool runs."""

    ASK = "ask"
    AUTO = "auto"
    READ_ONLY = "read-only"


class Options(NamedTuple):
    """The options a scenario looks at."""

    permission_mode: PermissionMode
    speed: float
    """Tokens per second; 0 for no pauses at all."""
    greeting: str


# Tokens per second of streamed text: quick to read, slow enough to see that it streams.
_SPEED: Final = 100

# Faster than anything that sleeps; keeps an absurd number from overflowing.
_FASTEST: Final = 1_000_000

# Newest first; the first few are offered before anybody typed a letter.
_BRANCHES: Final = (
    "main",
    "release/1.4",
    "feature/dark-mode",
    "fix/flaky-login-test",
    "docs/getting-started",
    "feature/export-to-csv",
    "feature/keyboard-shortcuts",
    "feature/offline-drafts",
    "feature/search-as-you-type",
    "feature/shared-folders",
    "feature/undo-everywhere",
    "fix/broken-avatar",
    "fix/double-submit",
    "fix/empty-state-icon",
    "fix/memory-leak-in-watcher",
    "fix/off-by-one-in-pager",
    "fix/reconnect-after-sleep",
    "fix/timezone-of-reminders",
    "docs/api-examples",
    "docs/contributing",
    "docs/screenshots",
    "chore/bump-dependencies",
    "chore/remove-dead-code",
    "chore/split-big-module",
    "perf/cache-thumbnails",
    "perf/lazy-start",
    "release/1.3",
    "release/1.2",
    "spike/graph-view",
    "spike/voice-notes",
    "wip/garden-path",
)
_RECENT: Final = 5

SCHEMA: Final = SessionConfigSchema(
    type="object",
    properties={
        "permissionMode": SessionConfigPropertySchema(
            type="string",
            title="Permission mode",
            description="What happens before a tool runs.",
            default=PermissionMode.ASK.value,
            enum=tuple(mode.value for mode in PermissionMode),
            enum_labels=("Ask", "Automatic", "Read-only"),
            enum_descriptions=(
                "Ask before every tool that changes something.",
                "Run every tool without asking.",
                "Run nothing that changes anything.",
            ),
            session_mutable=True,
        ),
        "speed": SessionConfigPropertySchema(
            type="number",
            title="Speed",
            description="Tokens per second of streamed text; 0 for at once.",
            default=_SPEED,
            session_mutable=True,
        ),
        "greeting": SessionConfigPropertySchema(
            type="string",
            title="Greeting",
            description="How the demo agent says hello.",
            default="Hello",
            session_mutable=False,
        ),
        "branch": SessionConfigPropertySchema(
            type="string",
            title="Branch",
            description="A made-up branch to pretend to work on.",
            default=_BRANCHES[0],
            enum=_BRANCHES[:_RECENT],
            enum_dynamic=True,
            session_mutable=False,
        ),
    },
)

_PYTHON_TYPES: Final[dict[str, tuple[type, ...]]] = {"string": (str,), "number": (int, float)}


def resolve(config: JsonObject) -> JsonObject:
    """The values given, less those that contradict the schema, plus defaults; unknown keys are kept."""
    values = dict(config)
    for name, option in SCHEMA.properties.items():
        if name not in values or not _fits(option, values[name]):
            values[name] = option.default
    return values


def _fits(option: SessionConfigPropertySchema, value: Any) -> bool:
    # To Python `True` is a number; to JSON it is not.
    if isinstance(value, bool) or not isinstance(value, _PYTHON_TYPES[option.type]):
        return False
    return option.enum is None or option.enum_dynamic is True or value in option.enum


def read(config: JsonObject) -> Options:
    """What a turn's configuration says, whatever is missing or wrong in it."""
    values = resolve(config)
    return Options(
        permission_mode=PermissionMode(values["permissionMode"]),
        speed=float(min(max(0, values["speed"]), _FASTEST)),
        greeting=values["greeting"],
    )


def complete(name: str, query: str) -> tuple[SessionConfigValueItem, ...] | None:
    """Values for an option that match what was typed, best first; None if there is no such option."""
    option = SCHEMA.properties.get(name)
    if option is None:
        return None
    if name != "branch":
        labels = option.enum_labels or ()
        items = zip(option.enum or (), labels, strict=True)
        return tuple(SessionConfigValueItem(value=str(value), label=label) for value, label in items)
    return tuple(_branch(name) for name in _matching(query.strip().lower()))


def _matching(query: str) -> tuple[str, ...]:
    if not query:
        return _BRANCHES[:_RECENT]
    found = [name for name in _BRANCHES if query in name]
    return tuple(sorted(found, key=lambda name: not name.startswith(query)))


def _branch(name: str) -> SessionConfigValueItem:
    topic, _, _ = name.partition("/")
    return SessionConfigValueItem(value=name, label=name, description=_TOPICS.get(topic))


_TOPICS: Final = {
    "main": "The default branch",
    "release": "A release branch",
    "feature": "Something new",
    "fix": "A repair",
    "docs": "Documentation",
    "chore": "Housekeeping",
    "perf": "Making it faster",
    "spike": "An experiment",
    "wip": "Unfinished work",
}
