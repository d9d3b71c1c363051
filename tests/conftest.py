"""What holds for every test."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# How fast a machine is says nothing about the code: no deadline, and making examples may take its time.
settings.register_profile("holdfast", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("holdfast")
