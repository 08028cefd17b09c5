"""Playing a game as a person, and following it: views of a seat, waiting, actions, events, the record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeGuard, TypeVar

from bot_sdk.events import Event, Outcome, Retired, RetiredBecause, quantised
from bot_sdk.games import record
from bot_sdk.messages import parse_decision_id
from bot_sdk.results.values import GameState
from service.arena import views
from service.arena.caller import Caller
from service.arena.errors import ConflictError, InvalidError, UnavailableError, invalid
from service.arena.games import LOOK_AGAIN_MS, Games, check_holds
from service.arena.queue import Queue
from service.arena.reading import BOARD_OPEN, Covered, Look, Reading, Shown
from service.metrics.meters import Meters, silent
from service.referee.measuring import note_decisions
from service.referee.table import HUMAN, Table
from service.store import due, keys
from service.store.clock import Moment
from service.store.door import Glance
from service.store.games import Commit, Proposal
from service.store.store import Store

TRIES: Final = 50
"""How often a commit may find the log longer than it was; each time somebody else has got on."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Acted:
    """An action that stands, and what its seat sees after it; `is_new` is False if it stood before."""

    is_new: bool
    decision_id: str
    action: str
    version: int
    look: Look


@dataclass(frozen=True, slots=True)
class _After:
    """A game after what was to be done, and the time then; `is_new` is False if it was done before."""

    shown: Shown
    table: Table
    moment: Moment
    is_new: bool


