"""One game in the hands of a run: its lease, the table it is laid on, the tries; how it is taken, laid anew and left.

Nothing here is on the way of a decision that goes well.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Final, TypeVar

from bot_sdk.errors import SdkError
from bot_sdk.games.registry import RulesVersionError
from bot_sdk.results.values import GameState
from service.referee.asking import Asking
from service.referee.referee import Referee
from service.referee.table import Table
from service.referee.tries import Tries
from service.referee.verdicts import Verdict
from service.store import due
from service.store.clock import Moment
from service.store.entities import Game
from service.store.errors import DamagedError

logger: Final = logging.getLogger(__name__)

MAX_TRIES: Final = 3
RULES: Final = "rules"
"""The alarm of a game that nobody here can play."""
RULES_MS: Final = 60_000
"""How long that alarm stands; a game that is left to others is looked at again long before."""
OTHERS_MS: Final = 10_000
"""When a game that is left to others is looked at again: one of theirs may find it then, or another of ours."""

T = TypeVar("T")


class Held:
    """A game whose lease the run called `token` holds.

    `table` is None once the game has left these hands: it is over, another's, or waits for people only. `asked` are the
    decisions on their way, `answered` the answers that aren't committed yet, both by decision id.
    """

    def __init__(self, referee: Referee, game_id: str, token: str) -> None:
        """Say which game; `lay` lays its table."""
        self._referee = referee
        self.token = token
        self.game_id = game_id
        self.table: Table | None = None
        self.asked: dict[str, Asking] = {}
        self.answered: dict[str, Verdict] = {}
        self._tries = Tries()

    @property
    def about(self) -> dict[str, str]:
        """What lines about this game say beside their message."""
        slot = self.table.meta.slot if self.table is not None else None
        return {"game_id": self.game_id} | ({"tournament_id": slot.tournament_id} if slot is not None else {})

    # --- taking -------------------------------------------------------------------------------------------------------

    def lay(self) -> None:
        """Replay the game, whose lease has just been taken; leaves at once if it doesn't run."""
        referee = self._referee
        self._load()
        if self.table is None:
            return
        self._tries.begin(self.table.length)
        if self._try(self.table) and self.table.length == 0 and not self.table.game.is_over:
            table = self.table
            self._insist(lambda: referee.aftermath.began(table))

    def look_again(self) -> None:
        """Lay the table anew: somebody has acted, and says so before the next commit would."""
        if self.table is not None:
            self._load()

    def _load(self) -> None:
        """Replay the game as it stands in the store, or leave it if there is nothing to drive."""
        referee = self._referee
        before, self.table = self.table, None
        try:
            loaded = self._insist(lambda: referee.games.load(self.game_id))
            table = Table.replayed(*loaded) if loaded else None
        except RulesVersionError as error:
            self._leave_to_others(error)
            return
        except (SdkError, DamagedError):
            logger.exception("game %s can't be replayed", self.game_id, extra=self.about)
            self._give_up()
            return
        if table is None or table.meta.state is GameState.OPEN:
            self._insist(lambda: referee.leases.give_back(self.game_id, self.token))
            return
        if before is not None and not table.follows(before):
            # A store that lost its last second: what was asked and answered since was about another position.
            self.asked.clear()
            self.answered.clear()
        self.table = table
        if table.meta.state.is_end:
            self._leave_ended(table.meta, table.meta.state, table)

    # --- tries --------------------------------------------------------------------------------------------------------

    def _try(self, table: Table) -> bool:
        """Count a try at this point of the game; after the third that came to nothing the game is aborted.

        A worker that dies leaves its try counted, one that hands the game back in order takes it back.
        """
        referee = self._referee
        if self._insist(lambda: referee.games.stall(self.game_id, table.length)) <= MAX_TRIES:
            return True
        said = "game %s is aborted: %d tries at event %d came to nothing"
        logger.error(said, self.game_id, MAX_TRIES, table.length, extra=self.about)
        self._insist(lambda: referee.games.end(self.game_id, GameState.ABORTED))
        self._load()
        return False

    def _fail(self, table: Table, name: str) -> None:
        """Note that asking for a decision came to nothing by our own fault; it is asked again, thrice at most."""
        for _ in range(self._tries.failed(table.length, name)):
            if not self._try(table):
                return

    # --- leaving ------------------------------------------------------------------------------------------------------

    def hand_back(self) -> None:
        """Give the game back where it stands, to be taken up by another at once."""
        referee, table = self._referee, self.table
        if table is None:
            return
        self.table = None
        now = self._insist(referee.due.now)
        self._insist(lambda: referee.games.forget_stalls(self.game_id))
        self._insist(lambda: referee.leases.give_back(self.game_id, self.token, due_at=now))

    def break_off(self) -> None:
        """Leave the game to whoever takes it when the lease has run out; the try stays counted."""
        self.table = None
        self._referee.leases.forget(self.game_id, self.token)

    def _wait_for_people(self, table: Table) -> None:
        """Give the game back until one of them acts or is late; if one just has, it stays in these hands."""
        referee = self._referee
        moment = self._moment()
        until = min(table.deadline(seat, moment) for seat in table.game.owed())
        self._insist(lambda: referee.games.forget_stalls(self.game_id))
        gone = self._insist(lambda: referee.leases.give_back(self.game_id, self.token, seen=table.length, due_at=until))
        if gone:
            self.table = None
        else:
            self._load()

    def _give_up(self) -> None:
        """Abort a game that can't be replayed, unless it has ended already.

        What can't even be read is left for good: its tournament, should it have one, finds it so and plays it again.
        """
        referee = self._referee
        with suppress(DamagedError):  # then not even its state can be read
            self._insist(lambda: referee.games.end(self.game_id, GameState.ABORTED))
        meta = self._insist(lambda: referee.games.get(self.game_id))
        if meta is not None:
            self._leave_ended(meta, meta.state, None)
        else:
            self._insist(lambda: referee.leases.give_back(self.game_id, self.token))
            self._insist(lambda: referee.due.drop(due.game(self.game_id)))

    def _leave_to_others(self, error: RulesVersionError) -> None:
        """Give back a game as it is that only workers of another release can play, and raise an alarm."""
        referee = self._referee
        logger.error("game %s isn't played here: %s", self.game_id, error, extra=self.about)
        now = self._insist(referee.due.now)
        detail = "a game stands still: it is of rules that the workers which are there don't know"
        self._insist(lambda: referee.alarms.note(RULES, detail, until=now + RULES_MS))
        self._insist(lambda: referee.leases.give_back(self.game_id, self.token, due_at=now + OTHERS_MS))

    def _end_without_event(self, table: Table) -> None:
        """End a game that its first deal, or a forfeit, has decided before anybody was asked."""
        state = table.ending or GameState.VOID
        self._insist(lambda: self._referee.games.end(self.game_id, state))
        self._load()

    def _leave_ended(self, meta: Game, state: GameState, table: Table | None) -> None:
        referee = self._referee
        self._insist(lambda: referee.aftermath.ended(meta, state, table))
        self.table = None
        self._insist(lambda: referee.leases.give_back(self.game_id, self.token))
        self._insist(lambda: referee.aftermath.released(meta, state, table))

    # --- the store ----------------------------------------------------------------------------------------------------

    def _moment(self) -> Moment:
        return self._insist(self._referee.clock.read)

    def _insist(self, step: Callable[[], T]) -> T:
        return self._referee.insist(step)
