"""Channel and resource URIs: the one module that takes them apart, puts them together and tells their kind.

A URI is the peer's own: it is compared byte for byte and echoed in the spelling it came in. `classify` is a
hint for where nothing better is known (01-wire, section 4.3): a host looks a channel up by what was
registered, because VS Code mints sessions as `copilot:/<uuid>` and terminals as `agenthost-terminal:/<uuid>`.
"""

from __future__ import annotations

import base64
import binascii
import re
from enum import StrEnum
from typing import Final, NamedTuple
from urllib.parse import quote, unquote_to_bytes

from holdfast.protocol.common import URI
from holdfast.protocol.errors import InvalidValue

__all__ = [
    "AUTOMATIONS",
    "ROOT",
    "Kind",
    "Parts",
    "annotations_of",
    "annotations_owner",
    "automation",
    "automation_run",
    "canvas",
    "changeset",
    "chat",
    "classify",
    "client_file",
    "default_chat",
    "default_chat_owner",
    "file_path",
    "file_uri",
    "is_root",
    "otlp_level",
    "parse",
    "quoted",
    "resource_watch",
    "session",
    "terminal",
]

ROOT: Final[URI] = "ahp-root://"
AUTOMATIONS: Final[URI] = "ahp-automations://"

# Longer than any path a file system accepts, shorter than anything that would hurt to keep.
_MOST_CHARACTERS: Final = 8192

_SHAPE: Final = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.\-]*):(?://(?P<authority>[^/?#]*))?"
    r"(?P<path>[^?#]*)(?:\?(?P<query>[^#]*))?(?:#(?P<fragment>.*))?"
)

# Controls, white space, and halves of surrogate pairs: nothing that could break a log line or the encoding.
_FORBIDDEN: Final = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029\ud800-\udfff]")


class Kind(StrEnum):
    """What a URI looks like."""

    ROOT = "root"
    SESSION = "session"
    CHAT = "chat"
    TERMINAL = "terminal"
    CHANGESET = "changeset"
    ANNOTATIONS = "annotations"
    RESOURCE_WATCH = "resourceWatch"
    OTLP = "otlp"
    MCP = "mcp"
    AUTOMATIONS = "automations"
    AUTOMATION = "automation"
    AUTOMATION_RUN = "automationRun"
    CANVAS = "canvas"
    FILE = "file"
    CLIENT_FILE = "clientFile"
    EXTENSION = "extension"
    """A scheme beginning `x-`, reserved for implementations."""
    FOREIGN = "foreign"
    """Anything else: perhaps a session of a client that names schemes after providers."""


_KINDS: Final[dict[str, Kind]] = {
    "ahp-root": Kind.ROOT,
    "ahp-session": Kind.SESSION,
    "ahp-chat": Kind.CHAT,
    "ahp-terminal": Kind.TERMINAL,
    "agenthost-terminal": Kind.TERMINAL,
    "ahp-changeset": Kind.CHANGESET,
    "ahp-resource-watch": Kind.RESOURCE_WATCH,
    "ahp-otlp": Kind.OTLP,
    "mcp": Kind.MCP,
    "ahp-automations": Kind.AUTOMATIONS,
    "ahp-automation": Kind.AUTOMATION,
    "ahp-automation-run": Kind.AUTOMATION_RUN,
    "ahp-canvas": Kind.CANVAS,
    "file": Kind.FILE,
    "vscode-agent-client": Kind.CLIENT_FILE,
    "virtual": Kind.CLIENT_FILE,
}

# How 0.1.0 peers and the oldest fixtures write the root. Anything else that begins alike is not the root.
_ROOT_IN_0_1: Final = frozenset({"agenthost:/root", "ahp:/root"})

_ANNOTATIONS: Final = "/annotations"
_IN_CHANGESET: Final = re.compile(r"/changeset/(?:[^/]+|turn/[^/]+|compare/[^/]+/[^/]+)\Z")


class Parts(NamedTuple):
    """A URI taken apart, nothing decoded. `authority` is None where the URI has no `//`."""

    scheme: str
    authority: str | None
    path: str
    query: str | None
    fragment: str | None


def parse(uri: str) -> Parts:
    """Take a URI apart; `InvalidValue` if it is none, or holds what no URI may hold."""
    if len(uri) > _MOST_CHARACTERS:
        raise InvalidValue("$", f"a URI of at most {_MOST_CHARACTERS} characters", f"{len(uri)} characters")
    if _FORBIDDEN.search(uri):
        raise InvalidValue("$", "a URI", "a string with control characters or white space")
    match = _SHAPE.fullmatch(uri)
    if match is None:
        raise InvalidValue("$", "a URI", "a string without a scheme")
    scheme, authority, path, query, fragment = match.groups()
    return Parts(scheme.lower(), authority, path, query, fragment)


def classify(uri: str) -> Kind:
    """What a URI looks like; `InvalidValue` if it is none."""
    parts = parse(uri)
    kind = _KINDS.get(parts.scheme)
    if kind in (None, Kind.SESSION):
        if annotations_owner(uri) is not None:
            return Kind.ANNOTATIONS
        if _IN_CHANGESET.search(parts.path):
            return Kind.CHANGESET
    if kind is not None:
        return kind
    return Kind.EXTENSION if parts.scheme.startswith("x-") else Kind.FOREIGN


def is_root(uri: str, *, before_0_2: bool = False) -> bool:
    """Whether a URI is the root: any of its scheme, as URI classes write `ahp-root://` with fewer slashes.

    `before_0_2` adds the spellings of that time, which are ordinary session URIs for everybody else.
    """
    if before_0_2 and uri in _ROOT_IN_0_1:
        return True
    scheme, colon, _ = uri.partition(":")
    return bool(colon) and scheme.lower() == "ahp-root"


