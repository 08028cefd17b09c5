"""Matches with a test of who is stronger, played by bots over HTTP: they end as soon as it is clear."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from bot_sdk.client import Arena as Client
from bot_sdk.games.record import Record, read, verify
from bot_sdk.results.values import Result
from service.store.entities import Game, Sprt
from service.tournaments.pairs import PAIRS_AT_ONCE
from tests.integration.arena import PATIENT_LIMITS, Arena, wait_until
from tests.integration.played import check_recomputed, check_settled
from tests.integration.readers import Onlooker

GREEDY, RANDOM = "bot_0", "bot_1"
MOST_PAIRS = 400
SPRT = Sprt(elo0=0, elo1=100)
SETTINGS = {"SLAGVELD_TRUST_ACCOUNTS": "1", "SLAGVELD_LEASE_MS": "15000", "SLAGVELD_RENEW_MS": "5000"}
CHALLENGERS = {"H1": GREEDY, "H0": RANDOM}


@dataclass
class Match:
    """All there is to see of a match once it has ended."""

    tournament: dict[str, Any]
    games: list[Game]
    results: list[Result]
    records: list[Record]
    standings: dict[str, Any]
    most_open: int
    """How many pairs were under way at once."""

    @property
    def judged(self) -> int:
        return self.tournament["test"]["pairs"]


def open_pairs(arena: Arena, name: str) -> int:
    before, after = ({game.id: game.slot.round for game in arena.running(name)} for _ in range(2))
    return len({after[game_id] for game_id in after.keys() & before.keys()})


@pytest.fixture(scope="module")
def matches(tmp_path_factory):
    folder = tmp_path_factory.mktemp("matches") / "arena"
    with Arena(folder, bots=["house:greedy", "house:random"], think_ms=5, **SETTINGS) as arena:
        names = {
            verdict: arena.launch(
                verdict,
                "seven_up",
                2,
                MOST_PAIRS,
                [GREEDY, RANDOM],
                PATIENT_LIMITS,
                format="match",
                deals="rotate",
                sprt=SPRT,
                challenger=challenger,
            )
            for verdict, challenger in CHALLENGERS.items()
        }
        most = dict.fromkeys(names, 0)

        def look() -> None:
            for verdict, name in names.items():
                most[verdict] = max(most[verdict], open_pairs(arena, name))

        arena.bots.gate.shut()
        arena.start_worker()
        arena.start_api()
        with Onlooker(look, pause_s=0.1):
            wait_until(lambda: min(most.values()) > 1, 20, "pairs side by side in both")
            arena.bots.gate.open()
            wait_until(lambda: all(map(arena.is_finished, names.values())), 60, "the end of both", every_s=0.05)
        wait_until(lambda: arena.store.due.count() == 0, 60, "nothing due any more", every_s=0.05)
        check_settled(arena.store, [GREEDY, RANDOM])
        with Client(arena.api.address) as client:
            found = {verdict: seen(arena, client, name, most[verdict]) for verdict, name in names.items()}
        yield found, arena.store.ratings.count("seven_up")


def seen(arena: Arena, client: Client, name: str, most_open: int) -> Match:
    check_recomputed(client, name)
    games, _ = arena.store.games.list_for_tournament(name, limit=2 * MOST_PAIRS)
    return Match(
        tournament=client.tournament(name),
        games=games,
        results=arena.store.tournaments.results(name),
        records=[read(line) for line in client.records(name)],
        standings=client.standings(name),
        most_open=most_open,
    )


@pytest.fixture(params=CHALLENGERS)
def verdict(request):
    return request.param


@pytest.fixture
def match(matches, verdict):
    return matches[0][verdict]


def test_match_ends_early_and_says_which_hypothesis_holds(match, verdict):
    assert match.tournament["state"] == "finished"
    assert match.tournament["test"]["verdict"] == verdict
    assert match.tournament["reason"].startswith(f"{verdict} holds after {match.judged} pairs ")
    assert match.judged < MOST_PAIRS / 4


def test_few_pairs_are_played_side_by_side(match):
    assert 1 < match.most_open <= PAIRS_AT_ONCE


def test_pairs_after_the_crossing_are_cancelled_or_do_not_count(match):
    ended = {result.game_id for result in match.results}
    for game in match.games:
        assert game.state == ("finished" if game.id in ended else "cancelled")
        assert game.state == "finished" or game.slot.round > match.judged
    assert match.standings["results"] == 2 * match.judged == sum(each["games"] for each in match.standings["items"]) / 2
    assert match.standings["is_final"]


def test_legs_of_a_pair_are_one_board_with_the_seats_swapped(match):
    seats = {record.game_id: [seat.bot_id for seat in record.seats] for record in match.records}
    decks = {record.game_id: record.deals[0].deck for record in match.records}
    counted = [result for result in match.results if result.slot.round <= match.judged]
    assert len(counted) == len(match.records) == 2 * match.judged
    for first, second in zip(counted[::2], counted[1::2], strict=True):
        assert (first.slot.board, first.slot.leg, second.slot.leg) == (second.slot.board, 0, 1)
        assert seats[first.game_id] == seats[second.game_id][::-1]
        assert decks[first.game_id] == decks[second.game_id]
    assert len({tuple(deck) for deck in decks.values()}) == match.judged


def test_records_of_what_counts_verify(match):
    for record in match.records:
        verify(record)


def test_games_that_count_are_rated_once(matches):
    found, rated = matches
    assert rated == sum(2 * match.judged for match in found.values())
