"""What follows from what a referee has committed: the owner's ledger, news to bots, results of tournaments."""

from __future__ import annotations

import logging
from typing import Final

from bot_sdk.events import Decided, Outcome
from bot_sdk.games.game import Game as Play
from bot_sdk.games.river import River
from bot_sdk.messages import GameEnded, GameStarted, encode
from bot_sdk.results.values import GameState, Result
from service.outbound.calls import Calls
from service.outbound.values import Call
from service.referee.appearing import appearances
from service.referee.rated import is_rated
from service.referee.roster import Roster, endpoint_of
from service.referee.suspending import GONE, Suspending
from service.referee.table import BOT, Table
from service.referee.verdicts import Verdict
from service.store import due
from service.store.entities import Game, Limits
from service.store.errors import passes
from service.store.ledger import Ending, LedgerLine
from service.store.store import Store
from service.store.tournaments import is_shared

logger: Final = logging.getLogger(__name__)

NEWS_BUDGET_MS: Final = 5_000


class Aftermath:
    """Writes and tells what follows; each part may be done twice. `public_url` is where records are read.

    `trusts_accounts`: whether games between bots of one account are rated.
    """

    def __init__(self, store: Store, calls: Calls, roster: Roster, public_url: str, *, trusts_accounts: bool) -> None:
        """Keep what it works with."""
        self._store = store
        self._calls = calls
        self._roster = roster
        self._public_url = public_url
        self._trusts_accounts = trusts_accounts
        self._suspending = Suspending(store.bots, store.ledger, store.due)
        self._lines: list[LedgerLine] = []
        self._gone: set[tuple[str, str, str]] = set()

    def began(self, table: Table) -> None:
        """Tell the bots that their game begins."""
        for seat in table.seats_of(BOT):
            self._tell(table.meta, seat, "started", GameStarted(game=table.info, seat=seat))

    def decided(self, table: Table, decision_id: str, event: Decided, verdict: Verdict) -> None:
        """Keep a line for the ledger of the bot's owner until `flush`."""
        error, shown = verdict.error, table.meta.seats[event.seat]
        if event.outcome is Outcome.ILLEGAL:
            error = f"expected a legal action, got {verdict.action!r}"
        if verdict.status == GONE:
            self._gone.add((shown.bot_id or "", shown.url or "", table.id))
        self._lines.append(
            LedgerLine(
                bot_id=shown.bot_id or "",
                decision_id=decision_id,
                game_id=table.id,
                at=table.times[-1],
                outcome=event.outcome,
                ms=event.ms,
                action=event.action,
                error=error,
                status=verdict.status,
                head=_shown(event, verdict),
            )
        )

    @property
    def is_behind(self) -> bool:
        """Whether `flush` has something to do."""
        return bool(self._lines or self._gone)

    def flush(self) -> None:
        """Suspend the bots that are gone, and write the lines kept back, in one round trip.

        Should that fail all of it stays, for another try.
        """
        self._suspend_gone()
        if self._lines:
            self._store.ledger.add(self._lines)
            self._lines = []

    def _suspend_gone(self) -> None:
        for bot_id, url, game_id in sorted(self._gone):
            try:
                self._suspending.gone(bot_id, url, game_id)
            except Exception as error:  # one that can't be changed must not take along all the games driven here
                if passes(error):
                    raise
                said = {"bot_id": bot_id, "game_id": game_id}
                logger.exception("%s has answered 410 and can't be suspended", bot_id, extra=said)
        self._gone.clear()

    def ended(self, meta: Game, state: GameState, table: Table | None) -> None:
        """Write the result, tell the bots, pack the game, let it leave `due`: in this order, so that none is lost.

        Bots of a game on a shared board are told when that is closed. Whoever closes it has its games driven again.
        """
        self._suspend_gone()  # before anybody is told
        ended_at = _ended_at(meta, table)
        is_readable = self._store.tournaments.is_readable(meta.slot)
        if meta.slot is not None:
            if table is not None and state in {GameState.FINISHED, GameState.VOID}:
                rated = is_rated(meta, state, table.game, trusts_accounts=self._trusts_accounts)
                self._store.tournaments.put_result(result_of(meta, state, table.game, ended_at, is_rated=rated))
            if not (is_shared(meta.slot) and is_readable):  # else its tournament has closed the board: it knows
                self._store.due.add(due.tournament(meta.slot.tournament_id), self._now(meta, ended_at))
        if table is not None and meta.started_at is not None:
            self._note_endings(meta, table, ended_at)
        if is_readable:
            self._open(meta, state, table, ended_at)
        self._store.games.settle(meta)

    def released(self, meta: Game, state: GameState, table: Table | None) -> None:
        """Look once more whether a shared board is closed.

        It may have been since `ended` looked, and who was sent to tell the bots may have found the game in our hands.
        """
        if is_shared(meta.slot) and self._store.tournaments.is_readable(meta.slot):
            self._open(meta, state, table, _ended_at(meta, table))

    def _now(self, meta: Game, ended_at: int) -> int:
        """Give a time at which something is due at once: the game's end, unless the clock may have been set since."""
        return ended_at if meta.ended_at is None else self._store.due.now()

    def _note_endings(self, meta: Game, table: Table, ended_at: int) -> None:
        chosen_by = self._harsh_by(meta)
        endings = [
            Ending(
                bot_id=meta.seats[seat].bot_id or "",
                game_id=meta.id,
                began=meta.started_at or ended_at,
                at=ended_at,
                retired=table.game.retired[seat] is not None,
                forfeited=seat in table.game.forfeited,
                is_harsh=chosen_by is not None and chosen_by != meta.seats[seat].account_id,
            )
            for seat in table.seats_of(BOT)
        ]
        self._store.ledger.add_endings(endings)
        for ending in endings:
            if ending.retired:
                self._suspending.retired(ending.bot_id)

    def _harsh_by(self, meta: Game) -> str | None:
        """Say who has set a game limits shorter than the usual ones; None if they aren't."""
        limits, usual = meta.limits, Limits()
        if (
            limits.budget_ms >= usual.budget_ms
            and limits.first_budget_ms >= usual.first_budget_ms
            and limits.max_faults >= usual.max_faults
        ):
            return None
        tournament = self._store.tournaments.get(meta.slot.tournament_id) if meta.slot else None
        return (tournament.owner if tournament else meta.owner) or "nobody in particular"

    def _open(self, meta: Game, state: GameState, table: Table | None, ended_at: int) -> None:
        """Do what follows from everybody's being allowed to read the game: until then not even a count tells of it."""
        if table is not None and meta.started_at is not None:
            by_bot = appearances(meta, state, table.game, ended_at)
            self._store.appearances.add({bot_id: by_bot[bot_id] for bot_id in by_bot.keys() - self._deleted(meta)})
        self._show(meta, state, table)
        self._store.games.pack(meta.id)

    def _deleted(self, meta: Game) -> set[str]:
        """Give the bots of a game that are no more: nobody would ever take away what was noted of them."""
        bots = {seat.bot_id or "" for seat in meta.seats if seat.kind == BOT}
        return {bot_id for bot_id in bots if not self._roster.look_up(bot_id).secrets}

    def _show(self, meta: Game, state: GameState, table: Table | None) -> None:
        """Tell the bots that the game can be read; on a shared board only once, and whoever waits for it, too."""
        if is_shared(meta.slot) and not self._store.games.show(meta.id):
            return
        if table is not None and meta.started_at is not None:
            for seat in table.seats_of(BOT):
                self._tell(meta, seat, "ended", self._ended_message(meta, state, table, seat))

    def _ended_message(self, meta: Game, state: GameState, table: Table, seat: int) -> GameEnded:
        return GameEnded(
            game=table.info,
            seat=seat,
            state=state.value,
            totals=table.game.state.totals,
            places=table.game.places if state is GameState.FINISHED else None,
            outcomes=counted(table.game, seat),
            record_url=f"{self._public_url}/v1/games/{meta.id}/record",
        )

    def _tell(self, meta: Game, seat: int, what: str, message: GameStarted | GameEnded) -> None:
        shown = meta.seats[seat]
        bot_id = shown.bot_id or ""
        known = self._roster.look_up(bot_id)
        if not known.secrets or known.gone_url is not None:
            return
        self._calls.notify(
            Call(
                key=(meta.id, seat, what),
                endpoint=endpoint_of(bot_id, shown.url or known.url, known.secrets),  # a packed game keeps none
                body=encode(message),
                budget_ms=NEWS_BUDGET_MS,
                webhook_id=f"msg_{meta.id}.{seat}.{what}",
            )
        )


