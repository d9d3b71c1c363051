"""Scenarios that tell what reached the agent: model, options, memory, attachments; and what it used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Raw

from holdfast.agents.scripted.play import Play
from holdfast.agents.scripted.words import count, first_words
from holdfast.ports.agent import Transcript
from holdfast.protocol.chat.messages import Message
from holdfast.protocol.codec import Unknown, Wire, decode, encode

__all__ = ["models", "recall", "title", "usage"]


async def models(play: Play) -> None:
    """Say which model, agent and options the message came with."""
    turn = play.turn
    agent = turn.message.agent
    selection = turn.model
    rows = {
        "Model": f"`{selection.id}`" if selection else f"none chosen, so `{play.model}`",
        "Model options": _listed((selection.config if selection else None) or {}),
        "Custom agent": f"`{agent.uri}`" if agent else "none",
        "Session options": _listed(turn.config),
        "Directories": ", ".join(f"`{directory}`" for directory in turn.directories) or "none",
        "Client tools": ", ".join(f"`{tool.tool.name}`" for tool in turn.client_tools) or "none",
    }
    table = "".join(f"| {name} | {value} |\n" for name, value in rows.items())
    await play.say("This is what your message came with.\n\n| What | Value |\n|---|---|\n" + table)


def _listed(values: Mapping[str, object]) -> str:
    texts = (f"{key} = `{encode(value).decode()}`" for key, value in sorted(values.items()))
    return ", ".join(texts).replace("|", "\\|") or "none"


async def recall(play: Play) -> None:
    """Say what is remembered of this chat, and what else came with the message."""
    turn = play.turn
    history = await turn.history()
    play.meter.read(sum(len(each.message.text.split()) for each in history))
    if history:
        await play.say(f"I remember {count(len(history), 'earlier turn')} of this chat:\n\n")
        await play.say(_numbered(each.message for each in history))
    else:
        await play.say("I remember 0 earlier turns of this chat.\n\n")
    if turn.context is not None:
        await play.say("This side chat is about " + _about(turn.context))
    for transcript in turn.transcripts:
        await play.say("You attached " + _about(transcript))
    labels = [
        str(attachment.raw.get("label", "something")) if isinstance(attachment, Unknown) else attachment.label
        for attachment in turn.message.attachments or ()
    ]
    if labels:
        await play.say(f"The message has {count(len(labels), 'attachment')}: {', '.join(labels)}.\n")


class _Turn(Wire, frozen=True, kw_only=True):
    """As much of a turn as is told here; one that still runs has this much too."""

    message: Message
    response_parts: tuple[Raw, ...] = ()


def _about(transcript: Transcript) -> str:
    turns = [decode(_Turn, encoded) for encoded in transcript.turns]
    parts = sum(len(each.response_parts) for each in turns)
    heading = f"the chat `{transcript.chat}`: {count(len(turns), 'turn')} with {count(parts, 'part')}"
    return f"{heading}:\n\n" + _numbered(each.message for each in turns) if turns else f"{heading}.\n\n"


def _numbered(messages: Iterable[Message]) -> str:
    lines = (f"{number}. {first_words(message.text)}\n" for number, message in enumerate(messages, 1))
    return "".join(lines) + "\n"


async def title(play: Play) -> None:
    """Suggest a title for the session."""
    suggestion = play.rest or "A walk through Holdfast"
    await play.turn.suggest_title(suggestion)
    await play.say(f"I would call this session **{suggestion}**, unless you gave it a name already.\n")


async def usage(play: Play) -> None:
    """Report what the turn used, growing as it goes on."""
    await play.say("Reading what we said before …\n\n")
    play.meter.read(1_800, cached=1_200)
    await play.meter.report()
    await play.pause(0.5)
    await play.say("… and thinking about it.\n\n")
    play.meter.read(600, cached=512)
    await play.meter.report()
    await play.say("These numbers are made up, and so is the model. They add up all the same.\n")
