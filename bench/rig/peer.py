"""The plain Node host that some figures are compared with: installed by name, run in a process of its own."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from pathlib import Path
from typing import Final

from rig.load import Unavailable
from served import HostProcess

__all__ = ["PeerProcess", "install"]

_HERE: Final = Path(__file__).parents[1] / "peers"
_MODULES: Final = _HERE / "node_modules"

_PATIENCE: Final = 30.0
_INSTALL_PATIENCE: Final = 600.0


async def install() -> str:
    """See that the peer can run, installing what it needs; says what it is made of. Raises `Unavailable`."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            raise Unavailable(f"there is no {program}, so there is no peer to compare with")
    wanted = json.loads((_HERE / "package.json").read_text())["dependencies"]
    said = ""
    if any(_installed(name) != version for name, version in wanted.items()):
        said = await _npm_install()
    missing = [name for name, version in wanted.items() if _installed(name) != version]
    if missing or not await _works():
        raise Unavailable(f"npm could not install {' and '.join(missing or wanted)}; it says: {said}")
    parts = ", ".join(f"{name} {version}" for name, version in sorted(wanted.items()))
    return f"node {await _output('node', '--version')} with {parts}"


def _installed(name: str) -> str | None:
    manifest = _MODULES / name / "package.json"
    return json.loads(manifest.read_text())["version"] if manifest.exists() else None


async def _npm_install() -> str:
    """Install, and return the end of what npm said. The binding is compiled here: nothing but packages is fetched."""
    process = await asyncio.create_subprocess_exec(
        *("npm", "install", "--no-package-lock", "--no-audit", "--no-fund"),
        cwd=_HERE,
        env={**os.environ, "npm_config_build_from_source": "true"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(_INSTALL_PATIENCE):
        said, _ = await process.communicate()
    return said.decode(errors="replace").strip()[-1000:]


async def _works() -> bool:
    script = "new (require('better-sqlite3'))(':memory:').exec('SELECT 1')"
    process = await asyncio.create_subprocess_exec(
        *("node", "-e", script), cwd=_HERE, stderr=asyncio.subprocess.DEVNULL
    )
    return await process.wait() == 0


async def _output(*command: str) -> str:
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    found, _ = await process.communicate()
    return found.decode().strip()


class PeerProcess(HostProcess):
    """`node host.mjs` in a process of its own."""

    async def start(self) -> None:
        self.data_dir.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *("node", str(_HERE / "host.mjs"), str(self.data_dir / "journal.db")),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
            )
        assert self._process.stdout is not None
        async with asyncio.timeout(_PATIENCE):
            line = (await self._process.stdout.readline()).decode()
        word, _, self.url = line.strip().partition(" ")
        assert word == "ready", self.log.read_text()
