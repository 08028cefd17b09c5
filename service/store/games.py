"""Keeps games: what was fixed at creation, the log of events, and the lease of the worker that drives one.

The log is the truth about a running game: whoever wants to know its state replays it. Events are appended by
one script that checks state, lease and length, so of several writers exactly one wins, and a writer whose
answer was lost may simply ask again. A game that has ended may be packed (`shelf.py`), which no reader notices.
This module knows no rules: it never looks into an event.
"""

from __future__ import annotations

import logging
import secrets
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import msgspec

from bot_sdk.events import Event
from bot_sdk.results.values import GameState
from service.metrics.meters import silent
from service.store import due, keys, listing, unfinished
from service.store.documents import encode
from service.store.entities import Game, Seat
from service.store.errors import DamagedError, NotFoundError, told_apart
from service.store.lua import Args, Scripts
from service.store.packing import PackingError
from service.store.roundtrip import as_fields, raised, transaction
from service.store.shelf import Shelf, readable
from service.store.stored import Log, as_game, as_log

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from redis import Redis

    from service.metrics.meters import Meters
    from service.store.roundtrip import Command

logger = logging.getLogger(__name__)

_PACKED = 2
"""What `create_game` gives where a packed game has the id."""
_ENDED_NOW = 2
"""What `end_game` gives if it was that call which ended the game."""


class Commit(msgspec.Struct, frozen=True):
    """What became of a commit.

    `committed`: the events stand in the log, `at` is their time in Redis milliseconds; if `length` is more
    than expected plus the events, others have appended since. `length`: the log has another length than
    expected, or as many events but not those the caller knows: load the game and ask again. `lease`:
    another's, or run out (`acquire` tells which). `state`: the game isn't running; its state is None if there
    is no such game. `is_new`: this call wrote the events; else they stood there already, by a try of the caller's whose
    answer was lost, or by somebody who did the same at the same moment.
    """

    status: Literal["committed", "length", "lease", "state"]
    length: int
    at: int
    state: GameState | None
    is_new: bool


class Proposal(NamedTuple):
    """Events that are to be appended to a log of `expected` events; with `ending`, the game ends in the same step.

    `after` is the stamp of the last of those, so that a log that lost its end and grew again isn't taken for the one
    the caller knows; None isn't checked. `lease` is the token that must hold the game, None if none has to.
    """

    game_id: str
    events: Sequence[Event]
    expected: int
    lease: str | None
    after: int | None = None
    ending: GameState | None = None


