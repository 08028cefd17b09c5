"""Hypothesis for this folder: the same examples on every run, and no deadline on a busy machine."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile(
    "bot_sdk",
    deadline=None,
    derandomize=True,
    max_examples=100,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("bot_sdk")
