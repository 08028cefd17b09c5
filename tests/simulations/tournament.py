"""Whole tournaments in one process: the formats draw, bots of the SDK play, the standings judge.

Nothing stands between them but the arena's store, its workers and its clock: games are played one after another.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Any

from bot_sdk import local
from bot_sdk.bot import Bot
from bot_sdk.games.packs import board_secret
from bot_sdk.games.registry import RULESETS
from bot_sdk.results.intervals import Interval, t_interval
from bot_sdk.results.standings import standings
from bot_sdk.results.values import Entry, GameState, Result, Round
from service.arena.starting import Attempt
from service.referee.aftermath import result_of
from service.store.entities import Game, Seat, Tournament
from service.tournaments import formats
from service.tournaments.boards import Place, label_of, places
from service.tournaments.situation import Situation

ROOT_SECRET = bytes(range(32))

Play = Callable[[Place], Result]
"""What gives the result of a place in the schedule, after as many attempts as it takes."""


@dataclass(frozen=True)
class Held:
    """A tournament that is over: all rounds by number, and all results."""

    tournament: Tournament
    entries: Sequence[Entry]
    rounds: Mapping[int, Round]
    results: Sequence[Result]

    def means(self, results: Sequence[Result]) -> dict[str, float]:
        """Give each bot's mean score in the standings that these results would make."""
        rows = standings(
            self.entries,
            results,
            self.tournament.ruleset,
            seed=self.tournament.seed,
            format=self.tournament.format,
            deals=self.tournament.deals,
        )
        return {row.bot_id: row.mean.mean for row in rows}

    def lead(self, one: str, other: str) -> Interval:
        """Tell by how much one bot's mean score is above another's, with the interval over rounds.

        A round has boards that no other has, and everybody plays as often as everybody else in it. So its
        standings are a tournament of their own, and the rounds' differences are independent.
        """
        by_round: dict[int, list[Result]] = defaultdict(list)
        for result in self.results:
            by_round[result.slot.round].append(result)
        means = [self.means(results) for results in by_round.values()]
        return t_interval([each[one] - each[other] for each in means])


def tournament_of(entries: int, **settings: Any) -> tuple[Tournament, list[Entry]]:
    """Make a tournament of River tables of four, unless the settings say otherwise, with entries `a`, `b`, …"""
    values = {
        "id": "trn_1",
        "name": "a simulation",
        "owner": None,
        "ruleset": "river",
        "options": {},
        "table_size": 4,
        "seed": 7,
        "root": "",
        "created_at": 0,
    }
    letters = "abcdefghijklmnopqrstuvwxyz"[:entries]
    entered = [Entry(bot_id=letter, name=letter, account_id=None, entered_at=0) for letter in letters]
    return Tournament(**values | settings), entered


def hold(tournament: Tournament, entries: Sequence[Entry], play: Play) -> Held:
    """Draw and play round after round, until nothing follows."""
    formats.check_settings(tournament)
    formats.check_start(tournament, entries)
    rounds: dict[int, Round] = {}
    results: dict[str, Result] = {}
    drawn = formats.Draw()
    while not drawn.is_last:
        read = partial(list, results.values())
        drawn = formats.draw(Situation(tournament, entries, rounds, frozenset(results), read))
        following = dict(zip(count(len(rounds) + 1), drawn.rounds, strict=False))
        rounds |= following
        results |= {place.name: play(place) for place in places(tournament.id, tournament.deals, following)}
    return Held(tournament, entries, rounds, list(results.values()))


def play_river(
    bots: Mapping[str, Bot],
    *,
    deals: str,
    rounds: int,
    options: Mapping[str, Any],
    is_aborted: Callable[[Attempt], bool] = lambda _: False,
) -> Held:
    """Hold a round robin of these bots; an attempt that `is_aborted` is, as bad luck has it, after its last card."""
    tournament, entries = tournament_of(len(bots), deals=deals, rounds=rounds, options=dict(options))
    match = local.Match(RULESETS["river"], options)
    # no clock: a busy machine makes nobody late
    players = {bot_id: replace(local.in_process(bot), clock=lambda: 0.0) for bot_id, bot in bots.items()}

    def play(place: Place) -> Result:
        attempt = Attempt(place, 0)
        while is_aborted(attempt):
            _play_attempt(match, tournament, players, attempt)
            attempt = attempt.following
        return _play_attempt(match, tournament, players, attempt)

    return hold(tournament, entries, play)


def _play_attempt(
    match: local.Match, tournament: Tournament, players: Mapping[str, local.InProcess], attempt: Attempt
) -> Result:
    slot, bots = attempt.slot, attempt.place.bots
    label = label_of(tournament.id, slot.board)
    secret = board_secret(ROOT_SECRET, slot.board)
    table = [players[bot_id] for bot_id in bots]
    game, record = local.play_game(match, table, game_id=attempt.game_id, secret=secret, label=label)
    meta = Game(
        id=attempt.game_id,
        ruleset=tournament.ruleset,
        options=record.options,
        seats=[Seat(kind="bot", name=bot_id, bot_id=bot_id, version="1") for bot_id in bots],
        label=label,
        commitment=record.fairness.commitment,
        entropy=record.fairness.entropy,
        slot=slot,
        created_at=0,
    )
    return result_of(meta, GameState.FINISHED, game, ended_at=0, is_rated=False)
