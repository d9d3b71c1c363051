"""The tools a client offers in one session, and running them when the agent calls."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from holdfast.client.errors import Gone, Interrupted, Refused
from holdfast.client.following import Receipt
from holdfast.client.mirror import Change, Channel
from holdfast.client.schemas import Tool, tool_of
from holdfast.protocol.chat import actions as chat
from holdfast.protocol.chat.tools import ToolCallError, ToolCallResult, ToolCallRunningState, ToolResultTextContent
from holdfast.protocol.common import ContentRef
from holdfast.protocol.errors import HoldfastError, UsageError
from holdfast.protocol.resources.commands import ResourceReadParams, ResourceReadResult
from holdfast.protocol.session import actions as session_actions
from holdfast.protocol.session.state import SessionActiveClient, SessionToolClientExecutionRequest
from holdfast.protocol.uris import ROOT

if TYPE_CHECKING:
    from holdfast.client.connection import Connection
    from holdfast.client.session import Session

__all__ = ["ToolBox"]

_log: Final = logging.getLogger(__name__)


class ToolBox:
    """Changes reach the host together, at the next turn of the loop."""

    def __init__(self, connection: Connection, session: Session) -> None:
        self._connection = connection
        self._session = session
        self._tools: dict[str, Tool] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        self._done: set[str] = set()
        self._stop: Callable[[], None] | None = None
        self._telling: asyncio.Handle | None = None
        self._receipt: Receipt | None = None

    def __contains__(self, name: str) -> bool:
        return name in self._tools

    def add(self, function: Callable[..., Any], *, name: str | None = None, description: str | None = None) -> None:
        """Offer a function; one of the same name is replaced."""
        tool = tool_of(function, name, description)
        self._tools[tool.definition.name] = tool
        if self._stop is None:
            self._stop = self._session.listen(self._changed)
        self._tell_soon()

    def remove(self, name: str) -> None:
        """Offer a function no more."""
        if self._tools.pop(name, None) is not None:
            self._tell_soon()

    async def offered(self) -> None:
        """Wait until the host knows which tools there are. Raises `Refused` if it does not want them."""
        if self._telling is not None:
            self._telling.cancel()
            self._tell()
        if self._receipt is not None:
            await self._receipt

    async def close(self) -> None:
        """Offer nothing more; what runs is stopped."""
        if self._stop is None:
            return
        self._stop()
        self._stop = None
        if self._telling is not None:
            self._telling.cancel()
        running = tuple(self._running.values())
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        if self._tools:
            self._tools.clear()
            leaving = session_actions.ActiveClientRemoved(client_id=self._connection.options.client_id)
            with contextlib.suppress(Gone, Interrupted, Refused):
                await self._connection.dispatch(self._session.uri, leaving)

    def _tell_soon(self) -> None:
        if self._telling is None:
            self._telling = asyncio.get_running_loop().call_soon(self._tell)

    def _tell(self) -> None:
        self._telling = None
        options = self._connection.options
        client = SessionActiveClient(
            client_id=options.client_id,
            display_name=options.info.title or options.info.name,
            tools=tuple(tool.definition for tool in self._tools.values()),
        )
        self._receipt = self._connection.dispatch(
            self._session.uri, session_actions.ActiveClientSet(active_client=client)
        )

    def _changed(self, channel: Channel | None, _: Sequence[Change]) -> None:
        if channel is None or channel.confirmed is None:
            return
        waiting = [
            entry
            for entry in channel.confirmed.input_needed or ()
            if isinstance(entry, SessionToolClientExecutionRequest)
            and isinstance(entry.tool_call, ToolCallRunningState)
            and entry.client_id == self._connection.options.client_id
        ]
        self._done &= {entry.id for entry in waiting}
        for entry in waiting:
            if entry.id not in self._running and entry.id not in self._done:
                self._running[entry.id] = asyncio.create_task(self._run(entry))

    async def _run(self, entry: SessionToolClientExecutionRequest) -> None:
        call: Any = entry.tool_call
        try:
            result = await self._result(call)
            action = chat.ToolCallComplete(turn_id=entry.turn_id, tool_call_id=call.tool_call_id, result=result)
            await self._connection.dispatch(entry.chat, action)
        except (Refused, Interrupted, Gone) as error:
            _log.info("the result of %s was not taken: %s", call.tool_name, error)
        finally:
            self._done.add(entry.id)
            del self._running[entry.id]

    async def _result(self, call: Any) -> ToolCallResult:
        tool = self._tools.get(call.tool_name)
        if tool is None:
            return _failure(call.tool_name, "this client offers no such tool")
        try:
            arguments = tool.arguments(await self._input(call.tool_input))
        except (UsageError, HoldfastError) as error:
            return _failure(call.tool_name, str(error))
        try:
            if inspect.iscoroutinefunction(tool.function):
                value = await tool.function(**arguments)
            else:
                value = await asyncio.to_thread(tool.function, **arguments)
        except Exception as error:  # noqa: BLE001 - whatever a tool raises is its result
            _log.info("tool %s raised", call.tool_name, exc_info=True)
            return _failure(call.tool_name, f"{type(error).__name__}: {error}")
        return _success(call.tool_name, value)

    async def _input(self, written: str | ContentRef | None) -> str:
        if isinstance(written, ContentRef):
            params = ResourceReadParams(channel=ROOT, uri=written.uri)
            read: ResourceReadResult = await self._connection.request("resourceRead", params)
            return read.data
        return written or "{}"


def _success(name: str, value: Any) -> ToolCallResult:
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        return _failure(name, f"the result cannot be said in JSON: {type(value).__name__}")
    return ToolCallResult(
        success=True,
        past_tense_message=f"Ran {name}",
        content=None if value is None else (ToolResultTextContent(text=text),),
        structured_content=value if isinstance(value, dict) else None,
    )


def _failure(name: str, message: str) -> ToolCallResult:
    return ToolCallResult(
        success=False,
        past_tense_message=f"{name} failed",
        content=(ToolResultTextContent(text=message),),
        error=ToolCallError(message=message),
    )
