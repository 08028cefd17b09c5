"""Matches in one process: players, boards with rotated seats, records of format 1 with their fairness complete.

Everything follows from the seed, except the times, and what bots do that aren't deterministic. Decisions are judged by
`Game` as in the arena. Bots that are asked over HTTP come from `bot_sdk.remote`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Protocol

from bot_sdk import messages
from bot_sdk.answering import FAILURES
from bot_sdk.bot import Bot
from bot_sdk.errors import SdkError
from bot_sdk.events import Decided, Outcome, quantised
from bot_sdk.games import record
from bot_sdk.games.game import MAX_FAULTS, Game
from bot_sdk.games.packs import committed, offline_secret
from bot_sdk.games.registry import Ruleset

ROTATIONS: Final = {
    2: (0, 1),
    4: (0, 1, 3, 2),
    5: (0, 1, 2, 4, 3),
    6: (0, 1, 4, 3, 5, 2),
    7: (0, 1, 2, 4, 3, 6, 5),
    8: (0, 1, 3, 6, 2, 7, 5, 4),
}
"""Who sits where on a rotated board: leg l seats player (a[s] + l) mod k at seat s, which levels neighbours."""

log = logging.getLogger("slagveld.local")


class MatchError(SdkError, ValueError):
    """A match that can't be played as asked."""


@dataclass(frozen=True, slots=True)
class Answered:
    """How one request for a decision went: an `action` if `outcome` is `ok`, not yet judged to be legal."""

    outcome: Outcome
    ms: float
    action: str = ""
    note: str | None = None


class Player(Protocol):
    """Who sits at a table of an offline match."""

    @property
    def shown(self) -> record.SeatShown:
        """The player as the record shows it."""

    def ask(self, decision: messages.Decision, /) -> Answered:
        """Ask for one decision; never raises for what the player does wrong."""

    def notify(self, message: messages.GameStarted | messages.GameEnded, /) -> None:
        """Tell the player of a beginning or an end; never raises for what the player does wrong."""


@dataclass(frozen=True, slots=True)
class InProcess:
    """A `Bot` of this process. Its failures have the outcomes that its own host would give them over HTTP.

    `key` seeds its draws together with the decision's id: nothing offline, where all follows from the seed.
    """

    bot: Bot
    shown: record.SeatShown
    clock: Callable[[], float] = time.perf_counter
    key: str = ""

    def ask(self, decision: messages.Decision, /) -> Answered:
        """Ask the bot; what raises is `bad_status`, what takes longer than the budget is `late`."""
        start = self.clock()
        try:
            reply = self.bot.answer(decision, key=self.key)
        except FAILURES:
            log.exception("%s failed to answer %s", self.bot.name, decision.decision_id)
            return Answered(Outcome.BAD_STATUS, 1000 * (self.clock() - start))
        ms = 1000 * (self.clock() - start)
        if ms > decision.budget_ms:
            return Answered(Outcome.LATE, ms)
        return Answered(Outcome.OK, ms, reply.action, reply.note)

    def notify(self, message: messages.GameStarted | messages.GameEnded, /) -> None:
        """Call the bot's hook."""
        try:
            if isinstance(message, messages.GameStarted):
                self.bot.game_started(message)
            else:
                self.bot.game_ended(message)
        except FAILURES:
            log.exception("%s failed to take a notice", self.bot.name)


@dataclass(frozen=True)
class Played:
    """One game of a match: `board` and `leg` from 0, `players[seat]` the index of the player who sat there.

    `answers` are those of the seat that was looked into, if any.
    """

    board: int
    leg: int
    players: tuple[int, ...]
    record: record.Record = field(repr=False)
    answers: Sequence[Answered] = field(default=(), repr=False)
    _game: Game | None = field(default=None, repr=False, compare=False)

    @cached_property
    def game(self) -> Game:
        """The game as it was played, replayed from its record where that was elsewhere."""
        return self._game or record.verify(self.record)


@dataclass(frozen=True, slots=True)
class Match:
    """What is played: a ruleset, its options, and what the games allow their seats."""

    ruleset: Ruleset
    options: Mapping[str, Any] = field(default_factory=dict)
    budget_ms: int = messages.BUDGET_MS
    first_budget_ms: int = messages.FIRST_BUDGET_MS
    max_faults: int = MAX_FAULTS

    @property
    def limits(self) -> record.LimitsShown:
        """The limits as a record shows them."""
        return record.LimitsShown(self.budget_ms, self.first_budget_ms, self.max_faults)


