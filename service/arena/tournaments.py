"""Tournaments: made, entered, started, run by the sweeper, read. What is to be played follows from what is stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from bot_sdk.bots import HOUSE, PREFIX
from bot_sdk.games.options import OptionError
from bot_sdk.games.packs import MAX_ENTROPY_BYTES, root_commitment
from bot_sdk.games.registry import Ruleset, RulesetError, ruleset
from bot_sdk.results.values import Entry
from service.arena.caller import Caller
from service.arena.errors import ConflictError, ForbiddenError, NotFoundError, invalid
from service.arena.minting import Mint
from service.arena.seating import house_seat, not_active
from service.store import due, unfinished
from service.store.entities import BotState, Limits, Tournament, TournamentState
from service.store.store import Store
from service.tournaments.errors import ImpossibleScheduleError, SettingError
from service.tournaments.formats import FORMATS, check_settings, check_start

MAX_ENTRIES: Final = 256
CHOICES: Final = ("rounds", "challenger", "advance", "max_games", "sprt", "invited", "entries_per_account")
"""What the host may choose until the start, or leave out."""
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

        `order` has name, ruleset, options, format, table_size (None: the smallest), limits and, if wanted, deals (the
        first kind that the format knows), seed (drawn) and what `CHOICES` names (None). Raises InvalidError,
        ConflictError over the account's quota.
        """
        tournament_id = mint.id("trn_")
        rules, table_size, options = _table(order)
        found = self._store.tournaments.get(tournament_id)
        if found is not None:
            if (found.ruleset, found.table_size, found.options) != (rules.name, table_size, options):
                raise ConflictError("that Idempotency-Key made another tournament", code="idempotency_key_reused")
            return found
        root_secret = self._root_secret()
        choices: dict[str, Any] = {name: order.get(name) for name in CHOICES}
        tournament = Tournament(
            id=tournament_id,
            name=order["name"],
            owner=caller.account_id,
            ruleset=rules.name,
            options=options,
            format=order["format"],
            deals=order.get("deals") or FORMATS[order["format"]].deals[0],
            table_size=table_size,
            **choices,
            seed=self._seed() if order.get("seed") is None else order["seed"],
            limits=Limits(**order["limits"]),
            root=root_commitment(root_secret, tournament_id),
            state=TournamentState.OPEN,
            created_at=self._clock(),
        )
        _check_settings(tournament)
        self._reserve(caller, tournament_id)
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
        """Give a tournament another name or, until its start, what of its settings entries don't depend on.

        Raises ForbiddenError, InvalidError, ConflictError.
        """
        self._check_owner(caller, self.get(tournament_id))

        def changed(old: Tournament) -> Tournament:
            new = replace(old, **wanted)
            if replace(new, name=old.name) != old and old.state is not TournamentState.OPEN:
                raise ConflictError("all but the name is fixed by the start", code="not_open")
            _check_settings(new)
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
        if earlier is None:
            self._check_invited(caller, tournament, {bot_id, account_id})
        entry = Entry(
            bot_id=bot_id,
            name=name,
            account_id=account_id,
            entropy=(earlier.entropy if earlier else "") if entropy is None else entropy,
            entered_at=earlier.entered_at if earlier else self._clock(),
        )
        self._put_entry(tournament, entry)
        return entry

    def _check_invited(self, caller: Caller, tournament: Tournament, who: set[str | None]) -> None:
        is_host = caller.owns(tournament.owner) or caller.is_operator
        if tournament.invited is not None and not is_host and not who & set(tournament.invited):
            detail = "who made the tournament decides who enters: ask for your bot or account to be invited"
            raise ForbiddenError(detail, code="not_invited")

    def _put_entry(self, tournament: Tournament, entry: Entry) -> None:
        most, most_each = 2 if tournament.format == "match" else MAX_ENTRIES, tournament.entries_per_account
        told = self._store.tournaments.enter(tournament.id, entry, most=most, most_each=most_each)
        if told == "closed":
            raise ConflictError("entries are taken until the start", code="not_open")
        if told == "full":
            raise ConflictError(f"expected at most {most} entries in a {tournament.format}, it is full", code="full")
        if told == "account_full":
            detail = f"one account may have so many entries here: {most_each}; withdraw another first"
            raise ConflictError(detail, code="quota_entries")

    def withdraw(self, caller: Caller, tournament_id: str, bot_id: str) -> None:
        """Take a bot out: before the start it is gone, after it its waiting games are forfeited."""
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
        """Start (or go on with), pause or cancel a tournament, or let a ladder finish; idempotent.

        Raises ForbiddenError, ConflictError.
        """
        tournament = self.get(tournament_id)
        self._check_owner(caller, tournament)
        if tournament.state is state:
            return tournament
        if state is TournamentState.FINISHED:
            return self._wind_up(tournament)
        _check_move(tournament, state)  # one that has ended must not be due again: that would hide its secret
        if state is TournamentState.RUNNING and tournament.state is TournamentState.OPEN:
            self._check_can_start(tournament)
        at = self._clock()
        self._store.due.add(due.tournament(tournament_id), self._store.due.now() + LOOK_AGAIN_MS)
        finished = self._store.tournaments.count_results(tournament_id)
        changed = self._store.tournaments.change(tournament_id, lambda old: _moved(old, state, at, finished))
        self._store.due.add(due.tournament(tournament_id), self._store.due.now())
        return changed

    def _wind_up(self, tournament: Tournament) -> Tournament:
        """Draw no more games of a ladder: it finishes with those it has."""
        if tournament.format != "ladder":
            raise ConflictError("only a ladder is finished by its host; others end by themselves", code="bad_move")
        if tournament.state not in {TournamentState.RUNNING, TournamentState.PAUSED}:
            detail = f"expected a ladder that runs, this one is {tournament.state.value}"
            raise ConflictError(detail, code="bad_move")
        drawn = max(1, len(self._store.tournaments.rounds(tournament.id)))
        stopped = self._store.tournaments.change(tournament.id, lambda old: replace(old, max_games=drawn))
        self._store.due.add(due.tournament(tournament.id), self._store.due.now())
        return stopped

    def _check_can_start(self, tournament: Tournament) -> None:
        try:
            check_start(tournament, self._store.tournaments.entries(tournament.id))
        except ImpossibleScheduleError as error:
            raise ConflictError(f"the tournament can't start: {error}", code="cannot_start") from error

    def _check_owner(self, caller: Caller, tournament: Tournament) -> None:
        if not (caller.owns(tournament.owner) or caller.is_operator):
            raise ForbiddenError("only who made the tournament can do this", code="not_yours")

    def _reserve(self, caller: Caller, tournament_id: str) -> None:
        if caller.account_id is None:
            return
        counted = self._store.unfinished_tournaments
        if not counted.reserve(unfinished.host(caller.account_id), tournament_id, self._max_tournaments):
            detail = (
                f"an account has at most {self._max_tournaments} unfinished tournaments: "
                "cancel one, or wait until one is finished"
            )
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
            raise ConflictError(not_active(bot, caller), code="bot_unavailable")
        if tournament.ruleset not in bot.rulesets:
            raise ConflictError(f"{bot.name} doesn't play {tournament.ruleset}", code="bot_unavailable")
        return bot.name, bot.account_id

    def _entry(self, tournament_id: str, bot_id: str) -> Entry | None:
        entries = self._store.tournaments.entries(tournament_id)
        return next((entry for entry in entries if entry.bot_id == bot_id), None)


def _check_settings(tournament: Tournament) -> None:
    try:
        check_settings(tournament)
    except SettingError as error:
        raise invalid(error.field, str(error)) from error


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


def _check_move(tournament: Tournament, state: TournamentState) -> None:
    if tournament.state not in _MOVES.get(state, set()):
        detail = f"a tournament that is {tournament.state.value} can't become {state.value}"
        raise ConflictError(detail, code="bad_move")


def _moved(old: Tournament, state: TournamentState, at: int, finished: int) -> Tournament:
    if old.state is state:
        return old
    _check_move(old, state)
    if state is TournamentState.RUNNING:
        return replace(old, state=state, started_at=old.started_at or at, resumed_at=at, finished_before=finished)
    if state is TournamentState.CANCELLED:
        return replace(old, state=state, ended_at=at, reason="cancelled by its host")
    return replace(old, state=state)
