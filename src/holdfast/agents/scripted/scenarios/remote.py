"""Scenarios about tools that live elsewhere: at a client, or behind an MCP server that wants a token."""

from __future__ import annotations

import json
from typing import Any, Final

from holdfast.agents.scripted.play import Play
from holdfast.agents.scripted.words import count, plain, quoted
from holdfast.ports.agent import ClientTool
from holdfast.protocol.chat.tools import (
    ToolCallClientContributor,
    ToolCallMcpContributor,
    ToolCallResult,
    ToolResultTextContent,
)
from holdfast.protocol.common import (
    McpAuthRequiredReason,
    McpAuthRequirement,
    ProtectedResourceMetadata,
    ToolDefinition,
)

__all__ = ["MCP_RESOURCE", "client", "mcp"]


async def client(play: Play) -> None:
    """Call a tool that a client brought: the one that is named, or the first."""
    tools = play.turn.client_tools
    if not tools:
        await play.say(
            "No client has brought a tool to this session, so there is nothing to call. "
            "A client offers tools by making itself active.\n"
        )
        return
    wanted, rest = _choose(tools, play.rest)
    tool = wanted.tool
    name = tool.title or tool.name
    await play.say(f"I call `{tool.name}`, one of {count(len(tools), 'tool')} that clients brought.\n\n")
    call = await play.turn.tool(
        tool.name,
        name,
        intention="Show that a client's own tools can be called",
        contributor=ToolCallClientContributor(client_id=wanted.client_id),
    )
    tool_input = json.dumps(_input(tool, rest), ensure_ascii=False)
    await play.write_input(call, tool_input)
    await call.run(f"Calling {name}", tool_input=tool_input)
    result = await call.client_result()
    texts = [block.text for block in result.content or () if isinstance(block, ToolResultTextContent)]
    if not result.success:
        reason = result.error.message if result.error else plain(result.past_tense_message)
        await play.say("That did not work:\n\n" + quoted(reason))
    elif texts:
        await play.say("The client answered:\n\n" + quoted("\n".join(texts)))
    else:
        await play.say(f"The client did it: {plain(result.past_tense_message)}.\n")


def _choose(tools: tuple[ClientTool, ...], rest: str) -> tuple[ClientTool, str]:
    name, _, after = rest.partition(" ")
    for candidate in tools:
        if name and name in (candidate.tool.name, candidate.tool.title):
            return candidate, after.strip()
    return tools[0], rest


def _input(tool: ToolDefinition, rest: str) -> dict[str, Any]:
    """A JSON object as it was typed; else what the tool requires, made up, the words in its first string."""
    try:
        typed = json.loads(rest) if rest else None
    except ValueError:
        typed = None
    if isinstance(typed, dict):
        return typed
    schema = tool.input_schema or {}
    properties, required = schema.get("properties"), schema.get("required")
    properties = properties if isinstance(properties, dict) else {}
    names = [name for name in required if isinstance(name, str)] if isinstance(required, list | tuple) else []
    values = {name: _made_up(properties.get(name)) for name in names}
    strings = [name for name, one in properties.items() if isinstance(one, dict) and one.get("type") == "string"]
    if rest and strings:
        values[strings[0]] = rest
    return values


# Neither short nor long, so that it is seen for what it is.
_SAMPLES: Final[dict[str, Any]] = {
    "string": "demo",
    "integer": 1,
    "number": 1.5,
    "boolean": True,
    "array": [],
    "object": {},
    "null": None,
}


def _made_up(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return "demo"
    if "default" in schema:
        return schema["default"]
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        return schema["enum"][0]
    kind = schema.get("type")
    return _SAMPLES.get(kind, "demo") if isinstance(kind, str) else "demo"


MCP_RESOURCE: Final = ProtectedResourceMetadata(
    resource="https://mcp.holdfast.example/",
    resource_name="Demo issues",
    authorization_servers=("https://login.holdfast.example/",),
    scopes_supported=("issues:read",),
)
"""What the played MCP server protects. Any token but `bad` is good for it."""


async def mcp(play: Play) -> None:
    """Call a tool of an MCP server that asks for a token in the middle of it. The server is played."""
    await play.say("The issue tracker is an MCP server, and it wants to know who asks.\n\n")
    call = await play.turn.tool(
        "list_issues",
        "List issues",
        intention="See what is open",
        contributor=ToolCallMcpContributor(customization_id="demo-mcp"),
    )
    await play.write_input(call, '{"state": "open"}')
    await call.run("Listing open issues", tool_input='{"state": "open"}')
    await play.pause(0.4)
    await call.need_token(
        McpAuthRequirement(
            reason=McpAuthRequiredReason.INSUFFICIENT_SCOPE,
            resource=MCP_RESOURCE,
            required_scopes=("issues:read",),
            description="Reading issues needs a token. Any token will do, except the word bad.",
        )
    )
    given_up = await call.token_given()
    if given_up is not None:
        await play.say("Nobody signed in, so I go on without the issues.\n")
        return
    await call.complete(
        ToolCallResult(
            success=True,
            past_tense_message="Listed 2 issues",
            content=(ToolResultTextContent(text="#12 The anchor drags\n#15 The kettle is slow"),),
        )
    )
    await play.say("Thank you for signing in. Two issues are open: the anchor drags, and the kettle is slow.\n")