class Play:
    """The use cases of those who sit at a table or watch it."""

    def __init__(self, store: Store, queue: Queue, games: Games, meters: Meters | None = None) -> None:
        """Keep what they work with."""
        self._meters = meters or silent()
        self._store = store
        self._queue = queue
        self._games = games

    def look(self, game_id: str, is_known: Callable[[str], bool], seconds: float = 0) -> Look:
        """Show a game to everybody, once the tag of what there is to see isn't known.

        Or when nothing new can come, because it has ended, or `seconds` have passed.
        """

        def is_time(reading: Reading) -> bool:
            return reading.is_final or not is_known(reading.tag)

        return self._follow(game_id, self._games.reading, is_time, seconds).look

    def look_from(
        self,
        caller: Caller,
        game_id: str,
        number: int,
        is_known: Callable[[str], bool],
        seconds: float = 0,
        *,
        glance: Glance | None = None,
    ) -> Look:
        """Show a seat what it may know and what it owes, as `look`; raises NotFoundError, ForbiddenError.

        `glance` is what was seen of the game for this very request, if anything was.
        """

        def is_time(look: Look) -> bool:
            return look.is_final or not is_known(look.tag)

        return self._follow_from(caller, game_id, number, is_time, seconds, glance=glance)

    def wait_for_decision(
        self, caller: Caller, game_id: str, number: int, seconds: float, *, glance: Glance | None = None
    ) -> Look:
        """Show a seat once it owes a decision, has retired or the game has ended, or `seconds` have passed."""
        return self._follow_from(caller, game_id, number, lambda look: look.is_called, seconds, glance=glance)

    def events(self, game_id: str, after: int, seconds: float = 0) -> tuple[list[bytes], bool]:
        """List the public events after the one with id `after`, each as JSON, and whether more may come.

        Waits up to `seconds` until there is one. Raises NotFoundError, ConflictError while the board is open.
        """
        self._shown(game_id)
        reading = self.follow(game_id, after, seconds)
        return reading.events[after:], not reading.is_final

    def follow(self, game_id: str, after: int, seconds: float = 0, *, is_new: bool = True) -> Reading:
        """Read a game once it has public events after that one, or is final, or `seconds` have passed.

        While its board is open it has none. One who isn't new, but asks again and again, may be told what others were
        told since the last news.
        """

        def is_time(reading: Reading) -> bool:
            return reading.is_final or reading.version > after

        return self._follow(game_id, self._games.reading, is_time, seconds, is_new=is_new)

    def record(self, game_id: str) -> record.Record:
        """Give the record of a game that has ended; raises ConflictError before, and while its board is open."""
        shown = self._shown(game_id)
        if not shown.meta.state.is_end:
            raise ConflictError("the record can be read when the game has ended", code="not_ended")
        if shown.table is None:
            raise ConflictError("the game ended before it began; there is no record", code="never_began")
        return shown.table.record(shown.meta.state.value)  # type: ignore[arg-type]  # an end

    def _shown(self, game_id: str) -> Shown:
        reading = self._games.reading(game_id)
        if isinstance(reading, Covered):
            raise ConflictError(BOARD_OPEN, code="board_open")
        return reading

    def act(
        self, caller: Caller, game_id: str, number: int, decision_id: str, action: str, *, glance: Glance | None = None
    ) -> Acted:
        """Take a person's action for the decision it owes. The same action again is no error.

        Raises InvalidError for an illegal action or a name of no decision of this seat; ConflictError if the decision
        was taken otherwise, isn't owed, or the game doesn't run.
        """
        asked = _number_of(decision_id, game_id, number)

        def judge(table: Table, moment: Moment) -> Event | None:
            if asked < table.game.decisions[number]:
                return None
            _check_owes(table, number, asked, moment)
            legal = table.game.state.legal_actions(number)
            if action not in legal:
                raise InvalidError(
                    f"expected one of {', '.join(legal)}, got {action!r:.80}",
                    code="illegal_action",
                    errors={"action": ["not legal now"]},
                    legal_actions=legal,
                )
            waited = max(0, moment.now - table.owed_since(number, moment))  # it may be owed since after the glance
            return table.game.judged(number, action, ms=quantised(waited))

        after = self._commit(caller, game_id, number, judge, glance)
        if not after.is_new:
            _check_same(after.table, number, asked, action)
        shown = after.shown
        return Acted(
            after.is_new,
            decision_id,
            action,
            views.version(shown.meta, after.table, number),
            shown.seat(number, after.moment),
        )

    def leave(self, caller: Caller, game_id: str, number: int) -> None:
        """Give up a seat: it is free again before the start, and retires after it. Leaving twice is no error.

        Raises NotFoundError, ConflictError, ForbiddenError if somebody else sits there by now and plays.
        """
        if self._games.stand_up(caller, game_id, number):
            return

        def retire(table: Table, _: Moment) -> Event | None:
            if table.game.is_out(number):
                return None
            if table.meta.state.is_end or table.game.is_over:  # its first card may have decided it, before any event
                raise ConflictError("the game has ended", code="ended")
            return Retired(number, RetiredBecause.LEFT)

        self._commit(caller, game_id, number, retire)

    def _commit(
        self,
        caller: Caller,
        game_id: str,
        number: int,
        judge: Callable[[Table, Moment], Event | None],
        glance: Glance | None = None,
    ) -> _After:
        """Commit what `judge` makes of the game as it stands; not `is_new` if it finds nothing left to do.

        So it is too if another request has committed the same meanwhile.
        """
        for _ in range(TRIES):
            shown, moment = self._standing(caller, game_id, number, glance)
            glance = None  # it is of before the next try
            if shown.table is None:
                raise ConflictError("the game hasn't begun", code="not_running")
            event = judge(shown.table, moment)
            if event is None:
                return _After(shown, shown.table, moment, is_new=False)
            table = shown.table.copy()
            events = table.game.apply(event)
            look_again = (due.game(game_id), moment.now + LOOK_AGAIN_MS)
            proposal = Proposal(game_id, events, shown.length, None, shown.table.stamp, table.ending)
            told, moment = self._store.moves.commit(proposal, look_again)
            if told.status == "committed":
                table.committed(events, told.at)
                if told.is_new:
                    note_decisions(self._meters, [(table, events)])
                self._go_on(table, moment)
                return _After(self._after(shown, table, told), table, moment, told.is_new)
        raise UnavailableError("others were quicker again and again; try again", retry_after=1)

    def _standing(self, caller: Caller, game_id: str, number: int, glance: Glance | None) -> tuple[Shown, Moment]:
        """Give the game as it stands and the time, to who holds that seat of it."""
        if _is_of_sitter(glance, caller, number):
            return self._begun(game_id, glance), glance.moment
        shown = self._games.standing(game_id)
        check_holds(caller, shown.meta, number)
        if shown.table is not None:
            self._games.check_sits(caller, game_id, number)
        return shown, self._store.clock.read()

    def _after(self, before: Shown, table: Table, told: Commit) -> Shown:
        """Give the game as it was just after the commit, under the state that the commit put it in, and keep it.

        If others have gone on meanwhile, it is their business to keep more.
        """
        if table.ending is not None:
            table = Table(self._games.get(table.id), table.secret, table.game, table.times)
        after = before.then(table)
        if told.length == table.length:
            self._games.tables.put(after)
        return after

    def _go_on(self, table: Table, moment: Moment) -> None:
        """See to what comes next: somebody's deadline, a bot to be asked, the end to be settled."""
        owed = table.game.owed()
        people = [seat for seat in owed if table.kind(seat) == HUMAN and not table.game.is_out(seat)]
        if owed and len(people) == len(owed):
            self._store.moves.look_at(due.game(table.id), min(table.deadline(seat, moment) for seat in people))
        else:
            self._queue.drive(table.id)

    def _follow_from(
        self,
        caller: Caller,
        game_id: str,
        number: int,
        is_time: Callable[[Look], bool],
        seconds: float,
        *,
        glance: Glance | None,
    ) -> Look:
        """Follow a game from a seat that is the caller's; whoever else asks neither waits nor sees anything.

        Nor does who has left it, amid the wait maybe, to somebody else.
        """
        if _is_of_sitter(glance, caller, number):
            look = self._begun(game_id, glance).seat(number, glance.moment)
            if seconds <= 0 or is_time(look):
                return look
        clock = self._store.clock
        moment = clock.read() if glance is None else glance.moment

        def is_seen(at: Shown) -> bool:
            check_holds(caller, at.meta, number)
            return is_time(at.seat(number, moment))

        found = self._follow(game_id, self._games.standing, is_seen, seconds)
        check_holds(caller, found.meta, number)
        if found.table is not None:  # before the start there is nothing to hide
            self._games.check_sits(caller, game_id, number)
        return found.seat(number, clock.read())

    def _begun(self, game_id: str, glance: Glance) -> Shown:
        """Give a begun game as it stood at a glance, or later."""
        marks = glance.marks
        known = None if marks is None else self._games.tables.known(game_id, marks)
        return known or self._games.standing(game_id)

    def _follow(
        self,
        game_id: str,
        read: Callable[[str], T],
        is_time: Callable[[T], bool],
        seconds: float,
        *,
        is_new: bool = True,
    ) -> T:
        """Read a game, again whenever it changes, until what is read `is_time` or `seconds` have passed."""
        return self._store.watch.follow(keys.game_news(game_id), read, game_id, is_time, seconds, is_new=is_new)


