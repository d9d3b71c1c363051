"""`holdfast send`: say something to an agent and see what comes of it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from holdfast.cli.creating import Wanted, create, session_options
from holdfast.cli.exits import Exit, Stopped, in_words
from holdfast.cli.hosts import Place, at_host, run
from holdfast.cli.output import as_json, emit_json, line, remark
from holdfast.cli.reaching import chat_option, open_chat, open_session
from holdfast.protocol.chat.parts import MarkdownResponsePart

if TYPE_CHECKING:
    from holdfast.cli.telling import Teller
    from holdfast.client.chat import Chat
    from holdfast.client.host import Host
    from holdfast.client.session import Session
    from holdfast.client.turn import Turn

__all__ = ["SCHEMAS", "command"]

SCHEMAS: Final = ("send",)


class _Request(NamedTuple):
    """What is to be sent where, and how."""

    text: str | None
    session: str | None
    chat: str | None
    wanted: Wanted
    model: str | None
    files: tuple[Path, ...]
    resume: bool
    wait: bool
    approve: str
    as_json: bool
    quiet: bool
    reasoning: bool


@click.command("send", short_help="Say something to an agent and show what it answers.")
@click.argument("text", required=False)
@click.option("-s", "--session", metavar="SESSION", help="To this session: URI, or beginning of its id or title.")
@chat_option
@session_options
@click.option("--model", metavar="NAME", help="Answered by this model; see `holdfast models`.")
@click.option(
    "--file",
    "files",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    multiple=True,
    metavar="FILE",
    help="Attach this file; may be repeated.",
)
@click.option("--resume", is_flag=True, help="Go on with the last turn, which failed, instead of sending a text.")
@click.option("--wait/--no-wait", default=True, help="Wait for the answer, or only until the host has the message.")
@click.option(
    "--approve",
    type=click.Choice(["ask", "never", "all"]),
    default="ask",
    show_default=True,
    help="What becomes of tools that need permission. never: denied, and forms declined. all: they run.",
)
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
@click.option("--reasoning", is_flag=True, help="What the agent thinks, too, on stderr.")
@as_json()
@at_host
def command(
    agent: str | None,
    directory: tuple[str, ...],
    title: str | None,
    config: tuple[str, ...],
    place: Place,
    **given: Any,
) -> None:
    """Send TEXT to a session, or to a new one, and show the answer.

    Without TEXT, or with `-`, the text is read from stdin. The answer goes to stdout and nothing else does: progress,
    questions and the URI of a new session go to stderr. If a turn runs already, the message waits for its end.

    Where a person is needed and stderr is a terminal, the person is asked there; otherwise the command ends with
    exit code 5 and the turn waits: `holdfast approve`, `deny` and `answer` go on with it.

    Ctrl-C cancels the turn. A closed pipe, SIGTERM or a lost terminal ends only this command: the turn goes on, and
    `holdfast show` has what came of it.

    \b
    holdfast send "Fix the failing test" --directory .
    git diff | holdfast send - --session review --approve never
    """
    wanted = Wanted(agent, directory, title, config)
    request = _Request(wanted=wanted, **given)
    _check(request)
    with in_words():
        request = request._replace(text=_text(request))
    run(place, lambda host: _send(host, request, place))


def _check(request: _Request) -> None:
    if request.session is not None and request.wanted.is_said:
        raise click.UsageError("--agent, --directory, --title and --config make a new session; leave out --session.")
    if request.session is None and (request.chat is not None or request.resume):
        raise click.UsageError("--chat and --resume need --session.")
    if request.resume and request.text is not None:
        raise click.UsageError("--resume goes on with what was said before; leave out TEXT.")


def _text(request: _Request) -> str:
    if request.resume or request.text not in (None, "-"):
        return request.text or ""
    if sys.stdin is None or (request.text is None and sys.stdin.isatty()):
        if request.files:
            return ""
        raise Stopped(Exit.USAGE, "there is nothing to send; write TEXT, or - to read it from stdin")
    try:
        text = sys.stdin.buffer.read().decode()
    except UnicodeDecodeError:
        raise Stopped(Exit.USAGE, "what stdin has is not UTF-8 text; attach it with --file") from None
    if not text.strip() and not request.files:
        raise Stopped(Exit.USAGE, "there is nothing to send; stdin was empty")
    return text


async def _send(host: Host, request: _Request, place: Place) -> None:
    from holdfast.cli.attaching import attachment
    from holdfast.cli.telling import Teller

    teller = Teller(text=not request.as_json, progress=not request.quiet, reasoning=request.reasoning)
    if request.session is None:
        session = await create(host, request.wanted, place)
        teller.note(f"session {session.uri}")
    else:
        session = await open_session(host, request.session)
    chat = await open_chat(session, request.chat)
    if request.resume:
        turn = chat.resume()
    else:
        attachments = [attachment(file) for file in request.files]
        if chat.is_busy:
            teller.note("a turn runs; the message waits for its end")
        turn = chat.send(request.text or "", attachments=attachments, model=request.model)
    await turn.accepted()
    if request.wait:
        await _wait(session, turn, request, teller)
    elif request.as_json:
        _report(session, turn, "running" if turn.id else "queued", "", queued=None if turn.id else turn.queued_id)


async def _wait(session: Session, turn: Turn, request: _Request, teller: Teller) -> None:
    from holdfast.cli.asking import terminal
    from holdfast.cli.turns import Approve, follow

    with terminal() as person:
        ended = await follow(turn, Approve(request.approve), teller, person)
    if not ended:
        await _needs_a_person(session, turn, request)
    outcome = await turn
    state = "cancelled" if outcome.state is None else str(outcome.state)
    if request.as_json:
        _report(session, turn, state, outcome.text, outcome.error, outcome.usage)
    if outcome.error is not None:
        hint = f"; `holdfast send --session {session.uri} --resume` goes on" if _is_resumable(turn.chat) else ""
        raise Stopped(Exit.FAILED, f"the turn failed: {line(outcome.error.message).rstrip('.')}{hint}")
    if state != "complete":
        raise Stopped(Exit.FAILED, "the turn was cancelled")


def _is_resumable(chat: Chat) -> bool:
    parts = chat.turns[-1].response_parts if chat.turns else ()
    return bool(parts) and getattr(parts[-1], "resumable", None) is True


async def _needs_a_person(session: Session, turn: Turn, request: _Request) -> None:
    """Say what waits, and leave it waiting."""
    from holdfast.cli.waits import how_to_answer, waits_in

    waits = await waits_in(session)
    if request.as_json:
        active = turn.chat.active_turn
        said = (
            part.text for part in (active.response_parts if active else ()) if isinstance(part, MarkdownResponsePart)
        )
        _report(session, turn, "waiting", "".join(said), waits=waits)
    for wait in waits:
        remark(how_to_answer(wait))
    raise Stopped(Exit.NEEDS_A_PERSON, "the turn waits for a person")


def _report(
    session: Session, turn: Turn, state: Any, text: str, error: Any = None, usage: Any = None, **more: Any
) -> None:
    from holdfast.cli import rows, shapes

    emit_json(
        shapes.Sent(
            session=session.uri,
            chat=turn.chat.uri,
            turn=turn.id or None,
            state=state,
            text=text,
            error=None if error is None else shapes.Failure(type=error.error_type, message=error.message),
            usage=None if usage is None else rows.as_value(usage),
            **more,
        )
    )
