"""From a host to the screen and back."""

from __future__ import annotations

from holdfast.attach.app import AttachApp
from holdfast.attach.controller import Controller
from holdfast.client.host import Host
from holdfast.protocol.common import URI

__all__ = ["attach"]


async def attach(host: Host, session: URI | None) -> tuple[int, URI | None]:
    """Show a host's sessions, one of them at first if it is said which, until somebody leaves.

    How the application ended, 0 if well, and the session that was open last.
    """
    async with Controller(host) as controller:
        if session is not None:
            await controller.open(session)
        app = AttachApp(controller)
        await app.run_async()
        last = controller.session
        return app.return_code or 0, last.uri if last is not None else None
