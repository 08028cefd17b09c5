"""Keeps tournaments: entries until the start, then rounds and results, each written once and never changed.

Whatever can be computed from entries, rounds and results is computed, not kept.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, TypeGuard, cast

import msgspec
from msgspec.structs import replace

from bot_sdk.results.values import Entry, Result, Round, Slot
from service.store import due, keys, listing
from service.store.documents import Documents, encode, encode_over
from service.store.entities import Tournament
from service.store.errors import NotFoundError
from service.store.lua import Args, Scripts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from redis import Redis

_entry = msgspec.json.Decoder(Entry)
_result = msgspec.json.Decoder(Result)
_round = msgspec.json.Decoder(Round)


def place(slot: Slot) -> str:
    """Give the name of a game's place in its tournament; reruns of a game share it."""
    return f"{slot.round}.{slot.table}.{slot.leg}"


def is_shared(slot: Slot | None) -> TypeGuard[Slot]:
    """Tell whether other games are played on the board of a game, so that it can't be read before that is closed."""
    return slot is not None and slot.is_shared


class TournamentStore:
    """All tournaments. `nonce` gives a word that is new each time."""

    def __init__(self, redis: Redis, *, nonce: Callable[[], str] = lambda: secrets.token_hex(8)) -> None:
        self._redis = redis
        self._scripts = Scripts(redis)
        self._nonce = nonce
        self._tournaments = Documents(redis, Tournament, keys.tournament, _told)
        self.get = self._tournaments.get
        self.get_many = self._tournaments.get_many
        self.change = self._tournaments.change

    def create(self, tournament: Tournament, *, secret: bytes) -> bool:
        """Keep a new tournament and its root secret; False if another has its id."""
        entry = {listing.member(tournament.created_at, tournament.id): 0}
        with self._redis.pipeline(transaction=True) as pipe:
            pipe.zadd(keys.TOURNAMENTS, entry)
            if tournament.owner:
                pipe.zadd(keys.account_tournaments(tournament.owner), entry)
            pipe.set(keys.tournament_secret(tournament.id), secret, nx=True)
            pipe.execute()
        return self._tournaments.create(tournament.id, tournament)

    def secret(self, tournament_id: str) -> bytes:
        """Give the root secret. Raises NotFoundError."""
        secret = cast("bytes | None", self._redis.get(keys.tournament_secret(tournament_id)))
        if secret is None:
            raise NotFoundError(f"no secret is kept for tournament {tournament_id}")
        return secret

    def have_ended(self, tournament_ids: Sequence[str]) -> list[bool | None]:
        """Tell of tournaments whether they have ended, None of those that don't exist."""
        return [None if each is None else each.state.is_end for each in self.get_many(tournament_ids)]

    def pulse(self, tournament_id: str) -> int:
        """Give a number that grows with every change of meta, entries, rounds, starts or results."""
        return int(cast("bytes | None", self._redis.get(keys.tournament_rev(tournament_id))) or 0)

    def list_all(
        self, *, limit: int, cursor: str | None = None, keep: Callable[[Tournament], bool] | None = None
    ) -> tuple[list[Tournament], str | None]:
        """Give up to `limit` tournaments that `keep` likes, newest first, and the next cursor."""
        read = self._tournaments.get_many
        return listing.select(self._redis, keys.TOURNAMENTS, read, limit=limit, cursor=cursor, keep=keep)

    def list_for_account(
        self,
        account_id: str,
        *,
        limit: int,
        cursor: str | None = None,
        keep: Callable[[Tournament], bool] | None = None,
    ) -> tuple[list[Tournament], str | None]:
        """Give the tournaments an account created, as `list_all` does."""
        key, read = keys.account_tournaments(account_id), self._tournaments.get_many
        return listing.select(self._redis, key, read, limit=limit, cursor=cursor, keep=keep)

    # --- entries --------------------------------------------------------------------------------------------

    def enter(self, tournament_id: str, entry: Entry, *, most: int, most_each: int | None = None) -> str:
        """Enter a bot, or change its entry: done, closed once the tournament has started, full or account_full.

        `most` entries there may be, and `most_each` of one account. Who starts a tournament changes its state first and
        reads the entries after: then they are final. Raises NotFoundError.
        """
        return self._enter(tournament_id, entry.bot_id, encode(entry), most, "" if most_each is None else most_each)

    def leave(self, tournament_id: str, bot_id: str) -> bool:
        """Take a bot out of a tournament that hasn't started; False if it has. Raises NotFoundError."""
        return self._enter(tournament_id, bot_id, b"", "", "") == "done"

    def _enter(self, tournament_id: str, bot_id: str, value: bytes, most: int | str, most_each: int | str) -> str:
        names = [keys.tournament(tournament_id), keys.tournament_entries(tournament_id)]
        names.append(keys.tournament_rev(tournament_id))
        args: Args = [bot_id, value, keys.tournament_news(tournament_id), most, most_each]
        told = cast("bytes", self._scripts.run("enter", names, args)).decode()
        if told == "missing":
            raise NotFoundError(f"there is no tournament {tournament_id}")
        return told

    def withdraw(self, tournament_id: str, bot_id: str, at: int) -> Entry:
        """Mark an entry as withdrawn at `at`, and give it; the first time stands. Raises NotFoundError."""

        def withdrawn(entry: Entry) -> Entry:
            return entry if entry.withdrawn_at is not None else replace(entry, withdrawn_at=at)

        return self.change_entry(tournament_id, bot_id, withdrawn)

    def change_entry(self, tournament_id: str, bot_id: str, edit: Callable[[Entry], Entry]) -> Entry:
        """Replace an entry by `edit(entry)`, and give the new one; raises NotFoundError."""
        key = keys.tournament_entries(tournament_id)
        seen = cast("bytes | None", self._redis.hget(key, bot_id))
        while seen is not None:
            entry = _entry.decode(seen)
            edited = edit(entry)
            if edited == entry:
                return entry
            seen = self._put(tournament_id, key, bot_id, seen, encode_over(seen, edited))
        raise NotFoundError(f"bot {bot_id} isn't in tournament {tournament_id}")

    def entries(self, tournament_id: str) -> list[Entry]:
        """Give all entries in order of bot id, withdrawn ones too."""
        found = cast("dict[bytes, bytes]", self._redis.hgetall(keys.tournament_entries(tournament_id)))
        return [_entry.decode(found[bot_id]) for bot_id in sorted(found)]

    # --- rounds, starts, results ----------------------------------------------------------------------------

    def put_round(self, tournament_id: str, number: int, value: Round) -> Round:
        """Write a round once, and give the one that stands: `value`, or what another wrote before."""
        key = keys.tournament_rounds(tournament_id)
        return _round.decode(self._put(tournament_id, key, str(number), b"", encode(value)))

    def rounds(self, tournament_id: str) -> dict[int, Round]:
        """Give all rounds written so far by number, in order."""
        found = cast("dict[bytes, bytes]", self._redis.hgetall(keys.tournament_rounds(tournament_id)))
        return {number: _round.decode(found[b"%d" % number]) for number in sorted(map(int, found))}

    def rounds_at(self, tournament_id: str, numbers: Sequence[int]) -> dict[int, Round]:
        """Give those of these rounds that were written, in the order they are named in."""
        found = self._among(keys.tournament_rounds(tournament_id), list(map(str, numbers)))
        return {number: _round.decode(found[str(number)]) for number in numbers if str(number) in found}

    def claim(self, tournament_id: str, slot: Slot) -> bool:
        """Note that this attempt at a place is started; False unless it is the next one, or noted already."""
        seen = str(slot.attempt - 1) if slot.attempt else ""
        key = keys.tournament_started(tournament_id)
        stands = self._put(tournament_id, key, place(slot), seen.encode(), str(slot.attempt).encode())
        return int(stands or -1) == slot.attempt

    def started(self, tournament_id: str) -> dict[str, int]:
        """Give the attempt started last at each place (see `place`)."""
        found = cast("dict[bytes, bytes]", self._redis.hgetall(keys.tournament_started(tournament_id)))
        return {name.decode(): int(attempt) for name, attempt in found.items()}

    def started_at(self, tournament_id: str, places: Sequence[str]) -> dict[str, int]:
        """Give the attempt started last at each of these places (see `place`) where there was one."""
        found = self._among(keys.tournament_started(tournament_id), places)
        return {name: int(attempt) for name, attempt in found.items()}

    def count_started(self, tournament_id: str) -> int:
        """Tell at how many places a game was started."""
        return self._redis.hlen(keys.tournament_started(tournament_id))

    def put_result(self, result: Result) -> bool:
        """Write the result of a place once; False if another result stands there."""
        tournament_id, value = result.slot.tournament_id, encode(result)
        key = keys.tournament_results(tournament_id)
        return self._put(tournament_id, key, place(result.slot), b"", value) == value

    def results(self, tournament_id: str) -> list[Result]:
        """Give all results in order of round, table and leg."""
        found = cast("list[bytes]", self._redis.hvals(keys.tournament_results(tournament_id)))
        results = map(_result.decode, found)
        return sorted(results, key=lambda result: (result.slot.round, result.slot.table, result.slot.leg))

    def results_at(self, tournament_id: str, places: Sequence[str]) -> list[Result]:
        """Give the results of these places (see `place`), as far as there are any."""
        found = self._among(keys.tournament_results(tournament_id), places)
        return [_result.decode(value) for value in found.values()]

    def done(self, tournament_id: str) -> set[str]:
        """Give the places (see `place`) that have a result."""
        found = cast("list[bytes]", self._redis.hkeys(keys.tournament_results(tournament_id)))
        return {name.decode() for name in found}

    def count_results(self, tournament_id: str) -> int:
        """Tell how many results there are."""
        return self._redis.hlen(keys.tournament_results(tournament_id))

    # --- boards that several games share --------------------------------------------------------------------

    def close_board(self, tournament_id: str, board: str) -> bool:
        """Note for ever that the last game of a board has ended; True if this call did, False if another had before."""
        word = self._nonce().encode()  # so that the command sent again after a lost answer still counts as this call
        return self._put(tournament_id, keys.tournament_closed(tournament_id), board, b"", word) == word

    def closed(self, tournament_id: str) -> set[str]:
        """Give all boards that were closed."""
        found = cast("list[bytes]", self._redis.hkeys(keys.tournament_closed(tournament_id)))
        return {board.decode() for board in found}

    def closed_of(self, tournament_id: str, boards: Sequence[str]) -> set[str]:
        """Give those of these boards that were closed."""
        return set(self._among(keys.tournament_closed(tournament_id), boards))

    def is_readable(self, slot: Slot | None) -> bool:
        """Tell whether more may be shown of the game at this place than who plays it and its state.

        Nothing else is while other games are played on its board: whoever is yet to play there must not know it.
        """
        return self.are_readable([slot])[0]

    def are_readable(self, slots: Sequence[Slot | None]) -> list[bool]:
        """Tell it of many games, in one round trip at most."""
        asked: dict[str, dict[str, bool]] = {}
        for slot in slots:
            if is_shared(slot):
                asked.setdefault(slot.tournament_id, {})[slot.board] = False
        if asked:
            self._look_up(asked)
        return [not is_shared(slot) or asked[slot.tournament_id][slot.board] for slot in slots]

    def _look_up(self, asked: dict[str, dict[str, bool]]) -> None:
        """Fill in which of the boards of several tournaments were closed."""
        with self._redis.pipeline(transaction=False) as pipe:
            for tournament_id, boards in asked.items():
                pipe.hmget(keys.tournament_closed(tournament_id), list(boards))
            for boards, found in zip(asked.values(), pipe.execute(), strict=True):
                boards.update(zip(boards, (word is not None for word in found), strict=True))

    def _among(self, key: str, names: Sequence[str]) -> dict[str, bytes]:
        """Give what is kept under these names, as far as there is anything."""
        if not names:
            return {}
        found = cast("list[bytes | None]", self._redis.hmget(key, list(names)))
        return {name: value for name, value in zip(names, found, strict=True) if value is not None}

    def _put(self, tournament_id: str, key: str, field: str, seen: bytes, new: bytes) -> bytes:
        names = [key, keys.tournament_rev(tournament_id)]
        args: Args = [field, seen, new, keys.tournament_news(tournament_id)]
        return cast("bytes", self._scripts.run("put_field", names, args))

    # --- the end --------------------------------------------------------------------------------------------

    def settle(self, tournament_id: str) -> None:
        """Let an ended tournament leave `due`. Idempotent."""
        self._redis.zrem(keys.DUE, due.tournament(tournament_id))


def _told(tournament_id: str) -> tuple[str, str]:
    return keys.tournament_rev(tournament_id), keys.tournament_news(tournament_id)
