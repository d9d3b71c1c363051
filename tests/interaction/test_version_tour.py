"""Everything a host says to a client of each version is as that version's published schemas have it.

One client takes part in every scenario of the demo agent, asks everything and is refused in every way; each frame it
got is looked at: results, errors, actions, notifications, snapshots.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from typing import Any, Final

import pytest

from aio import aio
from compat import schemas
from corpus_cases import strip_nulls
from holdfast.protocol.compat.roundtrips import roundtrip_in
from interaction.tour import NAMES, QUICK, TOOL, Tourist, assisted
from served import HostProcess

FLAGS = ("--demo-auth",)

VERSIONS: Final = [version for version in schemas.FOLDERS if schemas.is_here(version)]

PLAYED_AGAIN: Final = {"reconfirm": "0.3.0"}
"""Scenarios after which clients up to a version have to fetch snapshots."""


@pytest.mark.parametrize("version", VERSIONS)
@aio
async def test_what_is_said_is_as_published(host: HostProcess, version: str) -> None:  # CU-34, W-47, W-48
    tourist, session = Tourist(host.url, version), f"demo:/{uuid.uuid4()}"
    try:
        await tourist.begin()
        await _see_everything(tourist, host, session)
    finally:
        await tourist.close()
    found: dict[str, str] = {}
    for index, message in enumerate(tourist.received):
        for problem in _problems(tourist, message):
            found.setdefault(re.sub(r"\[\d+\]", "[]", problem), f"message {index}: {message!s:.2000}")
    assert found == {}
    said = {each.get("method") for each in tourist.received}
    assert {"action", "notification"} <= said or {"action", "root/sessionAdded", "auth/required"} <= said


async def _see_everything(tourist: Tourist, host: HostProcess, session: str) -> None:
    client = {"clientId": tourist.client_id, "tools": [TOOL]}
    progress = {"progressToken": "p"} if tourist.since("0.5.0") else {}
    await tourist.create(session, config=QUICK, activeClient=client, **progress)
    talk = await tourist.conversation(session)
    await tourist.bring_tools(session)
    async with assisted(host.url, session):
        for name in NAMES:
            await tourist.see_scenario(talk, name)
            if name in PLAYED_AGAIN and not tourist.since("0.4.0"):
                await tourist.gone()
                assert (await tourist.come_back(*dict.fromkeys((session, talk))))["type"] == "snapshot"
    await tourist.change_everything(session, talk)
    await tourist.ask_everything(session, talk, _content(tourist))
    await tourist.be_refused(session)
    await tourist.drop()
    assert (await tourist.come_back(*dict.fromkeys((session, talk))))["type"] == "replay"
    await tourist.say(talk, "last", "error")
    await tourist.ended(talk, "last", "error")
    await tourist.leave(session)
    copy = f"demo:/{uuid.uuid4()}"
    if not tourist.since("0.9.0"):
        await tourist.create(copy, fork={"session": session, "turnId": "last"})
        await tourist.conversation(copy)
    await tourist.request("disposeSession", session)
    await tourist.until(lambda: tourist.notices("sessionRemoved"))


def _content(tourist: Tourist) -> str:
    """What the host holds of something big that a tool came back with."""
    blocks = _objects([each.get("params") for each in tourist.received])
    return next(str(each["uri"]) for each in blocks if each.get("type") == "resource" and "sizeHint" in each)


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _objects(inner)


# What a frame has to be

_NOTIFIED: Final = {
    "action": "ActionEnvelope",
    "root/sessionAdded": "SessionAddedParams",
    "root/sessionRemoved": "SessionRemovedParams",
    "root/sessionSummaryChanged": "SessionSummaryChangedParams",
    "root/progress": "ProgressParams",
    "auth/required": "AuthRequiredParams",
}

_DETAILS: Final = {
    -32005: "UnsupportedProtocolVersionErrorData",
    -32007: "AuthRequiredErrorData",
    -32009: "PermissionDeniedErrorData",
}


def _problems(tourist: Tourist, message: dict[str, Any]) -> Iterator[str]:
    """What is wrong with a message from the host."""
    assert message.pop("jsonrpc") == "2.0"
    version = tourist.version
    match message:
        case {"method": "notification", "params": {"notification": notification}} if version == "0.1.0":
            yield from schemas.problems(version, "ProtocolNotification", notification)
        case {"method": method, "params": params} if method in _NOTIFIED:
            yield from schemas.problems(version, _NOTIFIED[method], params)
            yield from _misunderstood(version, _NOTIFIED[method], params)
        case {"id": id, "result": result, **rest} if not rest:
            yield from _result_problems(version, tourist.methods[id], result)
        case {"id": int(), "error": error, **rest} if not rest:
            yield from _error_problems(version, error)
        case _:
            yield f"no message of this version: {message}"


def _misunderstood(version: str, name: str, value: Any) -> Iterator[str]:
    """What is said is read in 1.0, and said again from there."""
    action = value.get("action", {})
    if "/toolCall" in action.get("type", "") and "_meta" in action:
        # Up to 0.3 a tool call's metadata is that of its start: other actions have it for nothing.
        value = {**value, "action": {key: each for key, each in action.items() if key != "_meta"}}
    again = roundtrip_in(version, name, value)
    if strip_nulls(again) != strip_nulls(value):
        yield f"{name} {action.get('type', '')} is said again as {again!s:.500}"


def _result_problems(version: str, method: str, result: Any) -> Iterator[str]:
    name = f"{method[0].upper()}{method[1:]}Result"
    if method == "reconnect":
        name = "ReconnectReplayResult" if result["type"] == "replay" else "ReconnectSnapshotResult"
    if name in schemas.types_of(version):
        yield from schemas.problems(version, name, result)
        yield from _misunderstood(version, "ReconnectResult" if method == "reconnect" else name, result)
    elif result is not None:
        yield f"{method} has no result: {result}"


def _error_problems(version: str, error: dict[str, Any]) -> Iterator[str]:
    if error["code"] not in schemas.codes_of(version):
        yield f"no error code of this version: {error}"
    if not isinstance(error["message"], str) or error.keys() - {"code", "message", "data"}:
        yield f"no error: {error}"
    if error["code"] in _DETAILS and "data" in error:
        yield from schemas.problems(version, _DETAILS[error["code"]], error["data"])
