"""Scenarios that only talk: a greeting, Markdown, reasoning, and text in bulk."""

from __future__ import annotations

from typing import Final

from holdfast.agents.scripted.play import Play
from holdfast.agents.scripted.words import count, tokens
from holdfast.protocol.chat.parts import MarkdownResponsePart
from holdfast.protocol.chat.tools import ToolCallResult, ToolResultTextContent

__all__ = ["big", "burst", "hello", "long", "markdown", "think"]


async def hello(play: Play) -> None:
    """Greet, and say what to try first."""
    await play.say(
        f"{play.options.greeting}! I am the demo agent of Holdfast. I play what a real agent can do, "
        "without a model, a network or your files.\n\n"
        "Try `markdown`, `approve` or `form`. Say `tour` for a round trip, or `help` for everything.\n"
    )


_OPENING: Final = """\
## A small field guide

Text arrives **a few words at a time**, and it can be *anything Markdown can be*: \
`code`, [links](https://github.com/microsoft/agent-host-protocol), or a list:

- apples, which keep
- pears, which do not
  1. Conference
  2. Williams
- [x] plums, already eaten

"""

_TABLE: Final = """\
### A table, in one piece

| Fruit | Season | Keeps |
|:------|:------:|------:|
| Apple | autumn | 6 months |
| Pear  | autumn | 3 weeks |
| Plum  | summer | 4 days |

"""

_CODE: Final = """\
### And some code

```python
def keeps(fruit: str) -> int:
    \"\"\"How many days a fruit keeps.\"\"\"
    return {"apple": 180, "pear": 21}.get(fruit, 4)
```

> That was three parts of one answer: streamed, whole, and streamed again.
"""


async def markdown(play: Play) -> None:
    """Stream Markdown of every kind, in several parts."""
    await play.say(_OPENING)
    await play.turn.part(MarkdownResponsePart(id=play.turn.new_id(), content=_TABLE))
    await play.pause(0.3)
    await play.say(_CODE)


_THOUGHTS: Final = (
    "The question is how many minutes a kettle needs. One litre, from 20 to 100 degrees.\n\n",
    "That takes 4.2 kJ per litre and degree, times 80: about 336 kJ. A kettle gives 2 kW, so 168 seconds.\n\n",
    "Some of the heat is lost to the air. Call it three minutes.\n",
)

# How long the model that has this option thinks, by its level.
_DEPTHS: Final = {"low": 1, "medium": 2, "high": 3}


async def think(play: Play) -> None:
    """Reason first, as deeply as the model's thinking level says, then answer."""
    config = (play.turn.model.config if play.turn.model else None) or {}
    depth = _DEPTHS.get(str(config.get("thinking")), len(_THOUGHTS))
    for thought in _THOUGHTS[:depth]:
        await play.think(thought)
        await play.pause(0.4)
    await play.say("A kettle brings a litre of water to the boil in about **three minutes**.\n")


_TOKENS: Final = tokens(
    "a ship lies at anchor in the bay while the wind turns and the tide comes in and every line that holds it "
    "takes its share of the weight "
)

# Tokens in a paragraph of the long text.
_PARAGRAPH: Final = 60


def _token(place: int) -> str:
    token = _TOKENS[place % len(_TOKENS)]
    return token if (place + 1) % _PARAGRAPH else token.rstrip() + "\n\n"


async def long(play: Play) -> None:
    """Stream so many tokens, one delta each; after an interruption go on where the text ends."""
    wanted = play.whole(0, 200, most=1_000_000)
    speed = play.rate(1)
    seen = sum(len(str(part.content)) for part in play.turn.said if isinstance(part, MarkdownResponsePart))
    for place in range(wanted):
        token = _token(place)
        if seen > 0:
            seen -= len(token)
            continue
        await play.turn.text(token)
        play.meter.wrote(1)
        await play.pace(1 / speed if speed else 0.0)


async def burst(play: Play) -> None:
    """Send so many deltas without any pause."""
    for place in range(play.whole(0, 1000, most=1_000_000)):
        await play.turn.text(_token(place))
        play.meter.wrote(1)


# What a delta of the big text carries.
_LINE: Final = "The quick brown fox jumps over the lazy dog, and then it rests.\n"
_BLOCK: Final = _LINE * (4096 // len(_LINE))


async def big(play: Play) -> None:
    """A tool result and a text of so many kilobytes each."""
    size = play.whole(0, 300, most=50_000) * 1000
    call = await play.turn.tool("read_log", "Read the log", intention="See how much a client can carry")
    await play.write_input(call, "everything.log")
    await call.run(f"Reading {size // 1000} kB", tool_input="everything.log")
    await call.complete(
        ToolCallResult(
            success=True,
            past_tense_message=f"Read {size // 1000} kB",
            content=(ToolResultTextContent(text=_filled(size)),),
        )
    )
    await play.say(f"The log has {count(size // 1000, 'kilobyte')}. Here is as much again as text:\n\n")
    for start in range(0, size, len(_BLOCK)):
        await play.turn.text(_filled(min(len(_BLOCK), size - start)))
        await play.pace(0)


def _filled(size: int) -> str:
    return (_LINE * (size // len(_LINE) + 1))[:size]
