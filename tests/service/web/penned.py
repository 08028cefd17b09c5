"""Tournaments from a pen: rounds as they are really drawn, results without a game, in any format and state."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from random import Random
from typing import Any

from msgspec.structs import replace

from bot_sdk.games.packs import root_commitment
from bot_sdk.games.registry import ruleset
from bot_sdk.results.values import Entry, GameState, Result
from service.arena.starting import Attempt
from service.store.entities import Bot, BotState, Tournament, TournamentState
from service.store.store import Store
from service.tournaments.boards import Place, places
from service.tournaments.formats import draw
from service.tournaments.situation import Situation

NOW = 1_700_000_000_000
ROOT_SECRET = bytes(range(32))
_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"


def id_of(prefix: str, number: int) -> str:
    """Give an id as routes know them."""
    high, low = divmod(number, 32)
    return f"{prefix}_{'a' * 24}{_LETTERS[high]}{_LETTERS[low]}"


@dataclasses.dataclass
class Pen:
    """Writes tournaments into a store, each with an id of its own."""

    store: Store
    count: itertools.count[int] = dataclasses.field(default_factory=lambda: itertools.count(1))

    def open(self, entries: int, *, names: Callable[[int], str] = "bot {}".format, **changes: Any) -> Tournament:
        """Make a tournament with entries, open still."""
        number = next(self.count)
        tournament_id = id_of("trn", number)
        rules = ruleset(changes.get("ruleset", "seven_up"))
        size = changes.setdefault("table_size", 2 if rules.name == "seven_up" else 4)
        values: dict[str, Any] = {
            "id": tournament_id,
            "name": f"night {number}",
            "owner": "acc_1",
            "ruleset": rules.name,
            "options": rules.resolve({}, size),
            "deals": "fresh",
            "seed": 1,
            "root": root_commitment(ROOT_SECRET, tournament_id),
            "created_at": NOW + number,
        }
        tournament = Tournament(**(values | changes | {"state": TournamentState.OPEN}))
        assert self.store.tournaments.create(tournament, secret=ROOT_SECRET)
        for at in range(entries):
            entry = Entry(bot_id=id_of("bot", at), name=names(at), account_id="acc_1", entered_at=NOW + at)
            assert self.store.tournaments.enter(tournament_id, entry, most=256) == "done"
            self._register(entry)
        return tournament

    def _register(self, entry: Entry) -> None:
        bot = Bot(
            id=entry.bot_id,
            account_id="acc_1",
            name=entry.name,
            url="http://127.0.0.1:9/",
            rulesets=["seven_up", "river"],
            state=BotState.ACTIVE,
            version="1",
            created_at=NOW,
            activated_at=NOW,
        )
        self.store.bots.create(bot, secret="whsec_" + "A" * 32)

    def play(
        self,
        entries: int,
        *,
        state: TournamentState = TournamentState.RUNNING,
        games: int | None = None,
        shut: Callable[[str], bool] = lambda _board: True,
        result: Callable[[Result], Result] = lambda result: result,
        **changes: Any,
    ) -> str:
        """Make one that was started, with the results of its first `games` games; give its id.

        Boards of which `shut` is true are closed; `result` may change what is written.
        """
        tournament = self.open(entries, **changes)
        self.move(tournament.id, state=TournamentState.RUNNING, started_at=NOW, resumed_at=NOW)
        left = itertools.count() if games is None else iter(range(games))
        is_last = False
        while not is_last:
            drawn = draw(self._situation(tournament.id))
            numbers = itertools.count(len(self.store.tournaments.rounds(tournament.id)) + 1)
            added = dict(zip(numbers, drawn.rounds, strict=False))
            for number, each in added.items():
                self.store.tournaments.put_round(tournament.id, number, each)
            went = [self._write(place, left, result) for place in places(tournament.id, tournament.deals, added)]
            is_last = drawn.is_last or not added or not all(went)
        boards = {found.slot.board for found in self.store.tournaments.results(tournament.id)}
        for board in filter(shut, sorted(boards)):
            self.store.tournaments.close_board(tournament.id, board)
        if state is not TournamentState.RUNNING:
            ended = {"ended_at": NOW + 3_600_000, "reason": "all its games are over"} if state.is_end else {}
            self.move(tournament.id, state=state, **ended)
        return tournament.id

    def move(self, tournament_id: str, **changes: Any) -> None:
        """Change what is kept of a tournament."""
        self.store.tournaments.change(tournament_id, lambda old: replace(old, **changes))

    def _situation(self, tournament_id: str) -> Situation:
        tournaments = self.store.tournaments
        return Situation(
            tournaments.get(tournament_id),
            tournaments.entries(tournament_id),
            tournaments.rounds(tournament_id),
            frozenset(tournaments.done(tournament_id)),
            lambda: tournaments.results(tournament_id),
        )

    def _write(self, place: Place, left: Any, result: Callable[[Result], Result]) -> bool:
        if next(left, None) is None:
            return False
        attempt = Attempt(place, 0)
        self.store.tournaments.claim(place.tournament_id, attempt.slot)
        return self.store.tournaments.put_result(result(penned(attempt)))


def penned(attempt: Attempt) -> Result:
    """Make up how a game ended: the lower the id, the better the bot, mostly."""
    place = attempt.place
    chance = Random(attempt.game_id)
    strength = {bot: (ord(bot[-1]) + 32 * ord(bot[-2])) / 40 + chance.expovariate(0.7) for bot in place.bots}
    ranked = sorted(place.bots, key=strength.__getitem__)
    top = 7 if len(place.bots) == 2 else 80
    totals = [top - ranked.index(bot) * chance.randint(1, 5) for bot in place.bots]
    return Result(
        game_id=attempt.game_id,
        state=GameState.FINISHED,
        slot=attempt.slot,
        bots=list(place.bots),
        versions=["1"] * len(place.bots),
        totals=totals,
        places=[1 + sum(other > mine for other in totals) for mine in totals],
        retired=[False] * len(place.bots),
        forfeited=[],
        deals=6,
        outcomes=[{"ok": 33, "late": 1} if chance.random() < 0.02 else {"ok": 34} for _ in place.bots],
        exact_bids=None if len(place.bots) == 2 else [3] * len(place.bots),
        ended_by="play",
        ended_at=NOW + 1_000 * place.round,
        is_rated=True,
    )
