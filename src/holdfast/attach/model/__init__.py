"""What is shown, as values: functions from the protocol's states. No screen, no clock, no connection."""

from __future__ import annotations
