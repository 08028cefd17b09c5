"""Far more tournaments than run at once: each of them ends, and nothing is left to do."""

from __future__ import annotations

import pytest

from tests.integration.arena import PATIENT_LIMITS, Arena, wait_until

SHORT = {"target": 2}


def all_end(folder, tournaments: int, seconds: float) -> None:
    with Arena(folder / "arena", bots=["house:greedy"], max_games=4, SLAGVELD_SWEEP_MS="100") as arena:
        entries = ["bot_0", "house:random"]
        names = [
            arena.launch(f"queued {number}", "seven_up", 2, 1, entries, PATIENT_LIMITS, SHORT)
            for number in range(tournaments)
        ]
        for _ in range(2):
            arena.start_worker()
        wait_until(lambda: arena.store.due.count() == 0, seconds, "nothing to do any more", every_s=0.1)
        assert all(map(arena.is_finished, names))
        assert all(arena.store.tournaments.count_results(name) == 1 for name in names)


def test_tournaments_that_wait_for_one_bot_all_end(tmp_path):
    all_end(tmp_path, 40, 60)


@pytest.mark.attack
def test_a_thousand_tournaments_all_end(tmp_path):
    all_end(tmp_path, 1_000, 600)
