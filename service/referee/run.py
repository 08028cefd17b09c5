"""Drives games side by side, on one thread, until each is over, waits for people only, or must be handed back.

A turn asks what is owed, takes the answers that are there, lets the games go on that have something to decide, and
commits what that came to in one round trip. It is cut short after a few milliseconds, so that the sockets on which
bots answer are looked at again before long; what it didn't get to is done in the next one.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from math import inf
from threading import Condition
from time import monotonic
from typing import Any, Final, TypeVar

from redis import RedisError

from service.outbound.values import Answer
from service.referee.asking import Asking
from service.referee.drive import Drive, Step
from service.referee.measuring import note_decisions
from service.referee.outbox import Outbox
from service.referee.referee import Referee
from service.referee.table import HUMAN
from service.store.errors import DamagedError
from service.store.games import Commit

logger: Final = logging.getLogger(__name__)

MOST_GAMES: Final = 1_024
POLL_S: Final = 0.25
TURN_S: Final = 0.004
"""After this long a turn begins nothing more."""
LISTEN_S: Final = 0.002
"""How much longer a turn listens once it has heard something, while more batches are on their way: what it commits, and
what it asks next, costs the less the more of it goes together."""
FLUSH_S: Final = 0.05
"""How far what is written for the owners of bots, all of it together, may lag behind the games."""
TAKEN_AT_ONCE: Final = 8
"""So many leases are taken in one round trip. Laying more tables, of games long under way, would take too long."""
HAND_BACK_S: Final = 3.0

T = TypeVar("T")


class Run:
    """One run over games that are handed in as it goes.

    All decisions they owe are asked at once; answers are taken as they come, so no game waits for another's bots.
    """

    def __init__(self, referee: Referee, *, most: int = MOST_GAMES, name: str = "games") -> None:
        """Make a run; its leases are in its own name. By `hand_in_all` it gets `most` games at once, if no others.

        `name` is what its turns are counted by.
        """
        self._referee = referee
        self._meters = referee.meters
        self._name = name
        self._most = most
        self._token = referee.new_id()
        self._line = referee.calls.line()
        self._outbox = Outbox(self._line, self._token, referee.meters)
        self._drives: dict[str, Drive] = {}
        self._with_people: dict[str, Drive] = {}
        self._handed_in: deque[str] = deque()
        self._has_room = Condition()
        self._heard: deque[Answer] = deque()
        self._ready: dict[str, Drive] = {}
        self._steps: list[Step] = []
        self._to_ask: list[Asking] = []
        self._looked_at_people = 0.0
        self._flushed = 0.0

    # --- from any thread ----------------------------------------------------------------------------------------------

    @property
    def games(self) -> int:
        """How many games are in its hands."""
        return len(self._drives)

    def hand_in(self, game_id: str) -> None:
        """Have a game taken up, or looked at again, without waiting."""
        self._handed_in.append(game_id)
        self._line.wake()

    def hand_in_all(self, game_ids: Sequence[str], *, wait_s: float) -> bool:
        """Have games taken up once there is room and all that came before is; False if that took over `wait_s`."""
        with self._has_room:
            if not self._has_room.wait_for(lambda: self._takes(len(game_ids)), wait_s):
                return False
            self._handed_in.extend(game_ids)
        self._line.wake()
        return True

    def _takes(self, games: int) -> bool:
        return not self._handed_in and len(self._drives) + games <= self._most

    # --- its own thread -----------------------------------------------------------------------------------------------

    def serve(self) -> list[str]:
        """Drive what is handed in until it is time to stop; give the games that are unfinished then."""
        try:
            while not self._referee.stopping():
                self._turn()
            return self._hand_back()
        finally:
            self._let_go()

    def _turn(self) -> None:
        self._ask()
        if self._flush_in_s() == 0.0:
            self._flush()
        self._listen(self._patience_s())
        self._referee.players.refresh()
        self._look_at_people()
        began = monotonic()
        ends = began + TURN_S
        while self._work() and monotonic() < ends:
            pass
        self._commit()
        if self._meters.is_on:
            self._meters.turns.note(monotonic() - began, self._name)
        self._tell_of_room()

    def _patience_s(self) -> float:
        if self._is_busy:
            return 0.0
        return min(POLL_S, self._outbox.patience_s(monotonic()), self._flush_in_s())

    @property
    def _is_busy(self) -> bool:
        """Whether there is something to do without hearing of anybody."""
        return bool(self._heard or self._handed_in or self._ready)

    def _listen(self, timeout_s: float) -> None:
        self._heard += self._line.wait(timeout_s)
        if self._heard:
            ends = monotonic() + LISTEN_S
            while self._outbox.batches_out > len(self._heard) and (left := ends - monotonic()) > 0:
                self._heard += self._line.wait(left)

    def _look_at_people(self) -> None:
        """See now and then whether somebody's time is up while bots are being asked."""
        if self._with_people and monotonic() - self._looked_at_people >= POLL_S:
            self._looked_at_people = monotonic()
            self._ready |= {name: drive for name, drive in self._with_people.items() if drive.has_people}

    def _work(self) -> bool:
        """Do one thing of what there is to do; False if there is nothing."""
        if self._heard:
            self._take_answer(self._heard.popleft())
        elif self._handed_in:
            self._take_up()
        elif self._ready:
            self._step(self._ready.pop(next(iter(self._ready))))
        else:
            return False
        return True

    def _take_up(self) -> None:
        """Take the next games handed in; look again at those that are here."""
        self._commit()  # else what was just decided would be laid anew under the hands of the commit
        game_ids = [self._handed_in.popleft() for _ in range(min(TAKEN_AT_ONCE, len(self._handed_in)))]
        for game_id in game_ids:
            if game_id in self._drives:
                self._attempt(self._drives[game_id], self._drives[game_id].look_again)
                self._go_on(self._drives[game_id])
        new = [game_id for game_id in dict.fromkeys(game_ids) if game_id not in self._drives]
        leases = self._referee.leases
        for game_id in self._referee.insist(lambda: leases.take_many(new, self._token)) if new else ():
            self._lay(game_id)

    def _lay(self, game_id: str) -> None:
        drive = self._drives[game_id] = Drive(self._referee, game_id, self._token)
        self._attempt(drive, drive.lay)
        self._go_on(drive)
        if drive.table is not None and HUMAN in drive.table.kinds:
            self._with_people[game_id] = drive

    def _take_answer(self, answer: Answer) -> None:
        for asking, verdict in self._outbox.verdicts(answer):
            drive = self._drives.get(asking.game_id)
            if drive is not None:
                self._attempt(drive, drive.answer, asking, verdict)
                self._go_on(drive)

    def _step(self, drive: Drive) -> None:
        done = self._attempt(drive, drive.step)
        if isinstance(done, Step):
            self._steps.append(done)
        elif drive.table is None:
            self._forget(drive)
        elif done:
            self._to_ask += done

    def _commit(self) -> None:
        """Commit what the games have come to, all in one round trip."""
        if not self._steps:
            return
        steps, self._steps = self._steps, []
        proposals = [step.proposal for step in steps]
        told = self._referee.insist(lambda: self._referee.games.commit_many(proposals))
        if self._meters.is_on:
            self._count(steps, told)
        for step, each in zip(steps, told, strict=True):
            askings = self._attempt(step.drive, step.drive.committed, step, each)
            if askings:
                self._to_ask += askings
            else:
                self._go_on(step.drive)

    def _count(self, steps: list[Step], told: list[Commit | DamagedError]) -> None:
        """Count what became of commits, all of one round trip together, and the decisions that stand by them."""
        became = ["damaged" if isinstance(each, DamagedError) else each.status for each in told]
        for status in set(became):
            self._meters.commits.add(status, by=became.count(status))
        note_decisions(
            self._meters,
            [(step.table, step.events) for step, status in zip(steps, became, strict=True) if status == "committed"],
        )

    def _attempt(self, drive: Drive, do: Callable[..., T], *args: Any) -> T | None:
        """Do something with a game; one that breaks is left and doesn't take the others with it."""
        try:
            return do(*args)
        except RedisError:
            raise  # the store is away and it is time to stop: the others needn't try
        except Exception:  # one game that breaks must not take the others along
            logger.exception("game %s broke and is left", drive.game_id, extra=drive.about)
            drive.break_off()  # its lease runs out, and whoever takes it then counts the tries
            return None

    def _go_on(self, drive: Drive) -> None:
        if drive.table is None:
            self._forget(drive)
        else:
            self._ready[drive.game_id] = drive

    def _forget(self, drive: Drive) -> None:
        for games in (self._drives, self._with_people, self._ready):
            games.pop(drive.game_id, None)

    def _ask(self) -> None:
        now = monotonic()
        to_ask, self._to_ask = self._to_ask, []
        self._outbox.put(to_ask, now)
        self._outbox.send(now, more_to_come=self._is_busy)

    def _flush_in_s(self) -> float:
        """Tell in how many seconds what is kept back must be let out."""
        return max(0.0, self._flushed + FLUSH_S - monotonic()) if self._referee.aftermath.is_behind else inf

    def _flush(self) -> None:
        self._flushed = monotonic()
        self._referee.insist(self._referee.aftermath.flush)

    def _tell_of_room(self) -> None:
        if self._takes(1):
            with self._has_room:
                self._has_room.notify_all()

    # --- the end ------------------------------------------------------------------------------------------------------

    def _hand_back(self) -> list[str]:
        self._finish_asking()
        unfinished = list(self._drives)
        for drive in list(self._drives.values()):
            self._attempt(drive, drive.hand_back)
            self._forget(drive)
        while self._handed_in:
            unfinished.append(self._handed_in.popleft())
        return list(dict.fromkeys(unfinished))

    def _finish_asking(self) -> None:
        """Take the answers to what is being asked, within bounds, so that no bot is asked twice for nothing."""
        give_up_at = monotonic() + HAND_BACK_S
        while self._outbox.is_waiting and monotonic() < give_up_at:
            self._listen(max(0.0, min(POLL_S, give_up_at - monotonic())))
            self._take_last_answers()
        self._listen(0.0)
        self._take_last_answers()
        self._flush()

    def _take_last_answers(self) -> None:
        while self._heard:
            self._take_answer(self._heard.popleft())
        while answered := [drive for drive in self._ready.values() if drive.answered or drive.is_played]:
            for drive in answered:
                self._step(self._ready.pop(drive.game_id))
            self._commit()

    def _let_go(self) -> None:
        """Stop renewing the leases of what is still here, should this run have broken: nobody else could go on."""
        for drive in self._drives.values():
            drive.break_off()
        self._drives.clear()
        self._line.close()
