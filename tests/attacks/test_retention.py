"""However many games are played, the store holds those of the last weeks; all others are in the archive, once each."""

from __future__ import annotations

import itertools
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from msgspec.structs import replace

from bot_sdk.events import Outcome
from bot_sdk.games import record
from bot_sdk.results import export
from bot_sdk.results.recompute import differences
from bot_sdk.results.values import GameState
from service.arena.caller import Caller
from service.arena.exports import Exports
from service.arena.minting import Mint
from service.arena.ratings import Ratings
from service.arena.retention import Retention
from service.arena.running import Running
from service.arena.scoreboard import Scoreboard
from service.arena.tournaments import Tournaments
from service.store import due, keys
from service.store.appearances import Appearance
from service.store.archive import Archive
from service.store.entities import TournamentState
from service.store.ledger import Ending, LedgerLine
from tests.service.bench import Desk, Worker
from tests.service.fakes import Clock, FakeCalls, HeldQueue
from tests.service.rated import fit_here

MINUTE_MS = 60_000
BOTS = ("bot_a", "bot_b", "bot_c", "bot_d")
ACCOUNTS = 40
BATCH = 100
EVERY_TENTH = 10
KEPT_GAMES = 300
"""A game ends every minute of the clock, so this many minutes are what is kept."""
ROOM = KEPT_GAMES + 3 * BATCH
"""What may be there at once: those kept, the batch being written, and the one that the last pass didn't see yet."""
KEYS_OF_A_GAME = 4
RATED_BYTES = 400


