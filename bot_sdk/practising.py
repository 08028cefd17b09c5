"""Practice: unrated games of a bot of one's own against house bots, at an arena, on demand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from bot_sdk.answers import BotView, GameView
from bot_sdk.bots import PREFIX
from bot_sdk.client import Arena, ArenaError
from bot_sdk.client.orders import SeatNew
from bot_sdk.events import Outcome
from bot_sdk.following import PASSING, PATIENCE_S
from bot_sdk.games import record
from bot_sdk.games.registry import ruleset as rules_of
from bot_sdk.results.intervals import Interval, share_interval
from bot_sdk.results.values import GameState

PAUSE_S: Final = 0.3
"""How long to wait before the games are looked at again."""
TIMEOUT_S: Final = 600.0
NO_FAULTS: Final = frozenset(outcome.value for outcome in Outcome if not outcome.is_fault)
_BUSY: Final = frozenset({"bot_busy", "quota_games"})
"""Refusals of a game that are over when another has ended."""


class Table(Struct, frozen=True, kw_only=True):
    """What is played: `against` names house bots, who sit down in turn until the `seats` are taken."""

    ruleset: str
    against: Sequence[str]
    seats: int
    options: Mapping[str, Any]

    def seated(self, bot_id: str, seat: int) -> list[SeatNew]:
        """Give the seats of a game with the bot in one of them."""
        names = [self.against[at % len(self.against)] for at in range(self.seats - 1)]
        others: list[SeatNew] = [{"kind": "house", "name": name} for name in names]
        return [*others[:seat], {"kind": "bot", "bot_id": bot_id}, *others[seat:]]


class Practised(Struct, frozen=True, kw_only=True):
    """A game that has ended: the bot's place and all totals by seat, if it came to a result, and its own outcomes."""

    game_id: str
    seat: int
    against: list[str]
    state: str
    ended_by: str | None
    place: int | None
    won: float | None
    """1 for first place, less if it is shared."""
    totals: list[int] | None
    outcomes: dict[str, int]


def table(bot: BotView, ruleset: str | None, against: Sequence[str], seats: int | None, options: Any) -> Table:
    """Lay a table for a bot: of its first ruleset and as small as the rules allow, unless said otherwise.

    Raises `ArenaError` for a ruleset that the bot doesn't play.
    """
    name = ruleset or bot.rulesets[0]
    if name not in bot.rulesets:
        plays = ", ".join(bot.rulesets)
        raise ArenaError(0, "invalid", f"expected a ruleset that {bot.name} plays, got {name!r:.40}; it plays {plays}")
    names = [each.removeprefix(PREFIX) for each in against]
    return Table(ruleset=name, against=names, seats=seats or rules_of(name).min_seats, options=options)


def houses_for(arena: Arena, at: Table) -> list[str]:
    """List the ids of the arena's house bots for a ruleset, those of the table first; raises `ArenaError`."""
    there = [house.id for house in arena.bots(kind="house", ruleset=at.ruleset)]
    return sorted(there, key=lambda name: name.removeprefix(PREFIX) not in at.against)


class Practice:
    """So many games at a table, some at once, the bot taking the seats in turn."""

    def __init__(
        self,
        arena: Arena,
        bot: BotView,
        at: Table,
        *,
        sleep: Callable[[float], None],
        clock: Callable[[], float],
    ) -> None:
        """Lay the table; nothing is sent yet. `clock` is in seconds and never goes back."""
        self._arena = arena
        self._bot = bot
        self._table = at
        self._sleep = sleep
        self._clock = clock
        self._running: dict[str, int] = {}
        """The bot's seat in each game that runs."""
        self._heard = 0.0
        """When the arena last told of the games."""

    def play(self, games: int, *, at_once: int, timeout_s: float = TIMEOUT_S) -> Iterator[Practised]:
        """Play `games` and give each when it has ended.

        Raises `ArenaError`: what the arena answers, also when it has been away for a minute, and `timeout` when no game
        began or ended for `timeout_s`. Games that run then go on by themselves.
        """
        begun, alive = 0, self._clock()
        self._heard = alive
        while begun < games or self._running:
            while begun < games and len(self._running) < at_once and self._begin(begun % self._table.seats):
                begun, alive = begun + 1, self._clock()
            ended = self._ended()
            yield from ended
            if ended:
                alive = self._clock()
            elif self._clock() - alive > timeout_s:
                raise ArenaError(0, "timeout", f"expected a game to end within {timeout_s:g} s{self._names()}")
            else:
                self._sleep(PAUSE_S)

    def _begin(self, seat: int) -> bool:
        """Begin a game; False if the bot or the account has as many as it may, which may be others' games too."""
        seats = self._table.seated(self._bot.id, seat)
        try:
            made = self._arena.create_game(self._table.ruleset, seats, options=self._table.options)
        except ArenaError as error:
            if error.code not in _BUSY:
                raise
            return False
        self._running[made.id] = seat
        return True

    def _ended(self) -> list[Practised]:
        """Look which games have ended; an arena that is away for a while tells of none."""
        try:
            found = [self._practised(self._arena.game(name), self._running[name]) for name in self._over()]
        except ArenaError as error:
            if error.status not in PASSING or self._clock() - self._heard > PATIENCE_S:
                raise
            return []
        self._heard = self._clock()
        for one in found:
            del self._running[one.game_id]
        return found

    def _over(self) -> Iterator[str]:
        """Give the ids of games that are over; the account's newest are listed first, so one page tells of most."""
        missing = set(self._running)
        for game in self._arena.games(owner="me") if missing else ():
            if game.id in missing:
                missing.remove(game.id)
                if GameState(game.state).is_end:
                    yield game.id
            if not missing:
                return

    def _practised(self, view: GameView, seat: int) -> Practised:
        places = view.places
        return Practised(
            game_id=view.id,
            seat=seat,
            against=[each.name for at, each in enumerate(view.seats) if at != seat],
            state=view.state,
            ended_by=view.ended_by,
            place=places[seat] if places else None,
            won=(1 / places.count(1) if places[seat] == 1 else 0.0) if places else None,
            totals=view.totals,
            outcomes=self._outcomes(view.id, seat),
        )

    def _outcomes(self, game_id: str, seat: int) -> dict[str, int]:
        """Count how the bot's decisions went, by the record; a game that was called off at once has none."""
        try:
            found = record.read(self._arena.record(game_id))
        except ArenaError as error:
            if error.status != 409:
                raise
            return {}
        events = (event for deal in found.deals for event in deal.events)
        return dict(Counter(event["outcome"] for event in events if event["seat"] == seat and "outcome" in event))

    def _names(self) -> str:
        return f"; those that run: {', '.join(self._running)}" if self._running else ""


def wins(played: Sequence[Practised]) -> Interval:
    """Give the mean of first places over the games that came to a result, with its interval."""
    return share_interval([one.won for one in played if one.won is not None])


def faults(played: Sequence[Practised]) -> dict[str, int]:
    """Count the decisions of all games that went wrong, by outcome."""
    counts = Counter[str]()
    for one in played:
        counts.update(one.outcomes)
    return {outcome: times for outcome, times in counts.items() if outcome not in NO_FAULTS}
