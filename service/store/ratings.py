"""Keeps what ratings are made from, for ever, and the ratings of the last fit, a leaderboard per ruleset.

A rated game is written once by its id, so the number of games tells whether any came since a fit. The leaderboard,
with all that belongs to it, is replaced as a whole, and only by the fit that follows it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import msgspec

from bot_sdk.results.comparison import Opponent
from bot_sdk.results.rated import Rating
from service.store import keys
from service.store.documents import encode
from service.store.leaderboard import Kept, Leaderboard, Line, Told
from service.store.lua import Args, Scripts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from redis import Redis

_PAGE = 1_000


_board = msgspec.json.Decoder(Leaderboard).decode
_ratings = msgspec.json.Decoder(list[Rating]).decode
_lines = msgspec.json.Decoder(list[Line]).decode
_opponents = msgspec.json.Decoder(list[Opponent]).decode


class RatingStore:
    """Rated games and ratings, by ruleset."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._scripts = Scripts(redis)

    # --- rated games ----------------------------------------------------------------------------------------

    def add(self, ruleset: str, games: Mapping[str, Kept], names: Mapping[str, str]) -> None:
        """Keep rated games by id, each once for ever, and the names under which their bots took part."""
        with self._redis.pipeline(transaction=False) as pipe:
            for game_id, game in games.items():
                pipe.hsetnx(keys.rated(ruleset), game_id, encode(game))
            if names:
                pipe.hset(keys.rated_names(ruleset), mapping=dict[Any, Any](names))
            pipe.execute()

    def count(self, ruleset: str) -> int:
        """Tell how many rated games there are."""
        return self._redis.hlen(keys.rated(ruleset))

    def is_stale(self, ruleset: str) -> bool:
        """Tell whether the leaderboard is made from other games than there are now."""
        with self._redis.pipeline(transaction=True) as pipe:
            pipe.hlen(keys.rated(ruleset))
            pipe.hget(keys.leaderboard(ruleset), "results")
            count, results = pipe.execute()
        return bool(count != int(results or 0))

    def games(self, ruleset: str) -> list[bytes]:
        """Give all rated games as they are kept, JSON each, in order of their ids."""
        found = self._redis.hscan_iter(keys.rated(ruleset), count=_PAGE)
        return [game for _, game in sorted(dict(found).items())]

    def names(self, ruleset: str, bot_ids: Sequence[str]) -> dict[str, str]:
        """Give the names under which bots took part last, as far as they did."""
        return {bot_id: name.decode() for bot_id, name in self._fields(keys.rated_names(ruleset), bot_ids).items()}

    def rename(self, ruleset: str, bot_ids: Sequence[str], name: str) -> None:
        """Put another name in the place of those under which these bots took part last."""
        known = self.names(ruleset, bot_ids)
        if known:
            self._redis.hset(keys.rated_names(ruleset), mapping=dict[Any, Any](dict.fromkeys(known, name)))

    # --- ratings --------------------------------------------------------------------------------------------

    def leaderboard(self, ruleset: str) -> Leaderboard | None:
        """Give what the last fit said, None before the first."""
        body = cast("bytes | None", self._redis.hget(keys.leaderboard(ruleset), "body"))
        return None if body is None else _board(body)

    def history(self, ruleset: str, bot_id: str) -> list[Line]:
        """Give a bot's ratings by the fits so far, oldest first."""
        return self.histories(ruleset, [bot_id]).get(bot_id, [])

    def histories(self, ruleset: str, bot_ids: Sequence[str]) -> dict[str, list[Line]]:
        """Give the histories of those bots that have one."""
        found = self._fields(keys.rating_history(ruleset), bot_ids)
        return {bot_id: _lines(lines) for bot_id, lines in found.items()}

    def opponents(self, ruleset: str, bot_id: str) -> list[Opponent]:
        """Give what a bot's games against each other bot say, as the last fit has it."""
        found = self._fields(keys.rating_opponents(ruleset), [bot_id])
        return _opponents(found[bot_id]) if found else []

    def publish(self, ruleset: str, board: Leaderboard, told: Mapping[str, Told]) -> bool:
        """Put a fit in the place of the one before; False if another has come there first. All of it or nothing."""
        args: list[str | bytes | int] = [board.number, board.results, encode(board)]
        for bot_id, each in told.items():
            history = b"" if each.history is None else encode(each.history)
            args += [bot_id, history, encode(each.opponents)]
        names = [keys.leaderboard(ruleset), keys.rating_history(ruleset), keys.rating_opponents(ruleset)]
        return bool(self._scripts.run("publish", names, cast("Args", args)))

    def _fields(self, key: str, fields: Sequence[str]) -> dict[str, bytes]:
        if not fields:
            return {}
        found = cast("list[bytes | None]", self._redis.hmget(key, list(fields)))
        return {field: value for field, value in zip(fields, found, strict=True) if value is not None}

    # --- of one tournament ----------------------------------------------------------------------------------

    def put_of_tournament(self, tournament_id: str, rows: Sequence[Rating]) -> None:
        """Keep what a tournament's own games say of its entries."""
        self._redis.set(keys.tournament_ratings(tournament_id), encode(list(rows)))

    def of_tournament(self, tournament_id: str) -> list[Rating]:
        """Give that, best first; nothing before it was put."""
        found = cast("bytes | None", self._redis.get(keys.tournament_ratings(tournament_id)))
        return _ratings(found) if found else []

    # --- who fits when --------------------------------------------------------------------------------------

    def pause(self, ruleset: str, ms: int) -> bool:
        """Let no fit be asked for in the next `ms`; False if that is so already."""
        return bool(self._redis.set(keys.rating_pause(ruleset), b"1", px=ms, nx=True))

    def lease(self, ruleset: str, token: str, ms: int) -> bool:
        """Let nobody but `token` fit in the next `ms`; False while another has it so."""
        return bool(self._scripts.run("acquire", [keys.rating_lease(ruleset)], [token, ms]))

    def is_leased(self, ruleset: str) -> bool:
        """Tell whether somebody fits, or is to be waited for."""
        return bool(self._redis.exists(keys.rating_lease(ruleset)))

    def release(self, ruleset: str, token: str) -> None:
        """Give that back, if it is ours."""
        self._scripts.run("release", [keys.rating_lease(ruleset)], [token])
