"""An agent that says exactly what a test writes: the text of its message is a JSON list of steps.

A step with a `type` is an action of the turn, said as it stands. `{"await": "decision", "id": …}` waits until
somebody decides about a tool call, `{"await": "result", "id": …}` for the client that runs it, and
`{"await": "nothing"}` for ever. What was heard becomes text, as JSON. `{"later": …}` keeps an action in mind until a
turn of the same chat has the step `{"await": "later"}`; it is then said of the turn that is over.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from holdfast.agents.scripted import ScriptedAgent
from holdfast.agents.turn import ToolCall, TurnContext
from holdfast.protocol.codec import Wire, encode
from holdfast.protocol.envelope import decode_action
from holdfast.protocol.root.state import AgentInfo

__all__ = ["Puppet"]


class Puppet(ScriptedAgent):
    """Everything but its turns is the demo agent's."""

    def __init__(self, info: AgentInfo) -> None:
        super().__init__(info)
        self._kept: dict[str, list[tuple[TurnContext, Any]]] = {}

    async def run(self, turn: TurnContext) -> None:
        kept = self._kept.setdefault(turn.key.chat, [])
        for step in json.loads(turn.message.text):
            if "later" in step:
                kept.append((turn, step["later"]))
                continue
            if step.get("await") == "later":
                for before, action in kept:
                    await _heard(before, action)
                continue
            heard = await _heard(turn, step)
            if heard is not None:
                await turn.text(encode(heard).decode())


async def _heard(turn: TurnContext, step: dict[str, Any]) -> Any:
    match step.get("await"):
        case None:
            action = decode_action(encode({"turnId": turn.key.turn_id, **step}))
            assert isinstance(action, Wire), f"{step['type']} is known"
            await turn.act(action)
            return None
        case "decision":
            decided = await ToolCall(turn, step["id"]).decided()
            return {"approved": decided.approved, "toolInput": decided.tool_input}
        case "result":
            return await ToolCall(turn, step["id"]).client_result()
        case _:
            return await asyncio.Event().wait()
