"""What `/metrics` shows of a running host."""

from __future__ import annotations

import asyncio
import os
import resource
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from holdfast.server.listener import Listener
from holdfast.server.metrics import Registry

if TYPE_CHECKING:
    from holdfast.server.house import House

__all__ = ["resident_bytes", "watch_host", "watch_listener"]

_STATM: Final = Path("/proc/self/statm")


def watch_host(metrics: Registry, house: House) -> None:
    """Everything the core and the traffic count."""
    host, hub, counters = house.host, house.hub, house.host.counters
    gauges = {
        "holdfast_connections": ("Connections that are open.", lambda: hub.links),
        "holdfast_clients": ("Clients known in this life of the host.", lambda: len(host.clients)),
        "holdfast_sessions": ("Sessions in the catalogue.", lambda: host.listed),
        "holdfast_sessions_loaded": ("Sessions in memory.", lambda: len(host.sessions)),
        "holdfast_turns_running": ("Turns that agents work on.", lambda: house.runner.running),
        "holdfast_tasks": ("Tasks of the event loop.", lambda: len(asyncio.all_tasks())),
        "holdfast_outbox_bytes": ("Bytes that wait for clients to take them.", lambda: hub.buffered),
        "holdfast_server_seq": ("The highest number that was let out.", lambda: host.released),
        "process_resident_memory_bytes": ("Resident memory.", resident_bytes),
    }
    for name, (help_text, read) in gauges.items():
        metrics.gauge(name, help_text, read)
    totals = {
        "holdfast_actions_total": ("Actions accepted.", lambda: counters.actions),
        "holdfast_refusals_total": ("Actions refused.", lambda: counters.refusals),
        "holdfast_turns_total": ("Turns begun.", lambda: counters.turns),
        "holdfast_replays_total": ("Reconnects answered with a replay.", lambda: counters.replays),
        "holdfast_snapshots_total": ("Snapshots given.", lambda: counters.snapshots),
        "holdfast_failed_commits_total": ("Commits the journal could not make.", lambda: counters.failed_commits),
    }
    for name, (help_text, read) in totals.items():
        metrics.total(name, help_text, read)


def watch_listener(metrics: Registry, listener: Listener) -> None:
    """What happens at the doors."""
    metrics.total(
        "holdfast_accepted_connections_total", "Connections accepted, let in or not.", lambda: listener.accepted
    )
    metrics.gauge("holdfast_waiting_connections", "Connections that are not let in yet.", lambda: listener.waiting)


def resident_bytes() -> int:
    """Resident memory now; where the system does not tell, the most there ever was."""
    if _STATM.exists():
        return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
