"""Protocol versions: which ones this host speaks, how one is chosen, and what exists since when.

Outside this module and `compat` nobody asks for a version.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from holdfast.protocol.errors import ErrorCode, RpcError

__all__ = [
    "ACTIONS",
    "BASELINES",
    "CURRENT",
    "METHODS",
    "NOTIFICATIONS",
    "ActionInfo",
    "Version",
    "baseline_of",
    "negotiate",
    "older_form",
    "parse_version",
]


class Version(NamedTuple):
    """A strict SemVer triple."""

    major: int
    minor: int
    patch: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


_TRIPLE: Final = re.compile(r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)")

# SemVer sets no bound, its implementations do: a part of five thousand digits is no version.
_MOST_CHARACTERS: Final = 256


def parse_version(text: str) -> Version | None:
    """Read a version; None unless the whole string is three plain decimal numbers."""
    match = _TRIPLE.fullmatch(text) if len(text) <= _MOST_CHARACTERS else None
    return None if match is None else Version(*map(int, match.groups()))


CURRENT: Final = Version(1, 0, 0)

ALIAS_0_10: Final = Version(0, 10, 0)
"""Never released, yet spoken: VS Code 1.141 offers it and means 1.0.0. Matched exactly, never as a range."""

MEANT_BY_0_10: Final = Version(1, 0, 0)

BASELINES: Final[tuple[Version, ...]] = (
    CURRENT,
    ALIAS_0_10,
    Version(0, 9, 0),
    Version(0, 8, 0),
    Version(0, 7, 0),
    Version(0, 6, 0),
    Version(0, 5, 2),
    Version(0, 5, 1),
    Version(0, 5, 0),
    Version(0, 4, 0),
    Version(0, 3, 0),
    Version(0, 2, 0),
    Version(0, 1, 0),
)
"""Every version served, newest first. Each covers later versions of its class, as `baseline_of` says."""


def baseline_of(version: Version, baselines: Sequence[Version] = BASELINES) -> Version | None:
    """The newest baseline a version is compatible with; None if there is none.

    Compatible means: not older, and the same major version, or before 1.0 the same minor, or before 0.1 the
    same patch. 0.5.0, 0.5.1 and 0.5.2 share a minor version and are baselines of their own, so the first two
    are only ever matched exactly: 0.5.0 reads history in a way that 0.5.1 does not understand. `baselines` are
    newest first.
    """
    for baseline in baselines:
        if version == baseline:
            return baseline
        if baseline != ALIAS_0_10 and version > baseline and _class_of(version) == _class_of(baseline):
            return baseline
    return None


def _class_of(version: Version) -> tuple[int, ...]:
    if version.major:
        return version[:1]
    return version[:2] if version.minor else version[:]


def older_form(text: str) -> Version | None:
    """The version whose shapes a negotiated version has; None for those of the present one, or for no version."""
    version = parse_version(text)
    baseline = None if version is None else baseline_of(version)
    form = MEANT_BY_0_10 if baseline == ALIAS_0_10 else baseline
    return None if form == CURRENT else form


def negotiate(offered: Sequence[str], baselines: Sequence[Version] = BASELINES) -> str:
    """Choose a version from a client's offer (01-wire, section 10) and return it exactly as offered.

    The highest compatible version wins, whatever the order. One malformed entry invalidates the offer. Raises
    `RpcError` with `INVALID_PARAMS`, or with `UNSUPPORTED_PROTOCOL_VERSION` if nothing fits: then close.
    """
    versions: dict[Version, str] = {}
    for entry in offered:
        version = parse_version(entry)
        if version is None:
            shown = entry if len(entry) <= 40 else f"{entry[:40]}…"
            raise RpcError(
                ErrorCode.INVALID_PARAMS,
                f"protocolVersions: {shown!r} is not a version; expected three numbers such as {CURRENT}",
            )
        versions.setdefault(version, entry)
    fitting = [version for version in versions if baseline_of(version, baselines)]
    if not fitting:
        raise RpcError(
            ErrorCode.UNSUPPORTED_PROTOCOL_VERSION,
            "none of the offered protocol versions is supported",
            {"supportedVersions": [_range_of(baseline) for baseline in baselines]},
        )
    return versions[max(fitting)]


def _range_of(baseline: Version) -> str:
    return str(baseline) if baseline == ALIAS_0_10 else f"^{baseline}"


class ActionInfo(NamedTuple):
    """`since`: the first version that had the action on the wire. `client`: clients may dispatch it."""

    since: Version
    client: bool


# An action marked with an asterisk may be dispatched by clients. Upstream's own table dates some actions
# earlier than any peer had them; the versions here are those that shipped (`session/customizationUpdated`
# is absent from the published 0.1.0 types, the automation family from 0.8, the last row's actions from 0.9).
_SHIPPED: Final = """
0.1.0 root/agentsChanged root/activeSessionsChanged root/terminalsChanged root/configChanged*
0.1.0 session/ready session/creationFailed session/titleChanged* session/serverToolsChanged
0.1.0 session/customizationsChanged session/customizationToggled* session/isReadChanged*
0.1.0 session/isArchivedChanged* session/activityChanged session/configChanged* session/metaChanged
0.1.0 terminal/data terminal/input* terminal/resized* terminal/claimed* terminal/titleChanged*
0.1.0 terminal/cwdChanged terminal/exited terminal/cleared* terminal/commandDetectionAvailable
0.1.0 terminal/commandExecuted terminal/commandFinished
0.2.0 session/customizationUpdated session/customizationRemoved session/changesetsChanged
0.2.0 changeset/statusChanged changeset/fileSet changeset/fileRemoved changeset/operationsChanged
0.2.0 changeset/cleared resourceWatch/changed
0.3.0 session/mcpServerStateChanged changeset/operationStatusChanged
0.4.0 session/chatAdded session/chatRemoved session/chatUpdated session/defaultChatChanged
0.4.0 chat/turnStarted* chat/delta chat/responsePart chat/toolCallStart chat/toolCallDelta
0.4.0 chat/toolCallReady chat/toolCallConfirmed* chat/toolCallComplete* chat/toolCallResultConfirmed*
0.4.0 chat/toolCallContentChanged* chat/turnComplete chat/turnCancelled* chat/error chat/usage
0.4.0 chat/reasoning chat/pendingMessageSet* chat/pendingMessageRemoved* chat/queuedMessagesReordered*
0.4.0 chat/inputRequested chat/inputAnswerChanged* chat/inputCompleted* chat/truncated*
0.4.0 changeset/contentChanged annotations/set* annotations/updated* annotations/removed*
0.4.0 annotations/entrySet* annotations/entryRemoved*
0.5.0 session/activeClientSet* session/activeClientRemoved* chat/activityChanged chat/draftChanged*
0.5.1 session/inputNeededSet session/inputNeededRemoved chat/turnsLoaded
0.5.2 session/mcpServerStartRequested* session/mcpServerStopRequested*
0.6.0 chat/toolCallAuthRequired chat/toolCallAuthResolved changeset/filesReviewChanged*
0.7.0 session/workingDirectorySet* session/workingDirectoryRemoved* chat/workingDirectorySet*
0.7.0 chat/workingDirectoryRemoved*
0.8.0 session/workingDirectoryReplaced*
0.9.0 chat/turnResume* automation/createRequested* automation/updateRequested* automation/set
0.9.0 automation/removed* automationRun/lifecycleChanged automationRun/sessionSet
0.9.0 automationRun/sessionRemoved automationRun/primarySessionChanged automationRun/cancelRequested*
1.0.0 session/chatsReordered session/mcpServerBackgroundRequested* chat/backgroundWorkSet
1.0.0 chat/backgroundWorkRemoved chat/movableChanged chat/changesetsChanged chat/isReadChanged*
1.0.0 chat/isArchivedChanged* chat/canvasesChanged canvas/stateChanged
"""


def _version(text: str) -> Version:
    version = parse_version(text)
    assert version is not None, f"{text!r} in a table of this module is no version"
    return version


ACTIONS: Final[dict[str, ActionInfo]] = {
    name.rstrip("*"): ActionInfo(_version(row.split()[0]), name.endswith("*"))
    for row in _SHIPPED.strip().splitlines()
    for name in row.split()[1:]
}
"""Every action of 1.0.0, by its wire type."""


def _since(rows: dict[str, str]) -> dict[str, Version]:
    return {name: _version(text) for text, names in rows.items() for name in names.split()}


NOTIFICATIONS: Final = _since(
    {
        "0.1.0": "action root/sessionAdded root/sessionRemoved root/sessionSummaryChanged auth/required"
        " unsubscribe dispatchAction",
        "0.2.0": "otlp/exportLogs otlp/exportTraces otlp/exportMetrics",
        "0.5.0": "root/progress",
    }
)
"""Every notification, in either direction. In 0.1 the `root/*` and `auth/*` ones travelled wrapped."""

METHODS: Final = _since(
    {
        "0.1.0": "initialize reconnect subscribe authenticate listSessions resolveSessionConfig"
        " sessionConfigCompletions createSession disposeSession fetchTurns completions createTerminal"
        " disposeTerminal resourceRead resourceWrite resourceList resourceCopy resourceDelete resourceMove"
        " resourceRequest",
        "0.2.0": "ping resourceResolve resourceMkdir createResourceWatch invokeChangesetOperation",
        "0.4.0": "createChat disposeChat",
        "0.9.0": "listAutomationTriggerDefinitions runAutomation fetchAutomationRuns",
        "1.0.0": "moveChat",
    }
)
"""Every request method."""
