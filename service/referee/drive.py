"""Drives one game: decides what can be decided, and says what to commit and whom to ask. It never waits for anybody.

One step goes as far as it goes without a commit. Who drives the games (`run`) commits what the steps of many of them
came to in one round trip, tells each what became of its own, and has it take the next step.
"""

from __future__ import annotations

import logging
from typing import Final

from bot_sdk.events import Decided, Event, Outcome, Retired, quantised
from bot_sdk.results.values import GameState
from service.referee.asking import Asking
from service.referee.held import Held
from service.referee.measuring import kind_asked
from service.referee.referee import Referee
from service.referee.suspending import GONE
from service.referee.table import BOT, HOUSE, HUMAN, Table
from service.referee.verdicts import Verdict
from service.store.errors import DamagedError
from service.store.games import Commit, Proposal

logger: Final = logging.getLogger(__name__)

MOST_EVENTS_AT_ONCE: Final = 32
UNATTENDED: Final = "unattended"
"""What is counted where a decision is asked again only because we were busy with something else."""


class Step:
    """Events that a game's table has taken, to be committed; `made` are the decisions among them that were asked for.

    Each of these is its id, the event, and the answer that it was made from. `unasked` are seats of bots that owe a
    decision after the events and aren't being asked for it.
    """

    __slots__ = ("drive", "events", "made", "table", "unasked")

    def __init__(self, drive: Drive, table: Table) -> None:
        """Begin with no event."""
        self.drive = drive
        self.table = table
        self.events: list[Event] = []
        self.made: list[tuple[str, Decided, Verdict]] = []
        self.unasked: list[int] = []

    @property
    def proposal(self) -> Proposal:
        """What the store is asked for."""
        table = self.table
        return Proposal(table.id, self.events, table.length, self.drive.token, table.stamp, table.ending)