class Mill:
    """Writes ended games and tournaments as they were really played once, under new names, one a minute."""

    def __init__(self, store, redis):
        self.store, self.redis = store, redis
        self.clock = Clock(store.due.now() - 10**11)
        self.queue = HeldQueue()
        self.tournaments = Tournaments(
            store, max_tournaments=9, clock=self.clock, root_secret=lambda: bytes(32), seed=lambda: 1
        )
        self.ratings = Ratings(store, self.queue, fit_here, clock=self.clock, new_id=lambda: "", every_ms=1_000)
        self.written: list[str] = []
        self._count = itertools.count()
        self._desk, self._worker = Desk(store), Worker(store, FakeCalls())
        for number, bot in enumerate(BOTS):
            self._desk.bot(bot, account_id=f"acc_{number}")
        self._games = [self._played(BOTS[:2], {"target": 2}) for _ in range(EVERY_TENTH - 1)]
        self._games.append(self._played(BOTS, {"start_cards": 2}))
        self._tournament = self._played_tournament()
        redis.delete(keys.rated("seven_up"))

    def retention(self, folder):
        scoreboard = Scoreboard(self.store, self.tournaments, clock=self.clock)
        exports = Exports(self.store, self.tournaments, scoreboard)
        keep_ms = KEPT_GAMES * MINUTE_MS
        return Retention(
            self.store, Archive(folder), exports, clock=lambda: self.clock.now, token="one", keep_ms=keep_ms
        )

    # --- what was really played ---------------------------------------------------------------------------------------

    def _played(self, bots, options):
        game_id = self._desk.game(*bots, options=options)
        self._worker.drive(game_id)
        loaded = self.store.games.load(game_id)
        self._forget([game_id])
        return loaded

    def _forget(self, game_ids):
        self.store.retention.drop_games(self.store.games.get_many(game_ids))

    def _played_tournament(self):
        """Play a round robin of four bots, and give all that was kept of it."""
        store, running = self.store, Running(self.store, self.queue, self.ratings, clock=self.clock, patience_ms=1_000)
        tournament = self._desk_tournament()
        while not store.tournaments.get(tournament).state.is_end:
            self._worker.drive(*running.advance(tournament, 1))
        self._worker.drive(*itertools.chain(*self.queue.shards))
        games = {game.id: store.games.load(game.id) for game in self._games_of(tournament)}
        played = {
            "tournament": store.tournaments.get(tournament),
            "entries": store.tournaments.entries(tournament),
            "rounds": store.tournaments.rounds(tournament),
            "results": store.tournaments.results(tournament),
            "boards": store.tournaments.closed(tournament),
            "games": games,
        }
        self._forget(list(games))
        store.retention.drop_tournament(played["tournament"])
        return played

    def _desk_tournament(self):
        owner = Caller(address="test", account_id="acc_host")
        order = {
            "name": "night",
            "ruleset": "seven_up",
            "options": {},
            "format": "round_robin",
            "deals": "field",
            "table_size": None,
            "limits": {},
        }
        made = self.tournaments.create(owner, order, Mint(bytes(32), b"night"))
        for bot in BOTS:
            self.tournaments.enter(owner, made.id, bot, None)
        self.tournaments.set_state(owner, made.id, TournamentState.RUNNING)
        return made.id

    def _games_of(self, tournament):
        return self.store.games.list_for_tournament(tournament, limit=100)[0]

    # --- what is written of it ----------------------------------------------------------------------------------------

    def write(self, count):
        """Write games, and tournaments now and then, until `count` more games have ended."""
        for_all = len(self.written) + count
        while len(self.written) < for_all:
            number = next(self._count)
            if number % 50 == 49:
                self._write_tournament(number)
            else:
                game, log, secret = self._games[number % len(self._games)]
                owner = f"acc_{number % ACCOUNTS}"
                self._write_game(replace(game, id=f"gam_{number}", owner=owner, slot=None), log, secret)

    def _write_game(self, game, log, secret):
        store, now = self.store, self.clock.now
        game = replace(game, state=GameState.RUNNING, created_at=now, ended_at=None)
        assert store.games.create(game, secret=secret, due_at=now, tokens={0: "hash"})
        events = [event for _, event in log]
        store.games.commit(game.id, events, expected=0, lease=None, ending=GameState.FINISHED)
        self.clock.forward(MINUTE_MS)
        self.redis.hset(keys.game_meta(game.id), mapping={"started_at": now, "ended_at": self.clock.now})
        store.games.settle(game)
        if len(self.written) % 5 == 0:
            self._note(game)
        self.written.append(game.id)

    def _note(self, game):
        """Write down what the bots' owners are told, and what everybody is."""
        bots = [seat.bot_id for seat in game.seats]
        self.store.appearances.add(
            {
                bot: Appearance(
                    game_id=game.id,
                    at=self.clock.now,
                    ruleset=game.ruleset,
                    seats=[seat],
                    totals=[7] * len(bots),
                    places=[1] * len(bots),
                    is_retired=False,
                    outcomes={"late": 1, "ok": 19},
                    times=[(7, 20)],
                )
                for seat, bot in enumerate(bots)
            }
        )
        self.store.ledger.add_endings(
            Ending(bot_id=bot, game_id=game.id, at=self.clock.now, retired=False) for bot in bots
        )
        self.store.ledger.add(
            LedgerLine(
                bot_id=bot,
                decision_id=f"{game.id}.0.{n}",
                game_id=game.id,
                at=self.clock.now,
                outcome=Outcome.OK,
                ms=1.5,
                action="play:QH",
            )
            for bot in bots
            for n in range(20)
        )

    def _write_tournament(self, number):
        store, played, ident = self.store, self._tournament, f"trn_{number}"
        names = {old: f"gam_{number}x{place}" for place, old in enumerate(played["games"])}
        tournament = replace(
            played["tournament"], id=ident, created_at=self.clock.now, state=TournamentState.OPEN, ended_at=None
        )
        assert store.tournaments.create(tournament, secret=bytes(32))
        for entry in played["entries"]:
            assert store.tournaments.enter(ident, entry, most=10) == "done"
        for at, each in played["rounds"].items():
            store.tournaments.put_round(ident, at, each)
        results = []
        for old, (game, log, secret) in played["games"].items():
            slot = replace(game.slot, tournament_id=ident)
            store.tournaments.claim(ident, slot)
            self._write_game(replace(game, id=names[old], slot=slot), log, secret)
            kept = next(result for result in played["results"] if result.game_id == old)
            results.append(replace(kept, game_id=names[old], slot=slot, ended_at=self.clock.now))
            store.tournaments.put_result(results[-1])
        for board in played["boards"]:
            store.tournaments.close_board(ident, board)
        self.ratings.take(tournament, results)
        store.tournaments.change(
            ident, lambda old: replace(old, state=TournamentState.FINISHED, ended_at=self.clock.now)
        )
        store.due.drop(due.tournament(ident))


