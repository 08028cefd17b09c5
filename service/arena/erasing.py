"""Erasing an account: its tokens, bots and names go, what others need of it stays under a name that tells nothing.

Games, records, results and ratings stay, and can be verified as before: only who it was isn't told any more. What an
account called things becomes `erased`: itself, its bots, its tournaments, its people at tables. URLs, secrets, ledgers,
checks and the notes of its bots go. Ids, versions and what was added to shuffles stay, since ratings and records
follow from them.

The erasure is written down first; then workers take it on in small steps, each safe to repeat. All is gone over twice,
the second time when whoever was at work with an old name in his hands must be done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final, NamedTuple

from msgspec.structs import replace

from bot_sdk.games.registry import RULESETS
from bot_sdk.results.values import Entry, GameState
from service.arena.errors import NotFoundError
from service.arena.tournaments import LOOK_AGAIN_MS
from service.store import audit, due
from service.store.entities import Account, AccountState, Game, Seat, Tournament, TournamentState
from service.store.erasures import Erasure
from service.store.errors import NotFoundError as NotKeptError
from service.store.store import Store
from service.tournaments.ending import renamed

NEUTRAL: Final = "erased"
SETTLE_MS: Final = 120_000
"""After so long nobody is still at work with what he read before the erasure was asked for."""
LATER_MS: Final = 60_000
"""How often games that still run are looked at."""
PAGE: Final = 100
BOTS_AT_ONCE: Final = 20


class _Wait(NamedTuple):
    """A step can go on at `at`, the store's time."""

    at: int


