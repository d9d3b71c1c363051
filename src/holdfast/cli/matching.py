"""Whether what came back in a replay is what came back in the capture, but for what has to differ.

Ids that a host makes are others each time. Each is taken for the one that stood in its place in the capture, and has
to stand for that everywhere. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from holdfast.protocol.uris import default_chat, default_chat_owner

__all__ = ["Names", "differences", "rename_apart"]

_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?")
_DEFAULT_CHAT: Final = re.compile(r"ahp-chat://default/[A-Za-z0-9_-]+")

# Keys whose values are ids or cursors of the host's own making.
_ID_KEY: Final = re.compile(r"id|.*Id|(?:next|turnsNext)?[cC]ursor")

# Keys whose values say when, where or by whom, and nothing of what was done.
_INCIDENTAL: Final = frozenset(
    {
        "activeSessions",
        "defaultDirectory",
        "duration",
        "etag",
        "fromSeq",
        "holdfast",
        "lastSeenServerSeq",
        "nonce",
        "serverInfo",
        "serverSeq",
    }
)

# A name that is part of a longer text has to be long enough not to be there by chance.
_TELLING: Final = 8


class Names:
    """What the capture calls something -> what the replay does, one to one."""

    def __init__(self) -> None:
        self._wholes: dict[str, str] = {}
        self._tokens: dict[str, str] = {}
        self._taken: set[str] = set()

    def bind(self, captured: str, replayed: str) -> bool:
        """Take one for the other from now on; False if one of them stands for something else."""
        names = self._tokens if _UUID.fullmatch(captured) else self._wholes
        if captured in names:
            return names[captured] == replayed
        if replayed in self._taken:
            return False
        names[captured] = replayed
        self._taken.add(replayed)
        return True

    def translated(self, value: Any) -> Any:
        """A value of the capture in the words of the replay."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, dict):
            return {self._text(key): self.translated(entry) for key, entry in value.items()}
        return [self.translated(entry) for entry in value] if isinstance(value, list) else value

    def _text(self, text: str) -> str:
        if text in self._wholes:
            return self._wholes[text]
        text = _DEFAULT_CHAT.sub(self._default_chat, text)
        for captured, replayed in self._wholes.items():
            if len(captured) >= _TELLING:
                text = text.replace(captured, replayed)
        return _UUID.sub(lambda match: self._tokens.get(match[0], match[0]), text)

    def _default_chat(self, match: re.Match[str]) -> str:
        owner = default_chat_owner(match[0])
        return match[0] if owner is None else default_chat(self._text(owner))

    def match(self, captured: str, replayed: str, key: str) -> bool:
        """Whether two texts that stand in the same place are the same, or ids of the same."""
        if captured == replayed or self._text(captured) == replayed:
            return True
        owners = default_chat_owner(captured), default_chat_owner(replayed)
        if owners[0] is not None and owners[1] is not None:
            return self.match(owners[0], owners[1], key)
        ids = _UUID.findall(captured), _UUID.findall(replayed)
        if ids[0] and _bare(captured) == _bare(replayed):
            return all(self.bind(old, new) for old, new in zip(*ids, strict=True))
        if _TIME.search(captured) and _bare(captured) == _bare(replayed):
            return True
        return bool(_ID_KEY.fullmatch(key)) and self.bind(captured, replayed)


def rename_apart(names: Names, captured: str, unique: str) -> None:
    """Have something called otherwise, so that it does not meet its like: an id in it is replaced, or one added."""
    if names.translated(captured) != captured:
        return
    ids = _UUID.findall(captured)
    if not (ids and names.bind(ids[-1], unique)):
        names.bind(captured, f"{captured}-{unique}")


def _bare(text: str) -> str:
    """A text without what is another each time."""
    return _TIME.sub("<time>", _UUID.sub("<id>", text))


def differences(captured: Any, replayed: Any, names: Names, path: str = "$", key: str = "") -> Iterator[str]:
    """Where two JSON values differ, in words. Learns names on the way."""
    if key in _INCIDENTAL or key.endswith("At"):
        return  # `modifiedAt` and its like are texts, or numbers in the oldest versions.
    if isinstance(captured, dict) and isinstance(replayed, dict):
        yield from _of_objects(captured, replayed, names, path)
    elif isinstance(captured, list) and isinstance(replayed, list):
        for index, (old, new) in enumerate(zip(captured, replayed, strict=False)):
            yield from differences(old, new, names, f"{path}[{index}]", key)
        if len(captured) != len(replayed):
            yield f"{path}: {len(captured)} entries before, {len(replayed)} now"
    elif isinstance(captured, str) and isinstance(replayed, str):
        if not names.match(captured, replayed, key):
            yield f"{path}: {' before, '.join(_apart(captured, replayed))} now"
    elif captured != replayed or type(captured) is not type(replayed):
        yield f"{path}: {_shown(captured)} before, {_shown(replayed)} now"


def _of_objects(captured: dict[str, Any], replayed: dict[str, Any], names: Names, path: str) -> Iterator[str]:
    here = {names.translated(key): (key, value) for key, value in captured.items()}
    for key, (old_key, value) in here.items():
        if key in replayed:
            yield from differences(value, replayed[key], names, f"{path}.{old_key}", old_key)
        elif key not in _INCIDENTAL:
            yield f"{path}.{old_key}: missing now, {_shown(value)} before"
    for key, value in replayed.items():
        if key not in here and key not in _INCIDENTAL:
            yield f"{path}.{key}: new, {_shown(value)}"


_MOST_SHOWN: Final = 60

# How much of what two texts have in common is shown before they part.
_LEAD: Final = 20


def _apart(captured: str, replayed: str) -> tuple[str, str]:
    """Two texts from a little before where they part."""
    at = next((i for i, (old, new) in enumerate(zip(captured, replayed, strict=False)) if old != new), None)
    begin = max(0, (min(len(captured), len(replayed)) if at is None else at) - _LEAD)
    if begin + _LEAD < _MOST_SHOWN:
        begin = 0
    old, new = (("…" if begin else "") + text[begin:] for text in (captured, replayed))
    return _shown(old), _shown(new)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 1]}…"