class GameStore:
    """All games. `nonce` gives a word that is new each time."""

    def __init__(
        self,
        redis: Redis,
        *,
        nonce: Callable[[], str] = lambda: secrets.token_hex(8),
        meters: Meters | None = None,
    ) -> None:
        self._redis = redis
        self._scripts = Scripts(redis)
        self._shelf = Shelf(redis)
        self._nonce = nonce
        self._meters = meters or silent()

    # --- creation and reading -------------------------------------------------------------------------------

    def create(self, game: Game, *, secret: bytes, due_at: int | None, tokens: Mapping[int, str] | None = None) -> bool:
        """Keep a new game, open or running; False if another game has its id.

        True also if this very game was created before. It is due (at `due_at`, Redis ms), listed and counted
        before it exists, so that a crash leaves nothing unattended. `tokens` are the SHA-256 of the tokens of
        human seats.
        """
        due_then: list[Command] = [] if due_at is None else [("ZADD", keys.DUE, "NX", due_at, due.game(game.id))]
        for told in transaction(self._redis, [*due_then, *_listing(game)]):
            raised(told)
        pairs = [part for seat, token in sorted((tokens or {}).items()) for part in (str(seat), token)]
        each = (keys.game_meta, keys.game_secret, keys.game_tokens, keys.game_packed)
        told = self._scripts.run(
            "create_game", [key(game.id) for key in each], [encode(game), secret, game.state, *pairs]
        )
        return self._is_packed_as(game) if told == _PACKED else bool(told)

    def _is_packed_as(self, game: Game) -> bool:
        """Whether it is this very game that has been played and packed meanwhile; who sits there may have changed."""
        (found,) = self._shelf.find([game.id])
        return isinstance(found, Game) and (found.commitment, found.created_at) == (game.commitment, game.created_at)

    def get(self, game_id: str) -> Game | None:
        """Give a game as it stands, None if there is none."""
        return self.get_many([game_id])[0]

    def get_many(self, game_ids: Sequence[str]) -> list[Game | None]:
        """Give many games in one round trip, in the order asked.

        One that can't be read is None, and said to be damaged in the log: it keeps nobody from the others.
        """
        found = zip(game_ids, self.find(game_ids), strict=True)
        return [_readable(game_id, game) for game_id, game in found]

    def find(self, game_ids: Sequence[str]) -> list[Game | DamagedError | None]:
        """Give many games as `get_many`, with an error, unraised, in the place of each that can't be read."""
        with self._redis.pipeline(transaction=False) as pipe:
            for game_id in game_ids:
                pipe.hgetall(keys.game_meta(game_id))
            found = [_as_found(told) for told in told_apart(pipe.execute(raise_on_error=False))]
        missing = [game_id for game_id, game in zip(game_ids, found, strict=True) if game is None]
        shelved = iter(self._shelf.find(missing))
        return [next(shelved) if game is None else game for game in found]

    def secret(self, game_id: str) -> bytes:
        """Give the secret that fixes a game's packs. Raises NotFoundError."""
        secret = cast("bytes | None", self._redis.get(keys.game_secret(game_id)))
        if secret is not None:
            return secret
        loaded = self._shelf.load(game_id)
        if loaded is None:
            raise NotFoundError(f"no secret is kept for game {game_id}")
        return loaded[2]

    def tokens(self, game_id: str) -> dict[int, str]:
        """Give the SHA-256 of the tokens of a game's human seats."""
        found = cast("dict[bytes, bytes]", self._redis.hgetall(keys.game_tokens(game_id)))
        return {int(seat): token.decode() for seat, token in found.items()}

    def log(self, game_id: str, start: int = 0) -> Log:
        """Give the events from the one at `start` on. Raises DamagedError for what can't be read.

        Once a game is packed, all of them bear the time at which it ended.
        """
        lines = cast("list[bytes]", self._redis.lrange(keys.game_log(game_id), start, -1))
        loaded = None if lines else self._shelf.load(game_id)
        return loaded[1][start:] if loaded else as_log(lines)

    def length(self, game_id: str) -> int:
        """Tell how many events the log has."""
        return self._redis.llen(keys.game_log(game_id)) or len(self.log(game_id))

    def load(self, game_id: str) -> tuple[Game, Log, bytes] | None:
        """Give game, log and secret of one moment, in one round trip (two, if it is packed); None if there is no game.

        Raises DamagedError for a game, a log or a secret that can't be read.
        """
        commands: list[Command] = [
            ("HGETALL", keys.game_meta(game_id)),
            ("LRANGE", keys.game_log(game_id), 0, -1),
            ("GET", keys.game_secret(game_id)),
        ]
        fields, lines, secret = readable(transaction(self._redis, commands))
        game = as_game(as_fields(fields))
        if game is None:
            return self._shelf.load(game_id)
        if secret is None:
            raise DamagedError(f"no secret is kept for game {game_id}")
        return game, as_log(lines), secret

    def load_since(self, game_id: str, length: int) -> tuple[Game, Log] | None:
        """Give a game, and of its log the last of the first `length` events and all that follow, as of one moment.

        None if there is no such game, or if it is packed. Raises DamagedError for what can't be read.
        """
        commands: list[Command] = [
            ("HGETALL", keys.game_meta(game_id)),
            ("LRANGE", keys.game_log(game_id), max(0, length - 1), -1),
        ]
        fields, lines = readable(transaction(self._redis, commands))
        game = as_game(as_fields(fields))
        return None if game is None else (game, as_log(lines))

    # --- changes --------------------------------------------------------------------------------------------

    def commit(
        self,
        game_id: str,
        events: Sequence[Event],
        *,
        expected: int,
        lease: str | None,
        after: int | None = None,
        ending: GameState | None = None,
    ) -> Commit:
        """Append events as a `Proposal` of them says; asking again after a lost answer is safe.

        Events that stand at that place already are `committed`.
        """
        proposal = Proposal(game_id, events, expected, lease, after, ending)
        return self.as_commit(proposal, self._scripts.run("commit", *as_call(proposal)))

    def commit_many(self, proposals: Sequence[Proposal]) -> list[Commit | DamagedError]:
        """Append to many logs in one round trip, each as `commit` does: one step for each game, none for all together.

        An error, unraised, stands in the place of each that the store will never take. Where the store takes some and
        raises for others, because it was away, asking for all of them again is right.
        """
        told = self._scripts.run_many("commit", [as_call(proposal) for proposal in proposals])
        return [self._as_commit_or_error(*pair) for pair in zip(proposals, told, strict=True)]

    def _as_commit_or_error(self, proposal: Proposal, told: list[Any] | DamagedError) -> Commit | DamagedError:
        try:
            return told if isinstance(told, DamagedError) else self.as_commit(proposal, told)
        except DamagedError as error:  # it is packed by now, and can't be read
            return error

    def as_commit(self, proposal: Proposal, told: Any) -> Commit:
        """Read what the script that appends gave for a proposal."""
        if isinstance(told, int):
            length = proposal.expected + len(proposal.events)
            if proposal.ending is not None:
                self._meters.ended.add(proposal.ending.value)
            return Commit("committed", length, told, proposal.ending or GameState.RUNNING, is_new=True)
        status, length, at, state = told
        if not state:
            return self._of_packed(proposal, Commit(status.decode(), length, at, None, is_new=False))
        return Commit(status.decode(), length, at, GameState(state.decode()), is_new=False)

    def _of_packed(self, proposal: Proposal, told: Commit) -> Commit:
        """Say what became of a commit to a game without meta: none that there is, or one that is packed by now."""
        loaded = self._shelf.load(proposal.game_id)
        if loaded is None:
            return told
        game, log, _ = loaded
        standing = log[proposal.expected : proposal.expected + len(proposal.events)]
        is_ours = [each for _, each in standing] == [*proposal.events]
        at = standing[-1][0] if is_ours else 0
        return Commit("committed" if is_ours else "state", len(log), at, game.state, is_new=False)

    def start(self, game_id: str) -> bool:
        """Let an open game run, if no seat is open. True if it runs, by this call or an earlier one."""
        return bool(self._scripts.run("start_game", [keys.game_meta(game_id)], [keys.game_news(game_id)]))

    def fill_seat(
        self,
        game_id: str,
        seat: int,
        value: Seat,
        *,
        replaces: str,
        token: str | None = None,
        held_by: str | None = None,
    ) -> Literal["filled", "taken", "started"]:
        """Put `value` and its `token` (SHA-256) on a seat of an open game that a `replaces` (a kind) holds.

        `held_by` is the token hash that the seat must have now: who leaves can't put out one who came after. What
        the one before added to the shuffle goes with him.
        Raises NotFoundError if there is no such game or seat.
        """
        if value.kind == "bot" and value.bot_id:
            # Counted from its creation, so that pruning finds it at its end.
            owner = keys.unfinished(unfinished.bot(value.bot_id))
            self._redis.zadd(owner, {game_id: due.Due(self._redis).now()}, nx=True)
        names = [keys.game_meta(game_id), keys.game_tokens(game_id)]
        args: Args = [seat, encode(value), replaces, token or "", held_by or "", keys.game_news(game_id)]
        told = self._scripts.run("fill_seat", names, args).decode()
        if told != "missing":
            return cast("Literal['filled', 'taken', 'started']", told)
        (found,) = self._shelf.find([game_id])
        if not isinstance(found, Game) or seat >= len(found.seats):
            raise NotFoundError(f"there is no game {game_id} with a seat {seat}")
        return "filled" if found.seats[seat] == value and self.tokens(game_id).get(seat) == token else "started"

    def set_entropy(self, game_id: str, seat: int, entropy: str, *, held_by: str | None = None) -> bool:
        """Take what a seat adds to the shuffle; False once the game isn't open. That there is a `seat` isn't checked.

        False also if `held_by` isn't the token hash of who sits there.
        """
        names = [keys.game_meta(game_id), keys.game_tokens(game_id)]
        args: Args = [seat, entropy, keys.game_news(game_id), held_by or ""]
        if self._scripts.run("set_entropy", names, args):
            return True
        (found,) = self._shelf.find([game_id])
        is_his = isinstance(found, Game) and (held_by is None or self.tokens(game_id).get(seat) == held_by)
        return is_his and bool(entropy) and cast("Game", found).entropy[seat] == entropy

    def end(self, game_id: str, state: GameState) -> bool:
        """End a game otherwise than by its last event. True if it is in that state now, else False."""
        if not state.is_end:
            raise ValueError(f"expected a state that is an end, got {state.value!r}")
        told = self._scripts.run("end_game", [keys.game_meta(game_id)], [state, keys.game_news(game_id)])
        if told:
            if told == _ENDED_NOW:
                self._meters.ended.add(state.value)
            return True
        (found,) = self._shelf.find([game_id])
        return isinstance(found, Game) and found.state is state

    def show(self, game_id: str) -> bool:
        """Wake who waits for the board of a game to be closed, once; True if this call did, False if another had.

        That it is closed isn't checked.
        """
        word = self._nonce()
        if self._scripts.run("show", [keys.game_meta(game_id)], [word, keys.game_news(game_id)]):
            return True
        return self._shelf.shown_by(game_id) == word  # sent again, when the game was packed meanwhile

    def pack(self, game_id: str) -> bool:
        """Pack a game that has ended and that everybody may read, which isn't checked; True if it is packed.

        What can't be read, or packed, stays as it is, and is said to in the log.
        """
        try:
            return self._shelf.pack(game_id)
        except (DamagedError, PackingError) as error:
            logger.error("game %s can't be packed: %s", game_id, error, extra={"game_id": game_id})  # noqa: TRY400 (it says all)
            return False

    def settle(self, game: Game) -> None:
        """Do what is left when a game has ended: count it no longer, let it leave `due`. Idempotent."""
        counted: list[Command] = [("ZREM", keys.unfinished(owner), game.id) for owner in unfinished.owners(game)]
        for told in transaction(self._redis, [*counted, ("ZREM", keys.DUE, due.game(game.id))]):
            raised(told)

    # --- leases ---------------------------------------------------------------------------------------------

    def acquire(self, game_id: str, token: str, ms: int) -> bool:
        """Take the lease of a game for `ms`, or keep it if it is ours; False while it is another's."""
        return bool(self.acquire_many([game_id], token, ms))

    def acquire_many(self, game_ids: Sequence[str], token: str, ms: int) -> list[str]:
        """Take the leases of games as `acquire` does, in one round trip; give the games that are ours."""
        told = self._scripts.run_many("acquire", [([keys.game_lease(g)], [token, ms]) for g in game_ids])
        return [game_id for game_id, ours in zip(game_ids, told, strict=True) if ours == 1]

    def renew(self, game_ids: Sequence[str], token: str, ms: int) -> list[str]:
        """Prolong our leases in one round trip; give the games whose lease is still ours."""
        told = self._scripts.run_many("renew", [([keys.game_lease(g)], [token, ms]) for g in game_ids])
        return [game_id for game_id, ours in zip(game_ids, told, strict=True) if ours == 1]

    def release(self, game_id: str, token: str, seen: int | None = None) -> bool:
        """Give the lease back, unless the log moved on from `seen`: then False, and the holder goes on."""
        names = [keys.game_lease(game_id)]
        if seen is not None:
            names.append(keys.game_log(game_id))
        return bool(self._scripts.run("release", names, [token, *([] if seen is None else [seen])]))

    def leased(self, game_ids: Sequence[str]) -> list[bool]:
        """Tell which games are in somebody's hands now, in one round trip."""
        with self._redis.pipeline(transaction=False) as pipe:
            for game_id in game_ids:
                pipe.exists(keys.game_lease(game_id))
            return [bool(found) for found in pipe.execute()]

    def stall(self, game_id: str, length: int) -> int:
        """Count one more failure of ours to ask at this length of the log; give the count of all workers."""
        return int(self._scripts.run("stall", [keys.game_meta(game_id)], [length, self._nonce()]))

    def forget_stalls(self, game_id: str) -> None:
        """Forget the failures counted."""
        self._redis.hdel(keys.game_meta(game_id), "stall")

    # --- lists ----------------------------------------------------------------------------------------------

    def list_all(
        self, *, limit: int, cursor: str | None = None, state: GameState | None = None
    ) -> tuple[list[Game], str | None]:
        """Give up to `limit` games, newest first, and the next cursor, None at the end; or BadCursorError.

        With `state` only games in it, found by looking at the next 2,000: a page may be short and the list go
        on.
        """
        return self._select(keys.GAMES, limit, cursor, state)

    def list_for_account(
        self, account_id: str, *, limit: int, cursor: str | None = None, state: GameState | None = None
    ) -> tuple[list[Game], str | None]:
        """Give the games an account created, as `list_all` does."""
        return self._select(keys.account_games(account_id), limit, cursor, state)

    def list_for_tournament(
        self, tournament_id: str, *, limit: int, cursor: str | None = None, state: GameState | None = None
    ) -> tuple[list[Game], str | None]:
        """Give the games of a tournament, as `list_all` does."""
        return self._select(keys.tournament_games(tournament_id), limit, cursor, state)

    def _select(
        self, key: str, limit: int, cursor: str | None, state: GameState | None
    ) -> tuple[list[Game], str | None]:
        keep = None if state is None else lambda game: game.state is state
        return listing.select(self._redis, key, self.get_many, limit=limit, cursor=cursor, keep=keep)


