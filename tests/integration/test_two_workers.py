"""Two workers that share a tournament: each has about half of its games, whenever it has come."""

from __future__ import annotations

from collections import Counter

import pytest

from service.store import keys
from tests.integration.arena import PATIENT_LIMITS, Arena, wait_until
from tests.integration.readers import Onlooker

BOTS = ["house:greedy", "house:random"] * 8
SHORT = {"target": 3}
SETTINGS = {"SLAGVELD_LEASE_MS": "15000", "SLAGVELD_RENEW_MS": "5000", "SLAGVELD_SWEEP_MS": "1000"}
ROUNDS = 400


def holders(arena: Arena, tournament_id: str, seen: dict[str, bytes]) -> None:
    """Note who holds which game now: a run's lease bears its name."""
    games = [game.id for game in arena.running(tournament_id)]
    found = arena.store._redis.mget(map(keys.game_lease, games)) if games else []
    seen.update({game_id: holder for game_id, holder in zip(games, found, strict=True) if holder is not None})


@pytest.fixture(scope="module")
def shares(tmp_path_factory):
    """Give how many games each of two workers had, the second of which came later."""
    folder = tmp_path_factory.mktemp("two") / "arena"
    with Arena(folder, bots=BOTS, think_ms=5, max_games=16, **SETTINGS) as arena:
        arena.start_worker()
        entries = [f"bot_{number}" for number in range(len(BOTS))]
        held = arena.launch("two", "seven_up", 2, ROUNDS, entries, PATIENT_LIMITS, SHORT)
        wait_until(lambda: arena.store.tournaments.count_results(held) >= 20, 60, "a tournament under way")
        before: dict[str, bytes] = {}
        holders(arena, held, before)
        arena.start_worker()
        seen: dict[str, bytes] = {}
        with Onlooker(lambda: holders(arena, held, seen), pause_s=0.02):
            wait_until(lambda: len(set(seen.values())) == 2, 60, "a second worker with games")
            old = set(seen)
            wait_until(lambda: len(seen) >= len(old) + 200, 120, "games that are made from then on", every_s=0.02)
        assert len(set(before.values())) == 1
        return Counter(holder for game_id, holder in seen.items() if game_id not in old)


def test_worker_that_joins_has_about_half_of_the_games_from_then_on(shares):
    assert len(shares) > 1, shares
    (_, more), (_, fewer), *others = shares.most_common()
    assert fewer >= more / 3, shares
    assert sum(count for _, count in others) <= 10  # whoever looked at a game that had ended held it for a moment
