"""A whole game: a state, its log, and what decisions mean for the seats beyond the cards.

The one place where fallbacks, faults, retirement and endings are worked out. The referee drives it, offline play
drives it, a record is verified by replaying it. It asks nobody, keeps no time and draws no cards of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from enum import StrEnum
from typing import Any, Final

from bot_sdk.errors import SdkError
from bot_sdk.events import Decided, Event, Outcome, Retired, RetiredBecause
from bot_sdk.games.base import Packs, State
from bot_sdk.games.registry import Ruleset

MAX_FAULTS: Final = 5

OK, RETIRED, OUR_FAULT = Outcome.OK, Outcome.RETIRED, Outcome.OUR_FAULT
VALUES: Final = {outcome: outcome.value for outcome in Outcome}
"""Looked up once: an enum finds its members and their values by descriptors, and every decision asks for some."""


class LogError(SdkError, ValueError):
    """An event that can't follow what the log holds."""


class Ending(StrEnum):
    """How a finished game came to its end."""

    PLAY = "play"
    RETIREMENT = "retirement"
    FORFEIT = "forfeit"


class Game:
    """One game from its first deal on; the same events always make the same game.

    `forfeited` seats gave the game up before it began: in Seven Up it isn't played, in River they play fallbacks.
    """

    def __init__(
        self,
        ruleset: Ruleset,
        options: Mapping[str, Any],
        seats: int,
        packs: Packs,
        *,
        max_faults: int = MAX_FAULTS,
        forfeited: Iterable[int] = (),
    ) -> None:
        """Deal; raises `RulesetError` or `OptionError` for an impossible table."""
        self.ruleset = ruleset
        self.news: list[dict[str, Any]] = []
        """What everybody may know, in order: the public events of docs/contract.md."""
        self.log: list[Event] = []
        self.deal_ends: list[int] = []
        """For each deal that has ended, the length of the log then."""
        self.max_faults = max_faults
        self.forfeited = frozenset(forfeited)
        self.retired: list[RetiredBecause | None] = [None] * seats
        self.decisions = [0] * seats
        self.outcomes: list[dict[Outcome, int]] = [{} for _ in range(seats)]
        self.last: list[Decided | None] = [None] * seats
        """Each seat's latest decision, None before its first."""
        self.sealed = [0] * seats
        """How many decisions of each seat were hidden from the others when they were taken."""
        self.owed_since = [0] * seats
        """For each seat that owes a decision, the length of the log when it became owed."""
        self.void = False
        self._fell_to_retirement = False
        self._is_over = False
        self._faults = [0] * seats
        self._held: dict[int, dict[str, Any]] = {}
        self._told: dict[int, Decided] = {}
        self._owing: list[int] = []
        self.state: State = ruleset.new(options, seats, packs, self._tell)
        self._settle_forfeits()
        self._after_event(None)

    def copy(self) -> Game:
        """Make an independent game, which goes on from here by itself."""
        twin = copy(self)
        for name in ("news", "log", "deal_ends", "retired", "decisions", "last", "sealed", "owed_since", "_faults"):
            setattr(twin, name, getattr(self, name).copy())
        twin.outcomes = [counts.copy() for counts in self.outcomes]
        twin._held, twin._told, twin._owing = self._held.copy(), self._told.copy(), self._owing.copy()
        twin.state = self.state.copy()
        twin.state.tell = twin._tell
        return twin

    @property
    def seats(self) -> int:
        """The number of seats."""
        return self.state.seats

    @property
    def is_over(self) -> bool:
        """Whether no decision is owed any more."""
        return self._is_over

    @property
    def ending(self) -> Ending | None:
        """How the game ended; None while it runs and for a void game."""
        if not self.is_over or self.void:
            return None
        if self.forfeited:
            return Ending.FORFEIT
        return Ending.RETIREMENT if self._fell_to_retirement else Ending.PLAY

    @property
    def places(self) -> list[int] | None:
        """The place of each seat, those that retired or forfeited behind all others; None unless it ended well."""
        if self.ending is None:
            return None
        ranks = [(self.is_out(seat), -total) for seat, total in enumerate(self.state.totals)]
        return [1 + sum(other < own for other in ranks) for own in ranks]

    def version(self, audience: int | None) -> int:
        """Count what `audience` (a seat, or None for spectators) has been able to see; it never falls.

        A sealed decision of another seat counts only once it is revealed.
        """
        own = 0 if audience is None else self.sealed[audience] + (audience in self._held)
        return len(self.news) + own

    def retired_as_known(self, audience: int | None) -> list[RetiredBecause | None]:
        """Say of each seat why it retired, as far as `audience` (a seat, or None for spectators) may know.

        A retirement amid sealed decisions would tell what the seat's own is: others learn of it when they are revealed.
        """
        return [
            reason if seat == audience or seat not in self._held else None for seat, reason in enumerate(self.retired)
        ]

    def is_out(self, seat: int) -> bool:
        """Whether the seat isn't asked: it retired or forfeited."""
        return self.retired[seat] is not None or seat in self.forfeited

    def owed(self) -> list[int]:
        """List the seats that owe a decision; none once the game is over."""
        return [] if self._is_over else self.state.actors()

    def faults(self, seat: int) -> int:
        """Count the faults of a seat."""
        return self._faults[seat]

    def fallback(self, seat: int) -> str:
        """Give the action played for a seat that doesn't answer well: its first legal one.

        Raises `LookupError` for a seat that owes none.
        """
        return self.state.first_legal(seat)

    def judged(self, seat: int, action: str, *, ms: float, note: str | None = None) -> Decided:
        """Judge an answered action: the decision it makes, `illegal` with the fallback if it isn't legal."""
        if self.state.is_legal(seat, action):
            return Decided(seat, action, OK, ms, note)
        return self.failed(seat, Outcome.ILLEGAL, ms=ms, note=note)

    def failed(self, seat: int, outcome: Outcome, *, ms: float, note: str | None = None) -> Decided:
        """Give the decision of a seat that didn't answer well: the fallback, under the name of its fault."""
        return Decided(seat, self.fallback(seat), outcome, ms, note)

    def apply(self, event: Event) -> list[Event]:
        """Take one event; give it and what follows from it, all to be logged together.

        Raises `LogError` for an event that can't come now, `IllegalAction` for an illegal action; both change nothing.
        """
        if isinstance(event, Retired):
            self._retire(event)
            return [event]
        self._decide(event)
        if self._faults[event.seat] < self.max_faults or self.is_out(event.seat) or self._is_over:
            return [event]
        retired = Retired(event.seat, RetiredBecause.FAULTS)
        self._retire(retired)
        return [event, retired]

    def replay(self, log: Iterable[Event]) -> None:
        """Take a log as `apply` made it; raises `LogError` where one event doesn't follow from those before."""
        due: list[Event] = []
        for event in log:
            if due:
                self._expect(event, due.pop(0))
                continue
            due = self.apply(event)[1:]
        if due:
            raise LogError(f"expected {due[0]!r} at the end of the log, got nothing")

    def _expect(self, event: Event, due: Event) -> None:
        if event != due:
            raise LogError(f"expected {due!r} as event {len(self.log) - 1}, got {event!r}")

    def _decide(self, event: Decided) -> None:
        seat, outcome, state = event.seat, event.outcome, self.state
        if self._is_over or not state.mask(seat):
            raise LogError(f"expected a decision of a seat among {self.owed()}, got one of seat {seat!r}")
        if (outcome is RETIRED) != self.is_out(seat) or outcome is OUR_FAULT:
            raise LogError(f"expected another outcome for seat {seat}, got {outcome.value!r}")
        if outcome is not OK and event.action != self.fallback(seat):
            raise LogError(f"expected the fallback {self.fallback(seat)!r}, got {event.action!r}")
        sealed = state.is_sealed
        self._told[seat] = event
        state.apply(seat, event.action)
        self.log.append(event)
        self.decisions[seat] += 1
        self.sealed[seat] += sealed
        self.last[seat] = event
        self._count(seat, outcome)
        self._after_event(seat)

    def _count(self, seat: int, outcome: Outcome) -> None:
        counts = self.outcomes[seat]
        counts[outcome] = counts.get(outcome, 0) + 1
        if outcome is not OK and outcome.is_fault:
            self._faults[seat] += 1

    def _retire(self, event: Retired) -> None:
        if self.is_over or not 0 <= event.seat < self.seats or self.is_out(event.seat):
            raise LogError(f"expected a seat that still plays to retire, got {event!r}")
        if event.reason is RetiredBecause.FAULTS and self.faults(event.seat) < self.max_faults:
            raise LogError(f"expected {self.max_faults} faults before seat {event.seat} retires, got fewer")
        self.retired[event.seat] = event.reason
        self.log.append(event)
        if event.reason is RetiredBecause.FAULTS and self.deal_ends and self.deal_ends[-1] == len(self.log) - 1:
            self.deal_ends[-1] += 1  # it belongs to the deal whose last decision was the fault
        self._held[event.seat] = {"event": "retired", "seat": event.seat, "reason": event.reason.value}
        self._settle_retirement()
        self._after_event(None)

    def _settle_retirement(self) -> None:
        playing = [seat for seat in range(self.seats) if not self.is_out(seat)]
        if self.seats == 2:
            answered = bool(playing) and Outcome.OK in self.outcomes[playing[0]]
            self.void = not answered
            self._fell_to_retirement = answered
        else:
            self.void = not playing

    def _settle_forfeits(self) -> None:
        if len(self.forfeited) == self.seats:
            self.void = True
        elif self.forfeited and self.seats == 2:
            self._fell_to_retirement = True

    def _after_event(self, seat: int | None) -> None:
        """Bring up to date what follows from the state; `seat` has just decided, None if nobody has."""
        state = self.state
        self._is_over = state.is_over or self.void or self._fell_to_retirement
        while len(self.deal_ends) < len(state.deals):
            self.deal_ends.append(len(self.log))
        before, self._owing = self._owing, self.owed()
        for owing in self._owing:
            if owing == seat or owing not in before:
                self.owed_since[owing] = len(self.log)
        if self._held and (self._is_over or not state.is_sealed):
            self.news += self._held.values()
            self._held.clear()
        if self._is_over:
            self._tell_end()

    def _tell_end(self) -> None:
        self.news.append(
            {
                "event": "ended",
                "ended_by": self.ending and self.ending.value,
                "totals": self.state.totals.copy(),
                "places": self.places,
            }
        )

    def _tell(self, news: dict[str, Any]) -> None:
        if news["event"] == "action":
            decided = self._told[news["seat"]]
            news["outcome"] = VALUES[decided.outcome]
            news["ms"] = decided.ms
        self.news.append(news)
