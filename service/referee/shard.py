"""Drives games side by side, on one thread, until each is over, waits for people only, or must be handed back."""

from __future__ import annotations

import logging
import queue
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from time import monotonic
from typing import Final

from redis import RedisError

from service.outbound.values import Answer
from service.referee.asking import Asking, calls_for, verdicts_in
from service.referee.drive import Drive
from service.referee.referee import Referee

logger: Final = logging.getLogger(__name__)

POLL_S: Final = 0.25
HAND_BACK_S: Final = 3.0


class Shard:
    """One run over some games: those it is given (`run`), or those handed in as it goes (`serve`, `hand_in`).

    All decisions they owe are asked at once; answers are taken as they come, so no game waits for another's bots.
    """

    def __init__(self, referee: Referee) -> None:
        """Make a run; its leases are in its own name."""
        self._referee = referee
        self._token = referee.new_id()
        self._drives: dict[str, Drive] = {}
        self._inbox: queue.SimpleQueue[Answer | str] = queue.SimpleQueue()
        self._in_flight: dict[object, list[Asking]] = {}
        self._to_ask: list[Asking] = []

    def run(self, game_ids: Iterable[str], *, seconds: float) -> list[str]:
        """Drive the games; give those handed back unfinished since `seconds` have passed or it is time to stop."""
        stop_at = monotonic() + seconds
        try:
            for game_id in game_ids:
                self._take_up(game_id)
            while self._drives and not self._referee.stopping() and monotonic() < stop_at:
                self._turn()
            return self._hand_back()
        finally:
            self._let_go()

    def serve(self) -> list[str]:
        """Drive what is handed in until it is time to stop; give the games that are unfinished then."""
        try:
            while not self._referee.stopping():
                self._turn()
            return self._hand_back()
        finally:
            self._let_go()

    def hand_in(self, game_id: str) -> None:
        """Have `serve` take up a game, or look at it again; from any thread, and without waiting."""
        self._inbox.put(game_id)

    def _turn(self) -> None:
        self._ask()
        self._flush()
        self._hear()

    def _take_up(self, game_id: str) -> None:
        if game_id in self._drives:
            self._advance(game_id, Drive.look_again)
        else:
            self._drives[game_id] = Drive(self._referee, game_id, self._token)
            self._advance(game_id, Drive.take)

    def _advance(self, game_id: str, first: Callable[[Drive], None] = lambda _drive: None) -> None:
        """Let a game go on, after a `first` step; one that breaks doesn't take the others with it."""
        drive = self._drives.get(game_id)
        if drive is None:
            return
        try:
            first(drive)
            self._to_ask += drive.advance()
        except RedisError:
            raise  # the store is away and it is time to stop: the others needn't try
        except Exception:  # one game that breaks must not take the others along
            logger.exception("game %s broke and is left", game_id)
            drive.break_off()  # its lease runs out, and whoever takes it then counts the tries
        if drive.table is None:
            del self._drives[game_id]

    def _ask(self) -> None:
        to_ask, self._to_ask = self._to_ask, []
        for call, askings in calls_for(to_ask, self._referee.new_id):
            self._in_flight[call.key] = askings
            self._referee.calls.submit(call, self._inbox.put)

    def _hear(self) -> None:
        for item in self._next_items():
            if isinstance(item, str):
                self._take_up(item)
            else:
                self._take_answer(item)
        for game_id in [game_id for game_id, drive in self._drives.items() if drive.has_people]:
            self._advance(game_id)

    def _next_items(self) -> Iterator[Answer | str]:
        try:
            yield self._inbox.get(timeout=POLL_S)
        except queue.Empty:
            return
        yield from self._items_here()

    def _items_here(self) -> Iterator[Answer | str]:
        while True:
            try:
                item = self._inbox.get_nowait()
            except queue.Empty:
                return
            yield item

    def _take_answer(self, answer: Answer) -> None:
        askings = self._in_flight.pop(answer.key, [])
        for asking, verdict in verdicts_in(answer, askings):
            self._advance(asking.game_id, partial(Drive.answer, asking=asking, verdict=verdict))

    def _finish_asking(self) -> list[str]:
        """Take the answers to what is being asked, within bounds, so that no bot is asked twice for nothing.

        Gives the games that were handed in too late to be taken up.
        """
        give_up_at = monotonic() + HAND_BACK_S
        too_late: list[str] = []
        while self._in_flight and monotonic() < give_up_at:
            self._hear_last(self._next_items(), too_late)
        self._hear_last(self._items_here(), too_late)
        self._flush()
        return too_late

    def _hear_last(self, items: Iterable[Answer | str], too_late: list[str]) -> None:
        for item in items:
            if isinstance(item, str):
                too_late.append(item)
            else:
                self._take_answer(item)

    def _flush(self) -> None:
        self._referee.insist(self._referee.aftermath.flush)

    def _hand_back(self) -> list[str]:
        too_late = self._finish_asking()
        unfinished = list(self._drives)
        for game_id in unfinished:
            self._advance(game_id, Drive.hand_back)
        return list(dict.fromkeys([*unfinished, *too_late]))

    def _let_go(self) -> None:
        """Stop renewing the leases of what is still here, should this run have broken: nobody else could go on."""
        for drive in self._drives.values():
            drive.break_off()
        self._drives.clear()
