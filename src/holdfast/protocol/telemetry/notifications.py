"""What a host announces about telemetry, and the notifications that carry it."""

from __future__ import annotations

from holdfast.protocol.codec import Wire
from holdfast.protocol.common import URI, JsonObject

__all__ = [
    "OtlpExportLogsParams",
    "OtlpExportMetricsParams",
    "OtlpExportTracesParams",
    "TelemetryCapabilities",
]


class TelemetryCapabilities(Wire, frozen=True, kw_only=True):
    """Channel URIs; `logs` may be a template with `{level}`. An absent signal is not emitted."""

    logs: str | None = None
    traces: str | None = None
    metrics: str | None = None


class OtlpExport(Wire, frozen=True, kw_only=True):
    """`channel` is the subscribed (expanded) URI, `payload` one OTLP/JSON export request, verbatim."""

    channel: URI
    payload: JsonObject


class OtlpExportLogsParams(OtlpExport, frozen=True, kw_only=True):
    pass


class OtlpExportTracesParams(OtlpExport, frozen=True, kw_only=True):
    pass


class OtlpExportMetricsParams(OtlpExport, frozen=True, kw_only=True):
    pass
