"""A client's files, as a host asks for them: inside of one folder, and nowhere else (05-resources)."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve

import holdfast
from aio import aio
from holdfast.client.files import files
from holdfast.protocol.codec import convert, to_json
from holdfast.protocol.errors import ErrorCode, RpcError, UsageError
from holdfast.protocol.methods import REQUESTS


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / "a b.txt").write_text("Grüße")
    (root / "src" / "image.png").write_bytes(b"\x89PNG\xff")
    (tmp_path / "secret").write_text("secret")
    (root / "out").symlink_to(tmp_path)
    (root / "link").symlink_to(tmp_path / "secret")
    return root


async def ask(folder: Path, method: str, *, writable: bool = False, **params: Any) -> Any:
    for key in ("uri", "source", "destination"):
        if key in params and ":" not in params[key]:
            params[key] = (folder / params[key]).as_uri()
    sent = convert(REQUESTS[method].params, {"channel": "ahp-root://", **params})
    return to_json(await files(folder, writable=writable)(method, sent))


async def refused(folder: Path, method: str, **params: Any) -> int:
    with pytest.raises(RpcError) as caught:
        await ask(folder, method, **params)
    assert str(folder.parent) not in str(caught.value)
    return caught.value.code


@aio
async def test_files_are_read_as_what_they_are(folder: Path) -> None:
    text = {"data": "Grüße", "encoding": "utf-8", "contentType": "text/plain"}
    image = {"data": base64.b64encode(b"\x89PNG\xff").decode(), "encoding": "base64", "contentType": "image/png"}
    assert await ask(folder, "resourceRead", uri="a b.txt") == text
    assert await ask(folder, "resourceRead", uri="src/image.png", encoding="utf-8") == image
    as_base64 = await ask(folder, "resourceRead", uri="a b.txt", encoding="base64")
    assert base64.b64decode(as_base64["data"]).decode() == "Grüße"
    of_client = f"vscode-agent-client://me/file/-{(folder / 'a b.txt').as_uri().removeprefix('file://')}"
    assert await ask(folder, "resourceRead", uri=of_client) == text


@aio
async def test_folders_are_listed_and_things_described(folder: Path) -> None:
    listed = (await ask(folder, "resourceList", uri=folder.as_uri()))["entries"]
    assert [(entry["name"], entry["type"]) for entry in listed] == [
        ("a b.txt", "file"),
        ("link", "file"),
        ("out", "file"),
        ("src", "directory"),
    ]
    file = await ask(folder, "resourceResolve", uri="a b.txt")
    assert (file["type"], file["size"], file["contentType"]) == ("file", 7, "text/plain")
    assert (await ask(folder, "resourceResolve", uri="src"))["type"] == "directory"
    assert (await ask(folder, "resourceResolve", uri="link", followSymlinks=False))["type"] == "symlink"


@pytest.mark.parametrize("method", ["resourceRead", "resourceList", "resourceResolve"])
@pytest.mark.parametrize(
    ("uri", "code"),
    [
        ("nothing", ErrorCode.NOT_FOUND),
        ("a b.txt/deeper", ErrorCode.NOT_FOUND),
        ("link", ErrorCode.PERMISSION_DENIED),
        ("out/secret", ErrorCode.PERMISSION_DENIED),
        ("file:///etc/passwd", ErrorCode.PERMISSION_DENIED),
        ("virtual://me/a", ErrorCode.NOT_FOUND),
        ("https://example.org/", ErrorCode.NOT_FOUND),
    ],
)
@aio
async def test_nothing_leads_out(folder: Path, method: str, uri: str, code: ErrorCode) -> None:
    assert await refused(folder, method, uri=uri) == code


@aio
async def test_dots_and_escapes_lead_nowhere(folder: Path) -> None:
    for path in ("../secret", "src/../../secret", "src/%2e%2e/%2e%2e/secret"):
        uri = f"{folder.as_uri()}/{path}"
        assert await refused(folder, "resourceRead", uri=uri) == ErrorCode.PERMISSION_DENIED
    assert await refused(folder, "resourceRead", uri="src") == ErrorCode.INVALID_PARAMS


@aio
async def test_a_pipe_keeps_nobody_waiting(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    assert await refused(folder, "resourceRead", uri="pipe") == ErrorCode.PERMISSION_DENIED


@aio
async def test_nothing_is_written_unless_it_may_be(folder: Path) -> None:
    write = {"uri": "new", "data": "x", "encoding": "utf-8"}
    assert await refused(folder, "resourceWrite", **write) == ErrorCode.PERMISSION_DENIED
    assert await refused(folder, "resourceRequest", uri="new", write=True) == ErrorCode.PERMISSION_DENIED
    assert await ask(folder, "resourceRequest", uri="new") == {}
    assert not (folder / "new").exists()


@pytest.mark.parametrize(
    ("mode", "position", "expected"),
    [
        (None, None, "xy"),
        ("truncate", 2, "01xy"),
        ("truncate", 99, "01234xy"),
        ("append", None, "01234xy"),
        ("append", 2, "012xy34"),
        ("append", 99, "xy01234"),
        ("insert", 2, "01xy234"),
        ("insert", 99, "01234xy"),
    ],
)
@aio
async def test_writing_puts_bytes_where_they_belong(
    folder: Path, mode: str | None, position: int | None, expected: str
) -> None:
    file = folder / "file"
    file.write_text("01234")
    file.chmod(0o640)
    given: dict[str, Any] = {"mode": mode, "position": position}
    given = {key: value for key, value in given.items() if value is not None}
    await ask(folder, "resourceWrite", writable=True, uri="file", data="xy", encoding="utf-8", **given)
    assert file.read_text() == expected
    assert file.stat().st_mode & 0o777 == 0o640


@aio
async def test_writing_is_refused_where_something_changed_or_is_in_the_way(folder: Path) -> None:
    write: dict[str, Any] = {"writable": True, "data": "eA==", "encoding": "base64"}
    tag = (await ask(folder, "resourceResolve", uri="a b.txt"))["etag"]
    await ask(folder, "resourceWrite", uri="a b.txt", ifMatch=tag, **write)
    assert (folder / "a b.txt").read_text() == "x"
    assert await refused(folder, "resourceWrite", uri="a b.txt", ifMatch=tag, **write) == ErrorCode.CONFLICT
    assert await refused(folder, "resourceWrite", uri="none", ifMatch=tag, **write) == ErrorCode.CONFLICT
    assert await refused(folder, "resourceWrite", uri="a b.txt", createOnly=True, **write) == ErrorCode.ALREADY_EXISTS
    assert await refused(folder, "resourceWrite", uri="no/folder", **write) == ErrorCode.NOT_FOUND
    assert await refused(folder, "resourceWrite", uri="src", **write) == ErrorCode.INVALID_PARAMS
    assert await refused(folder, "resourceWrite", uri="link", **write) == ErrorCode.PERMISSION_DENIED
    bad = {"writable": True, "uri": "new", "data": "?", "encoding": "base64"}
    assert await refused(folder, "resourceWrite", **bad) == ErrorCode.INVALID_PARAMS
    assert (folder.parent / "secret").read_text() == "secret"


@aio
async def test_things_are_made_moved_copied_and_removed(folder: Path) -> None:
    await ask(folder, "resourceMkdir", writable=True, uri="one/two/three")
    await ask(folder, "resourceMkdir", writable=True, uri="one/two")
    await ask(folder, "resourceMove", writable=True, source="a b.txt", destination="one/two/c.txt")
    await ask(folder, "resourceCopy", writable=True, source="one", destination="copies/one")
    assert (folder / "copies/one/two/c.txt").read_text() == "Grüße"
    busy = {"writable": True, "source": "src/image.png", "destination": "one/two/c.txt", "failIfExists": True}
    assert await refused(folder, "resourceMove", **busy) == ErrorCode.ALREADY_EXISTS
    assert await refused(folder, "resourceCopy", **busy) == ErrorCode.ALREADY_EXISTS
    into_itself = {"writable": True, "source": "one", "destination": "one/two/one"}
    assert await refused(folder, "resourceCopy", **into_itself) == ErrorCode.INVALID_PARAMS
    assert await refused(folder, "resourceMove", **into_itself) == ErrorCode.INVALID_PARAMS
    assert await refused(folder, "resourceDelete", writable=True, uri="one") == ErrorCode.INVALID_PARAMS
    await ask(folder, "resourceDelete", writable=True, uri="one", recursive=True)
    await ask(folder, "resourceDelete", writable=True, uri="out")
    assert not (folder / "one").exists()
    assert (folder.parent / "secret").exists(), "only the link was removed"
    assert await refused(folder, "resourceDelete", writable=True, uri="one") == ErrorCode.NOT_FOUND
    assert (
        await refused(folder, "resourceMkdir", writable=True, uri="copies/one/two/c.txt") == ErrorCode.ALREADY_EXISTS
    )
    whole = {"writable": True, "uri": folder.as_uri(), "recursive": True}
    assert await refused(folder, "resourceDelete", **whole) == ErrorCode.PERMISSION_DENIED


def test_a_folder_that_is_none_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a folder"):
        files(tmp_path / "nothing")


@aio
async def test_a_host_that_asks_is_answered(folder: Path) -> None:
    """W-60: whatever a host asks, there is an answer."""
    answers: list[dict[str, Any]] = []

    async def play(connection: ServerConnection) -> None:
        request = json.loads(await connection.recv())
        result = {"protocolVersion": "1.0.0", "serverSeq": 0, "snapshots": []}
        await connection.send(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}))
        for id, method in enumerate(("resourceRead", "createResourceWatch", "unheardOf")):
            params = {"channel": "ahp-root://", "uri": (folder / "a b.txt").as_uri()}
            await connection.send(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            answers.append(json.loads(await connection.recv()))

    async with serve(play, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with holdfast.connect(f"127.0.0.1:{port}", token="t", files=files(folder)) as host:
            events = host.events()
            async for event in events:
                if getattr(event, "status", None) is holdfast.Status.CONNECTING:
                    break
    assert answers[0]["result"]["data"] == "Grüße"
    assert [answer["error"]["code"] for answer in answers[1:3]] == [ErrorCode.METHOD_NOT_FOUND] * 2