# Building. Ids are opaque; what a caller passes as an id is quoted, so that it stays one path segment.


def _of(scheme: str, id: str) -> URI:
    return f"{scheme}:/{quoted(id)}"


def quoted(text: str, safe: str = "", *, errors: str = "strict") -> str:
    """Text with every character escaped that is neither plain nor `safe`."""
    return quote(_bytes(text, errors), safe=safe)


def _bytes(text: str, errors: str = "strict") -> bytes:
    try:
        return text.encode("utf-8", errors)
    except UnicodeEncodeError:
        raise InvalidValue("$", "text", "half of a surrogate pair") from None


def session(id: str) -> URI:
    """A session."""
    return _of("ahp-session", id)


def chat(id: str) -> URI:
    """A chat that is not a session's default one."""
    return _of("ahp-chat", id)


def terminal(id: str) -> URI:
    """A terminal."""
    return _of("ahp-terminal", id)


def changeset(id: str) -> URI:
    """A changeset."""
    return _of("ahp-changeset", id)


def resource_watch(id: str) -> URI:
    """A resource watch."""
    return _of("ahp-resource-watch", id)


def automation(id: str) -> URI:
    """An automation: an identifier, not a channel."""
    return _of("ahp-automation", id)


def automation_run(id: str) -> URI:
    """A run of an automation."""
    return _of("ahp-automation-run", id)


def canvas(id: str) -> URI:
    """A canvas."""
    return _of("ahp-canvas", id)


def annotations_of(session_uri: URI) -> URI:
    """The annotations channel of a session."""
    return session_uri + _ANNOTATIONS


def annotations_owner(uri: URI) -> URI | None:
    """The session whose annotations channel this would be; None if the URI is not of that form."""
    owner = uri.removesuffix(_ANNOTATIONS)
    return owner if owner != uri and owner.rstrip("/").partition(":")[2] else None


_DEFAULT_CHAT: Final = "ahp-chat://default/"


def default_chat(session_uri: URI) -> URI:
    """The default chat of a session, in the form some versions of VS Code compute for themselves."""
    encoded = base64.urlsafe_b64encode(_bytes(session_uri)).decode().rstrip("=")
    return _DEFAULT_CHAT + encoded


def default_chat_owner(uri: URI) -> URI | None:
    """The session a default chat was made for; None if the URI is not of that form."""
    encoded = uri.removeprefix(_DEFAULT_CHAT)
    if encoded == uri:
        return None
    try:
        padded = encoded + "=" * (-len(encoded) % 4)
        owner = base64.b64decode(padded, altchars=b"-_", validate=True).decode()
    except (binascii.Error, UnicodeError, ValueError):
        return None
    return owner if default_chat(owner) == uri else None


# Files


def file_uri(path: str) -> URI:
    """The `file:` URI of an absolute POSIX path. Bytes that are not UTF-8 survive as Python spells them."""
    if not path.startswith("/"):
        raise InvalidValue("$", "an absolute path", "a relative one")
    return "file://" + quoted(path, "/", errors="surrogateescape")


def file_path(uri: URI) -> str:
    """The absolute POSIX path of a `file:` URI, percent-decoded once; nothing is normalised."""
    parts = parse(uri)
    if parts.scheme != "file":
        raise InvalidValue("$", "a file: URI", f"a {parts.scheme}: URI")
    if parts.authority not in (None, "", "localhost"):
        raise InvalidValue("$", "a file on this machine", "a file: URI with a host name")
    if parts.query is not None or parts.fragment is not None:
        raise InvalidValue("$", "a plain file: URI", "one with a query or fragment")
    path = _unquoted(parts.path)
    if not path.startswith("/") or "\0" in path:
        raise InvalidValue("$", "an absolute path", "a relative path or one with NUL")
    return path


_BAD_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")


def _unquoted(text: str) -> str:
    if _BAD_ESCAPE.search(text):
        raise InvalidValue("$", "percent escapes of two hexadecimal digits", "a malformed escape")
    return unquote_to_bytes(text).decode("utf-8", "surrogateescape")


class ClientFile(NamedTuple):
    """A file that only a client can read: whose it is, and its URI there."""

    client_id: str
    uri: URI


def client_file(uri: URI) -> ClientFile | None:
    """Read `vscode-agent-client://<client>/<scheme>/<authority or ->/<path>`; None for other forms.

    `virtual://<client>/...` names the client too, and is served by it under the very same URI.
    """
    parts = parse(uri)
    if not parts.authority:
        return None
    client_id = _unquoted(parts.authority)
    if parts.scheme == "virtual":
        return ClientFile(client_id, uri)
    if parts.scheme != "vscode-agent-client":
        return None
    segments = parts.path.split("/", 3)
    if len(segments) < 4 or not segments[1]:
        return None
    _, scheme, authority, path = segments
    query = "" if parts.query is None else f"?{parts.query}"
    fragment = "" if parts.fragment is None else f"#{parts.fragment}"
    return ClientFile(client_id, f"{scheme}://{'' if authority == '-' else authority}/{path}{query}{fragment}")


_LEVELS: Final = {"trace": 1, "debug": 5, "info": 9, "warn": 13, "error": 17, "fatal": 21}


def otlp_level(uri: URI) -> int:
    """The least OTLP severity number a logs URI asks for: `?level=warn` or `/warn`, any case; 0 for all."""
    parts = parse(uri)
    query = dict(pair.partition("=")[::2] for pair in (parts.query or "").split("&"))
    name = query.get("level") or parts.path.rpartition("/")[2]
    return _LEVELS.get(name.lower(), 0)
