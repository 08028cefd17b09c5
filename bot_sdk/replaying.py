"""The steps of a recorded game, and its decisions asked again: the very messages that the seats got."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from bot_sdk import messages
from bot_sdk.errors import SdkError
from bot_sdk.events import Decided, Event, Outcome, Retired
from bot_sdk.games import record

_LONGEST_PLACE: Final = 20


class NoSuchDecision(SdkError, LookupError):  # noqa: N818 - says what is missing
    """A place in a record where nobody was asked."""


def choose(lines: Iterable[bytes], game_id: str | None = None) -> record.Record:
    """Read the record of a game, or the only one if none is named, from what a file of records holds.

    Raises `RecordError`, or `NoSuchDecision` if that isn't one record.
    """
    found = (record.read(line) for _, line in record.lines(lines))
    wanted = (one for one in found if game_id in {None, one.game_id})
    chosen = next(wanted, None)
    if chosen is None:
        raise NoSuchDecision(f"expected the record of {game_id or 'a game'}, got none")
    if game_id is None and (second := next(wanted, None)):
        games = f"{chosen.game_id}, {second.game_id} or another"
        raise NoSuchDecision(f"expected one record, got several: name a game, {games}")
    return chosen


def place_in(text: str) -> tuple[int, int]:
    """Read a place such as ``3.17``, the event 17 of deal 3; raises `NoSuchDecision` for anything else."""
    deal, _, at = text.partition(".")
    if not (deal.isdecimal() and at.isdecimal() and deal.isascii() and at.isascii()) or len(text) > _LONGEST_PLACE:
        raise NoSuchDecision(f"expected DEAL.EVENT such as 3.17, got {text!r:.80}")
    return int(deal), int(at)


@dataclass(frozen=True, slots=True)
class Step:
    """One event of a record: number `at` of deal `deal`, both from 0.

    `message` is what the seat was asked with, None for a seat that wasn't; `news` what everybody learned by the event.
    """

    deal: int
    at: int
    event: Event
    message: messages.Decision | None
    news: list[dict[str, Any]]


class Steps:
    """A record, event by event. `opening` is what everybody knew before the first."""

    def __init__(self, recorded: record.Record) -> None:
        """Verify the record; raises `RecordError`."""
        record.verify(recorded)
        self._record = recorded
        self._game = record.begun(recorded)
        names = [seat.name for seat in recorded.seats]
        self._info = messages.GameInfo(recorded.game_id, recorded.ruleset, dict(self._game.state.options), names)
        self.opening = self._game.news.copy()
        self._told = len(self.opening)

    def __iter__(self) -> Iterator[Step]:
        """Go through the events, once."""
        due: list[Event] = []
        for number, deal in enumerate(self._record.deals):
            for at, shown in enumerate(deal.events):
                event = record.event_of(shown)
                message = self._message(event)
                if due and event == due[0]:
                    due.pop(0)
                else:
                    due = self._game.apply(event)[1:]
                yield Step(number, at, event, message, self._news())

    def _message(self, event: Event) -> messages.Decision | None:
        if isinstance(event, Retired) or event.outcome is Outcome.RETIRED:
            return None
        limits = self._record.limits
        budget_ms = limits.budget_ms if self._game.decisions[event.seat] else limits.first_budget_ms
        return messages.decision_of(self._game, self._info, event.seat, budget_ms)

    def _news(self) -> list[dict[str, Any]]:
        news = self._game.news[self._told :]
        self._told = len(self._game.news)
        return news


@dataclass(frozen=True, slots=True)
class Recorded:
    """A decision that was asked for, and what came of it."""

    deal: int
    at: int
    message: messages.Decision
    decided: Decided


def decisions(recorded: record.Record) -> Iterator[Recorded]:
    """Give the decisions that seats were asked for, in their order; raises `RecordError`."""
    for step in Steps(recorded):
        if step.message is not None and isinstance(step.event, Decided):
            yield Recorded(step.deal, step.at, step.message, step.event)


def decision_at(recorded: record.Record, deal: int, at: int) -> Recorded:
    """Find the decision that event `at` of a deal is, both from 0; raises `RecordError`, or `NoSuchDecision`."""
    if not 0 <= deal < len(recorded.deals):
        raise NoSuchDecision(f"expected a deal from 0 to {len(recorded.deals) - 1}, got {deal}")
    events = recorded.deals[deal].events
    if not 0 <= at < len(events):
        there = f"from 0 to {len(events) - 1}" if events else "of another deal, since this one has none"
        raise NoSuchDecision(f"expected an event of deal {deal} {there}, got {at}")
    for decision in decisions(recorded):
        if (decision.deal, decision.at) == (deal, at):
            return decision
    raise NoSuchDecision(f"expected a decision that was asked for, got {events[at]}, when nobody was")
