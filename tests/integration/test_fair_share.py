"""A tournament of thousands of games, and a small one that is started later with bots which the large one wants too."""

from __future__ import annotations

import statistics
from collections import Counter
from dataclasses import dataclass, field

import pytest

from bot_sdk.client import Arena as Client
from service.store.entities import Tournament, TournamentState
from tests.integration.arena import OWNER, PATIENT_LIMITS, Arena, wait_until
from tests.integration.played import check_recomputed, is_settled
from tests.integration.readers import Onlooker

BOTS = ["house:greedy", "house:random"] * 6
MAX_GAMES = 8
SHORT = {"target": 3}
ROUNDS = 400
LARGE = ROUNDS * len(BOTS) // 2
SMALL = 10
UNDER_WAY = 40
"""So many games of the large tournament are over before the small one starts: its first ones, made at once, are."""
SETTINGS = {"SLAGVELD_LEASE_MS": "15000", "SLAGVELD_RENEW_MS": "5000"}


@dataclass
class Seen:
    """What was seen of both tournaments while the small one ran, and after the large one was cancelled."""

    most: list[int] = field(default_factory=list)
    """How many games the busiest bot had at a moment."""
    driven: list[float] = field(default_factory=list)
    """Which share of the games that were made was in a worker's hands at a moment."""
    done: int = 0
    """How many games of the large one were over when the small one ended."""
    small: Tournament | None = None
    large: Tournament | None = None
    states: Counter[str] = field(default_factory=Counter)


def look(arena: Arena, names: list[str], seen: Seen) -> None:
    """Count the games of each bot: those that ran both before and after a moment ran at that moment."""
    before, after = ({game.id: game for name in names for game in arena.running(name)} for _ in range(2))
    games = [game for game in after.values() if game.id in before]
    playing = Counter(seat.bot_id for game in games for seat in game.seats)
    seen.most.append(max(playing.values(), default=0))
    leased = arena.store.games.leased([game.id for game in games])
    seen.driven.append(sum(leased) / max(1, len(leased)))


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    entries, seen = [f"bot_{n}" for n in range(len(BOTS))], Seen()
    folder = tmp_path_factory.mktemp("share") / "arena"
    with Arena(folder, bots=BOTS, think_ms=25, max_games=MAX_GAMES, **SETTINGS) as arena:
        results = arena.store.tournaments.count_results
        large = arena.launch("large", "seven_up", 2, ROUNDS, entries, PATIENT_LIMITS, SHORT, deals="field")
        arena.start_worker()
        arena.start_api()
        wait_until(lambda: results(large) >= UNDER_WAY, 60, "a large tournament that is under way", every_s=0.05)
        small = arena.launch("small", "seven_up", 2, None, entries[:5], PATIENT_LIMITS, SHORT, deals="field")
        with Onlooker(lambda: look(arena, [large, small], seen), pause_s=0.1):
            wait_until(lambda: arena.is_finished(small), 60, "the end of the small tournament", every_s=0.05)
            seen.done = results(large)
        arena.tournaments.set_state(OWNER, large, TournamentState.CANCELLED)
        # A worker that looks at a cancelled game once more makes its tournament due for a moment.
        wait_until(lambda: is_settled(arena.store, entries), 60, "nothing left to do", every_s=0.05)
        with Client(arena.api.address) as client:
            check_recomputed(client, large)
            check_recomputed(client, small)
        seen.small, seen.large = arena.tournaments.get(small), arena.tournaments.get(large)
        games, _ = arena.store.games.list_for_tournament(large, limit=LARGE)
        seen.states.update(game.state.value for game in games)
    return seen


def test_small_tournament_ends_while_the_large_one_has_most_of_its_games_ahead(seen):
    assert seen.small.reason == f"all its {SMALL} games are over"
    assert UNDER_WAY <= seen.done < LARGE / 4


def test_no_bot_plays_more_games_at_once_than_it_takes(seen):
    assert max(seen.most) <= MAX_GAMES
    assert statistics.median(seen.most) >= MAX_GAMES - 1


def test_games_that_were_made_do_not_wait_for_a_worker(seen):
    assert statistics.median(seen.driven) > 0.7


def test_cancelled_tournament_leaves_no_game_running(seen):
    assert seen.large.reason == "cancelled by its host"
    assert seen.states.keys() == {"finished", "cancelled"}
    assert seen.done <= seen.states["finished"] < LARGE / 2
