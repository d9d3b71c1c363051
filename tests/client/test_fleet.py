"""Several hosts at once."""

from __future__ import annotations

from pathlib import Path

import pytest

import holdfast
from aio import aio
from holdfast.client.broadcast import Feed
from holdfast.client.catalogue import CatalogueChange
from holdfast.client.fleet import FleetEvent
from holdfast.client.status import Status, StatusChanged
from served import HostProcess, hosting


async def heard(events: Feed[FleetEvent], host: str, kind: type, **wanted: object) -> FleetEvent:
    async for each in events:
        found = {name: getattr(each.event, name, None) for name in wanted}
        if each.host == host and isinstance(each.event, kind) and found == wanted:
            return each
    raise AssertionError("the fleet fell silent")


@aio
async def test_a_fleet_knows_what_runs_where_and_what_waits(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    async with (
        hosting(tmp_path / "one") as one,
        hosting(tmp_path / "two") as two,
        holdfast.Fleet({"one": one.url, "two": two.url}) as fleet,
    ):
        assert set(fleet) == {"one", "two"}
        first = await fleet["one"].create_session(title="First")
        second = await fleet["two"].create_session(title="Second")
        events = fleet.events()
        turn = second.send("approve")
        while not fleet.waiting:
            await heard(events, "two", CatalogueChange)
        assert [(each.host, each.session.resource) for each in fleet.waiting] == [("two", second.uri)]
        (ask,) = second.waiting
        assert isinstance(ask, holdfast.Approval)
        await ask.approve()
        await turn
        while fleet.waiting:
            await heard(events, "two", CatalogueChange)
        assert {(each.host, each.session.resource) for each in fleet.sessions} == {
            ("one", first.uri),
            ("two", second.uri),
        }
        assert repr(fleet) == "<Fleet of one (live), two (live)>"


@aio
async def test_a_host_that_is_not_there_keeps_nobody_waiting(tmp_path: Path) -> None:
    late = HostProcess(tmp_path / "late")
    async with hosting(tmp_path) as here, holdfast.Fleet({"here": here.url, "late": f"unix:{tmp_path}/s"}) as fleet:
        assert fleet.statuses["here"].status is Status.LIVE
        assert fleet.statuses["late"].status is Status.CONNECTING
        with pytest.raises(holdfast.Gone, match="late is not there: cannot connect"):
            fleet["late"]
        await fleet["here"].ping()
        events = fleet.events()
        late.flags = ("--unix-socket", f"{tmp_path}/s")
        await late.start()
        try:
            await heard(events, "late", StatusChanged, status=Status.LIVE)
            await fleet["late"].ping()
        finally:
            await late.kill()
        await heard(events, "late", StatusChanged, status=Status.CONNECTING)
        await fleet["here"].ping()


@aio
async def test_a_host_that_cannot_be_spoken_to_is_gone(tmp_path: Path) -> None:
    async with hosting(tmp_path) as host, holdfast.Fleet({"new": host.url}, versions=["9.0.0"]) as fleet:
        assert fleet.statuses["new"].status is Status.GONE
        assert fleet.sessions == ()
    with pytest.raises(holdfast.UsageError, match="at least one"):
        holdfast.Fleet({})
