"""The conformance check's public face: run it over a `Line`, and judge its steps; ``bot_sdk/checking`` is behind it."""

from __future__ import annotations

from bot_sdk.checking.conformance import POSITIONS, card_in, run
from bot_sdk.checking.values import Line, Sent, Step, passed

__all__ = ["POSITIONS", "Line", "Sent", "Step", "card_in", "passed", "run"]
