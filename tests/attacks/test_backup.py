"""A backup taken in the middle of everything: restored elsewhere, all that was acknowledged is there and goes on."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from click.testing import CliRunner

from bot_sdk.client import Arena as Client
from service.cli import main as slagveld
from service.launch.valkey import EmbeddedValkey
from service.store.store import Store
from tests.integration.arena import PATIENT_LIMITS, Arena, wait_until
from tests.integration.played import check_recomputed, check_records, check_whole, decided, is_settled, played
from tests.integration.readers import Onlooker

RULES = {"SLAGVELD_TRUST_ACCOUNTS": "1", "SLAGVELD_ACCOUNTS": "open", "SLAGVELD_RATE_NEW_ACCOUNTS": "100000 per second"}


@dataclass(frozen=True)
class Size:
    """How many bots and rounds there are, and how many backups are taken."""

    bots: int
    rounds: int
    backups: int
    finish_s: float

    @property
    def names(self) -> list[str]:
        return ["house:greedy", "house:random"] * (self.bots // 2)

    @property
    def games(self) -> int:
        return self.bots // 2 * self.rounds


SMALL = Size(bots=4, rounds=8, backups=1, finish_s=60)
LARGE = Size(bots=16, rounds=60, backups=4, finish_s=600)
AHEAD = 40
"""So many more decisions are answered while a backup is made, or before it: far fewer than are left."""


def launch(arena: Arena, size: Size) -> str:
    entries = [f"bot_{n}" for n in range(size.bots)]
    short = {"target": 4}
    return arena.launch("night", "seven_up", 2, size.rounds, entries, PATIENT_LIMITS, short, deals="field")


def undisturbed(folder, size):
    with Arena(folder, bots=size.names, max_games=4, **RULES) as arena:
        tournament = launch(arena, size)
        arena.start_worker()
        wait_until(lambda: arena.is_finished(tournament), size.finish_s, "an undisturbed end", every_s=0.05)
        return played(arena.store, tournament)


class Guests:
    """People who make accounts and remember whose they were told they have."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self.tokens: list[tuple[str, str]] = []

    def come(self) -> None:
        with Client(self._arena.api.address, timeout_s=30) as client:
            made = client.create_account(f"guest {len(self.tokens)}")
        self.tokens.append((made["id"], made["token"]))


@dataclass(frozen=True)
class Acknowledged:
    """All that the arena had acknowledged at one moment."""

    logs: dict[str, list[object]]
    results: dict[str, object]
    tokens: list[tuple[str, str]]

    @classmethod
    def now(cls, arena: Arena, tournament: str, guests: Guests) -> Acknowledged:
        tokens = list(guests.tokens)
        logs = {game.id: arena.store.games.log(game.id) for game in arena.running(tournament)}
        return cls(logs, decided(arena.store, tournament), tokens)

    def check(self, store: Store, tournament: str) -> None:
        for game_id, log in self.logs.items():
            kept = store.games.log(game_id)[: len(log)]
            if store.games.get(game_id).state.is_end:  # packed, it may no longer say when each event was
                assert [event for _, event in kept] == [event for _, event in log]
            else:
                assert kept == log
        later = decided(store, tournament)
        assert self.results.items() <= later.items()
        for account_id, _ in self.tokens:
            assert store.accounts.get(account_id) is not None

    def check_tokens(self, address: str) -> None:
        for account_id, token in self.tokens[-3:]:
            with Client(address, token) as client:
                assert client.me()["id"] == account_id


def run(*arguments) -> str:
    told = CliRunner(env={"REDIS_URL": ""}).invoke(slagveld, [str(each) for each in arguments])
    assert told.exit_code == 0, told.output
    return told.output


def saved(arena: Arena, tournament: str, guests: Guests, data, file, games: float) -> Acknowledged:
    """Take a backup once so many games have ended, while others go on."""

    def has_come() -> bool:
        arena.bots.gate.shut(after=arena.bots.journal.count() + AHEAD)
        ended = arena.store.tournaments.count_results(tournament) >= games
        return ended and any(arena.lengths([tournament]).values())

    wait_until(has_come, 120, f"{games:g} games that have ended and one under way", every_s=0.02)
    before = Acknowledged.now(arena, tournament, guests)
    assert before.results
    assert before.tokens
    assert "keys" in run("backup", file, "--data", data)
    assert file.stat().st_mode & 0o077 == 0
    return before


def move(arena: Arena, file, data) -> None:
    """Have all but the bots die, and go on with what was restored into another folder."""
    for process in [*arena.workers, arena.api]:
        process.kill()
    arena.workers.clear()
    arena.store.close()
    arena.valkey.kill()
    arena.valkey.close()
    run("restore", file, "--data", data)
    arena.valkey = EmbeddedValkey(data)
    arena.valkey.start()
    arena.environment |= {"REDIS_URL": arena.valkey.url}
    arena.store = Store.open(arena.valkey.url, max_connections=16)


def restored_again_and_again(folder, size: Size) -> dict[str, object]:
    """Play a tournament that goes on from one backup after another, each in its own folder; give what it came to."""
    with Arena(folder / "arena-0", bots=size.names, max_games=2, think_ms=15, **RULES) as arena:
        arena.start_api()
        tournament, guests = launch(arena, size), Guests(arena)
        for number in range(1, size.backups + 1):
            data, file = folder / f"arena-{number - 1}", folder / f"backup-{number}.rdb"
            with Onlooker(guests.come, pause_s=0.005):
                wait_until(lambda: guests.tokens, 30, "a guest")
                arena.bots.gate.shut()
                arena.start_worker()
                before = saved(arena, tournament, guests, data, file, size.games * 0.6 * number / size.backups)
            move(arena, file, folder / f"arena-{number}")
            before.check(arena.store, tournament)
            assert not arena.is_finished(tournament), "the backup is of what goes on"
            guests.tokens = list(before.tokens)
            arena.start_api()
            before.check_tokens(arena.api.address)
        arena.bots.gate.open()
        arena.start_worker()
        wait_until(lambda: arena.is_finished(tournament), size.finish_s, "an end after all", every_s=0.05)
        bots = [f"bot_{n}" for n in range(size.bots)]
        wait_until(lambda: is_settled(arena.store, bots), 30, "nothing to do any more", every_s=0.05)
        check_whole(arena.store, tournament, size.games)
        with Client(arena.api.address) as client:
            check_records(arena.store, tournament, client.records(tournament))
            check_recomputed(client, tournament)
        return played(arena.store, tournament)


def test_backup_in_the_middle_of_a_tournament_holds_all_that_was_acknowledged(tmp_path):
    restored_again_and_again(tmp_path, SMALL)


@pytest.mark.attack
def test_arena_that_goes_on_from_one_backup_after_another_ends_as_if_nothing_had_been(tmp_path):
    assert restored_again_and_again(tmp_path, LARGE) == undisturbed(tmp_path / "undisturbed", LARGE)
