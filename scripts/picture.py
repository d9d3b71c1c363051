"""Records docs/attach.svg from a real run of `holdfast attach`: a moving picture that any browser plays.

    python scripts/picture.py [FILE]

A host of its own, a person at a terminal, another client, `kill -9`: nothing in the picture is drawn by hand.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, NamedTuple

from textual.pilot import Pilot

from holdfast.attach.app import AttachApp
from holdfast.attach.controller import Controller
from holdfast.client.asks import Approval
from holdfast.client.backoff import Retry
from holdfast.client.host import Host, connect

FILE: Final = Path(__file__).parents[1] / "docs" / "attach.svg"
SIZE: Final = (96, 27)

_PATIENCE: Final = 30.0
_FONT: Final = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"


class Frame(NamedTuple):
    """A screen, and for how many seconds it is shown."""

    svg: str
    seconds: float


class Camera:
    """Records an application that runs."""

    def __init__(self, app: AttachApp, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot
        self.frames: list[Frame] = []

    async def until(self, condition: Callable[[str], bool]) -> None:
        """Wait until the screen looks so."""
        async with asyncio.timeout(_PATIENCE):
            while not condition(self._text()):
                await self.pilot.pause(0.02)

    def _text(self) -> str:
        strips = self.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip) for strip in strips)

    async def sees(self, *words: str) -> None:
        await self.until(lambda text: all(word in text for word in words))

    async def type(self, text: str) -> None:
        await self.pilot.press(*("space" if each == " " else each for each in text))

    async def shoot(self, caption: str, seconds: float) -> None:
        """Take the screen as it is."""
        await self.pilot.pause(0.15)
        self.frames.append(Frame(self.app.export_screenshot(title=caption, simplify=True), seconds))


# The play


class Serving:
    """`holdfast serve`, to be killed and started again at the same address."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.address = f"127.0.0.1:{_free_port()}"
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "holdfast", "serve", "--data-dir", str(self.data_dir)),
            *("--port", self.address.rpartition(":")[2]),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={**os.environ, "HOME": str(self.data_dir.parent)},
        )
        assert self._process.stdout is not None
        async with asyncio.timeout(_PATIENCE):
            assert (await self._process.stdout.readline()).startswith(b"ready ")

    async def kill(self) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()


def _free_port() -> int:
    """The usual port, or another if somebody has it."""
    for port in (7447, 0):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return int(probe.getsockname()[1])
    raise OSError("no port is free")


@asynccontextmanager
async def stage() -> AsyncIterator[tuple[Serving, Host]]:
    """A host, and a client that prepares what the person will find."""
    with tempfile.TemporaryDirectory() as folder:
        serving = Serving(Path(folder) / "data")
        await serving.start()
        try:
            retry = Retry(first=0.02, most=0.1)
            async with connect(serving.address, data_dir=serving.data_dir, retry=retry) as host:
                yield serving, host
        finally:
            await serving.kill()


async def prepare(host: Host) -> None:
    """Sessions as a morning leaves them behind."""
    for title, text in (("Explain the journal", "think"), ("Write the release notes", "markdown")):
        session = await host.create_session("demo", title=title, directory="/code/harbour")
        await session.send(text)
    slow = await host.create_session("demo", title="Fetch the numbers", directory="/code/harbour")
    slow.send("slow 400 0.5")
    asks = await host.create_session("demo", title="Improve the greeting", directory="/code/harbour")
    async for event in asks.send("edit"):
        if isinstance(event, Approval):
            break


async def play(camera: Camera, serving: Serving) -> None:
    """What the picture shows."""
    await camera.sees("Needs you 1", "Working 1")
    await camera.shoot("holdfast attach: what needs you is on top", 3)
    await camera.pilot.press("ctrl+g")
    await camera.sees("Make this edit?", "+")
    await camera.shoot("^g goes there: the agent asks before it edits", 4)
    await camera.pilot.press("ctrl+y")
    await camera.sees("Edited, as I proposed it")
    await camera.shoot("^y approves, wherever the cursor is", 3)
    await camera.type("long 300 60")
    await camera.shoot("say what comes next", 1.5)
    await camera.pilot.press("enter")
    for words in range(3):
        await camera.until(lambda text, many=words: text.count("anchor") > many)  # type: ignore[misc]
        await camera.shoot("the answer streams", 1)
    await serving.kill()
    await camera.sees("connecting")
    await camera.type("still writing")
    await camera.shoot("kill -9: the host is gone, and it says so", 3.5)
    await serving.start()
    await camera.sees("● live", "^r")
    await camera.shoot("started again: everything is where it was", 3)
    await camera.pilot.press("ctrl+r")
    await camera.sees("● working")
    await camera.until(lambda text: "✗" not in text or text.count("anchor") > 6)
    await camera.shoot("^r: the turn goes on where it stopped", 4)


async def record() -> list[Frame]:
    async with stage() as (serving, host):
        await prepare(host)
        async with Controller(host) as controller:
            app = AttachApp(controller, settle=0.0)
            async with app.run_test(size=SIZE) as pilot:
                camera = Camera(app, pilot)
                try:
                    await play(camera, serving)
                finally:
                    app.workers.cancel_all()
                return camera.frames


# The picture


def picture(frames: list[Frame]) -> str:
    """One SVG that shows the frames in turn, for ever. Without animation the first is seen."""
    whole = sum(frame.seconds for frame in frames)
    rules, layers, begin = [], [], 0.0
    for number, frame in enumerate(frames):
        first, last = 100 * begin / whole, 100 * (begin + frame.seconds) / whole
        hidden = "" if number == 0 else "0%{opacity:0}"
        rules.append(
            f"@keyframes f{number}{{{hidden}{first:.2f}%{{opacity:1}}{last:.2f}%{{opacity:0}}100%{{opacity:0}}}}"
        )
        rules.append(f"#f{number}{{animation:f{number} {whole:g}s step-end infinite;opacity:{int(number == 0)}}}")
        layers.append(f'<g id="f{number}">{_plain(frame.svg)}</g>')
        begin += frame.seconds
    box = re.search(r'viewBox="([^"]+)"', frames[0].svg)
    assert box is not None, "an SVG"
    style = f"<style>{''.join(rules)}</style>"
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box[1]}">{style}{"".join(layers)}</svg>\n'


def _plain(svg: str) -> str:
    """A screen with the fonts that are there: nothing is loaded from anywhere."""
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    svg = svg.replace("Fira Code, monospace", _FONT).replace(
        "font-family: arial", "font-family: system-ui, sans-serif"
    )
    return re.sub(r"\s*\n\s*", "\n", svg)


def main() -> None:
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else FILE
    file.write_text(picture(asyncio.run(record())))
    print(f"{file}: {file.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
