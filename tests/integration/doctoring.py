"""What the doctor says of an arena of the test's own."""

from __future__ import annotations

from service.config import Settings
from service.doctor.command import examined
from service.doctor.place import Patient
from tests.integration.arena import Arena


def check_well(arena: Arena) -> None:
    """Check that the doctor finds nothing: no damage, and no false alarm."""
    patient = Patient(Settings.from_env(arena.environment), is_still=False)
    findings, _ = examined(patient, seconds=60.0)
    assert findings.found == []
