"""Tournaments: made, entered, started, run by the sweeper, read. What is to be played follows from what is stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from bot_sdk.bots import HOUSE, PREFIX
from bot_sdk.games.options import OptionError
from bot_sdk.games.packs import MAX_ENTROPY_BYTES, root_commitment
from bot_sdk.games.registry import Ruleset, RulesetError, ruleset
from bot_sdk.results.values import Entry, Round
from service.arena.caller import Caller
from service.arena.errors import ConflictError, ForbiddenError, NotFoundError, invalid
from service.arena.minting import Mint
from service.arena.seating import house_seat
from service.store import due
from service.store.entities import BotState, Limits, Tournament, TournamentState
from service.store.store import Store
from service.tournaments.errors import ImpossibleScheduleError
from service.tournaments.schedule import count_games, round_robin

MAX_ENTRIES: Final = 256
MAX_GAMES: Final = 100_000
LOOK_AGAIN_MS: Final = 1_000
"""When the sweeper looks at a tournament whose state changes, should the process die before it says so."""


class Tournaments:
    """The use cases of tournaments. `root_secret` gives 32 random bytes, `seed` a seed where none is given."""

    def __init__(
        self,
        store: Store,
        *,
        max_tournaments: int,
        clock: Callable[[], int],
        root_secret: Callable[[], bytes],
        seed: Callable[[], int],
    ) -> None:
        """Keep what they work with."""
        self._store = store
        self._max_tournaments = max_tournaments
        self._clock = clock
        self._root_secret = root_secret
        self._seed = seed

    # --- creation and entries -----------------------------------------------------------------------------------------

    def create(self, caller: Caller, order: Mapping[str, Any], mint: Mint) -> Tournament:
        """Make a tournament, open for entries, as ordered; its root commitment is public from now on.

        `order` has name, ruleset, options, format, deals, table_size (None: the smallest), rounds (None: one cycle),
        seed (None: drawn) and limits. Raises InvalidError, ConflictError over the account's quota.
        """
        tournament_id = mint.id("trn_")
        rules, table_size, options = _table(order)
        found = self._store.tournaments.get(tournament_id)
        if found is not None:
            if (found.ruleset, found.table_size, found.options) != (rules.name, table_size, options):
                raise ConflictError("that Idempotency-Key made another tournament", code="idempotency_key_reused")
            return found
        self._check_quota(caller)
        root_secret = self._root_secret()
        tournament = Tournament(
            id=tournament_id,
            name=order["name"],
            owner=caller.account_id,
            ruleset=rules.name,
            options=options,
            format=order["format"],
            deals=order["deals"],
            table_size=table_size,
            rounds=order["rounds"],
            seed=self._seed() if order["seed"] is None else order["seed"],
            limits=Limits(**order["limits"]),
            root=root_commitment(root_secret, tournament_id),
            state=TournamentState.OPEN,
            created_at=self._clock(),
        )
        self._store.tournaments.create(tournament, secret=root_secret)
        return self.get(tournament_id)

    def get(self, tournament_id: str) -> Tournament:
        """Give a tournament; raises NotFoundError."""
        found = self._store.tournaments.get(tournament_id)
        if found is None:
            raise NotFoundError("there is no such tournament")
        return found

    def list_all(
        self, caller: Caller, *, limit: int, cursor: str | None, state: TournamentState | None, mine: bool = False
    ) -> tuple[list[Tournament], str | None]:
        """Give tournaments, or those that the caller made, newest first, and the next cursor; raises BadCursorError."""
        owner = caller.account if mine else None

        def keep(each: Tournament) -> bool:
            return state in {None, each.state}

        if owner is not None:
            return self._store.tournaments.list_for_account(owner, limit=limit, cursor=cursor, keep=keep)
        return self._store.tournaments.list_all(limit=limit, cursor=cursor, keep=keep)

    def change(self, caller: Caller, tournament_id: str, wanted: Mapping[str, Any]) -> Tournament:
        """Give a tournament another name or, until its start, other rounds. Raises ForbiddenError, ConflictError."""
        self._check_owner(caller, self.get(tournament_id))

        def changed(old: Tournament) -> Tournament:
            new = replace(old, **wanted)
            if new.rounds != old.rounds and old.state is not TournamentState.OPEN:
                raise ConflictError("the rounds are fixed by the start", code="not_open")
            return new

        return self._store.tournaments.change(tournament_id, changed)

    def enter(self, caller: Caller, tournament_id: str, bot_id: str, entropy: str | None) -> Entry:
        """Enter a bot, or change its entropy, until the start.

        Its owner may, and the tournament's owner for public bots and house bots; entropy for a registered bot is its
        owner's alone. Raises ForbiddenError, InvalidError, ConflictError.
        """
        tournament = self.get(tournament_id)
        earlier = self._entry(tournament_id, bot_id)
        name, account_id = self._contender(caller, tournament, bot_id)
        if entropy is not None and account_id is not None and not caller.owns(account_id):
            raise ForbiddenError("only the owner of the bot gives entropy for it", code="not_yours")
        if entropy is not None and len(entropy.encode()) > MAX_ENTROPY_BYTES:
            raise invalid("entropy", f"expected at most {MAX_ENTROPY_BYTES} bytes, got {len(entropy.encode())}")
        if earlier is None and len(self._store.tournaments.entries(tournament_id)) >= MAX_ENTRIES:
            raise ConflictError(f"a tournament has at most {MAX_ENTRIES} entries", code="full")
        entry = Entry(
            bot_id=bot_id,
            name=name,
            account_id=account_id,
            entropy=(earlier.entropy if earlier else "") if entropy is None else entropy,
            entered_at=earlier.entered_at if earlier else self._clock(),
        )
        if not self._store.tournaments.enter(tournament_id, entry):
            raise ConflictError("entries are taken until the start", code="not_open")
        return entry

    def withdraw(self, caller: Caller, tournament_id: str, bot_id: str) -> None:
        """Take a bot out: before the start it is gone, after it its waiting games are forfeited. Idempotent."""
        tournament = self.get(tournament_id)
        entry = self._entry(tournament_id, bot_id)
        if entry is None:
            raise NotFoundError("that bot isn't entered")
        if not (caller.owns(entry.account_id) or caller.owns(tournament.owner) or caller.is_operator):
            raise ForbiddenError("only the owner of the bot or of the tournament can do this", code="not_yours")
        if tournament.state.is_end:
            raise ConflictError("the tournament has ended", code="ended")
        if not self._store.tournaments.leave(tournament_id, bot_id):
            self._store.tournaments.withdraw(tournament_id, bot_id, self._clock())

    def entries(self, tournament_id: str) -> list[Entry]:
        """Give all entries in order of bot id, withdrawn ones too; raises NotFoundError."""
        self.get(tournament_id)
        return self._store.tournaments.entries(tournament_id)

    def entry(self, tournament_id: str, bot_id: str) -> Entry:
        """Give the entry of a bot; raises NotFoundError."""
        self.get(tournament_id)
        found = self._entry(tournament_id, bot_id)
        if found is None:
            raise NotFoundError("that bot isn't entered")
        return found

    # --- starting and stopping ----------------------------------------------------------------------------------------

    def set_state(self, caller: Caller, tournament_id: str, state: TournamentState) -> Tournament:
        """Start (or go on with), pause or cancel a tournament; idempotent. Raises ForbiddenError, ConflictError."""
        tournament = self.get(tournament_id)
        self._check_owner(caller, tournament)
        if state is TournamentState.RUNNING and tournament.state is TournamentState.OPEN:
            self._check_can_start(tournament)
        at = self._clock()
        self._store.due.add(due.tournament(tournament_id), self._store.due.now() + LOOK_AGAIN_MS)
        changed = self._store.tournaments.change(tournament_id, lambda old: _moved(old, state, at))
        self._store.due.add(due.tournament(tournament_id), self._store.due.now())
        return changed

    def _check_can_start(self, tournament: Tournament) -> None:
        entries = [entry.bot_id for entry in self._store.tournaments.entries(tournament.id)]
        try:
            games = count_games(entries, table_size=tournament.table_size, rounds=tournament.rounds)
        except ImpossibleScheduleError as error:
            raise ConflictError(f"the tournament can't start: {error}", code="cannot_start") from error
        if games > MAX_GAMES:
            detail = f"expected at most {MAX_GAMES} games, got {games}; ask for fewer rounds"
            raise ConflictError(detail, code="too_many_games")

    def _check_owner(self, caller: Caller, tournament: Tournament) -> None:
        if not (caller.owns(tournament.owner) or caller.is_operator):
            raise ForbiddenError("only who made the tournament can do this", code="not_yours")

    def _check_quota(self, caller: Caller) -> None:
        if caller.account_id is None:
            return
        found, _ = self._store.tournaments.list_for_account(
            caller.account_id, limit=self._max_tournaments, keep=lambda each: not each.state.is_end
        )
        if len(found) >= self._max_tournaments:
            detail = f"an account has at most {self._max_tournaments} unfinished tournaments"
            raise ConflictError(detail, code="quota_tournaments")

    def _contender(self, caller: Caller, tournament: Tournament, bot_id: str) -> tuple[str, str | None]:
        """Give name and account of a bot that may enter."""
        if bot_id.startswith(PREFIX):
            if bot_id not in HOUSE:
                raise NotFoundError("there is no such bot")
            self._check_owner(caller, tournament)
            return house_seat(bot_id.removeprefix(PREFIX)).name, None
        bot = self._store.bots.get(bot_id)
        mine = bot is not None and caller.owns(bot.account_id)
        if bot is None or (bot.availability == "private" and not mine):
            raise NotFoundError("there is no such bot")
        if not (mine or caller.is_operator or caller.owns(tournament.owner)):
            raise ForbiddenError("only the owner of the bot or of the tournament can enter it", code="not_yours")
        if bot.state is not BotState.ACTIVE:
            raise ConflictError(f"expected an active bot, {bot.name} is {bot.state.value}", code="bot_unavailable")
        if tournament.ruleset not in bot.rulesets:
            raise ConflictError(f"{bot.name} doesn't play {tournament.ruleset}", code="bot_unavailable")
        return bot.name, bot.account_id

    def _entry(self, tournament_id: str, bot_id: str) -> Entry | None:
        entries = self._store.tournaments.entries(tournament_id)
        return next((entry for entry in entries if entry.bot_id == bot_id), None)


def schedule(tournament: Tournament, entries: Sequence[Entry]) -> list[Round]:
    """Draw all rounds of a round robin; raises `ImpossibleScheduleError`."""
    return round_robin(
        [entry.bot_id for entry in entries],
        table_size=tournament.table_size,
        rounds=tournament.rounds,
        seed=tournament.seed,
    )


def board_of(number: int, table: int, attempt: int) -> str:
    """Name the board of a table of its own; a rerun plays another."""
    return f"{number}.{table}" + (f"~{attempt}" if attempt else "")


def label_of(tournament_id: str, board: str) -> str:
    """Give the label under which a board's packs are committed to."""
    return f"{tournament_id}/{board}"


def _table(order: Mapping[str, Any]) -> tuple[Ruleset, int, dict[str, Any]]:
    try:
        rules = ruleset(order["ruleset"])
        size = rules.min_seats if order["table_size"] is None else order["table_size"]
        return rules, size, rules.resolve(order["options"], size)
    except RulesetError as error:
        raise invalid("table_size" if error.field == "seats" else error.field, str(error)) from error
    except OptionError as error:
        raise invalid(f"options.{error.field}", str(error)) from error


_MOVES: Final = {
    TournamentState.RUNNING: {TournamentState.OPEN, TournamentState.PAUSED},
    TournamentState.PAUSED: {TournamentState.RUNNING},
    TournamentState.CANCELLED: {TournamentState.OPEN, TournamentState.RUNNING, TournamentState.PAUSED},
}


def _moved(old: Tournament, state: TournamentState, at: int) -> Tournament:
    if old.state is state:
        return old
    if old.state not in _MOVES.get(state, set()):
        raise ConflictError(f"a tournament that is {old.state.value} can't become {state.value}", code="bad_move")
    started = old.started_at or (at if state is TournamentState.RUNNING else None)
    return replace(old, state=state, started_at=started, ended_at=at if state.is_end else None)
