"""A hundred thousand sessions: whether the host notices, and how soon a client has the first page of them."""

from __future__ import annotations

from rig import made_up, processes
from rig.load import Plan, greeting, request
from rig.report import at_most
from rig.stage import SESSION, Stage

from questions.start import started
from served import Wire

__all__ = ["measure"]

_SESSIONS = 100_000
_PAGE = 50


async def measure(stage: Stage) -> None:
    directory = stage.new_directory()
    async with stage.host(directory=directory) as host:
        await stage.chat(host)
        # Until something happens in it, a session may be nobody's business but its creator's.
        await _title(host.url)
    data_dir = directory / "data"
    few = [await started(stage.new_host(directory=directory)) for _ in range(stage.rounds)]
    made_up.add_sessions(data_dir, SESSION, _SESSIONS)
    many = [await started(stage.new_host(directory=directory)) for _ in range(stage.rounds)]
    stage.report.add("until it listens, one session", "ms", [took for took, _ in few])
    stage.report.add(f"until it listens, {_SESSIONS:,} sessions", "ms", [took for took, _ in many])
    stage.report.ratio("ratio", [took for took, _ in many], [took for took, _ in few], at_most(1.1))
    listed, held = [], []
    for _ in range(stage.rounds):
        async with stage.host(directory=directory) as host:
            message = request("listSessions", limit=_PAGE)
            plan = Plan(host.url, greeting("ahp-root://"), message, 300, window=1)
            listed.append(await stage.load.run(plan, host.pid))
            await _check(host.url)
            held.append(processes.resident(host.pid))
    stage.report.add(f"listSessions, {_PAGE} of them, p50", "ms", [each.delays.p50 * 1e3 for each in listed])
    stage.report.add(
        f"listSessions, {_PAGE} of them, p95", "ms", [each.delays.p95 * 1e3 for each in listed], at_most(20)
    )
    stage.report.add("resident after that", "MB", held, at_most(120))


async def _title(url: str) -> None:
    wire = Wire(url, "namer")
    await wire.initialize(SESSION)
    number = await wire.dispatch(SESSION, "session/titleChanged", title="The one that was copied")
    await wire.until(lambda: wire.echo(number))
    await wire.close()


async def _check(url: str) -> None:
    """The newest come first, and all of them are counted."""
    wire = Wire(url)
    await wire.initialize("ahp-root://")
    assert wire.state("ahp-root://")["activeSessions"] == _SESSIONS + 1
    page = await wire.request("listSessions", limit=_PAGE)
    stamps = [each["modifiedAt"] for each in page["items"]]
    assert len(stamps) == _PAGE
    assert stamps == sorted(stamps, reverse=True)
    assert page["nextCursor"]
    await wire.close()