def play(match: Match, players: Sequence[Player], *, games: int, seed: str = "0") -> Iterator[Played]:
    """Play `games` games one after another, each board once with every rotation of the seats.

    `players` fill the table: as many as it has seats. Raises `RulesetError` or `OptionError` before the first game
    for a table that can't be, `FairnessError` for a seed that is no text.
    """
    match.ruleset.resolve(match.options, len(players))
    for number in range(games):
        at = place(number, len(players))
        game, made = play_number(match, players, number, seed)
        yield Played(at.board, at.leg, at.players, made, _game=game)


@dataclass(frozen=True, slots=True)
class Place:
    """Where one game stands in a match: its board, its leg, and which player sits at each seat."""

    board: int
    leg: int
    players: tuple[int, ...]


def place(number: int, seats: int) -> Place:
    """Find the place of game `number` of a match, from 0: each board is played once with every rotation."""
    board, leg = divmod(number, seats)
    order = ROTATIONS.get(seats, tuple(range(seats)))
    return Place(board, leg, tuple((at + leg) % seats for at in order))


def play_number(match: Match, players: Sequence[Player], number: int, seed: str) -> tuple[Game, record.Record]:
    """Play game `number` of a match; it doesn't depend on the others. Raises `FairnessError` for a seed as `play`."""
    at = place(number, len(players))
    secret, label = offline_secret(seed, at.board)
    table = [players[index] for index in at.players]
    return play_game(match, table, game_id=f"{label}.{at.leg}", secret=secret, label=label)


def seated(players: Sequence[Player], seats: int) -> list[Player]:
    """Fill a table of `seats` by repeating the players in turn; raises `MatchError` if there are too many."""
    if not 0 < len(players) <= seats:
        raise MatchError(f"expected 1 to {seats} players for {seats} seats, got {len(players)}")
    return [players[seat % len(players)] for seat in range(seats)]


def play_game(
    match: Match, players: Sequence[Player], *, game_id: str, secret: bytes, label: str
) -> tuple[Game, record.Record]:
    """Play one game with the packs that `secret` and `label` make, and give it with its record."""
    entropy = [""] * len(players)
    packs = committed(secret, label, entropy)
    game = Game(match.ruleset, match.options, len(players), packs, max_faults=match.max_faults)
    names = [player.shown.name for player in players]
    options = dict(game.state.options)  # whatever a bot does to its copy, these rules stay
    info = messages.GameInfo(game_id, match.ruleset.name, options, names)
    for seat, player in enumerate(players):
        player.notify(messages.GameStarted(game=info, seat=seat))
    while owed := game.owed():
        game.apply(_decided(match, game, info, owed[0], players[owed[0]]))
    status: record.Status = "void" if game.void else "finished"
    made = record.build(
        game,
        game_id=game_id,
        status=status,
        limits=match.limits,
        seats=[player.shown for player in players],
        label=label,
        secret=secret,
        entropy=entropy,
    )
    for seat, player in enumerate(players):
        player.notify(_ended(game, info, seat, status))
    return game, made


def _decided(match: Match, game: Game, info: messages.GameInfo, seat: int, player: Player) -> Decided:
    if game.is_out(seat):
        return game.failed(seat, Outcome.RETIRED, ms=0.0)
    budget_ms = match.budget_ms if game.decisions[seat] else match.first_budget_ms
    answered = player.ask(messages.decision_of(game, info, seat, budget_ms))
    ms = quantised(answered.ms)
    if answered.outcome is Outcome.OK:
        return game.judged(seat, answered.action, ms=ms, note=answered.note)
    return game.failed(seat, answered.outcome, ms=ms)


def _ended(game: Game, info: messages.GameInfo, seat: int, status: str) -> messages.GameEnded:
    return messages.GameEnded(
        game=info,
        seat=seat,
        state=status,
        totals=game.state.totals.copy(),
        places=game.places,
        outcomes={outcome.value: count for outcome, count in game.outcomes[seat].items()},
        record_url="",
    )


def in_process(bot: Bot, *, bot_id: str | None = None) -> InProcess:
    """Make a player of a bot; with `bot_id` it is a house bot."""
    shown = record.SeatShown(bot.name, "house" if bot_id else "bot", bot_id, bot.version)
    return InProcess(bot, shown)
