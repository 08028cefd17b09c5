"""Finds what is old enough to leave the store, and takes it away whole: its keys and its place in every list.

That it may leave isn't checked here, nor that it is in the archive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from service.store import due, keys, listing, unfinished
from service.store.lua import Scripts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from redis import Redis

    from service.store.entities import Game, Tournament

PAGE = 50
ARCHIVED_MS = 7 * 24 * 3600 * 1000


class RetentionStore:
    """The oldest games and tournaments, and their end."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._scripts = Scripts(redis)

    # --- who does it ----------------------------------------------------------------------------------------

    def lock(self, token: str, ms: int) -> bool:
        """Take or keep the lock for `ms`; False while another token holds it. Works when memory is short, too."""
        return bool(self._scripts.run("acquire", [keys.RETENTION], [token, ms]))

    def unlock(self, token: str) -> None:
        """Give the lock back, if it is ours."""
        self._scripts.run("release", [keys.RETENTION], [token])

    # --- what is old ----------------------------------------------------------------------------------------

    def games(self, before: int) -> Iterator[list[str]]:
        """Give the members of the list of all games that were made before the Unix ms `before`, in pages."""
        return self._pages(keys.GAMES, before)

    def games_of(self, tournament_id: str, before: int) -> Iterator[list[str]]:
        """Give those of a tournament's games."""
        return self._pages(keys.tournament_games(tournament_id), before)

    def tournaments(self, before: int) -> Iterator[list[str]]:
        """Give those of the list of all tournaments."""
        return self._pages(keys.TOURNAMENTS, before)

    def _pages(self, key: str, before: int) -> Iterator[list[str]]:
        members = listing.oldest(self._redis, key, before=before, after=None, limit=PAGE)
        while members:
            yield members
            members = listing.oldest(self._redis, key, before=before, after=members[-1], limit=PAGE)

    def exist(self, game_ids: Sequence[str]) -> list[bool]:
        """Tell which games there are, whether they can be read or not."""
        with self._redis.pipeline(transaction=False) as pipe:
            for game_id in game_ids:
                pipe.exists(keys.game_meta(game_id), keys.game_packed(game_id))
            return [bool(found) for found in pipe.execute()]

    def are_due(self, names: Sequence[str]) -> list[bool]:
        """Tell of names (see `due`) which of them still need attention."""
        return [score is not None for score in self._redis.zmscore(keys.DUE, list(names))] if names else []

    # --- the end --------------------------------------------------------------------------------------------

    def drop_games(self, games: Iterable[Game]) -> None:
        """Take games away with everything that is theirs, all at once. Idempotent."""
        with self._redis.pipeline(transaction=True) as pipe:
            for game in games:
                entry = listing.member(game.created_at, game.id)
                pipe.unlink(*keys.of_game(game.id))
                pipe.zrem(keys.DUE, due.game(game.id))
                for owner in unfinished.owners(game):
                    pipe.zrem(keys.unfinished(owner), game.id)
                if game.owner:
                    pipe.zrem(keys.account_games(game.owner), entry)
                if game.slot:
                    pipe.zrem(keys.tournament_games(game.slot.tournament_id), entry)
                pipe.zrem(keys.GAMES, entry)
            pipe.execute()

    def drop_members(self, members: Sequence[str]) -> None:
        """Take members that stand for nothing off the lists of all games and of all tournaments."""
        if members:
            with self._redis.pipeline(transaction=False) as pipe:
                pipe.zrem(keys.GAMES, *members)
                pipe.zrem(keys.TOURNAMENTS, *members)
                pipe.execute()

    def is_archived(self, tournament_id: str) -> bool:
        """Tell whether it was noted that all of a tournament is in an archive."""
        return bool(self._redis.exists(keys.tournament_archived(tournament_id)))

    def note_archived(self, tournament_id: str) -> None:
        """Note that all of a tournament is in an archive, for as long as taking it down may take by far."""
        self._scripts.run("acquire", [keys.tournament_archived(tournament_id)], [b"1", ARCHIVED_MS])

    def drop_tournament(self, tournament: Tournament) -> None:
        """Take a tournament away with everything that is its own, all at once; its games should be gone."""
        entry = listing.member(tournament.created_at, tournament.id)
        with self._redis.pipeline(transaction=True) as pipe:
            pipe.unlink(*keys.of_tournament(tournament.id))
            pipe.zrem(keys.DUE, due.tournament(tournament.id), due.fit(tournament.id))
            if tournament.owner:
                pipe.zrem(keys.account_tournaments(tournament.owner), entry)
                pipe.zrem(keys.unfinished(unfinished.host(tournament.owner)), tournament.id)
            pipe.zrem(keys.TOURNAMENTS, entry)
            pipe.execute()