def _listing(game: Game) -> list[Command]:
    """Give the commands that list a new game, and count it as unfinished."""
    lists = [keys.GAMES]
    if game.owner:
        lists.append(keys.account_games(game.owner))
    if game.slot:
        lists.append(keys.tournament_games(game.slot.tournament_id))
    member = listing.member(game.created_at, game.id)
    listed: list[Command] = [("ZADD", key, 0, member) for key in lists]
    owners = [keys.unfinished(owner) for owner in unfinished.owners(game)]
    return [*listed, *(("ZADD", owner, "NX", game.created_at, game.id) for owner in owners)]


def as_call(proposal: Proposal) -> tuple[list[str], Args]:
    """Give keys and arguments of the script that appends."""
    game_id, events, expected, lease, after, ending = proposal
    if not events:
        raise ValueError("expected at least one event to commit, got none")
    *names, news = _names_for_commits(game_id)
    stamp = "" if after is None else after
    return names, [expected, lease or "", ending or "", news, stamp, *map(encode, events)]


@lru_cache(maxsize=4096)
def _names_for_commits(game_id: str) -> tuple[str, str, str, str]:
    return keys.game_meta(game_id), keys.game_log(game_id), keys.game_lease(game_id), keys.game_news(game_id)


def _as_found(told: dict[bytes, bytes] | DamagedError) -> Game | DamagedError | None:
    if isinstance(told, DamagedError):
        return told
    try:
        return as_game(told)
    except DamagedError as error:
        return error


def _readable(game_id: str, found: Game | DamagedError | None) -> Game | None:
    if isinstance(found, DamagedError):
        logger.error("game %s can't be read: %s", game_id, found, extra={"game_id": game_id})
        return None
    return found
