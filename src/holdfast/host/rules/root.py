"""What clients may do to the root: change the configuration (02-root, section 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from holdfast.host import config
from holdfast.host.verdict import Allowed, Refused, Rules, Verdict
from holdfast.protocol.codec import encode
from holdfast.protocol.reducing import merged_values
from holdfast.protocol.root import actions

if TYPE_CHECKING:
    from holdfast.host.core import Host
    from holdfast.host.dispatch import Dispatched

__all__ = ["RULES"]


def config_changed(host: Host, sent: Dispatched, action: actions.ConfigChanged) -> Verdict:  # noqa: ARG001
    """Known keys with fitting values. One that changes nothing is swallowed: clients answer echoes."""
    current = host.root.root.state.config
    if current is None:
        return Refused("this host has no configuration")
    properties = current.schema.properties
    unknown = [name for name in action.config if name not in properties]
    if unknown:
        return Refused(f"this host has no option {unknown[0][:100]!r}")
    values = merged_values(current.values, action.config, action.replace)
    for name, schema in properties.items():
        if schema.read_only and values.get(name) != current.values.get(name):
            return Refused(f"{name} is read-only")
    why = config.complaint(properties, current.schema.required, values, complete=bool(action.replace))
    if why is not None:
        return Refused(why)
    return Allowed(swallowed=encode(_sorted(values)) == encode(_sorted(current.values)))


def _sorted(values: dict[str, Any]) -> list[tuple[str, Any]]:
    return sorted(values.items())


RULES: Final[Rules] = {actions.ConfigChanged: config_changed}