def _ended_at(meta: Game, table: Table | None) -> int:
    """Tell when a game ended: as it was read, or when the last event was committed, which has ended it since."""
    return meta.ended_at or (table.times[-1] if table else meta.created_at)


def _shown(event: Decided, verdict: Verdict) -> str | None:
    """Show the beginning of what a bot sent, where that wasn't a good answer."""
    if event.outcome is Outcome.OK or not verdict.head:
        return None
    return verdict.head.decode(errors="replace")


def counted(game: Play, seat: int) -> dict[str, int]:
    """Count a seat's decisions by outcome."""
    return {outcome.value: count for outcome, count in sorted(game.outcomes[seat].items())}


def result_of(meta: Game, state: GameState, game: Play, ended_at: int, *, is_rated: bool) -> Result:
    """Make the result of a tournament game that was played out."""
    assert meta.slot is not None  # noqa: S101 - only tournament games have results
    ending = game.ending
    return Result(
        game_id=meta.id,
        state=state,
        slot=meta.slot,
        bots=[seat.bot_id or "" for seat in meta.seats],
        versions=[seat.version for seat in meta.seats],
        totals=game.state.totals,
        places=game.places if state is GameState.FINISHED else None,
        retired=[reason is not None for reason in game.retired],
        forfeited=sorted(game.forfeited),
        deals=len(game.state.deals),
        outcomes=[counted(game, seat) for seat in range(game.seats)],
        exact_bids=_exact_bids(game),
        ended_by=ending.value if ending else None,
        ended_at=ended_at,
        is_rated=is_rated,
    )


def _exact_bids(game: Play) -> list[int] | None:
    """Count the rounds in which each seat met its bid; None where nobody bids."""
    return game.state.exact_bids.copy() if isinstance(game.state, River) else None