class Drive(Held):
    """One game in the hands of one run. `is_played`: its last event stands, what follows from that is to be done."""

    def __init__(self, referee: Referee, game_id: str, token: str) -> None:
        """Say which game; `lay` lays its table."""
        super().__init__(referee, game_id, token)
        self.is_played = False

    def step(self) -> Step | list[Asking]:
        """Go on until there is something to commit, or nothing to do but to ask, if there is anything, and to wait.

        With a step that is to be committed nothing else may be done with the game before `committed`.
        """
        while self.table is not None:
            table = self.table
            if self.is_played:
                self.is_played = False
                self._leave_ended(table.meta, table.ending or GameState.VOID, table)
            elif table.game.is_over:
                self._end_without_event(table)
            else:
                self._insist(lambda: self._referee.players.meet(table))  # noqa: B023 - called at once
                step = self._decide(table)
                if step.events:
                    return step
                broken = self._broken_house()
                if broken is not None:
                    self._fail(table, broken)
                else:
                    askings = self._to_ask(table, step)
                    if askings or self.asked:
                        return askings
                    self._wait_for_people(table)
        return []

    def answer(self, asking: Asking, verdict: Verdict) -> None:
        """Take the answer to what was asked, unless the game has lost the position it was about."""
        name = asking.decision_id
        if self.asked.get(name) is not asking:
            return
        del self.asked[name]
        if verdict.outcome is not Outcome.OUR_FAULT:
            self.answered[name] = verdict
        elif self.table is not None and not verdict.is_unattended:  # else no game could outlast a store that stalls
            logger.error("our fault in %s: %s", name, verdict.error, extra=self.about)
            self._referee.meters.our_faults.add(kind_asked(asking.endpoint))
            self._fail(self.table, name)
        else:
            self._referee.meters.our_faults.add(UNATTENDED)

    @property
    def has_people(self) -> bool:
        """Whether somebody's patience may end while bots are being asked."""
        table = self.table
        return table is not None and any(table.kind(seat) == HUMAN for seat in table.game.owed())

    # --- deciding -----------------------------------------------------------------------------------------------------

    def _decide(self, table: Table) -> Step:
        """Apply all that can be decided now, a bounded number of events."""
        step, game = Step(self, table), table.game
        while len(step.events) < MOST_EVENTS_AT_ONCE:
            event = self._next_event(table, step)
            if event is None:
                return step
            step.events += game.apply(event)
        step.unasked.clear()  # there may be more to decide
        return step

    def _next_event(self, table: Table, step: Step) -> Event | None:
        step.unasked.clear()
        for seat in table.game.owed():
            event = self._event_of(table, seat, step)
            if event is not None:
                return event
        return None

    def _event_of(self, table: Table, seat: int, step: Step) -> Event | None:
        game, kind = table.game, table.kinds[seat]
        if game.is_out(seat):
            return game.failed(seat, Outcome.RETIRED, ms=0.0)
        if kind == HUMAN:
            waited = quantised(table.meta.limits.human_budget_ms)
            return game.failed(seat, Outcome.LATE, ms=waited) if table.is_late(seat, self._moment()) else None
        why = self._referee.players.why_out(table, seat) if kind == BOT else None
        if why is not None:
            return Retired(seat, why)
        name = table.decision_id(seat)
        verdict = self.answered.get(name)
        if verdict is None:
            if self._referee.players.is_asked(table, seat):
                if name not in self.asked:
                    step.unasked.append(seat)
                return None
            verdict = self.answered[name] = self._decide_house(table, seat)
        if verdict.outcome is Outcome.OUR_FAULT:
            return None
        event = verdict.decided(game, seat)
        step.made.append((name, event, verdict))
        return event

    def _decide_house(self, table: Table, seat: int) -> Verdict:
        players = self._referee.players
        return self._insist(lambda: players.decide(table, seat))

    def _broken_house(self) -> str | None:
        """Take out a decision over which a house bot broke, so that it is asked again; bots' own never stand here."""
        for name, verdict in self.answered.items():
            if verdict.outcome is Outcome.OUR_FAULT:
                del self.answered[name]
                self._referee.meters.our_faults.add(HOUSE)
                return name
        return None

    def _to_ask(self, table: Table, step: Step) -> list[Asking]:
        """Give the decisions that bots owe and aren't being asked for."""
        askings = [self._referee.players.asking(table, seat) for seat in step.unasked]
        for asking in askings:
            self.asked[asking.decision_id] = asking
        return askings

    # --- what became of it --------------------------------------------------------------------------------------------

    def committed(self, step: Step, told: Commit | DamagedError) -> list[Asking]:
        """Hear what became of a step; lays the table anew where others were quicker. Raises the error, if it is one.

        Gives what there is to ask now; if that is nothing, another step is to be taken.
        """
        if isinstance(told, DamagedError):
            raise told
        if told.status == "committed":
            return self._go_on_from(step, told.at, told.length)
        if told.status == "length" or (told.status == "lease" and self._retake()):
            self._load()
        elif told.status == "lease":
            self._referee.meters.leases_lost.add()
            self.break_off()
        else:
            self._load()
        return []

    def _retake(self) -> bool:
        return self._insist(lambda: self._referee.leases.take(self.game_id, self.token))

    def _go_on_from(self, step: Step, at: int, length: int) -> list[Asking]:
        table = step.table
        table.committed(step.events, at)
        for name, event, verdict in step.made:
            del self.answered[name]
            if table.kinds[event.seat] == BOT:
                self._heard(table, name, event, verdict)
        if table.game.is_over:
            self.is_played = True
        elif length != table.length:
            self._load()
        elif not self.answered and not any(verdict.status == GONE for _, _, verdict in step.made):
            return self._to_ask(table, step)
        return []

    def _heard(self, table: Table, name: str, event: Decided, verdict: Verdict) -> None:
        referee = self._referee
        referee.aftermath.decided(table, name, event, verdict)
        if verdict.status == GONE:
            self._insist(lambda: referee.players.gone(table, event.seat))
