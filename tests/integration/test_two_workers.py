"""Two workers that share a tournament: each has about half of its games, whenever it has come."""

from __future__ import annotations

from collections import Counter

from service.store import keys
from tests.integration.arena import PATIENT_LIMITS, Arena, wait_until
from tests.integration.readers import Onlooker

BOTS = ["house:greedy", "house:random"] * 8
SHORT = {"target": 3}
SETTINGS = {"SLAGVELD_LEASE_MS": "15000", "SLAGVELD_RENEW_MS": "5000", "SLAGVELD_SWEEP_MS": "1000"}
ROUNDS = 400
LAST = 100
"""So many games are looked at, the latest."""


def holders(arena: Arena, tournament_id: str, seen: dict[str, bytes]) -> None:
    """Note who holds which game now: a run's lease bears its name."""
    games = [game.id for game in arena.running(tournament_id)]
    found = arena.store._redis.mget(map(keys.game_lease, games)) if games else []
    seen.update({game_id: holder for game_id, holder in zip(games, found, strict=True) if holder is not None})


def shares(seen: dict[str, bytes]) -> list[int]:
    """Give how many of the last games each worker had, most first; who looked at one that had ended held it, too."""
    return [count for _, count in Counter(list(seen.values())[-LAST:]).most_common()]


def are_fair(counts: list[int]) -> bool:
    """Whether two share them: the one has at least a third of what the other has, and hardly anybody else any."""
    return len(counts) > 1 and counts[1] >= counts[0] / 3 and sum(counts[2:]) <= LAST / 20


def test_worker_that_joins_comes_to_have_about_half_of_the_games(tmp_path):
    """How soon depends on the machine, which starts one while the other plays: but before the tournament is over."""
    with Arena(tmp_path / "arena", bots=BOTS, think_ms=5, max_games=16, **SETTINGS) as arena:
        arena.start_worker()
        entries = [f"bot_{number}" for number in range(len(BOTS))]
        held = arena.launch("two", "seven_up", 2, ROUNDS, entries, PATIENT_LIMITS, SHORT)
        wait_until(lambda: arena.store.tournaments.count_results(held) >= 20, 60, "a tournament under way")
        before: dict[str, bytes] = {}
        holders(arena, held, before)
        assert len(set(before.values())) == 1
        arena.start_worker()
        seen: dict[str, bytes] = {}
        with Onlooker(lambda: holders(arena, held, seen), pause_s=0.02):
            wait_until(lambda: len(set(seen.values())) > 1, 60, "a second worker with games")
            alone = len(seen)
            wait_until(
                lambda: len(seen) >= alone + LAST and are_fair(shares(seen)), 120, "games that are shared", every_s=0.05
            )
