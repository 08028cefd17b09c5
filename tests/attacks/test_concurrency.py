"""Whatever happens at the same moment, exactly one of it happens: row 5 of the attacks, over real processes."""

from __future__ import annotations

import functools
import itertools
import threading
from collections import Counter

import pytest

from bot_sdk.client import Arena as Client
from bot_sdk.events import Outcome
from bot_sdk.games.record import read, verify
from bot_sdk.results.values import GameState
from tests.attacks.at_once import at_once
from tests.attacks.racing import PEOPLE, Endgame, Sitting, arena, decided, host, proxy, start_behind, urls
from tests.faults.traps import UP
from tests.integration.arena import wait_until

__all__ = ["arena", "host", "proxy", "start_behind", "urls"]  # fixtures

BIDDERS = {
    "ruleset": "river",
    "options": {"start_cards": 3, "bidding": "simultaneous"},
    "seats": [{"kind": "human", "name": f"p{number}"} for number in range(4)],
}
PLAYS = 50
RACES = 10


# --- plays ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("actions", [1, 2])
def test_of_fifty_plays_of_one_decision_one_is_committed_and_the_others_learn_which(arena, urls, host, actions):
    game = Sitting(urls[0], host, PEOPLE)
    ((seat, view),) = game.owed().items()
    wanted = view["legal_actions"][:actions]
    plays = [
        functools.partial(game.act, seat, view["decision_id"], wanted[n % actions], urls[n // actions % 2])
        for n in range(PLAYS)
    ]
    told = at_once(plays)
    (event,) = decided(arena, game.id, seat)
    assert event.outcome is Outcome.OK
    for n, each in enumerate(told):
        if wanted[n % actions] == event.action:
            assert each.status in {200, 201}
            assert each.body["action"] == event.action
        else:
            assert (each.status, each.code) == (409, "decided")
    assert Counter(each.status for each in told) == {201: 1, 200: PLAYS // actions - 1} | (
        {409: PLAYS // 2} if actions > 1 else {}
    )


def test_of_fifty_sealed_bids_by_four_seats_one_of_each_is_committed(arena, urls, host):
    """They don't overtake each other: whoever finds another's bid before his own lays the table anew."""
    game = Sitting(urls[0], host, BIDDERS)
    owed = game.owed()
    assert len(owed) == 4
    plays = [
        functools.partial(
            game.act, n % 4, owed[n % 4]["decision_id"], owed[n % 4]["legal_actions"][0], urls[n // 4 % 2]
        )
        for n in range(PLAYS)
    ]
    told = at_once(plays)
    assert [len(decided(arena, game.id, seat)) for seat in range(4)] == [1] * 4
    assert Counter(each.status for each in told) == {201: 4, 200: PLAYS - 4}


def test_cancelling_races_playing_and_what_was_acknowledged_stands(arena, urls, host):
    came = Counter()
    for n in range(12):
        game = Sitting(urls[0], host, PEOPLE)
        ((seat, view),) = game.owed().items()
        play = functools.partial(game.act, seat, view["decision_id"], view["legal_actions"][0], urls[n % 2])
        order = [play, functools.partial(game.cancel, urls[1 - n % 2])]
        played, cancelled = at_once(order)
        assert cancelled.status == 200, cancelled
        assert played.status in {201, 409}, played
        assert len(decided(arena, game.id, seat)) == (played.status == 201)
        assert arena.store.games.get(game.id).state is GameState.CANCELLED
        again = game.act(seat, view["decision_id"], view["legal_actions"][0])
        assert again.status == (200 if played.status == 201 else 409)
        came[played.status] += 1
    assert sum(came.values()) == 12


@pytest.fixture(scope="module")
def held_up(start_behind):
    """Give the address of a process of the API whose way to the store is the proxy's."""
    return start_behind().address


@pytest.fixture
def overtaken(proxy, held_up):
    """Hold an action in the moment of its commit, let something else happen, let it go on; give what it is told."""

    def race(game, seat, view, meanwhile):
        action = view["legal_actions"][-1]
        trap = proxy.catch(UP, f'"{action}"'.encode())
        told = []
        player = threading.Thread(target=lambda: told.append(game.act(seat, view["decision_id"], action, held_up)))
        player.start()
        trap.wait()
        meanwhile()
        trap.release()
        player.join(30)
        return told[0]

    return race


def test_action_that_a_cancellation_overtakes_is_refused_and_stands_nowhere(arena, urls, host, overtaken):
    game = Sitting(urls[0], host, PEOPLE)
    ((seat, view),) = game.owed().items()
    told = overtaken(game, seat, view, game.cancel)
    assert (told.status, told.code) == (409, "not_running")
    assert arena.store.games.log(game.id) == []


def test_action_that_another_overtakes_is_told_of_it(arena, urls, host, overtaken):
    game = Sitting(urls[0], host, PEOPLE)
    ((seat, view),) = game.owed().items()
    first, second = [], view["legal_actions"][0]
    told = overtaken(game, seat, view, lambda: first.append(game.act(seat, view["decision_id"], second)))
    assert (first[0].status, told.status, told.code) == (201, 409, "decided")
    assert [event.action for event in decided(arena, game.id, seat)] == [second]


def test_action_that_the_same_overtakes_is_told_that_it_stands(arena, urls, host, overtaken):
    game = Sitting(urls[0], host, PEOPLE)
    ((seat, view),) = game.owed().items()
    first, same = [], view["legal_actions"][-1]
    told = overtaken(game, seat, view, lambda: first.append(game.act(seat, view["decision_id"], same)))
    assert (first[0].status, told.status, told.body["action"]) == (201, 200, same)
    assert len(decided(arena, game.id, seat)) == 1


def test_action_that_its_seat_s_leaving_overtakes_is_refused(arena, urls, host, overtaken):
    game = Sitting(urls[0], host, PEOPLE)
    ((seat, view),) = game.owed().items()
    told = overtaken(game, seat, view, lambda: game.leave(seat))
    assert told.status == 409
    assert decided(arena, game.id, seat) == []


# --- the last action and its timeout ----------------------------------------------------------------------------------


def test_the_last_action_races_its_timeout_and_one_of_them_ends_the_game(arena, urls):
    made = (Endgame(arena, number) for number in itertools.count())
    undecided = (game for game in made if not game.table().game.is_over)  # a turned Jack may decide it at once
    games = list(itertools.islice(undecided, RACES))
    offsets = [4 * (number - RACES // 2) for number in range(RACES)]
    races = [functools.partial(game.race, urls[number % 2], offsets[number]) for number, game in enumerate(games)]
    came = at_once(races)
    wait_until(lambda: all(arena.store.games.get(game.id).state.is_end for game in games), 20, "the end of all games")
    for game, (told, table, seat) in zip(games, came, strict=True):
        events = decided(arena, game.id, seat)
        assert len(events) == table.game.decisions[seat] + 1
        assert (told.status, events[-1].outcome) in {(201, Outcome.OK), (409, Outcome.LATE)}
        again = game.act(seat, table.decision_id(seat), events[-1].action, urls[0])
        assert again.status == (200 if told.status == 201 else 409)
        with Client(urls[0]) as client:
            verify(read(client.record(game.id)))


def test_last_action_that_its_timeout_overtakes_is_refused(arena, urls, overtaken):
    """It was in time when it was looked at, and held up for longer than was left."""
    made = (Endgame(arena, number) for number in itertools.count(1_000))
    game = next(game for game in made if not game.table().game.is_over)
    table, seat, action = game.play_to_the_last()
    view = {"decision_id": table.decision_id(seat), "legal_actions": [action]}
    arena.store.due.add(f"game:{game.id}", table.deadline(seat, arena.store.clock.read()))

    def ended():
        wait_until(lambda: arena.store.games.get(game.id).state.is_end, 20, "the end of the game")

    told = overtaken(game, seat, view, ended)
    assert (told.status, told.code) == (409, "decided")
    assert decided(arena, game.id, seat)[-1].outcome is Outcome.LATE
