"""An answer larger than what may wait for a client is no sign that the client takes too little."""

from __future__ import annotations

from pathlib import Path

from aio import aio
from served import Wire, hosting, user


@aio
async def test_a_state_above_the_limit_of_what_may_wait_reaches_its_client(tmp_path: Path) -> None:
    text = "x" * 3_000_000
    flags = ("--outbox-high-water", "100000", "--outbox-limit", "1000000", "--frame-budget", "0")
    async with hosting(tmp_path, *flags) as host:
        one, two = Wire(host.url), Wire(host.url)
        await one.initialize()
        chat = await one.session("demo:/large")
        number = await one.dispatch(chat, "chat/draftChanged", draft=user(text))
        await one.until(lambda: one.echo(number))
        await two.initialize()
        await two.subscribe(chat)
        assert two.state(chat)["draft"]["text"] == text
        # It is behind nobody: what happens next reaches it.
        number = await one.dispatch(chat, "chat/draftChanged", draft=user("short"))
        await two.until(lambda: two.envelopes(chat))
        assert two.state(chat)["draft"]["text"] == "short"
        await one.close()
        await two.close()
