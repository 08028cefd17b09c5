"""The life of a game around its play: creation, seats, entropy, start and cancellation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bot_sdk.games.options import OptionError
from bot_sdk.games.packs import MAX_ENTROPY_BYTES, commitment
from bot_sdk.games.registry import Ruleset, RulesetError, ruleset
from bot_sdk.results.values import GameState
from service.arena.caller import Caller
from service.arena.errors import ConflictError, ForbiddenError, NotFoundError, invalid
from service.arena.maintenance import check_begins
from service.arena.minting import SEAT_TOKEN, Mint, token_hash
from service.arena.queue import Queue, set_going
from service.arena.reading import Covered, Reading, Shown, summaries
from service.arena.seating import OPEN_SEAT, check_bot, seated
from service.arena.tables import Tables
from service.referee.table import BOT, HUMAN, OPEN
from service.store import due, unfinished
from service.store.entities import Bot, Game, Limits, Seat
from service.store.store import Store
from service.store.tournaments import is_shared

LOOK_AGAIN_MS: Final = 1_000
"""When the sweeper looks at a game that was acted in, should the process die before it has a worker go on."""
ADDRESS_MS: Final = 8 * 86_400_000
"""How long an address is known to have unfinished games after it made the last: longer than people may think."""
STALE_MS: Final = 5_000
"""How long a creation may take; after that a game that never came to be, or whose end wasn't counted, is dropped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What the operator allows: who may make games, how many, how long an open seat waits."""

    anonymous_games: bool
    max_open_games: int
    open_seat_ms: int


@dataclass(frozen=True, slots=True)
class Created:
    """A new game, with the tokens of its human seats by seat."""

    game: Game
    tokens: dict[int, str]