class Erasing:
    """The use cases of erasing accounts: `ask` is the API's, `run` the workers'."""

    def __init__(self, store: Store, *, clock: Callable[[], int], settle_ms: int = SETTLE_MS) -> None:
        """Keep what it works with."""
        self._store = store
        self._clock = clock
        self._settle_ms = settle_ms
        once = (self._own, self._hosted, self._entered, self._played, self._answered, self._audited, self._noted)
        self._steps: tuple[Callable[[Erasure], str | _Wait | None], ...] = (
            *once,
            self._settled,
            *once,
            self._ended,
        )

    def ask(self, account_id: str) -> None:
        """Have an account erased; its tokens are good for nothing from now on. Again is no error.

        Raises NotFoundError.
        """
        account = self._store.accounts.get(account_id)
        if account is None:
            raise NotFoundError("there is no such account")
        if account.state is AccountState.ERASED:
            return
        now = self._store.due.now()
        self._store.due.add(due.erasure(account_id), now + LOOK_AGAIN_MS)
        self._store.erasures.create(Erasure(account_id=account_id, asked_at=now))
        self._disown(account_id)
        self._store.due.add(due.erasure(account_id), now)

    def run(self, account_id: str, is_time: Callable[[], bool]) -> None:
        """Go on with an erasure until it is done, has to wait, or it `is_time` to let others work."""
        wait: _Wait | None = None
        while wait is None and not is_time():
            erasure = self._store.erasures.get(account_id)
            if erasure is None:
                self._store.due.drop(due.erasure(account_id))
                return
            wait = self._go_on(erasure)
        self._store.due.move({due.erasure(account_id): wait.at if wait else self._store.due.now()})

    def _go_on(self, erasure: Erasure) -> _Wait | None:
        """Do a step, or a part of it, and note how far it got."""
        told = self._steps[erasure.step](erasure)
        if isinstance(told, _Wait):
            return told
        if told is None and erasure.step + 1 == len(self._steps):
            self._finish(erasure.account_id)
            return None
        step = erasure.step + 1 if told is None else erasure.step

        def moved(old: Erasure) -> Erasure:
            is_mine = (old.step, old.cursor) == (erasure.step, erasure.cursor)
            return replace(old, step=step, cursor=told) if is_mine else old

        self._store.erasures.change(erasure.account_id, moved)
        return None

    def _note(self, account_id: str, **found: Iterable[str]) -> Erasure:
        """Add to what is known, before that which it was learnt from is gone."""

        def longer(old: Erasure) -> Erasure:
            more = {name: sorted({*getattr(old, name), *each}) for name, each in found.items()}
            return replace(old, **more)

        return self._store.erasures.change(account_id, longer)

    # --- what it owns -------------------------------------------------------------------------------------------------

    def _disown(self, account_id: str) -> None:
        def erasing(old: Account) -> Account:
            return replace(old, name=NEUTRAL, state=AccountState.ERASING, reason=None)

        self._store.accounts.change(account_id, erasing)

    def _own(self, erasure: Erasure) -> str | None:
        """Revoke its tokens, delete its bots: where they play they retire at once."""
        self._disown(erasure.account_id)
        self._store.accounts.revoke_all(erasure.account_id)
        bots, _ = self._store.bots.list_for_account(erasure.account_id, limit=PAGE)
        self._note(erasure.account_id, bots=[bot.id for bot in bots])
        for bot in bots:
            self._store.bots.delete(bot)
        return "more" if bots else None

    def _hosted(self, erasure: Erasure) -> str | None:
        """Rename the tournaments it made; what can't go on without a host is called off."""
        store = self._store.tournaments
        found, following = store.list_for_account(erasure.account_id, limit=PAGE, cursor=erasure.cursor)
        for tournament in found:
            self._abandon(tournament)
        return following

    def _abandon(self, tournament: Tournament) -> None:
        """Cancel a tournament that waits for its host, let a ladder draw no more; one that runs ends by itself."""
        name, store = due.tournament(tournament.id), self._store.tournaments
        drawn, at = max(1, len(store.rounds(tournament.id))), self._clock()

        def abandoned(old: Tournament) -> Tournament:
            new = replace(old, name=NEUTRAL)
            if old.state in {TournamentState.OPEN, TournamentState.PAUSED}:
                why = "cancelled, since its host's account was erased"
                return replace(new, state=TournamentState.CANCELLED, ended_at=at, reason=why)
            if old.state is TournamentState.RUNNING and old.format == "ladder":
                return replace(new, max_games=min(drawn, old.max_games or drawn))
            return new

        with suppress(NotKeptError):  # it has expired meanwhile
            if tournament.state.is_end:
                store.change(tournament.id, abandoned)
                return
            self._store.due.add(name, self._store.due.now() + LOOK_AGAIN_MS)
            store.change(tournament.id, abandoned)
            self._store.due.add(name, self._store.due.now())

    # --- where it took part -------------------------------------------------------------------------------------------

    def _entered(self, erasure: Erasure) -> str | None:
        """Withdraw its bots, and rename them in entries and in what is said of the ends of tournaments."""
        found, following = self._store.tournaments.list_all(limit=PAGE, cursor=erasure.cursor)
        for tournament in found:
            mine = [
                entry
                for entry in self._store.tournaments.entries(tournament.id)
                if entry.account_id == erasure.account_id
            ]
            if mine:
                bots, names = [entry.bot_id for entry in mine], {entry.name for entry in mine} - {NEUTRAL}
                noted = self._note(erasure.account_id, bots=bots, names=names)
                with suppress(NotKeptError):  # it has expired meanwhile
                    self._leave(tournament, bots, noted.names)
        return following

    def _leave(self, tournament: Tournament, bot_ids: Iterable[str], names: Iterable[str]) -> None:
        store, at = self._store.tournaments, self._clock()
        is_over = tournament.state.is_end

        def gone(entry: Entry) -> Entry:
            withdrawn_at = entry.withdrawn_at if is_over else entry.withdrawn_at or at
            return replace(entry, name=NEUTRAL, withdrawn_at=withdrawn_at)

        for bot_id in bot_ids:
            if tournament.state is not TournamentState.OPEN or not store.leave(tournament.id, bot_id):
                store.change_entry(tournament.id, bot_id, gone)

        def told(old: Tournament) -> Tournament:
            reason = old.reason
            for name in names:
                reason = reason and renamed(reason, name, NEUTRAL)
            return replace(old, reason=reason)

        store.change(tournament.id, told)

    def _played(self, erasure: Erasure) -> str | None:
        """Rename its seats in all games there are, and take out what its bots noted where that is possible already."""
        found, following = self._store.games.list_all(limit=PAGE, cursor=erasure.cursor)
        for game in found:
            seats = [number for number, seat in enumerate(game.seats) if seat.account_id == erasure.account_id]
            if seats or game.owner == erasure.account_id:
                self._leave_table(erasure, game, seats)
        return following

    def _leave_table(self, erasure: Erasure, game: Game, seats: list[int]) -> None:
        def nameless(seat: Seat) -> Seat:
            return replace(seat, name=NEUTRAL, url=None) if seat.account_id == erasure.account_id else seat

        bots = [bot_id for number in seats if (bot_id := game.seats[number].bot_id)]
        self._note(erasure.account_id, bots=bots, running=[game.id] if game.state is GameState.RUNNING else [])
        self._store.erasures.rewrite_seats(game.id, nameless)
        if game.state.is_end:
            self._store.erasures.strip_notes(game.id, seats)

    # --- what was written down ----------------------------------------------------------------------------------------

    def _answered(self, erasure: Erasure) -> str | None:
        """Forget the answers that are kept for requests which are sent again."""
        ids = [erasure.account_id, *erasure.bots]
        following = self._store.idempotency.forget(erasure.account_id, ids, int(erasure.cursor or 0))
        return str(following) if following else None

    def _audited(self, erasure: Erasure) -> None:
        """Leave in the audit log that something was done to it, or by it, but not with which words or from where."""
        ids = {erasure.account_id, *erasure.bots}

        def discreet(line: audit.Line) -> audit.Line:
            if line.account_id == erasure.account_id:
                line = replace(line, address=None, body=None)
            told = f"{line.path} {line.made} {line.body}"
            return replace(line, body=None) if any(each in told for each in ids) else line

        self._store.audit.rewrite(discreet)

    def _noted(self, erasure: Erasure) -> str | None:
        """Forget what was noted of its bots, and rename them where leaderboards name those that are gone."""
        start = int(erasure.cursor or 0)
        some = erasure.bots[start : start + BOTS_AT_ONCE]
        for bot_id in some:
            self._store.bots.forget(bot_id)
        for ruleset in RULESETS:
            self._store.ratings.rename(ruleset, some, NEUTRAL)
        return str(start + BOTS_AT_ONCE) if start + BOTS_AT_ONCE < len(erasure.bots) else None

    # --- the end ------------------------------------------------------------------------------------------------------

    def _settled(self, erasure: Erasure) -> _Wait | None:
        settled_at = erasure.asked_at + self._settle_ms
        return None if self._store.due.now() >= settled_at else _Wait(settled_at)

    def _ended(self, erasure: Erasure) -> _Wait | None:
        """Take out notes from games that ran when all others were gone over; wait for those that still run."""
        games = self._store.games.get_many(erasure.running)
        for game in games:
            if game is not None and game.state.is_end:
                seats = [number for number, seat in enumerate(game.seats) if seat.account_id == erasure.account_id]
                self._store.erasures.strip_notes(game.id, seats)
        left = [game.id for game in games if game is not None and not game.state.is_end]
        self._store.erasures.change(erasure.account_id, lambda old: replace(old, running=left))
        return _Wait(self._store.due.now() + LATER_MS) if left else None

    def _finish(self, account_id: str) -> None:
        self._store.accounts.change(account_id, lambda old: replace(old, state=AccountState.ERASED))
        self._store.erasures.drop(account_id)
        self._store.due.drop(due.erasure(account_id))
