"""The client SDK: a pure mirror of what a host shows, the connection that keeps it true, friendly objects on top.

Speaks only the protocol, so it works against any host. Most people need `holdfast.connect` and nothing else.
"""

from __future__ import annotations