def _is_of_sitter(glance: Glance | None, caller: Caller, number: int) -> TypeGuard[Glance]:
    """Whether the caller held that seat at a glance at the game, and it had begun: seats don't change after that."""
    if glance is None or glance.marks is None or caller.seat != number or caller.seat_hash is None:
        return False
    return glance.tokens.get(number) == caller.seat_hash


def _number_of(decision_id: str, game_id: str, number: int) -> int:
    parsed = parse_decision_id(decision_id)
    if parsed is None or parsed[:2] != (game_id, number):
        raise invalid("decision_id", f"expected one such as {game_id}.{number}.0, got {decision_id!r:.80}")
    return parsed[2]


def _check_owes(table: Table, number: int, asked: int, moment: Moment) -> None:
    if table.meta.state is not GameState.RUNNING:
        raise ConflictError(f"the game is {table.meta.state.value}", code="not_running")
    if table.game.is_out(number):
        raise ConflictError("the seat has retired", code="retired")
    if asked != table.game.decisions[number] or number not in table.game.owed():
        raise ConflictError("that decision isn't owed now", code="not_owed")
    if moment.now >= table.deadline(number, moment):
        raise ConflictError("too late: the time for that decision is over", code="too_late")


def _check_same(table: Table, number: int, asked: int, action: str) -> None:
    seen = -1
    for event in table.game.log:
        if not isinstance(event, Retired) and event.seat == number:
            seen += 1
            if seen == asked:
                if event.action == action and event.outcome is Outcome.OK:
                    return
                detail = f"that decision was taken: {event.action} ({event.outcome.value})"
                raise ConflictError(detail, code="decided")
