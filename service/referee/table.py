"""One stored game, replayed: its meta, its rules and the time of each event. It asks nobody and writes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from bot_sdk.errors import SdkError
from bot_sdk.events import Event
from bot_sdk.games import record
from bot_sdk.games.base import Packs
from bot_sdk.games.game import Game, LogError
from bot_sdk.games.packs import committed
from bot_sdk.games.registry import pinned
from bot_sdk.messages import Decision, GameInfo, decision_id, decision_of
from bot_sdk.results.values import GameState
from bot_sdk.sending import Sender, SentDecision
from service.store import entities
from service.store.clock import Moment

HUMAN: Final = "human"
BOT: Final = "bot"
HOUSE: Final = "house"
OPEN: Final = "open"

Logged = tuple[int, Event]
"""An event and the store's time at which it was committed, in Unix milliseconds."""


@dataclass(slots=True)
class Table:
    """A game as it stands after the events it has been given.

    `times[n]` is when the log came to hold n events; `times[0]` is the start. `kinds` says of each seat who sits there:
    bot, house, human or open; `bots` are the ids of the bots, `info` is what messages say of the game.
    """

    meta: entities.Game
    secret: bytes
    game: Game
    times: list[int]
    kinds: list[str] = field(init=False)
    bots: list[str] = field(init=False)
    info: GameInfo = field(init=False)
    _sender: Sender | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        """Work out what stays as it is."""
        meta = self.meta
        self.kinds = [seat.kind for seat in meta.seats]
        self.bots = [seat.bot_id or "" for seat in meta.seats if seat.kind == BOT]
        self.info = GameInfo(meta.id, meta.ruleset, self.game.state.options, [seat.name for seat in meta.seats])

    @classmethod
    def replayed(cls, meta: entities.Game, log: Sequence[Logged], secret: bytes) -> Table:
        """Deal and replay; raises `LogError` for a log that these rules didn't make.

        It doesn't say what they expected: that names cards nobody may see, and errors come into logs. Raises
        `RulesVersionError` for rules that this release doesn't know.
        """
        game = Game(
            pinned(meta.ruleset, meta.rules),
            meta.options,
            len(meta.seats),
            _packs(meta, secret),
            max_faults=meta.limits.max_faults,
            forfeited=meta.forfeited,
        )
        try:
            game.replay(event for _, event in log)
        except SdkError as error:
            kind = type(error).__name__
            raise LogError(f"event {len(game.log)} of game {meta.id} can't follow those before: {kind}") from None
        return cls(meta, secret, game, [meta.started_at or meta.created_at, *(at for at, _ in log)])

    @property
    def id(self) -> str:
        """The id of the game."""
        return self.meta.id

    @property
    def length(self) -> int:
        """How many events are known to be committed."""
        return len(self.times) - 1

    @property
    def stamp(self) -> int | None:
        """When the last event known to be committed was; None before the first."""
        return self.times[-1] if self.length else None

    @property
    def ending(self) -> GameState | None:
        """The state the game's end puts it in; None while it goes on."""
        if not self.game.is_over:
            return None
        return GameState.VOID if self.game.void else GameState.FINISHED

    def committed(self, events: Sequence[Event], at: int) -> None:
        """Note that these events, already applied, stand in the log since `at`."""
        self.times += [at] * len(events)

    def copy(self) -> Table:
        """Make an independent table under the same meta."""
        return Table(self.meta, self.secret, self.game.copy(), self.times.copy())

    def followed_by(self, meta: entities.Game, tail: Sequence[Logged]) -> Table:
        """Give the table as it stands under that meta after these events of the log, too; this one stays as it is.

        Raises SdkError for events that can't follow.
        """
        if not tail:
            return Table(meta, self.secret, self.game, self.times)
        game = self.game.copy()
        game.replay(event for _, event in tail)
        return Table(meta, self.secret, game, [*self.times, *(at for at, _ in tail)])

    def follows(self, earlier: Table) -> bool:
        """Whether the log still holds all that was known to be committed `earlier`."""
        return self.game.log[: earlier.length] == earlier.game.log[: earlier.length]

    def kind(self, seat: int) -> str:
        """Say who sits there: bot, house, human or open."""
        return self.kinds[seat]

    def seats_of(self, kind: str) -> list[int]:
        """List the seats of one kind."""
        return [seat for seat, each in enumerate(self.kinds) if each == kind]

    def decision_id(self, seat: int) -> str:
        """Name the decision that the seat owes, or will owe next."""
        return decision_id(self.meta.id, seat, self.game.decisions[seat])

    def owed_since(self, seat: int, moment: Moment) -> int:
        """Give the time, Unix milliseconds, since which a seat has owed its decision, by the clock as it is set now."""
        return moment.adjusted(self.times[self.game.owed_since[seat]])

    def deadline(self, seat: int, moment: Moment) -> int:
        """Give the time, likewise, by which a human must have decided."""
        return self.owed_since(seat, moment) + self.meta.limits.human_budget_ms

    def is_late(self, seat: int, moment: Moment) -> bool:
        """Whether a human's time is up; it hasn't begun while the event that made the seat owe isn't committed."""
        return self.game.owed_since[seat] <= self.length and moment.now >= self.deadline(seat, moment)

    def decision(self, seat: int) -> Decision:
        """Build the decision that a bot's seat owes, for a bot of this process."""
        return decision_of(self.game, self.info, seat, self._budget_ms(seat))

    def request(self, seat: int) -> SentDecision:
        """Build the same for sending."""
        if self._sender is None:
            self._sender = Sender(self.game, self.info)
        return self._sender.decision(seat, self._budget_ms(seat))

    def _budget_ms(self, seat: int) -> int:
        """Give the time that a bot's seat has for its decision: its first one has a budget of its own."""
        limits = self.meta.limits
        return limits.budget_ms if self.game.decisions[seat] else limits.first_budget_ms

    def record(self, status: record.Status) -> record.Record:
        """Make the record of the game, which has ended as `status`."""
        meta = self.meta
        return record.build(
            self.game,
            game_id=meta.id,
            status=status,
            limits=record.LimitsShown(meta.limits.budget_ms, meta.limits.first_budget_ms, meta.limits.max_faults),
            seats=[
                record.SeatShown(seat.name, seat.kind, seat.bot_id, seat.version)  # type: ignore[arg-type]  # not open
                for seat in meta.seats
            ],
            label=meta.label,
            secret=self.secret,
            entropy=meta.entropy,
        )


def _packs(meta: entities.Game, secret: bytes) -> Packs:
    return committed(secret, meta.label, meta.entropy)
