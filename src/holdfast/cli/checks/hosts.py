"""Whether a host can listen, and the one that runs can be talked to."""

from __future__ import annotations

import asyncio
import errno
import socket
from typing import Final

from holdfast import __version__
from holdfast.cli import local
from holdfast.cli.checks import Place, found, skipped, warning, wrong
from holdfast.cli.shapes import Finding
from holdfast.places import Running
from holdfast.protocol.errors import HoldfastError

__all__ = ["answers", "named_host", "port", "version"]

_PATIENCE: Final = 5.0
"""Seconds a host on this machine may take for a handshake."""


def port(place: Place) -> Finding:
    """The port is free, or the host's own."""
    settings = place.settings
    if place.host is not None:
        return skipped(f"the host listens at {local.shown_address(place.host) or 'no address yet'}")
    if settings.port == 0:
        return found("whichever is free")
    family = socket.AF_INET6 if ":" in settings.listen else socket.AF_INET
    where = f"{settings.listen}:{settings.port}"
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((settings.listen, settings.port))
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            return wrong(f"cannot listen at {where}: {error.strerror}", "give another --listen or --port")
        other = Running(pid=0, started="", address=f"ws://{settings.listen}:{settings.port}/")
        who = "a host of another data directory" if local.ask(other, "/healthz") == "ok\n" else "another program"
        return wrong(f"{who} listens at {where}", "end it, or choose another port with --port; 0 picks one")
    return found(f"{where} is free")


def answers(place: Place) -> Finding:
    """The host that runs shakes hands."""
    host = place.host
    if host is None:
        return skipped("no host runs; `holdfast up` starts one")
    if not local.listens(host):
        return warning(f"process {host.pid} does not listen yet", "wait, and look into `holdfast logs`")
    try:
        says = asyncio.run(_greeted(place, None))
    except (HoldfastError, TimeoutError) as error:
        fix = "look into `holdfast logs`; `holdfast down --now` and `holdfast up` start it again"
        return wrong(f"process {host.pid} does not answer: {str(error) or 'it takes too long'}", fix)
    return found(says)


async def _greeted(place: Place, target: str | None) -> str:
    from holdfast.client.host import connect

    async with asyncio.timeout(_PATIENCE):
        data_dir = place.data_dir if target is None else None
        async with connect(target, data_dir=data_dir, name="holdfast-doctor", timeout=_PATIENCE) as host:
            await host.ping()
            info = host.server_info
            who = f"{info.name} {info.version or ''}".strip() if info else "a host that does not say its name"
            return f"{who} answers at {host.address}, protocol {host.protocol_version}"


def version(place: Place) -> Finding:
    """The host that runs is of this version."""
    if place.host is None:
        return skipped("no host runs")
    theirs = place.host.version
    if theirs == __version__:
        return found(__version__)
    return warning(
        f"the host that runs is {theirs or 'older'}, and this is {__version__}",
        "`holdfast down` and `holdfast up` start this version; sessions go on",
    )


def named_host(place: Place) -> Finding:
    """The host that HOLDFAST_HOST names can be talked to."""
    target = place.environ.get("HOLDFAST_HOST")
    if not target:
        return skipped("HOLDFAST_HOST is not set")
    try:
        says = asyncio.run(_greeted(place, target))
    except (HoldfastError, TimeoutError) as error:
        return wrong(
            f"HOLDFAST_HOST: {str(error) or 'nobody answers in time'}", "start that host, or unset HOLDFAST_HOST"
        )
    return found(f"HOLDFAST_HOST: {says}")
