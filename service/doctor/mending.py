"""Mends what is safe to mend: puts back what fell out of `due`, takes away what belongs to nothing, closes boards.

It never takes away anything of a game, a tournament, a bot or an account by itself; what can't be read any more it does
if it is told so by its id.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final

from service.arena.closing import close
from service.doctor.examination import Finding
from service.doctor.keyspace import JOIN
from service.doctor.tournaments import open_boards
from service.store import catalogue, due, keys
from service.store.catalogue import Thing
from service.store.mending import Mending
from service.store.store import Store

IDLE_S: Final = 60
"""So long nobody may have used what is taken away: it may be part of something that is just being made."""
FORGOTTEN: Final[dict[str, Callable[[str], str]]] = {
    "game_not_due": due.game,
    "tournament_not_due": due.tournament,
    "bot_not_due": due.health,
    "check_not_due": due.check,
    "erasure_not_due": due.erasure,
}
"""What is to be due, by what was found."""


UNREADABLE: Final = {
    "game_damaged": Thing.GAME,
    "record_lost": Thing.GAME,
    "pack_damaged": Thing.GAME,
    "tournament_damaged": Thing.TOURNAMENT,
    "bot_damaged": Thing.BOT,
}
"""What may be dropped, by what was found."""


class NoQueue:
    """Sends nothing: what is due is found by the sweeper."""

    def drive_shard(self, game_ids: list[str]) -> None:
        """Send nothing."""


class Mender:
    """Mends one store; every step is safe to repeat."""

    def __init__(self, values: Store, mending: Mending) -> None:
        """Keep what it works with."""
        self._values = values
        self._mending = mending

    def mend(self, findings: Iterable[Finding]) -> Counter[str]:
        """Mend what can be; tell how many by code."""
        mended: Counter[str] = Counter()
        for code, subject in dict.fromkeys((each.code, each.subject) for each in findings):
            mended[code] += self._one(code, subject)
        return +mended

    def drop(self, findings: Iterable[Finding], ident: str) -> Counter[str]:
        """Take away all that is left of a thing of which nothing can be read; tell how many keys by code.

        None if that isn't among the findings: then it can be read, or there is none.
        """
        dropped: Counter[str] = Counter()
        for each in findings:
            thing = UNREADABLE.get(each.code)
            if each.code == "parts_left" and each.where == ident:
                of = catalogue.named(each.subject.encode())
                thing = of.kind.owner if of else None
            if thing is not None and each.where == ident:
                dropped[each.code] += self._mending.drop(thing, ident)
        return +dropped

    def _one(self, code: str, subject: str) -> int:
        times, name = self._values.due, subject.encode(errors="surrogateescape")
        match code:
            case _ if code in FORGOTTEN:
                times.begin(FORGOTTEN[code](subject), times.now())
            case "due_unknown":
                times.drop(subject)
            case "due_far":
                times.move({subject: times.now()})
            case "key_orphaned":
                return int(self._mending.unlink_orphan(name))
            case "check_orphaned":
                return self._check(subject)
            case "key_without_expiry":
                return int(self._mending.let_run_out(name))
            case "key_that_expires":
                return int(self._mending.keep(name))
            case "list_names_missing":
                key, _, member = subject.partition(JOIN)
                return int(self._mending.drop_member(key, member))
            case "counter_stale":
                return self._count_anew(subject.removeprefix(keys.unfinished("")))
            case "board_open":
                return self._close_boards(subject)
            case _:
                return 0
        return 1

    def _check(self, check_id: str) -> int:
        check = self._values.bots.get_check(check_id)
        return int(check is not None and self._mending.unlink_check(check_id, check.bot_id))

    def _count_anew(self, owner: str) -> int:
        counted = self._values.unfinished_tournaments if owner.startswith("host:") else self._values.unfinished
        return counted.prune(owner)

    def _close_boards(self, tournament_id: str) -> int:
        tournament = self._values.tournaments.get(tournament_id)
        if tournament is None or not tournament.state.is_end:
            return 0
        boards = open_boards(self._values, tournament)
        for board, attempts in boards.items():
            close(self._values, NoQueue(), tournament_id, board, attempts)
        return len(boards)
