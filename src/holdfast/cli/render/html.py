"""A session as one HTML file that needs nothing else and asks nobody: no scripts, no fonts, no remote pictures. Pure.

What others wrote is escaped; raw HTML in Markdown stays text, and links go to the web or nowhere. A policy in the
head forbids the rest, should anything slip through.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from markdown_it import MarkdownIt

from holdfast.cli.render.blocks import (
    Asked,
    Block,
    Ended,
    Failed,
    File,
    Notice,
    Prose,
    Said,
    Thought,
    Tool,
    ended_words,
    speaker,
)
from holdfast.protocol.common import Markdown, StringOrMarkdown

__all__ = ["document"]

_STYLE: Final = """\
:root { color-scheme: light dark; --soft: #8884; --quiet: #777; --mark: #2a6fb0; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 48rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } dl { color: var(--quiet); } dt { float: left; clear: left; width: 7rem; }
dd { margin: 0 0 0 7rem; overflow-wrap: anywhere; }
.said { border-left: 3px solid var(--mark); padding: .1rem 0 .1rem 1rem; margin: 2rem 0 1rem; white-space: pre-wrap; }
.who, .end, .note { color: var(--quiet); font-size: .875rem; } .failed { color: #c0392b; }
details, .asked { border: 1px solid var(--soft); border-radius: 6px; padding: .4rem .8rem; margin: .6rem 0; }
summary { cursor: pointer; } pre { overflow-x: auto; background: var(--soft); padding: .6rem; border-radius: 6px; }
code { font: .875em ui-monospace, monospace; } img { max-width: 100%; } table { border-collapse: collapse; }
td, th { border: 1px solid var(--soft); padding: .2rem .6rem; }
"""

_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'"

# Pictures a browser shows in <img>, where none of them can run anything.
_PICTURES: Final = re.compile(r"image/(png|jpeg|gif|webp|avif|svg\+xml)")
_BASE64: Final = re.compile(r"[A-Za-z0-9+/=\s]*")

_markdown: Final = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def document(title: str, facts: Sequence[tuple[str, str]], chats: Iterable[tuple[str, Iterable[Block]]]) -> str:
    """A whole page: heading, facts, and the blocks of each chat; several chats have headings of their own."""
    listed = list(chats)
    body = [f"<h1>{_text(title)}</h1>", "<dl>"]
    body += [f"<dt>{_text(name)}</dt><dd>{_text(value)}</dd>" for name, value in facts]
    body.append("</dl>")
    for chat_title, blocks in listed:
        if len(listed) > 1:
            body.append(f"<h2>{_text(chat_title)}</h2>")
        body += [written for block in blocks if (written := _WRITERS[type(block)](block))]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_text(title)}</title>\n<style>\n{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(body)
        + "\n</body>\n</html>\n"
    )


def _text(text: str) -> str:
    return html.escape(text)


def _rich(markdown: str) -> str:
    return str(_markdown.render(markdown)).rstrip()


def _either(text: StringOrMarkdown) -> str:
    return _rich(text.markdown) if isinstance(text, Markdown) else f"<p>{_text(text)}</p>"


def _items(items: Iterable[str]) -> str:
    written = "".join(f"<li>{item}</li>" for item in items)
    return f"<ul>{written}</ul>" if written else ""


def _said(block: Said) -> str:
    when = f' · <time datetime="{_text(block.when)}">{_text(block.when)}</time>' if block.when else ""
    files = _items(f"attached: {_text(label)}" for label in block.attachments)
    return f'<p class="who">{_text(speaker(block.by))}{when}</p>\n<div class="said">{_text(block.text)}</div>{files}'


def _prose(block: Prose) -> str:
    return _rich(block.markdown)


def _thought(block: Thought) -> str:
    return f"<details><summary>Reasoning</summary>\n{_rich(block.markdown)}\n</details>"


def _tool(block: Tool) -> str:
    parts = [_either(block.message)]
    parts += [f"<pre><code>{_text(each)}</code></pre>" for each in (block.input, block.output) if each]
    parts += [_file(file) for file in block.files]
    parts.append(_items(_text(note) for note in block.notes))
    inside = "\n".join(part for part in parts if part)
    return f"<details><summary>{_text(block.name)}: {_text(block.status)}</summary>\n{inside}\n</details>"


def _asked(block: Asked) -> str:
    url = _rich(f"<{block.url}>") if block.url else ""
    answers = _items(f"{_text(question)}: {_text(answer) or '–'}" for question, answer in block.answers)
    return f'<div class="asked"><p>{_text(block.message)} ({_text(block.response or "open")})</p>{url}{answers}</div>'


def _notice(block: Notice) -> str:
    return f'<div class="note">{_either(block.text)}</div>'


def _file(block: File) -> str:
    if block.data and _PICTURES.fullmatch(block.content_type) and _BASE64.fullmatch(block.data):
        return f'<p><img src="data:{block.content_type};base64,{block.data}" alt="{_text(block.name)}"></p>'
    return f'<p class="note">{_text(block.name)}</p>'


def _failed(block: Failed) -> str:
    return f'<p class="failed">{_text(block.message)}</p>'


def _ended(block: Ended) -> str:
    facts = ended_words(block)
    return f'<p class="end">{_text(facts)}</p>' if facts else ""


_WRITERS: Final[dict[type, Callable[[Any], str]]] = {
    Said: _said,
    Prose: _prose,
    Thought: _thought,
    Tool: _tool,
    Asked: _asked,
    Notice: _notice,
    File: _file,
    Failed: _failed,
    Ended: _ended,
}
