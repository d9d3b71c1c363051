"""Compare our wire types with published JSON Schemas and list every difference.

    python scripts/schema_diff.py ../shared/spec/schema/0.8.0-dev

A difference is a type, property or required key that only one side has. Each is either explained by the
release that made it (`EXPLAINED`), or printed, with exit code 1.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from holdfast.protocol.catalog import action_name, types_by_name
from holdfast.protocol.codec import UnionMarker, Wire
from holdfast.protocol.versions import ACTIONS, Version

_FILES: Final = ("state", "actions", "commands", "notifications", "errors")

# The schemas were written while 0.8 was being made; what first shipped in 0.8.0 is not in them yet.
_PUBLISHED: Final = Version(0, 7, 0)

# Names of the schemas that are no types of the wire: shared fields, code lists, unions of everything.
_NOT_WIRE: Final = frozenset(
    {
        "AhpErrorCode",
        "AhpErrorDetailsMap",
        "ChatInputQuestionBase",
        "ChildCustomizationBase",
        "ContainerCustomizationBase",
        "CustomizationBase",
        "JsonRpcErrorCode",
        "MessageAttachmentBase",
        "PaginatedResult",
        "ProtocolNotification",
        "SessionForkSource",
        "SessionInputRequestBase",
        "SessionStatus",
        "ToolCallActionBase",
        "ToolCallParameterFields",
        "ToolCallPostConfirmationFields",
        "ToolCallRiskAssessmentBase",
    }
)


class Difference(NamedTuple):
    type: str
    key: str
    what: str


# Where 1.0.0 differs from the published 0.8.0-dev schemas, and the release that made the difference.
EXPLAINED: Final[dict[tuple[str, str], str]] = {
    **dict.fromkeys(
        [
            ("PluginCustomization", "enabled"),
            ("PluginCustomization", "enablement"),
            ("ClientPluginCustomization", "enabled"),
            ("ClientPluginCustomization", "enablement"),
            ("ClientPluginCustomization", "childEnablement"),
            ("McpServerCustomization", "enabled"),
            ("McpServerCustomization", "enablement"),
            ("SessionCustomizationToggledAction", "enabled"),
            ("SessionCustomizationToggledAction", "enablement"),
            ("MultipleWorkingDirectoriesCapability", "primaryReplacement"),
        ],
        "0.8 final: enablement lists and primary replacement came after the -dev schemas",
    ),
    **dict.fromkeys(
        [
            ("Turn", "error"),
            ("ChatErrorAction", "error"),
            ("ChatErrorAction", "part"),
            ("TerminalInfo", "exitCode"),
            ("TerminalInfo", "lifecycle"),
            ("TerminalState", "exitCode"),
            ("TerminalState", "lifecycle"),
            ("TerminalSessionClaim", "chat"),
            ("Annotation", "turnId"),
            ("Annotation", "origin"),
            ("AnnotationsUpdatedAction", "turnId"),
            ("AnnotationsUpdatedAction", "origin"),
            ("ChangesetContentChangedAction", "error"),
            ("SessionMetadata", "origin"),
            ("SessionState", "origin"),
            ("SessionSummary", "origin"),
            ("InitializeResult", "automations"),
            ("InitializeResult", "_meta"),
        ],
        "0.9",
    ),
    **dict.fromkeys(
        [
            ("ConfigPropertySchema", "minItems"),
            ("ConfigPropertySchema", "maxItems"),
            ("SessionConfigPropertySchema", "minItems"),
            ("SessionConfigPropertySchema", "maxItems"),
            ("McpServerStartingState", "blocking"),
            ("ChatState", "changes"),
            ("ChatState", "movable"),
            ("ChatState", "changesets"),
            ("ChatState", "backgroundWork"),
            ("ChatState", "canvases"),
            ("ChatSummary", "changes"),
            ("ChatSummary", "movable"),
            ("SessionSummary", "chats"),
            ("SessionSummary", "defaultChat"),
            ("AuthenticateParams", "expiresIn"),
        ],
        "1.0",
    ),
    **dict.fromkeys(
        [
            ("RootActiveSessionsChangedAction", "activeSessions"),
            ("RootTerminalsChangedAction", "terminals"),
        ],
        "every release: the reference reducers assign what is there, and an omitted value clears",
    ),
    **dict.fromkeys(
        [
            ("ChatToolCallApprovedAction", "reason"),
            ("ChatToolCallApprovedAction", "reasonMessage"),
            ("ChatToolCallApprovedAction", "userSuggestion"),
            ("ChatToolCallApprovedAction", "confirmed"),
            ("ChatToolCallDeniedAction", "confirmed"),
            ("ChatToolCallDeniedAction", "editedToolInput"),
            ("ChatToolCallDeniedAction", "reason"),
        ],
        "0.8: one struct reads both forms of chat/toolCallConfirmed, told apart by `approved`",
    ),
}

# `channel` of connection-level commands may be missing when read (01-wire, section 4.1).
_LENIENT: Final = frozenset({"channel"})


def definitions(folder: Path) -> dict[str, dict[str, Any]]:
    """Every definition of a set of schemas; the files repeat each other's."""
    found: dict[str, dict[str, Any]] = {}
    for name in _FILES:
        found |= json.loads((folder / f"{name}.schema.json").read_text())["$defs"]
    return found


