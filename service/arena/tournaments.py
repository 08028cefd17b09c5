"""Tournaments: made, entered, started, run by the sweeper, read. What is to be played follows from what is stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from bot_sdk.bots import PREFIX
from bot_sdk.games import record
from bot_sdk.games.options import OptionError
from bot_sdk.games.packs import MAX_ENTROPY_BYTES, board_secret, commitment, root_commitment
from bot_sdk.games.registry import Ruleset, RulesetError, ruleset
from service.arena import views
from service.arena.caller import Caller
from service.arena.errors import ConflictError, ForbiddenError, NotFoundError, invalid
from service.arena.games import house_seat
from service.arena.minting import Mint
from service.referee.table import Table
from service.store import due
from service.store.entities import (
    BotState,
    Entry,
    GameState,
    Limits,
    Result,
    Slot,
    Tournament,
    TournamentState,
)
from service.store.store import Store
from service.store.tournaments import place
from service.tournaments.errors import ImpossibleScheduleError
from service.tournaments.schedule import Round, round_robin
from service.tournaments.standings import Standing, standings

MAX_ENTRIES: Final = 256
MAX_GAMES: Final = 100_000


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
        found = self._store.tournaments.get(tournament_id)
        if found is not None:
            return found
        rules, table_size, options = _table(order)
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
        self, *, limit: int, cursor: str | None, state: TournamentState | None
    ) -> tuple[list[Tournament], str | None]:
        """Give tournaments, newest first, and the next cursor."""
        return self._store.tournaments.list_all(
            limit=limit, cursor=cursor, keep=lambda each: state in {None, each.state}
        )

    def rename(self, caller: Caller, tournament_id: str, name: str) -> Tournament:
        """Give a tournament another name."""
        self._check_owner(caller, self.get(tournament_id))
        return self._store.tournaments.change(tournament_id, lambda old: replace(old, name=name))

    def enter(self, caller: Caller, tournament_id: str, bot_id: str, entropy: str | None) -> Entry:
        """Enter a bot, or change its entropy, until the start.

        Its owner may, and the tournament's owner for public bots and house bots. Raises InvalidError, ConflictError.
        """
        tournament = self.get(tournament_id)
        earlier = self._entry(tournament_id, bot_id)
        name, account_id = self._contender(caller, tournament, bot_id)
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
        """Give all entries in order of bot id, withdrawn ones too."""
        self.get(tournament_id)
        return self._store.tournaments.entries(tournament_id)

    # --- starting and stopping ----------------------------------------------------------------------------------------

    def set_state(self, caller: Caller, tournament_id: str, state: TournamentState) -> Tournament:
        """Start (or go on with), pause or cancel a tournament; idempotent. Raises ForbiddenError, ConflictError."""
        tournament = self.get(tournament_id)
        self._check_owner(caller, tournament)
        if state is TournamentState.RUNNING and tournament.state is TournamentState.OPEN:
            self._check_can_start(tournament)
        at = self._clock()
        changed = self._store.tournaments.change(tournament_id, lambda old: _moved(old, state, at))
        self._store.due.add(due.tournament(tournament_id), self._store.due.now())
        return changed

    def _check_can_start(self, tournament: Tournament) -> None:
        entries = self._store.tournaments.entries(tournament.id)
        try:
            rounds = schedule(tournament, entries)
        except ImpossibleScheduleError as error:
            raise ConflictError(str(error), code="cannot_start") from error
        games = sum(len(each.tables) for each in rounds)
        if games > MAX_GAMES:
            detail = f"expected at most {MAX_GAMES} games, got {games}; ask for fewer rounds"
            raise ConflictError(detail, code="too_many_games")

    def _check_owner(self, caller: Caller, tournament: Tournament) -> None:
        if not (caller.owns(tournament.owner) or caller.is_operator):
            raise ForbiddenError("only who made the tournament can do this", code="not_yours")

    def _check_quota(self, caller: Caller) -> None:
        if caller.account_id is None:
            return
        found, _ = self._store.tournaments.list_for_account(caller.account_id, limit=self._max_tournaments)
        if sum(not each.state.is_end for each in found) >= self._max_tournaments:
            detail = f"an account has at most {self._max_tournaments} unfinished tournaments"
            raise ConflictError(detail, code="quota_tournaments")

    def _contender(self, caller: Caller, tournament: Tournament, bot_id: str) -> tuple[str, str | None]:
        """Give name and account of a bot that may enter."""
        if bot_id.startswith(PREFIX):
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

    # --- reading ------------------------------------------------------------------------------------------------------

    def standings(self, tournament_id: str) -> list[Standing]:
        """Compute the standings from the results so far."""
        tournament = self.get(tournament_id)
        store = self._store.tournaments
        results, entries = store.results(tournament_id), store.entries(tournament_id)
        return standings(entries, results, tournament.ruleset, seed=tournament.seed)

    def progress(self, tournament: Tournament) -> dict[str, int]:
        """Count the games of a tournament: all that are scheduled, finished, running now."""
        store = self._store.tournaments
        games = sum(len(each["tables"]) for each in store.rounds(tournament.id).values())
        finished = store.count_results(tournament.id)
        return {"games": games, "finished": finished, "running": max(0, len(store.started(tournament.id)) - finished)}

    def rounds(self, tournament_id: str) -> list[dict[str, Any]]:
        """Show the rounds drawn so far: tables with their boards' commitments and results, and who sits out."""
        self.get(tournament_id)
        store = self._store.tournaments
        secret = store.secret(tournament_id)
        results = {place(result.slot): result for result in store.results(tournament_id)}
        started = store.started(tournament_id)

        def shown(slot: Slot) -> dict[str, Any]:
            board = board_of(slot.round, slot.table, started.get(place(slot), 0))
            published = commitment(board_secret(secret, board), label_of(tournament_id, board))
            result = _result_shown(results.get(place(slot)))
            return {"table": slot.table, "board": board, "commitment": published, **result}

        return [
            {
                "round": number,
                "byes": each["byes"],
                "tables": [
                    {"bots": bots, **shown(Slot(tournament_id=tournament_id, round=number, table=table, board=""))}
                    for table, bots in enumerate(each["tables"], 1)
                ],
            }
            for number, each in store.rounds(tournament_id).items()
        ]

    def games(
        self, tournament_id: str, *, limit: int, cursor: str | None, state: GameState | None
    ) -> tuple[list[dict[str, Any]], str | None]:
        """Show the games made so far, newest first, and the next cursor."""
        self.get(tournament_id)
        found, following = self._store.games.list_for_tournament(tournament_id, limit=limit, cursor=cursor, state=state)
        return [views.summary(game) for game in found], following

    def records(self, tournament_id: str) -> Iterator[bytes]:
        """Give the record of every game that ended, one after the other, in order of round and table."""
        self.get(tournament_id)
        for result in self._store.tournaments.results(tournament_id):
            loaded = self._store.games.load(result.game_id)
            if loaded is not None and loaded[0].state.is_end:
                yield record.encode(Table.replayed(*loaded).record(loaded[0].state.value))  # type: ignore[arg-type]

    def secret_of_ended(self, tournament: Tournament) -> str | None:
        """Give the root secret in hex once the tournament has ended, else None."""
        return self._store.tournaments.secret(tournament.id).hex() if tournament.state.is_end else None


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


def _result_shown(result: Result | None) -> dict[str, Any]:
    return {
        "game_id": result.game_id if result else None,
        "state": result.state.value if result else None,
        "totals": result.totals if result else None,
        "places": result.places if result else None,
    }
