"""What the root channel says about the host: agents, configuration, and what is in no state."""

from __future__ import annotations

from aio import aio
from served import Clients


@aio
async def test_the_root_lists_agents(clients: Clients) -> None:
    client = await clients()
    state = await client.subscribe("ahp-root://")
    assert [agent["provider"] for agent in state["agents"]] == ["demo", "demo-auth"]