def run(retention):
    while retention.step():
        pass


def rated_bytes(redis):
    return redis.memory_usage(keys.rated("seven_up"), samples=0) or 0


def archived(folder):
    """Give every record in the archive, as lines."""
    for path in sorted(folder.glob("**/*.jsonl")):
        if not path.name.endswith(".export.jsonl"):
            yield from path.read_bytes().splitlines()


def play_for_ever(store, redis, folder, games):
    """Write so many games while retention runs beside; check what is kept where, all along and at the end."""
    mill = Mill(store, redis)
    retention = mill.retention(folder)
    empty = redis.dbsize()
    counts, memory = [], []
    with ThreadPoolExecutor(1) as beside:
        for _ in range(games // BATCH):
            writing = beside.submit(mill.write, BATCH)
            run(retention)
            writing.result(timeout=120)
            counts.append(redis.dbsize())
            memory.append(redis.info("memory")["used_memory"] - rated_bytes(redis))
    check_bounded(redis, mill, empty, counts, memory)
    mill.clock.forward(2 * KEPT_GAMES * MINUTE_MS)
    run(retention)
    check_all_gone(redis, mill)
    check_archive(folder, mill.written)


def check_bounded(redis, mill, empty, counts, memory):
    tournaments = ROOM // 50 + 2
    assert max(counts) <= empty + ROOM * KEYS_OF_A_GAME + tournaments * 10 + ACCOUNTS + 4 * len(BOTS)
    warm = len(memory) * 3 // 4  # by then, as much has left as came
    assert max(memory[warm:]) <= 1.15 * max(memory[:warm]), memory
    assert max(counts[warm:]) <= 1.15 * max(counts[:warm]), counts
    rated = redis.hlen(keys.rated("seven_up"))
    assert rated == sum("x" in name for name in mill.written)
    assert rated_bytes(redis) <= RATED_BYTES * rated


def check_all_gone(redis, mill):
    left = [name for name in redis.scan_iter() if b"{g:" in name or b"{t:" in name]
    assert left == []
    assert (
        redis.exists(keys.GAMES, keys.TOURNAMENTS, keys.DUE, *(keys.account_games(f"acc_{n}") for n in range(40))) == 0
    )
    assert redis.hlen(keys.rated("seven_up")) == sum("x" in name for name in mill.written)


def check_archive(folder, written):
    """Check that each game's record is there once, and that of every so many each holds; and the exports, too."""
    found = Counter()
    for number, line in enumerate(archived(folder)):
        read = record.read(line)
        found[read.game_id] += 1
        if number % max(1, len(written) // 200) == 0:
            record.verify(read)
    assert found == Counter(written)
    exports = sorted(folder.glob("tournaments/*.export.jsonl"))
    assert len(exports) == len({name.partition("x")[0] for name in written if "x" in name})
    for path in exports[:: max(1, len(exports) // 10)]:
        with path.open("rb") as lines:
            assert differences(export.read(lines)) == []


def test_two_thousand_games_leave_no_more_behind_than_three_hundred(store, redis, tmp_path):
    play_for_ever(store, redis, tmp_path / "archive", 2_000)


@pytest.mark.attack
def test_hundred_thousand_games_leave_no_more_behind_than_three_hundred(store, redis, tmp_path):
    play_for_ever(store, redis, tmp_path / "archive", 100_000)
