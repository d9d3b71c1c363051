"""A person at a terminal: the real application with a real connection, its keys and its screen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from typing import Any, Final

from textual.pilot import Pilot

from holdfast.attach.app import AttachApp
from holdfast.attach.controller import Controller
from holdfast.client.backoff import Retry
from holdfast.client.host import Host, connect
from holdfast.client.session import Session

__all__ = ["Room", "Seat", "in_front_of", "seated", "sitting"]

_PATIENCE: Final = 15.0
"""Seconds after which what should be on the screen is believed not to come."""

_SOON: Final = Retry(first=0.01, most=0.1)


def text_of(app: AttachApp) -> str:
    """The characters on the screen, without the blanks at the ends of lines."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips) + "\n"


class Seat:
    """One person."""

    def __init__(self, app: AttachApp, pilot: Pilot[None], controller: Controller) -> None:
        self.app = app
        self.pilot = pilot
        self.controller = controller

    @property
    def screen(self) -> str:
        return text_of(self.app)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def type(self, text: str) -> None:
        await self.pilot.press(*("space" if each == " " else each for each in text))

    async def say(self, text: str) -> None:
        """Type something and send it."""
        await self.type(text)
        await self.press("escape") if self.app.main.conversation.writing.composer.picks else None
        await self.press("enter")

    async def until(self, condition: Callable[[str], object], what: str = "") -> str:
        """Wait until the screen looks so; nobody announces that."""
        try:
            async with asyncio.timeout(_PATIENCE):
                while not condition(self.screen):
                    await self.pilot.pause(0.01)
        except TimeoutError:
            raise AssertionError(f"{what or 'it'} did not come to the screen:\n{self.screen}") from None
        return self.screen

    async def sees(self, *words: str) -> str:
        """Wait until these words are on the screen."""
        return await self.until(lambda screen: all(word in screen for word in words), " and ".join(map(repr, words)))

    async def misses(self, *words: str) -> str:
        """Wait until none of these words is on the screen."""
        return await self.until(lambda screen: not any(word in screen for word in words), f"a screen without {words}")


@asynccontextmanager
async def in_front_of(app: AttachApp, size: tuple[int, int]) -> AsyncIterator[Seat]:
    """Somebody in front of an application."""
    async with app.run_test(size=size, notifications=True) as pilot:
        try:
            yield Seat(app, pilot, app.controller)
        finally:
            app.workers.cancel_all()  # as when somebody quits: before the screen is taken down


@asynccontextmanager
async def sitting(
    host: Host,
    session: str | None = None,
    *,
    size: tuple[int, int] = (80, 24),
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    settle: float = 0.0,
) -> AsyncIterator[Seat]:
    """Somebody who uses a connection that is there."""
    async with Controller(host) as controller:
        if session is not None:
            await controller.open(session)
        async with in_front_of(AttachApp(controller, now=now, settle=settle), size) as seat:
            yield seat


@asynccontextmanager
async def seated(url: str, session: str | None = None, **more: Any) -> AsyncIterator[Seat]:
    """Somebody who has just connected."""
    async with connect(url, retry=_SOON) as host, sitting(host, session, **more) as seat:
        yield seat


class Room(AsyncExitStack):
    """People at terminals of one host, and a client of ours that prepares things for them."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.url = url
        self._host: Host | None = None

    async def host(self) -> Host:
        """The other client."""
        if self._host is None:
            self._host = await self.enter_async_context(connect(self.url))
        return self._host

    async def session(self, title: str, *said: str) -> Session:
        """A session in which this was said, and answered."""
        session = await (await self.host()).create_session("demo", title=title)
        for text in said:
            await session.send(text)
        return session

    async def sit(self, session: Session | None = None, **more: Any) -> Seat:
        """Somebody sits down, in front of a session if there is one."""
        uri = session.uri if session is not None else None
        return await self.enter_async_context(seated(self.url, uri, **more))
