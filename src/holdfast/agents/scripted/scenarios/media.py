"""Scenarios with content that is not text: pictures, files, and a note from the harness."""

from __future__ import annotations

from typing import Final

from msgspec.structs import asdict

from holdfast.agents.scripted import content
from holdfast.agents.scripted.play import Play
from holdfast.protocol.chat.parts import ResourceResponsePart, SystemNotificationResponsePart
from holdfast.protocol.chat.tools import (
    ToolCallResult,
    ToolResultEmbeddedResourceContent,
    ToolResultResourceContent,
    ToolResultTextContent,
)
from holdfast.protocol.common import Markdown

__all__ = ["show"]

_CSV: Final = "hour,colour\n18,orange\n19,red\n20,violet\n"


async def show(play: Play) -> None:
    """A picture inline, a file by reference, a picture as a part of its own, and a notification."""
    await play.say("I paint a sunset.\n\n")
    call = await play.turn.tool("paint", "Paint a picture", intention="Show content that is not text")
    await play.write_input(call, "a sunset, 32 by 32")
    await call.run("Painting", tool_input="a sunset, 32 by 32")
    await play.pause(0.5)
    picture = content.picture()
    await call.complete(
        ToolCallResult(
            success=True,
            past_tense_message="Painted a sunset",
            content=(
                ToolResultTextContent(text="A picture, and the colours as a table:"),
                ToolResultEmbeddedResourceContent(data=content.encoded(picture), content_type="image/png"),
                ToolResultResourceContent(**asdict(content.reference(_CSV, "text/csv"))),
            ),
        )
    )
    await play.turn.part(ResourceResponsePart(**asdict(content.reference(picture, "image/png"))))
    await play.turn.part(
        SystemNotificationResponsePart(
            content=Markdown(markdown="**The harness says:** pictures are made up as well."),
            meta={"demo": True},
        )
    )
    await play.say("A sunset, from orange to violet.\n")
