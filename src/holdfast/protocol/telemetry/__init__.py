"""Telemetry channels (11-telemetry): stateless OTLP streams."""
