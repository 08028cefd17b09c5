"""Workers on a real store, whose bots answer by script and whose leases no thread renews; and who lays the tables."""

from __future__ import annotations

import dataclasses
import itertools
import threading
from collections.abc import Callable
from time import monotonic
from typing import Any

from msgspec.structs import replace

from bot_sdk.bots import house
from bot_sdk.events import Decided, Event, Outcome, Retired
from bot_sdk.games.packs import commitment
from bot_sdk.games.registry import ruleset
from bot_sdk.results.values import GameState, Slot
from service.referee.aftermath import Aftermath
from service.referee.leases import Leases
from service.referee.players import Players
from service.referee.referee import Referee
from service.referee.roster import Roster
from service.referee.run import Run
from service.referee.table import Table
from service.referee.thinking import Callers
from service.store.entities import Bot, BotState, Game, Limits, Seat
from service.store.store import Store
from service.thinking.thinkers import Thinkers
from tests.service.fakes import FakeCalls

SECRET = bytes(range(32))
ARENA_KEY = bytes(range(32, 64))
NOW = 1_700_000_000_000
LEASE_MS = 10_000


class Worker:
    """What one worker process drives games with; several may share a store."""

    def __init__(
        self,
        store: Store,
        calls: FakeCalls,
        *,
        lease_ms: int = LEASE_MS,
        players: Any = None,
        thinkers: Thinkers | None = None,
        trusts_accounts: bool = False,
    ):
        self.store = store
        self.calls = calls
        self.stopping = threading.Event()
        self.roster = Roster(store.bots, lambda: NOW)
        self.leases = Leases(store.games, store.due, lease_ms=lease_ms, renew_s=60)
        self.referee = Referee(
            games=store.games,
            due=store.due,
            clock=store.clock,
            leases=self.leases,
            alarms=store.alarms,
            calls=calls if thinkers is None else Callers(calls, thinkers),
            players=players or Players(self.roster, lambda: ARENA_KEY),
            aftermath=Aftermath(store, calls, self.roster, "https://arena.example", trusts_accounts=trusts_accounts),
            new_id=map("shard-{}-{}".format, itertools.repeat(id(self)), itertools.count()).__next__,
            stopping=self.stopping.is_set,
        )

    def run(self) -> Run:
        return Run(self.referee)

    def drive(self, *game_ids: str, seconds: float = 60.0) -> list[str]:
        """Drive games until they are over, wait for people, or `seconds` have passed; give those handed back."""
        ends = monotonic() + seconds

        def stopping() -> bool:
            is_idle = not (run._drives or run._handed_in)
            return self.stopping.is_set() or is_idle or monotonic() > ends

        run = Run(dataclasses.replace(self.referee, stopping=stopping))
        for game_id in game_ids:
            run.hand_in(game_id)
        return run.serve()

    def driving(self, *game_ids: str, seconds: float = 5.0) -> Background:
        """Drive games in a thread of its own."""
        return Background(lambda: self.drive(*game_ids, seconds=seconds))


class Background:
    """A thread whose result, or error, is waited for."""

    def __init__(self, work: Callable[[], Any]):
        self._work = work
        self._result: Any = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._result = self._work()
        except BaseException as error:  # noqa: BLE001 - raised again by `result`
            self._error = error

    def result(self, timeout_s: float = 60.0) -> Any:
        self._thread.join(timeout_s)
        assert not self._thread.is_alive(), "it still runs"
        if self._error is not None:
            raise self._error
        return self._result


