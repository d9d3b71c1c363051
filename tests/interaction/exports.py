"""A session as a client can read all of it, and the requests that make it again from that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from holdfast.protocol import extensions
from holdfast.testing import comparable
from interaction.catalogue import entries, listed
from interaction.talk import shown
from served import Clients, Wire

__all__ = ["Exported", "exported", "imported", "renamed"]


@dataclass
class Exported:
    """What plain reading gives: no extension is needed for it."""

    uri: str
    summary: dict[str, Any]
    state: dict[str, Any]
    annotations: dict[str, Any]
    chats: dict[str, dict[str, Any]]
    """Their states, with all their turns."""
    contents: dict[str, dict[str, Any]]

    def comparable(self) -> dict[str, Any]:
        """What an import has to give back, whatever the names: those of content are always new."""
        contents = {uri: f"content {number}" for number, uri in enumerate(self.contents)}
        everything: dict[str, Any] = renamed(
            {
                "state": comparable("session", self.state),
                "annotations": self.annotations,
                "chats": list(self.chats.values()),
                "contents": list(self.contents.values()),
                "summary": self.summary,
            },
            contents,
        )
        return everything


def renamed(value: Any, names: dict[str, str]) -> Any:
    """Every string that is one of the names replaced."""
    if isinstance(value, dict):
        return {key: renamed(entry, names) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [renamed(entry, names) for entry in value]
    return names.get(value, value) if isinstance(value, str) else value


async def exported(clients: Clients, session: str) -> Exported:
    """Read a session whole."""
    state = await shown(clients, session)
    reader = await clients()
    chats = {uri: await _whole(reader, uri) for uri in entries(state)}
    contents = {
        uri: await reader.request("resourceRead", uri=uri, encoding="base64")
        for uri in dict.fromkeys(_content_uris(list(chats.values())))
    }
    return Exported(
        uri=session,
        summary=await listed(reader, session),
        state=state,
        annotations=await shown(clients, f"{session}/annotations"),
        chats=chats,
        contents=contents,
    )


async def _whole(reader: Wire, chat: str) -> dict[str, Any]:
    await reader.subscribe(chat)
    while (cursor := reader.state(chat).get("turnsNextCursor")) is not None:
        await reader.request("fetchTurns", chat, cursor=cursor)
    return reader.state(chat)


def _content_uris(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if str(value.get("uri")).startswith("ahp-content:"):
            yield value["uri"]
        for entry in value.values():
            yield from _content_uris(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from _content_uris(entry)


async def imported(
    client: Wire, found: Exported, session: str | None = None, *, commit: bool = True
) -> dict[str, str]:
    """Make it again; what the chats were called, and what they are called now, is returned."""
    uri = session or found.uri
    result = await client.request(
        extensions.IMPORT_SESSION,
        uri,
        source=found.uri,
        session=found.state,
        chats=[{**chat, "turns": []} for chat in found.chats.values()],
        annotations=found.annotations,
        createdAt=found.summary["createdAt"],
    )
    for source, content in found.contents.items():
        fields = {"contentType": content["contentType"], "data": content["data"]}
        await client.request(extensions.IMPORT_CONTENT, uri, uri=source, **fields)
    for source, chat in found.chats.items():
        for turn in chat["turns"]:
            await client.request(extensions.IMPORT_TURNS, uri, chat=source, turns=[turn])
    if commit:
        assert await client.request(extensions.COMMIT_IMPORT, uri) is None
    return {each["source"]: each["resource"] for each in result["chats"]}