def differences(folder: Path) -> Iterator[Difference]:
    """What only the schemas have, and what only we have, type by type."""
    ours = types_by_name()
    published = definitions(folder)
    for name, schema in sorted(published.items()):
        if name in _NOT_WIRE:
            continue
        if name not in ours:
            yield Difference(name, "", "we have no such type")
            continue
        yield from _compare(name, schema, ours[name])
    for tag, info in ACTIONS.items():
        if action_name(tag) not in published and info.since <= _PUBLISHED:
            yield Difference(action_name(tag), "", "not published")


def _compare(name: str, schema: dict[str, Any], ours: Any) -> Iterator[Difference]:
    structs = ours.structs.values() if isinstance(ours, UnionMarker) else [ours]
    if "properties" not in schema or not all(_is_struct(struct) for struct in structs):
        return
    published = set(schema["properties"])
    required = set(schema.get("required", ()))
    for struct in structs:
        fields = {field.encode_name: field.required for field in msgspec.structs.fields(struct)}
        tag = struct.__struct_config__.tag_field
        known = set(fields) | ({tag} if tag else set())
        yield from (Difference(name, key, "only published") for key in sorted(published - known))
        yield from (Difference(name, key, "only ours") for key in sorted(known - published))
        for key in sorted(published & set(fields)):
            if fields[key] != (key in required) and key not in _LENIENT:
                side = "published" if key in required else "ours"
                yield Difference(name, key, f"required only in {side}")


def _is_struct(found: Any) -> bool:
    return isinstance(found, type) and issubclass(found, Wire)


def unexplained(folder: Path) -> list[Difference]:
    """The differences that no release accounts for, and entries of `EXPLAINED` that explain nothing."""
    found = list(differences(folder))
    stale = EXPLAINED.keys() - {(difference.type, difference.key) for difference in found}
    return [
        *(each for each in found if (each.type, each.key) not in EXPLAINED),
        *(Difference(*key, "explained, but no difference") for key in sorted(stale)),
    ]


def main(arguments: list[str]) -> int:
    """Print the list; 1 if it is not empty, 2 if there is no folder of schemas to compare with."""
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        print("usage: schema_diff.py FOLDER, where FOLDER has state.schema.json and its siblings", file=sys.stderr)
        return 2
    folder = Path(arguments[0])
    rows = unexplained(folder)
    for row in rows:
        print(f"{row.type}.{row.key}: {row.what}" if row.key else f"{row.type}: {row.what}")
    print(f"{len(rows)} unexplained differences; {len(EXPLAINED)} explained by a release")
    return 1 if rows else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
