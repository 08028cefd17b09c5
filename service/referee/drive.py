"""Drives one game: decides what can be decided, commits it, and says whom to ask next. It never waits for anybody."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from bot_sdk.errors import SdkError
from bot_sdk.events import Decided, Event, Outcome, Retired, RetiredBecause, quantised
from bot_sdk.messages import decision_id
from bot_sdk.results.values import GameState
from service.referee.asking import Asking
from service.referee.referee import Referee
from service.referee.suspending import GONE
from service.referee.table import BOT, HOUSE, HUMAN, Table
from service.referee.tries import Tries
from service.referee.verdicts import Verdict
from service.store import due
from service.store.clock import Moment
from service.store.entities import Game
from service.store.errors import DamagedError

logger: Final = logging.getLogger(__name__)

MAX_TRIES: Final = 3
MOST_EVENTS_AT_ONCE: Final = 32


class Drive:
    """One game in the hands of one shard, whose `token` holds the lease.

    `table` is None once the game has left these hands: it is over, another's, or waits for people only.
    """

    def __init__(self, referee: Referee, game_id: str, token: str) -> None:
        """Say which game; `take` takes it."""
        self._referee = referee
        self._token = token
        self.game_id = game_id
        self.table: Table | None = None
        self.asked: dict[str, Asking] = {}
        self._answered: dict[str, Verdict] = {}
        self._tries = Tries()

    # --- taking and leaving -------------------------------------------------------------------------------------------

    def take(self) -> None:
        """Take the lease and replay; leaves at once if the game is another's, or doesn't run."""
        referee = self._referee
        if not referee.insist(lambda: referee.leases.take(self.game_id, self._token)):
            return
        self._load()
        if self.table is None:
            return
        self._tries.begin(self.table.length)
        if self._try(self.table) and self.table.length == 0 and not self.table.game.is_over:
            table = self.table
            referee.insist(lambda: referee.aftermath.began(table))

    def look_again(self) -> None:
        """Lay the table anew: somebody has acted, and says so before the next commit would."""
        if self.table is not None:
            self._load()

    def hand_back(self) -> None:
        """Give the game back where it stands, to be taken up by another at once."""
        referee, table = self._referee, self.table
        if table is None:
            return
        self.table = None
        now = referee.insist(referee.due.now)
        referee.insist(lambda: referee.games.forget_stalls(self.game_id))
        referee.insist(lambda: referee.leases.give_back(self.game_id, self._token, due_at=now))

    def break_off(self) -> None:
        """Leave the game to whoever takes it when the lease has run out; the try stays counted."""
        self.table = None
        self._referee.leases.forget(self.game_id, self._token)

    def _try(self, table: Table) -> bool:
        """Count a try at this point of the game; after the third that came to nothing the game is aborted.

        A worker that dies leaves its try counted, one that hands the game back in order takes it back.
        """
        referee = self._referee
        if referee.insist(lambda: referee.games.stall(self.game_id, table.length)) <= MAX_TRIES:
            return True
        logger.error("game %s is aborted: %d tries at event %d came to nothing", self.game_id, MAX_TRIES, table.length)
        referee.insist(lambda: referee.games.end(self.game_id, GameState.ABORTED))
        self._load()
        return False

    def _fail(self, table: Table, name: str) -> None:
        """Note that asking for a decision came to nothing by our own fault; it is asked again, thrice at most."""
        for _ in range(self._tries.failed(table.length, name)):
            if not self._try(table):
                return

    def _load(self) -> None:
        """Replay the game as it stands in the store, or leave it if there is nothing to drive."""
        referee = self._referee
        before, self.table = self.table, None
        try:
            loaded = referee.insist(lambda: referee.games.load(self.game_id))
            table = Table.replayed(*loaded) if loaded else None
        except (SdkError, DamagedError):
            logger.exception("game %s can't be replayed", self.game_id)
            self._give_up()
            return
        if table is None or table.meta.state is GameState.OPEN:
            referee.insist(lambda: referee.leases.give_back(self.game_id, self._token))
            return
        if before is not None and not table.follows(before):
            # A store that lost its last second: what was asked and answered since was about another position.
            self.asked.clear()
            self._answered.clear()
        self.table = table
        if table.meta.state.is_end:
            self._leave_ended(table.meta, table.meta.state, table)

    def _give_up(self) -> None:
        """Abort a game that can't be replayed, unless it has ended already.

        What can't even be read is left for good: its tournament, should it have one, finds it so and plays it again.
        """
        referee = self._referee
        with suppress(DamagedError):  # then not even its state can be read
            referee.insist(lambda: referee.games.end(self.game_id, GameState.ABORTED))
        meta = referee.insist(lambda: referee.games.get(self.game_id))
        if meta is not None:
            self._leave_ended(meta, meta.state, None)
        else:
            referee.insist(lambda: referee.leases.give_back(self.game_id, self._token))
            referee.insist(lambda: referee.due.drop(due.game(self.game_id)))

    def _leave_ended(self, meta: Game, state: GameState, table: Table | None) -> None:
        referee = self._referee
        referee.insist(lambda: referee.aftermath.ended(meta, state, table))
        self.table = None
        referee.insist(lambda: referee.leases.give_back(self.game_id, self._token))
        referee.insist(lambda: referee.aftermath.released(meta, state, table))

    # --- going on -----------------------------------------------------------------------------------------------------

    def advance(self) -> list[Asking]:
        """Go as far as it goes without waiting; give what must be asked now."""
        while self.table is not None:
            table = self.table
            if table.game.is_over:
                self._end_without_event(table)
                continue
            events = self._decide(table)
            broken = None if events else self._broken_house()
            if events:
                self._commit(table, events)
            elif broken is not None:
                self._fail(table, broken)
            else:
                askings = self._to_ask(table)
                if askings or self.asked:
                    return askings
                self._wait_for_people(table)
        return []

    def answer(self, asking: Asking, verdict: Verdict) -> None:
        """Take the answer to what `advance` had asked, unless the game has lost the position it was about."""
        name = asking.decision_id
        if self.asked.get(name) is not asking:
            return
        del self.asked[name]
        if verdict.outcome is not Outcome.OUR_FAULT:
            self._answered[name] = verdict
        elif self.table is not None:
            logger.error("our fault in %s: %s", name, verdict.error)
            self._fail(self.table, name)

    @property
    def has_people(self) -> bool:
        """Whether somebody's patience may end while bots are being asked."""
        table = self.table
        return table is not None and any(table.kind(seat) == HUMAN for seat in table.game.owed())

    def _decide(self, table: Table) -> list[Event]:
        """Apply all that can be decided now, a bounded number of events."""
        events: list[Event] = []
        while not table.game.is_over and len(events) < MOST_EVENTS_AT_ONCE:
            event = self._next_event(table)
            if event is None:
                break
            events += table.game.apply(event)
        return events

    def _next_event(self, table: Table) -> Event | None:
        for seat in table.game.owed():
            event = self._event_of(table, seat)
            if event is not None:
                return event
        return None

    def _event_of(self, table: Table, seat: int) -> Event | None:
        game, kind = table.game, table.kind(seat)
        if game.is_out(seat):
            return game.failed(seat, Outcome.RETIRED, ms=0.0)
        if kind == HUMAN:
            waited = quantised(table.meta.limits.human_budget_ms)
            return game.failed(seat, Outcome.LATE, ms=waited) if table.is_late(seat, self._moment()) else None
        why = self._why_out(table, seat) if kind == BOT else None
        if why is not None:
            return Retired(seat, why)
        name = table.decision_id(seat)
        if kind == HOUSE and name not in self._answered:
            players = self._referee.players
            self._answered[name] = self._referee.insist(lambda: players.decide(table, seat))
        verdict = self._answered.get(name)
        return verdict.decided(game, seat) if verdict and verdict.outcome is not Outcome.OUR_FAULT else None

    def _broken_house(self) -> str | None:
        """Take out a decision over which a house bot broke, so that it is asked again; bots' own never stand here."""
        for name, verdict in self._answered.items():
            if verdict.outcome is Outcome.OUR_FAULT:
                del self._answered[name]
                return name
        return None

    def _why_out(self, table: Table, seat: int) -> RetiredBecause | None:
        players = self._referee.players
        return self._referee.insist(lambda: players.why_out(table, seat))

    def _moment(self) -> Moment:
        return self._referee.insist(self._referee.clock.read)

    def _to_ask(self, table: Table) -> list[Asking]:
        players, owed = self._referee.players, table.game.owed()
        seats = [seat for seat in owed if table.kind(seat) == BOT and table.decision_id(seat) not in self.asked]
        askings = self._referee.insist(lambda: [players.asking(table, seat) for seat in seats])
        self.asked |= {asking.decision_id: asking for asking in askings}
        return askings

    def _wait_for_people(self, table: Table) -> None:
        """Give the game back until one of them acts or is late; if one just has, it stays in these hands."""
        leases = self._referee.leases
        moment = self._moment()
        until = min(table.deadline(seat, moment) for seat in table.game.owed())
        self._referee.insist(lambda: self._referee.games.forget_stalls(self.game_id))
        gone = self._referee.insist(
            lambda: leases.give_back(self.game_id, self._token, seen=table.length, due_at=until)
        )
        if gone:
            self.table = None
        else:
            self._load()

    # --- committing ---------------------------------------------------------------------------------------------------

    def _commit(self, table: Table, events: Sequence[Event]) -> None:
        """Commit events already applied; lays the table anew where others were quicker."""
        referee = self._referee
        told = referee.insist(
            lambda: referee.games.commit(
                self.game_id,
                events,
                expected=table.length,
                lease=self._token,
                after=table.stamp,
                ending=table.ending,
            )
        )
        if told.status == "committed":
            self._committed(table, events, told.at, told.length)
        elif told.status == "length" or (told.status == "lease" and self._retake()):
            self._load()
        elif told.status == "lease":
            self.table = None
            referee.leases.forget(self.game_id, self._token)
        else:
            self._load()

    def _retake(self) -> bool:
        return self._referee.insist(lambda: self._referee.leases.take(self.game_id, self._token))

    def _committed(self, table: Table, events: Sequence[Event], at: int, length: int) -> None:
        table.committed(events, at)
        for name, event in _named(table, events):
            verdict = self._answered.pop(name, None)
            if verdict is not None and table.kind(event.seat) == BOT:
                self._heard(table, name, event, verdict)
        if table.ending is not None:
            self._leave_ended(table.meta, table.ending, table)
        elif length != table.length:
            self._load()

    def _heard(self, table: Table, name: str, event: Decided, verdict: Verdict) -> None:
        referee = self._referee
        referee.aftermath.decided(table, name, event, verdict)
        if verdict.status == GONE:
            referee.insist(lambda: referee.players.gone(table, event.seat))

    def _end_without_event(self, table: Table) -> None:
        """End a game that its first deal, or a forfeit, has decided before anybody was asked."""
        state = table.ending or GameState.VOID
        self._referee.insist(lambda: self._referee.games.end(self.game_id, state))
        self._load()


def _named(table: Table, events: Sequence[Event]) -> list[tuple[str, Decided]]:
    """Pair decisions just applied with their ids."""
    number = table.game.decisions.copy()
    named = []
    for event in reversed(events):
        if isinstance(event, Decided):
            number[event.seat] -= 1
            named.append((decision_id(table.id, event.seat, number[event.seat]), event))
    return named[::-1]
