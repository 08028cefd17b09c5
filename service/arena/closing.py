"""Closing boards: once the last game on a board has ended, what was played on it may be read.

A board that several games share is open until then. Closing it is written down once; its games become due again, so
that a worker tells their bots.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

from service.arena.starting import Attempt
from service.store import due
from service.store.store import Store
from service.tournaments.boards import Place


class Shards(Protocol):
    """The part of a queue that is needed."""

    def drive_shard(self, game_ids: list[str]) -> None:
        """Have tournament games driven side by side."""


def closable(
    all_places: Iterable[Place], started: Mapping[str, int], done: Collection[str]
) -> dict[str, list[Attempt]]:
    """Give the boards on which no game is or will be played any more, each with the attempts played on it.

    A place without a result still needs the board of its last attempt, started or not; those of earlier attempts were
    aborted.
    """
    played: dict[str, list[Attempt]] = defaultdict(list)
    needed: set[str] = set()
    for place in all_places:
        last = started.get(place.name, -1)
        for number in range(last + 1):
            played[place.slot(number).board].append(Attempt(place, number))
        if place.name not in done:
            needed.add(place.slot(max(last, 0)).board)
    return {board: attempts for board, attempts in played.items() if board not in needed}


def close(store: Store, queue: Shards, tournament_id: str, board: str, attempts: Sequence[Attempt]) -> None:
    """Close a board. Its games are due first, so that their bots are told even if this process dies on the way."""
    shared = [attempt.game_id for attempt in attempts if attempt.slot.is_shared]
    now = store.due.now()
    for game_id in shared:
        store.due.add(due.game(game_id), now)
    store.tournaments.close_board(tournament_id, board)
    if shared:
        queue.drive_shard(shared)
