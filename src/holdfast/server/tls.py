"""TLS for connections from beyond this machine."""

from __future__ import annotations

import ssl
from pathlib import Path

from holdfast.protocol.errors import EnvironmentFailure

__all__ = ["server_context"]


def server_context(certificate: Path, key: Path) -> ssl.SSLContext:
    """The TLS side of a host with this certificate chain and key, both PEM. Raises `EnvironmentFailure`."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    for path in (certificate, key):
        if not path.is_file():
            raise EnvironmentFailure(f"there is no file {path}")
    try:
        # An empty password: a key that needs one is refused instead of asked for on the terminal.
        context.load_cert_chain(certificate, key, password="")
    except ssl.SSLError as error:
        raise EnvironmentFailure(
            f"{certificate} and {key} are not a PEM certificate and its unencrypted key: {error.reason or error}"
        ) from error
    except OSError as error:
        raise EnvironmentFailure(f"cannot read {certificate} or {key}: {error.strerror}") from error
    return context