class Games:
    """The use cases of games outside their play. `pack_secret` gives 32 random bytes."""

    def __init__(
        self,
        store: Store,
        queue: Queue,
        policy: Policy,
        *,
        clock: Callable[[], int],
        pack_secret: Callable[[], bytes],
    ) -> None:
        """Keep what they work with."""
        self._store = store
        self._queue = queue
        self._policy = policy
        self._clock = clock
        self._pack_secret = pack_secret
        self.tables = Tables(store.games)

    # --- creation -----------------------------------------------------------------------------------------------------

    def create(self, caller: Caller, order: Mapping[str, Any], mint: Mint) -> Created:
        """Make a game as ordered, and start it if nobody is missing.

        `order` has ruleset, options, seats, limits (of `Limits`) and start (auto or manual). A retried order gives
        the game of its first try. Raises ForbiddenError, InvalidError, ConflictError, UnavailableError in maintenance.
        """
        game_id = mint.id("gam_")
        found = self._store.games.get(game_id)
        if found is None:
            found = self._make(caller, order, game_id, mint)
        elif not _is_as_ordered(found, order):
            raise ConflictError("that Idempotency-Key made another game", code="idempotency_key_reused")
        humans = [number for number, shown in enumerate(order["seats"]) if shown["kind"] == HUMAN]
        return Created(found, {number: _seat_token(mint, number) for number in humans})

    def _make(self, caller: Caller, order: Mapping[str, Any], game_id: str, mint: Mint) -> Game:
        rules, options = _rules(order)
        self._check_may_create(caller, order["seats"])
        check_begins(self._store.maintenance)
        bots = self._bots(caller, order["seats"], rules)
        seats = [seated(number, shown, bots, caller.account_id) for number, shown in enumerate(order["seats"])]
        self._reserve(caller, game_id, bots)
        secret = self._pack_secret()
        waits = order["start"] == "manual" or any(seat.kind == OPEN for seat in seats)
        now = self._clock()
        game = Game(
            id=game_id,
            ruleset=rules.name,
            rules=rules.version,
            options=options,
            seats=seats,
            limits=Limits(**order["limits"]),
            label=game_id,
            commitment=commitment(secret, game_id),
            entropy=[""] * len(seats),
            start=order["start"],
            owner=caller.account_id,
            state=GameState.OPEN if waits else GameState.RUNNING,
            created_at=now,
        )
        tokens = {
            number: token_hash(_seat_token(mint, number)) for number, seat in enumerate(seats) if seat.kind == HUMAN
        }
        due_at = now + self._policy.open_seat_ms if waits else now
        self._store.games.create(game, secret=secret, due_at=due_at, tokens=tokens)
        if not waits:
            set_going(self._queue, game)
        return self.get(game_id)

    def _bots(self, caller: Caller, seats: Sequence[Mapping[str, Any]], rules: Ruleset) -> dict[str, Bot]:
        found: dict[str, Bot] = {}
        for number, shown in enumerate(seats):
            if shown["kind"] == BOT:
                bot = self._store.bots.get(shown["bot_id"])
                check_bot(caller, bot, rules, f"seats.{number}.bot_id")
                found[shown["bot_id"]] = bot  # type: ignore[assignment]  # checked
        return found

    def _check_may_create(self, caller: Caller, seats: Sequence[Mapping[str, Any]]) -> None:
        if caller.account_id is not None or caller.is_operator:
            return
        if not self._policy.anonymous_games:
            raise ForbiddenError("games need an account here", code="account_needed")
        if any(shown["kind"] == BOT for shown in seats):
            raise ForbiddenError("a game with registered bots needs an account", code="account_needed")

    def _reserve(self, caller: Caller, game_id: str, bots: Mapping[str, Bot]) -> None:
        owner = _owner(caller)
        limits = [(owner, self._policy.max_open_games, "quota_games", "unfinished games")]
        limits += [
            (unfinished.bot(bot.id), bot.max_games, "bot_busy", f"games at once for {bot.name}")
            for bot in bots.values()
        ]
        reserved: list[str] = []
        for name, limit, code, what in limits:
            kept_ms = ADDRESS_MS if name == unfinished.address(caller.address) else None
            if not self._store.unfinished.reserve(name, game_id, limit, stale_ms=STALE_MS, kept_ms=kept_ms):
                for given in reserved:
                    self._store.unfinished.drop(given, game_id)
                raise ConflictError(f"expected at most {limit} {what}; wait until one has ended", code=code)
            reserved.append(name)

    # --- reading ------------------------------------------------------------------------------------------------------

    def get(self, game_id: str) -> Game:
        """Give a game's meta; raises NotFoundError."""
        game = self._store.games.get(game_id)
        if game is None:
            raise NotFoundError("there is no such game")
        return game

    def reading(self, game_id: str) -> Reading:
        """Give what everybody may read of a game now; raises NotFoundError.

        The log of a game on an open board isn't even loaded: the time that takes would tell how long it is.
        """
        known = self.tables.peek(game_id)
        if known is None or is_shared(known.meta.slot):
            game = self.get(game_id)
            if not self._store.tournaments.is_readable(game.slot):
                return Covered(game)
        return self._shown(game_id)

    def standing(self, game_id: str) -> Shown:
        """Give a game as it stands now, all of it, for those who play; raises NotFoundError.

        What is for everybody's eyes comes from `reading`.
        """
        return self._shown(game_id)

    def _shown(self, game_id: str) -> Shown:
        shown = self.tables.load(game_id)
        if shown is None:
            raise NotFoundError("there is no such game")
        return shown

    def list_all(
        self, caller: Caller, *, limit: int, cursor: str | None, state: GameState | None, mine: bool = False
    ) -> tuple[list[dict[str, Any]], str | None]:
        """Show games, or those that the caller made, newest first, and the next cursor; raises BadCursorError."""
        games = self._store.games
        if mine:
            found, following = games.list_for_account(caller.account, limit=limit, cursor=cursor, state=state)
        else:
            found, following = games.list_all(limit=limit, cursor=cursor, state=state)
        return summaries(self._store.tournaments, found), following

    # --- seats and start ----------------------------------------------------------------------------------------------

    def join(self, caller: Caller, game_id: str, number: int, name: str, mint: Mint) -> str:
        """Seat a person on an open seat; give the token of the seat.

        Raises NotFoundError, ConflictError; UnavailableError in maintenance, if the last to join starts the game.
        """
        game = self.get(game_id)
        _check_seat(game, number)
        if game.start == "auto":
            check_begins(self._store.maintenance)
        token = _seat_token(mint, number)
        seated = Seat(kind=HUMAN, name=name, account_id=caller.account_id)
        told = self._store.games.fill_seat(game_id, number, seated, replaces=OPEN, token=token_hash(token))
        if told == "taken":
            raise ConflictError(f"seat {number} is taken", code="seat_taken")
        if told == "started":
            raise ConflictError("the game has begun or ended", code="not_open")
        if game.start == "auto":
            self._start(game_id)
        return token

    def stand_up(self, caller: Caller, game_id: str, number: int) -> bool:
        """Free a seat of a game that hasn't begun, unless another sits there by now; False if it has begun.

        Raises NotFoundError, ForbiddenError.
        """
        game = self.get(game_id)
        check_holds(caller, game, number)
        if game.state is not GameState.OPEN:
            return False
        told = self._store.games.fill_seat(game_id, number, OPEN_SEAT, replaces=HUMAN, held_by=caller.seat_hash)
        return told != "started"

    def check_sits(self, caller: Caller, game_id: str, number: int) -> None:
        """Raise ForbiddenError if the caller has left the seat of a game that has begun to somebody else.

        His token was good when his request came, and seats don't change after the start.
        """
        held = self._store.games.tokens(game_id).get(number)
        if held is None or held != caller.seat_hash:
            raise ForbiddenError(f"seat {number} is another's by now", code="not_your_seat")

    def set_entropy(self, caller: Caller, game_id: str, number: int, entropy: str) -> None:
        """Take what a seat adds to the shuffle of a manual game.

        Raises NotFoundError, ForbiddenError, InvalidError over 256 bytes, ConflictError unless the game waits for a
        manual start.
        """
        game = self.get(game_id)
        check_holds(caller, game, number)
        if len(entropy.encode()) > MAX_ENTROPY_BYTES:
            raise invalid("entropy", f"expected at most {MAX_ENTROPY_BYTES} bytes, got {len(entropy.encode())}")
        if game.start != "manual" or not self._store.games.set_entropy(
            game_id, number, entropy, held_by=caller.seat_hash
        ):
            what = "entropy is taken from who sits there, until the start of a game with a manual start"
            raise ConflictError(what, code="not_open")

    def set_state(self, caller: Caller, game_id: str, state: GameState) -> Game:
        """Start or cancel a game; idempotent. Its owner may, the operator, and until it runs whoever holds a seat.

        Raises ForbiddenError, ConflictError, UnavailableError for a start in maintenance.
        """
        game = self.get(game_id)
        self._check_may_steer(caller, game)
        if state is GameState.RUNNING:
            if game.state is GameState.OPEN:
                check_begins(self._store.maintenance)
            if not self._start(game_id):
                why = "it has ended" if self.get(game_id).state.is_end else "a seat is open"
                raise ConflictError(f"the game can't start: {why}", code="cannot_start")
        else:
            self._cancel(game_id)
        return self.get(game_id)

    def _check_may_steer(self, caller: Caller, game: Game) -> None:
        holds_seat = caller.game_id == game.id and caller.seat is not None
        alone = sum(seat.kind in {HUMAN, OPEN} for seat in game.seats) == 1
        if caller.is_operator or caller.owns(game.owner):
            return
        if game.slot is None and holds_seat and (game.state is GameState.OPEN or alone):
            return
        raise ForbiddenError("only who made the game, or holds a seat of it, can do this", code="not_yours")

    def _start(self, game_id: str) -> bool:
        self._store.due.add(due.game(game_id), self._store.due.now() + LOOK_AGAIN_MS)
        if not self._store.games.start(game_id):
            return False
        self._store.due.add(due.game(game_id), self._store.due.now())
        set_going(self._queue, self.get(game_id))
        return True

    def _cancel(self, game_id: str) -> None:
        if not self._store.games.end(game_id, GameState.CANCELLED):
            raise ConflictError("the game has ended already", code="ended")
        self._store.due.add(due.game(game_id), self._store.due.now())
        self._queue.drive(game_id)


