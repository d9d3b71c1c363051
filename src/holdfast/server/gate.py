"""Who may come in: what is answered to an HTTP request, decided from the request alone.

Three questions are asked of everybody who comes over TCP, on loopback too:

* **Host.** A page that rebinds its own name to this machine sends that name. Known are the names and addresses of
  loopback, the address that was dialled, the configured ones.
* **Origin.** Browsers name the page that opens the socket, programs name none. Known are pages of this very host
  and port, VS Code's windows and webviews, which no website can claim to be, and the configured ones. `null` is
  not: any website can have it, from a sandboxed frame.
* **Token.** In the query (`tkn=`), as VS Code sends it, or as a bearer.

On a unix socket nobody is asked anything: whoever may enter its directory is the owner.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qs, urlsplit

from websockets.datastructures import Headers

__all__ = ["Answer", "Gate"]

METRICS_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

_TEXT: Final = "text/plain; charset=utf-8"

# The schemes of VS Code's own windows and of the webviews in them.
_EDITOR_SCHEMES: Final = frozenset({"vscode-file", "vscode-webview"})

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Answer:
    """A plain HTTP answer, instead of an upgrade."""

    status: HTTPStatus
    text: str
    content_type: str = _TEXT


@dataclass(frozen=True, kw_only=True)
class Gate:
    """The rules of one host.

    `is_token` says whether a text is the connection token, in constant time; without it none is asked for.
    `allowed_hosts` and `allowed_origins` come from the settings; `*` in them allows everything. An origin may be
    written `https://*.example.org`. `metrics` gives the text of `/metrics`.
    """

    is_token: Callable[[str], bool] | None
    allowed_hosts: Iterable[str] = ()
    allowed_origins: Iterable[str] = ()
    metrics: Callable[[], str] | None = None

    def answer(self, method: str, target: str, headers: Headers, dialled: str | None) -> Answer | None:
        """What to answer to a request that came in on the address `dialled`, a unix socket if that is None.

        None: go on with the upgrade, on whatever path. Upgrades that are malformed are the library's to refuse.
        """
        path = target.partition("?")[0]
        if method not in ("GET", "HEAD"):
            return Answer(HTTPStatus.METHOD_NOT_ALLOWED, "Only GET is answered here.\n")
        if method == "GET" and any("websocket" in value.lower() for value in headers.get_all("Upgrade")):
            return self._refusal(target, headers, dialled)
        if path == "/healthz":
            return Answer(HTTPStatus.OK, "ok\n")
        if path == "/metrics" and self.metrics is not None:
            return self._refusal(target, headers, dialled) or Answer(HTTPStatus.OK, self.metrics(), METRICS_TYPE)
        if path == "/":
            return Answer(HTTPStatus.UPGRADE_REQUIRED, "This is an agent host. Connect to it with a WebSocket.\n")
        return Answer(HTTPStatus.NOT_FOUND, "There is nothing here.\n")

    def _refusal(self, target: str, headers: Headers, dialled: str | None) -> Answer | None:
        if dialled is None:
            return None
        hosts = headers.get_all("Host")
        origins = headers.get_all("Origin")
        if len(hosts) != 1 or len(origins) > 1:
            return Answer(HTTPStatus.BAD_REQUEST, "A request has one Host header and at most one Origin header.\n")
        if not self._is_known_host(hosts[0], dialled):
            return _forbidden("This host is not known by that name. Allow it with --allowed-hosts.\n")
        if origins and not self._is_known_origin(origins[0], hosts[0]):
            return _forbidden("Pages of this origin may not connect. Allow it with --allowed-origins.\n")
        if self.is_token is not None and not any(map(self.is_token, _tokens(target, headers))):
            return _forbidden("The connection token is missing or wrong. The host prints it when it starts.\n")
        return None

    def _is_known_host(self, header: str, dialled: str) -> bool:
        host = _host_of(header)
        if host is None:
            return False
        if host == "localhost" or host in map(str.lower, self.allowed_hosts) or "*" in self.allowed_hosts:
            return True
        address = _address(host)
        return address is not None and (address.is_loopback or address == _address(dialled))

    def _is_known_origin(self, origin: str, host_header: str) -> bool:
        if "*" in self.allowed_origins or origin in self.allowed_origins:
            return True
        scheme, separator, authority = origin.lower().partition("://")
        if not separator:
            return False
        if scheme in _EDITOR_SCHEMES:
            return True
        if scheme in _DEFAULT_PORTS and _with_port(authority, scheme) == _with_port(host_header.lower(), scheme):
            return True
        return any(_is_below(scheme, authority, pattern.lower()) for pattern in self.allowed_origins)


def _forbidden(text: str) -> Answer:
    return Answer(HTTPStatus.FORBIDDEN, text)


def _host_of(header: str) -> str | None:
    """The name or address in a Host header, without port, brackets and the dot at the end."""
    try:
        host = urlsplit(f"//{header}").hostname
    except ValueError:
        return None
    return host.removesuffix(".") if host else None


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    # A socket bound to both families sees IPv4 clients as ::ffff:1.2.3.4.
    return getattr(address, "ipv4_mapped", None) or address


def _with_port(authority: str, scheme: str) -> str:
    """`authority` without the port if it is the default one."""
    return authority.removesuffix(f":{_DEFAULT_PORTS[scheme]}")


def _is_below(scheme: str, authority: str, pattern: str) -> bool:
    """Whether an origin is one of `https://*.example.org`."""
    allowed_scheme, separator, domain = pattern.partition("://*.")
    return bool(separator) and scheme == allowed_scheme and authority.endswith(f".{domain}")


def _tokens(target: str, headers: Headers) -> list[str]:
    """Every connection token in a request."""
    tokens = parse_qs(target.partition("?")[2]).get("tkn", [])
    for value in headers.get_all("Authorization"):
        scheme, _, credentials = value.partition(" ")
        if scheme.lower() == "bearer":
            tokens.append(credentials.strip())
    return tokens
