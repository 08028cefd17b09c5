"""What a tournament would come to: a dry run, from its settings, its entries and what their bots did lately."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from math import ceil
from random import Random
from statistics import fmean, median
from typing import Any, Final

from bot_sdk.bots import PREFIX
from bot_sdk.games.packs import seeded
from bot_sdk.games.registry import ruleset
from bot_sdk.results.attendance import legs_of
from bot_sdk.results.values import Entry
from service.arena.running import WINDOW_PER_WORKER
from service.arena.tournaments import Tournaments
from service.store.entities import BotState, Tournament, TournamentState
from service.store.store import Store
from service.tournaments.boards import FIELD
from service.tournaments.drawing import MAX_GAMES
from service.tournaments.errors import ImpossibleScheduleError
from service.tournaments.formats import check_start, count_tables

SAMPLES: Final = 12
"""Games played at random to learn how many decisions one takes."""
LATELY: Final = 100
"""Decisions of a bot from its ledger that its pace is taken from."""
UNKNOWN_MS: Final = 50.0
"""What a decision of a bot that has made none is taken to last."""
DECISIONS_PER_S: Final = 1_000
"""What a worker process gets through when bots are quick."""
PRESENT_MS: Final = 10_000


class Planning:
    """Reckons what is ahead; it changes nothing."""

    def __init__(self, store: Store, tournaments: Tournaments) -> None:
        """Keep what it reads."""
        self._store = store
        self._tournaments = tournaments

    def plan(self, tournament_id: str) -> dict[str, Any]:
        """Tell what a tournament would come to with the entries it has now; raises NotFoundError."""
        tournament = self._tournaments.get(tournament_id)
        entries = self._store.tournaments.entries(tournament_id)
        if tournament.state is not TournamentState.OPEN:
            return _impossible(f"expected a tournament that hasn't been started, this one is {tournament.state.value}")
        try:
            check_start(tournament, entries)
        except ImpossibleScheduleError as error:
            return _impossible(str(error))
        return self._reckoned(tournament, entries) | {"warnings": self._absent(entries)}

    def _reckoned(self, tournament: Tournament, entries: list[Entry]) -> dict[str, Any]:
        tables = count_tables(tournament, len(entries))
        games = sum(tables) * legs_of(tournament.table_size, tournament.deals)
        decisions = decisions_per_game(tournament.ruleset, tournament.options, tournament.table_size)
        pace = fmean(self._pace(entry.bot_id) for entry in entries)
        workers = max(1, self._store.due.workers(PRESENT_MS))
        each = games * tournament.table_size / len(entries)
        game_s = decisions * (pace + 1_000 / DECISIONS_PER_S) / 1_000
        bounds = [
            games * decisions / (DECISIONS_PER_S * workers),
            games * game_s / (WINDOW_PER_WORKER * workers),
            *(each * game_s / self._places(entry.bot_id) for entry in entries),
            game_s * (len(tables) if tournament.format in {"swiss", "knockout"} else 1),
        ]
        return {
            "can_start": True,
            "why_not": None,
            "games": games,
            "games_per_entry": each,
            "rounds": len(tables),
            "boards": len(tables) if tournament.deals == FIELD else sum(tables),
            "decisions": round(games * decisions),
            "seconds": ceil(max(bounds)),
            "assumes": _assumptions(tournament, decisions, pace, workers),
        }

    def _absent(self, entries: list[Entry]) -> list[str]:
        """Name the entries that would forfeit everything as things stand."""
        registered = [entry for entry in entries if not entry.bot_id.startswith(PREFIX)]
        bots = self._store.bots.get_many([entry.bot_id for entry in registered])
        states = ["deleted" if bot is None else bot.state.value for bot in bots]
        return [
            f"{entry.name} is {state}: unless that changes it forfeits its games"
            for entry, state in zip(registered, states, strict=True)
            if state != BotState.ACTIVE
        ]

    def _pace(self, bot_id: str) -> float:
        """Tell how many milliseconds a bot took for a decision lately, in the median."""
        if bot_id.startswith(PREFIX):
            return 0.0
        lines, _ = self._store.ledger.lines(bot_id, limit=LATELY)
        return median(line.ms for line in lines) if lines else UNKNOWN_MS

    def _places(self, bot_id: str) -> int:
        bot = None if bot_id.startswith(PREFIX) else self._store.bots.get(bot_id)
        return WINDOW_PER_WORKER if bot is None else bot.max_games


def _assumptions(tournament: Tournament, decisions: float, pace: float, workers: int) -> list[str]:
    is_endless = tournament.format == "ladder" and tournament.max_games is None
    endless = [f"nobody finishes it by hand before the {MAX_GAMES:,} games that a tournament may have"]
    return [
        *(endless if is_endless else []),
        f"a game takes about {decisions:.0f} decisions, as {SAMPLES} games played at random did",
        f"a decision takes the bots {pace:.0f} ms on average, as it did lately ({UNKNOWN_MS:.0f} if one has made none)",
        f"worker processes: {workers}, each good for {DECISIONS_PER_S:,} decisions a second, with nothing else to do",
        "nobody withdraws, no game is played again, no test stops it early",
    ]


def _impossible(why: str) -> dict[str, Any]:
    nothing = dict.fromkeys(("games", "games_per_entry", "rounds", "boards", "decisions", "seconds"))
    return {"can_start": False, "why_not": why, **nothing, "assumes": [], "warnings": []}


def decisions_per_game(name: str, options: Mapping[str, Any], seats: int) -> float:
    """Tell how many decisions a game takes on average, by playing a few at random; the same for the same rules."""
    return _sampled(name, json.dumps(options, sort_keys=True), seats)


@lru_cache(maxsize=256)
def _sampled(name: str, options: str, seats: int) -> float:
    rules = ruleset(name)
    played = 0
    for number in range(SAMPLES):
        state, chance = rules.new(json.loads(options), seats, seeded("plan", seats, number)), Random(number)
        while not state.is_over:
            for seat in state.actors():
                state.apply(seat, chance.choice(state.legal_actions(seat)))
                played += 1
    return played / SAMPLES
