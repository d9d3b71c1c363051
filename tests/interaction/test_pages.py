"""Clients written from the documents of 0.1, 0.2 and 0.4: every frame is spelled out as those pages show it.

`pages` has one conversation of each. A line after `>` is what the client sends, as it stands there; one after `<` is
what it waits for: a frame that has everything the line has. `$name` stands for what it was first, `$absent` for
nothing. Nothing here knows of versions.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

import pytest
from websockets.asyncio.client import ClientConnection, connect

from aio import aio
from served import HostProcess, hosting

PAGES: Final = sorted(Path(__file__).with_name("pages").glob("*.txt"))

_PATIENCE: Final = 10.0
"""Seconds after which something that should have happened is believed not to happen."""


class Reader:
    """Plays a page line by line."""

    def __init__(self, host: HostProcess, stack: AsyncExitStack) -> None:
        self.host = host
        self.stack = stack
        self.known: dict[str, Any] = {
            "session": f"demo:/{uuid.uuid4()}",
            "copied session": f"demo:/{uuid.uuid4()}",
            "copied chat": f"ahp-chat:/{uuid.uuid4()}",
        }
        self.heard: list[Any] = []
        """What was heard and not waited for yet."""
        self.connection: ClientConnection | None = None

    async def connect(self) -> None:
        self.heard.clear()
        self.connection = await self.stack.enter_async_context(connect(self.host.url, max_size=None, proxy=None))

    async def play(self, line: str) -> None:
        assert self.connection is not None, "connected"
        mark, _, rest = line.partition(" ")
        if mark == ">":
            await self.connection.send(json.dumps(self._filled(json.loads(rest))))
        elif mark == "<":
            await self._hear(json.loads(rest))
        elif mark == "!":
            await self.host.kill()
            await self.host.start()
            await self.connect()

    def _filled(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._filled(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self._filled(each) for each in value]
        return self.known[value[1:]] if isinstance(value, str) and value.startswith("$") else value

    async def _hear(self, wanted: Any) -> None:
        seen = 0
        while True:
            for frame in self.heard[seen:]:
                seen += 1
                found: dict[str, Any] = {}
                if self._fits(wanted, frame, found):
                    self.known |= found
                    self.heard.remove(frame)
                    return
            assert self.connection is not None, "connected"
            async with asyncio.timeout(_PATIENCE):
                self.heard.append(json.loads(await self.connection.recv()))

    def _fits(self, wanted: Any, given: Any, found: dict[str, Any]) -> bool:
        if isinstance(wanted, dict):
            return isinstance(given, dict) and all(
                key not in given if each == "$absent" else key in given and self._fits(each, given[key], found)
                for key, each in wanted.items()
            )
        if isinstance(wanted, list):
            return (
                isinstance(given, list)
                and len(wanted) == len(given)
                and all(self._fits(one, other, found) for one, other in zip(wanted, given, strict=True))
            )
        if isinstance(wanted, str) and wanted.startswith("$"):
            name = wanted[1:]
            expected = self.known.get(name, found.get(name, given))
            found[name] = given
            return bool(expected == given)
        return bool(wanted == given)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
@aio
async def test_as_the_pages_have_it(tmp_path: Path, page: Path) -> None:  # W-47
    lines = page.read_text(encoding="utf-8").splitlines()  # noqa: ASYNC240 - nobody waits
    async with hosting(tmp_path) as host, AsyncExitStack() as stack:
        reader = Reader(host, stack)
        await reader.connect()
        for number, line in enumerate(lines, 1):
            try:
                await reader.play(line)
            except TimeoutError:
                pytest.fail(f"{page.name}, line {number} did not come: {line}\nthere was: {reader.heard[-5:]}")


def test_there_is_a_page_of_each() -> None:
    assert [page.stem for page in PAGES] == ["0.1.0", "0.2.0", "0.4.0"]
