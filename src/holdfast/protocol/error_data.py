"""The shapes of `error.data`, for the codes that have one (01-wire, section 8)."""

from __future__ import annotations

from typing import Final

from holdfast.protocol.codec import Wire
from holdfast.protocol.common import ProtectedResourceMetadata
from holdfast.protocol.errors import ErrorCode
from holdfast.protocol.resources.commands import ResourceRequestParams

__all__ = [
    "ERROR_DATA",
    "AuthRequiredErrorData",
    "PermissionDeniedErrorData",
    "UnsupportedProtocolVersionErrorData",
]


class AuthRequiredErrorData(Wire, frozen=True, kw_only=True):
    resources: tuple[ProtectedResourceMetadata, ...]


class PermissionDeniedErrorData(Wire, frozen=True, kw_only=True):
    """What to ask for with `resourceRequest`; absent when nothing would help."""

    request: ResourceRequestParams | None = None


class UnsupportedProtocolVersionErrorData(Wire, frozen=True, kw_only=True):
    """SemVer strings, or ranges like `^1.0.0`."""

    supported_versions: tuple[str, ...]


ERROR_DATA: Final[dict[ErrorCode, type[Wire]]] = {
    ErrorCode.UNSUPPORTED_PROTOCOL_VERSION: UnsupportedProtocolVersionErrorData,
    ErrorCode.AUTH_REQUIRED: AuthRequiredErrorData,
    ErrorCode.PERMISSION_DENIED: PermissionDeniedErrorData,
}
"""Every other code has no data."""