class Desk:
    """Makes bots and games in a store, and reads what became of them."""

    def __init__(self, store: Store):
        self.store = store
        self._count = itertools.count(1)

    def bot(self, bot_id: str, **changes: Any) -> Bot:
        bot = Bot(
            id=bot_id,
            account_id="acc_1",
            name=bot_id,
            url=f"http://127.0.0.1:9/{bot_id}",
            rulesets=["seven_up", "river"],
            state=BotState.ACTIVE,
            created_at=NOW,
        )
        bot = replace(bot, **changes)
        assert self.store.bots.create(bot, secret="whsec_" + "A" * 32)
        return bot

    def seat(self, who: str, **changes: Any) -> Seat:
        """Seat a bot by its id, ``human:NAME`` or ``house:NAME``; bots are made as they come."""
        kind, _, name = who.partition(":")
        if kind == "human":
            return Seat(kind="human", name=name)
        if kind == "house":
            return Seat(kind="house", name=name, bot_id=who, version=house(who).version)
        bot = self.store.bots.get(who) or self.bot(who)
        seat = Seat(kind="bot", name=bot.name, bot_id=who, url=bot.url, account_id=bot.account_id)
        return replace(seat, max_batch=bot.max_batch, **changes)

    def game(
        self,
        *who: str,
        options: dict[str, Any] | None = None,
        limits: dict[str, int] | None = None,
        secret: bytes = SECRET,
        **changes: Any,
    ) -> str:
        """Make a running game: Seven Up to 1 point for two, a short River for more; give its id."""
        rules = ruleset("seven_up" if len(who) == 2 else "river")
        short = {"target": 1} if len(who) == 2 else {"start_cards": 1}
        game_id = changes.pop("id", f"gam_{next(self._count)}")
        game = Game(
            id=game_id,
            ruleset=rules.name,
            options=rules.resolve(short | (options or {}), len(who)),
            seats=[self.seat(each) for each in who],
            limits=Limits(**(limits or {})),
            label=game_id,
            commitment=commitment(secret, game_id),
            entropy=[""] * len(who),
            state=GameState.RUNNING,
            created_at=NOW,
        )
        assert self.store.games.create(replace(game, **changes), secret=secret, due_at=self.store.due.now())
        return game_id

    def slot(self, number: int = 1) -> Slot:
        return Slot(tournament_id="trn_1", round=1, table=number, board=f"1.{number}")

    def shared_slot(self, number: int = 1) -> Slot:
        """Give a place whose board is that of all tables of the round."""
        return replace(self.slot(number), board="1", is_shared=True)

    def meta(self, game_id: str) -> Game:
        found = self.store.games.get(game_id)
        assert found is not None
        return found

    def state(self, game_id: str) -> GameState:
        return self.meta(game_id).state

    def table(self, game_id: str) -> Table:
        """Replay a game as it stands: a log that the rules didn't make fails here."""
        return Table.replayed(*self.store.games.load(game_id))

    def log(self, game_id: str) -> list[Event]:
        return [event for _, event in self.store.games.log(game_id)]

    def decided(self, game_id: str, seat: int) -> list[Decided]:
        return [event for event in self.log(game_id) if isinstance(event, Decided) and event.seat == seat]

    def outcomes(self, game_id: str, seat: int) -> list[Outcome]:
        return [event.outcome for event in self.decided(game_id, seat)]

    def retired(self, game_id: str) -> list[Retired]:
        return [event for event in self.log(game_id) if isinstance(event, Retired)]

    def commit(self, game_id: str, seat: int, action: str) -> None:
        """Let a person act, as the API does: without a lease."""
        table = self.table(game_id)
        event = table.game.judged(seat, action, ms=1.0)
        assert event.outcome is Outcome.OK
        events = table.game.apply(event)
        told = self.store.games.commit(game_id, events, expected=table.length, lease=None, ending=table.ending)
        assert told.status == "committed"

    def fail(self, game_id: str, seat: int) -> None:
        """Let a person's time run out, as a worker does."""
        table = self.table(game_id)
        events = table.game.apply(table.game.failed(seat, Outcome.LATE, ms=1.0))
        told = self.store.games.commit(game_id, events, expected=table.length, lease=None, ending=table.ending)
        assert told.status == "committed"

    def is_leased(self, game_id: str) -> bool:
        return self.store.games.leased([game_id])[0]

    def due_at(self, game_id: str) -> int | None:
        return self.store.due.at(f"game:{game_id}")
