"""An arena in the middle of its work, in which all is well: accounts, bots, games of every state, tournaments."""

from __future__ import annotations

import pytest

from bot_sdk.results.values import GameState
from service.arena.caller import ALL_SCOPES, Caller
from service.arena.minting import Mint
from service.arena.running import Running
from service.arena.tournaments import Tournaments
from service.config import Settings
from service.doctor.command import examined
from service.doctor.place import Patient
from service.store.accounts import Token
from service.store.entities import Account, AskedBy, Check, TournamentState
from tests.service.fakes import HeldQueue, HeldResults

OWNER = Caller(address="127.0.0.1", account_id="acc_1", scopes=frozenset(ALL_SCOPES))
BOTS = ("bot_a", "bot_b", "bot_c", "bot_d")
DIGEST = "ab" * 32
LONG_AGO_MS = 3_600_000


class World:
    """That arena; what the tests damage is named here. `over` and `on` are tournaments, the rest ids of games."""

    def __init__(self, store, redis, worker, desk, url):
        self.store, self.redis, self.worker, self.desk, self.url = store, redis, worker, desk, url
        self.settings = Settings.from_env({"REDIS_URL": url})
        self._tournaments = Tournaments(
            store, max_tournaments=9, clock=store.due.now, root_secret=lambda: bytes(32), seed=lambda: 7
        )
        self.running = Running(store, HeldQueue(), HeldResults(), clock=store.due.now, patience_ms=5_000)
        store.accounts.create(Account(id="acc_1", name="ann", created_at=1))
        store.accounts.add_token(Token(id="tok_1", account_id="acc_1", created_at=1), DIGEST, most=9)
        store.secrets.arena_key(bytes(range(32)))
        for bot_id in BOTS:
            desk.bot(bot_id, max_games=64, url=f"http://127.0.0.1:9000/{bot_id}")
        store.bots.create_check(self.check("chk_1", ended_at=2))
        store.due.drop("check:chk_1")
        self.over = self._play("over", "field", rounds=1)
        self.on = self._begin("on", "field", rounds=1)
        self.first, self.second = self.running.advance(self.on, 1)
        self._waiting = self._begin("waits", "fresh", rounds=1)
        self.fresh, _ = self.running.advance(self._waiting, 1)
        for game_id in (self.first, self.fresh):
            self.move(game_id, 5)
            self.store.games.stall(game_id, 4)
        self.person = desk.game("human:ann", "house:greedy", owner="acc_1", created_at=store.due.now())
        worker.drive(self.person)
        self.made_at = store.games.get(store.tournaments.results(self.over)[0].game_id).created_at
        self.packed = store.tournaments.results(self.over)[0].game_id
        store.due.present("worker", 5_000)

    def check(self, check_id, **changes):
        return Check(id=check_id, bot_id="bot_a", url="http://a", asked_by=AskedBy.OWNER, created_at=1, **changes)

    def _begin(self, name, deals, **more):
        order = {
            "name": name, "ruleset": "seven_up", "options": {"target": 1}, "format": "round_robin", "deals": deals,
            "table_size": None, "limits": {}, **more,
        }  # fmt: skip
        made = self._tournaments.create(OWNER, order, Mint(bytes(32), name.encode())).id
        for bot_id in BOTS:
            self._tournaments.enter(OWNER, made, bot_id, None)
        self._tournaments.set_state(OWNER, made, TournamentState.RUNNING)
        return made

    def _play(self, name, deals, **more):
        made = self._begin(name, deals, **more)
        for _ in range(6):
            self.worker.drive(*self.running.advance(made, 1))
            names = [due for due, _ in self.store.due.peek(self.store.due.now() + 10**9, 99) if due[:5] == "game:"]
            self.worker.drive(*(due.removeprefix("game:") for due in names))
        assert self.store.tournaments.get(made).state is TournamentState.FINISHED
        self.store.due.drop(f"fit:{made}")
        return made

    def move(self, game_id, times):
        for _ in range(times):
            table = self.desk.table(game_id)
            seat = table.game.owed()[0]
            self.desk.commit(game_id, seat, table.game.state.legal_actions(seat)[-1])

    def play_out(self, game_id):
        """Commit decisions to the last, and leave to others what follows."""
        while self.desk.meta(game_id).state is GameState.RUNNING:
            self.move(game_id, 1)

    def long_ago(self):
        return self.store.due.now() - LONG_AGO_MS

    def look(
        self, *, is_to_mend=False, drop=None, is_still=False, seconds=60.0, sleep=lambda _seconds: None, **settings
    ):
        """Give what the doctor finds, and how many were mended by code."""
        given = Settings.from_env({"REDIS_URL": self.url, "SLAGVELD_BOT_NETWORKS": "127.0.0.0/8"} | settings)
        patient = Patient(given, is_still=is_still)
        return examined(patient, seconds, is_to_mend=is_to_mend, drop=drop, sleep=sleep)

    def found(self, **more):
        return list(dict.fromkeys((each.code, each.where) for each in self.look(**more)[0].found))

    def dumped(self):
        """Give all that the store holds, byte by byte, and when each key expires."""
        names = sorted(self.redis.scan_iter())
        with self.redis.pipeline() as pipe:
            for name in names:
                pipe.dump(name)
                pipe.pexpiretime(name)
            told = pipe.execute()
        return dict(zip(names, zip(told[::2], told[1::2], strict=True), strict=True))


@pytest.fixture
def world(store, redis, worker, desk, redis_url):
    return World(store, redis, worker, desk, redis_url)