def _owner(caller: Caller) -> str:
    if caller.account_id is not None:
        return unfinished.account(caller.account_id)
    return "operator" if caller.is_operator else unfinished.address(caller.address)


def check_holds(caller: Caller, game: Game, number: int) -> None:
    """Raise NotFoundError for a seat that isn't there, ForbiddenError unless the caller's token is that seat's."""
    _check_seat(game, number)
    if caller.game_id != game.id or caller.seat != number:
        raise ForbiddenError(f"expected the token of seat {number}", code="not_your_seat")


def _check_seat(game: Game, number: int) -> None:
    if number >= len(game.seats):
        raise NotFoundError(f"expected a seat from 0 to {len(game.seats) - 1}, got {number}")


def _seat_token(mint: Mint, number: int) -> str:
    return mint.secret(SEAT_TOKEN, f"seat {number}")


def _rules(order: Mapping[str, Any]) -> tuple[Ruleset, dict[str, Any]]:
    try:
        rules = ruleset(order["ruleset"])
        return rules, rules.resolve(order["options"], len(order["seats"]))
    except RulesetError as error:
        raise invalid(error.field, str(error)) from error
    except OptionError as error:
        raise invalid(f"options.{error.field:.64}", str(error)) from error


def _is_as_ordered(game: Game, order: Mapping[str, Any]) -> bool:
    """Whether an order can be the one that made the game; who sits there may have changed since."""
    rules, options = _rules(order)
    made = (game.ruleset, game.options, game.limits, game.start, len(game.seats))
    return made == (rules.name, options, Limits(**order["limits"]), order["start"], len(order["seats"]))
