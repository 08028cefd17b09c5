"""The commit script and the lease, where durability is decided."""

from __future__ import annotations

import threading

import pytest
from msgspec.structs import replace
from redis.exceptions import ResponseError

from bot_sdk.events import Decided, Outcome, Retired, RetiredBecause
from bot_sdk.results.values import GameState
from service.store import keys
from service.store.errors import DamagedError
from service.store.games import GameStore, Proposal
from tests.service.fakes import until

SECRET = bytes(range(32))
BID = Decided(0, "bid:1", ms=3.1, note="a note with ünïcode, spaces and\nlines")
LATE = Decided(1, "bid:0", Outcome.LATE, 1000.0)
GONE = Retired(1, RetiredBecause.FAULTS)


def events(games, game_id="gam_1"):
    return [event for _, event in games.log(game_id)]


def test_committed_events_come_back_in_order_with_the_stores_time(games, due, running):
    before = due.now()
    told = games.commit(running.id, [BID, LATE, GONE], expected=0, lease=None)
    assert (told.status, told.length, told.state) == ("committed", 3, GameState.RUNNING)
    assert before <= told.at <= due.now()
    assert games.log(running.id) == [(told.at, BID), (told.at, LATE), (told.at, GONE)]
    assert games.log(running.id, 2) == [(told.at, GONE)]
    assert games.length(running.id) == 3


def test_commit_of_nothing_is_a_mistake_of_the_caller(games, running):
    with pytest.raises(ValueError, match="at least one event"):
        games.commit(running.id, [], expected=0, lease=None)


def test_same_commit_again_appends_nothing(games, running):
    first = games.commit(running.id, [BID, LATE], expected=0, lease=None)
    again = games.commit(running.id, [BID, LATE], expected=0, lease=None)
    assert (first.is_new, again) == (True, replace(first, is_new=False))
    assert events(games) == [BID, LATE]


def test_same_commit_again_after_others_went_on_is_still_committed(games, running):
    first = games.commit(running.id, [BID], expected=0, lease=None)
    games.commit(running.id, [LATE, GONE], expected=1, lease=None)
    again = games.commit(running.id, [BID], expected=0, lease=None)
    assert (again.status, again.at, again.length) == ("committed", first.at, 3)
    assert events(games) == [BID, LATE, GONE]


def test_same_commit_again_is_committed_though_the_lease_went_to_another(games, running):
    games.acquire(running.id, "mine", 10_000)
    games.commit(running.id, [BID], expected=0, lease="mine")
    games.release(running.id, "mine", 1)
    games.acquire(running.id, "other", 10_000)
    assert games.commit(running.id, [BID], expected=0, lease="mine").status == "committed"
    assert games.commit(running.id, [LATE], expected=1, lease="mine").status == "lease"
    assert events(games) == [BID]


def test_events_of_which_only_some_stand_there_are_not_mine(games, running):
    games.commit(running.id, [BID], expected=0, lease=None)
    told = games.commit(running.id, [BID, LATE], expected=0, lease=None)
    assert (told.status, told.length) == ("length", 1)
    assert events(games) == [BID]


def test_longer_log_with_other_events_is_refused(games, running):
    games.commit(running.id, [LATE], expected=0, lease=None)
    told = games.commit(running.id, [BID], expected=0, lease=None)
    assert (told.status, told.length, told.at) == ("length", 1, 0)


def test_log_that_lost_its_end_is_refused_and_stays(redis, games, running):
    games.commit(running.id, [BID, LATE], expected=0, lease=None)
    redis.ltrim(keys.game_log(running.id), 0, 0)  # a store that lost the last second
    told = games.commit(running.id, [GONE], expected=2, lease=None)
    assert (told.status, told.length) == ("length", 1)
    assert events(games) == [BID]


def test_log_that_lost_its_end_and_grew_again_is_not_taken_for_what_it_was(redis, games, due, running):
    first = games.commit(running.id, [BID], expected=0, lease=None)
    lost = games.commit(running.id, [LATE], expected=1, lease=None, after=first.at)
    assert lost.status == "committed"
    redis.ltrim(keys.game_log(running.id), 0, 0)
    until(lambda: due.now() > lost.at)
    games.commit(running.id, [GONE], expected=1, lease=None, after=first.at)
    told = games.commit(running.id, [BID], expected=2, lease=None, after=lost.at)
    assert (told.status, told.length, told.at) == ("length", 2, 0)
    assert events(games) == [BID, GONE]
    assert games.commit(running.id, [BID], expected=2, lease=None, after=games.log(running.id)[-1][0]).length == 3


def test_same_event_after_another_past_is_not_taken_for_a_retry(redis, games, due, running):
    """Else the caller would go on from a past that the store has lost, under the stamp of the new one."""
    lost = games.commit(running.id, [BID], expected=0, lease=None)
    redis.delete(keys.game_log(running.id))
    until(lambda: due.now() > lost.at)
    games.commit(running.id, [GONE, LATE], expected=0, lease=None)
    told = games.commit(running.id, [LATE], expected=1, lease=None, after=lost.at)
    assert (told.status, told.length, told.at) == ("length", 2, 0)
    redis.delete(keys.game_log(running.id))
    assert games.commit(running.id, [LATE], expected=1, lease=None, after=lost.at).status == "length"


def test_retry_is_known_whatever_came_before_it(games, running):
    first = games.commit(running.id, [BID], expected=0, lease=None, after=12)  # there is nothing before it
    told = games.commit(running.id, [LATE], expected=1, lease=None, after=first.at)
    assert games.commit(running.id, [LATE], expected=1, lease=None, after=first.at) == replace(told, is_new=False)


def test_strangers_lease_and_no_lease_are_refused(games, running):
    assert games.commit(running.id, [BID], expected=0, lease="mine").status == "lease"
    games.acquire(running.id, "other", 10_000)
    assert games.commit(running.id, [BID], expected=0, lease="mine").status == "lease"
    assert games.commit(running.id, [BID], expected=0, lease="other").status == "committed"


def test_human_needs_no_lease(games, running):
    games.acquire(running.id, "worker", 10_000)
    assert games.commit(running.id, [BID], expected=0, lease=None).status == "committed"


@pytest.mark.parametrize("state", [GameState.CANCELLED, GameState.ABORTED])
def test_ended_game_takes_no_events(games, running, state):
    games.end(running.id, state)
    told = games.commit(running.id, [BID], expected=0, lease=None)
    assert (told.status, told.state) == ("state", state)
    assert events(games) == []


def test_open_and_missing_games_take_no_events(redis, games, make_game):
    games.create(make_game(), secret=SECRET, due_at=None)
    assert games.commit("gam_1", [BID], expected=0, lease=None).state is GameState.OPEN
    told = games.commit("gam_none", [BID], expected=0, lease=None)
    assert (told.status, told.state) == ("state", None)
    assert not redis.exists(keys.game_log("gam_none"))


def test_ending_commit_ends_the_game_in_the_same_step(games, running):
    told = games.commit(running.id, [BID, LATE], expected=0, lease=None, ending=GameState.FINISHED)
    assert (told.status, told.state) == ("committed", GameState.FINISHED)
    game, log, _ = games.load(running.id)
    assert (game.state, game.ended_at, len(log)) == (GameState.FINISHED, told.at, 2)


def test_ending_commit_again_is_committed(games, running):
    first = games.commit(running.id, [BID], expected=0, lease=None, ending=GameState.FINISHED)
    assert games.commit(running.id, [BID], expected=0, lease=None, ending=GameState.FINISHED) == replace(
        first, is_new=False
    )
    assert games.commit(running.id, [LATE], expected=1, lease=None).status == "state"


def test_refused_ending_leaves_the_game_running(games, running):
    games.commit(running.id, [LATE], expected=0, lease=None)
    games.commit(running.id, [BID], expected=0, lease=None, ending=GameState.FINISHED)
    assert games.get(running.id).state is GameState.RUNNING


@pytest.mark.parametrize("ending", [None, GameState.FINISHED])
def test_answer_lost_on_the_wire_does_not_commit_twice(games, running, lose_answers, ending):
    games.acquire(running.id, "mine", 10_000)
    told = lose_answers(
        lambda: games.commit(running.id, [BID], expected=0, lease="mine", ending=ending),
        when=lambda answer: isinstance(answer, int) and answer > 10**12,  # the time of the events
    )
    assert (told.status, told.is_new) == ("committed", False)
    assert events(games) == [BID]
    assert games.get(running.id).ended_at == (told.at if ending else None)


def test_of_many_writers_at_once_exactly_one_wins_each_place(redis, games, running):
    """Twelve threads race for forty places; the winner of each is the one whose event stands there."""
    places, writers = 40, 12
    barrier = threading.Barrier(writers)
    won: list[list[int]] = [[] for _ in range(places)]

    def race(writer):
        mine = GameStore(redis)
        for place in range(places):
            barrier.wait(timeout=30)
            event = Decided(writer, f"play:{place}")
            if mine.commit(running.id, [event], expected=place, lease=None).status == "committed":
                won[place].append(writer)

    threads = [threading.Thread(target=race, args=[n]) for n in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert [len(winners) for winners in won] == [1] * places
    assert [event.seat for event in events(games)] == [winners[0] for winners in won]


# --- leases -------------------------------------------------------------------------------------------------


def test_lease_is_one_workers_until_it_gives_it_back(games, running):
    assert games.acquire(running.id, "mine", 10_000)
    assert games.acquire(running.id, "mine", 10_000)
    assert not games.acquire(running.id, "other", 10_000)
    assert games.leased([running.id, "gam_none"]) == [True, False]
    assert games.release(running.id, "mine", 0)
    assert games.acquire(running.id, "other", 10_000)


def test_renewal_tells_which_leases_are_still_mine(redis, games):
    games.acquire("gam_1", "mine", 1_000)
    games.acquire("gam_2", "other", 1_000)
    assert games.renew(["gam_1", "gam_2", "gam_3"], "mine", 60_000) == ["gam_1"]
    assert redis.pttl(keys.game_lease("gam_1")) > 50_000
    assert 0 < redis.pttl(keys.game_lease("gam_2")) <= 1_000
    assert not redis.exists(keys.game_lease("gam_3"))
    assert games.renew([], "mine", 60_000) == []


def test_renewal_works_after_the_server_forgot_the_scripts(redis, games):
    games.acquire("gam_1", "mine", 1_000)
    redis.script_flush()
    assert games.renew(["gam_1"], "mine", 60_000) == ["gam_1"]


def test_release_is_refused_when_the_log_moved(games, running):
    games.acquire(running.id, "mine", 10_000)
    games.commit(running.id, [BID], expected=0, lease=None)
    assert not games.release(running.id, "mine", 0)
    assert games.leased([running.id]) == [True]
    assert games.release(running.id, "mine", 1)


def test_releasing_again_or_anothers_lease_changes_nothing(games, running):
    games.acquire(running.id, "mine", 10_000)
    assert games.release(running.id, "mine", 0)
    games.acquire(running.id, "other", 10_000)
    assert games.release(running.id, "mine", 0)
    assert games.leased([running.id]) == [True]


def test_stalls_are_counted_per_length_of_the_log(games, running):
    assert [games.stall(running.id, 4) for _ in range(3)] == [1, 2, 3]
    assert games.stall(running.id, 5) == 1
    games.forget_stalls(running.id)
    assert games.stall(running.id, 5) == 1
    assert games.stall("gam_none", 5) == 0


def test_stall_sent_twice_counts_once(games, running, lose_answers):
    assert lose_answers(lambda: games.stall(running.id, 4), when=lambda answer: answer == 1) == 1
    assert games.stall(running.id, 4) == 2


# --- memory -------------------------------------------------------------------------------------------------


def test_store_out_of_memory_writes_nothing_by_halves(redis, games, running, make_game):
    games.acquire(running.id, "mine", 60_000)
    games.commit(running.id, [BID], expected=0, lease="mine")
    redis.config_set("maxmemory", 1)
    try:
        with pytest.raises(ResponseError, match="maxmemory"):
            games.commit(running.id, [LATE, GONE], expected=1, lease="mine", ending=GameState.FINISHED)
        with pytest.raises(ResponseError, match="maxmemory"):
            games.create(make_game("gam_2"), secret=SECRET, due_at=9)
        assert events(games) == [BID]
        assert games.get(running.id).state is GameState.RUNNING
        assert set(redis.scan_iter("*gam_2*")) == set()
        assert redis.zcard(keys.GAMES) == 1
        assert games.renew([running.id], "mine", 60_000) == [running.id]
        assert games.end(running.id, GameState.ABORTED)
        assert games.release(running.id, "mine", 1)
    finally:
        redis.config_set("maxmemory", 0)


# --- many games -------------------------------------------------------------------------------------------------------


@pytest.fixture
def several(games, make_game):
    """Make three games that run."""
    made = [f"gam_{name}" for name in ("x", "y", "z")]
    for game_id in made:
        games.create(make_game(id=game_id, state=GameState.RUNNING), secret=SECRET, due_at=None)
    return made


def test_many_games_are_appended_to_each_by_its_own_rules(games, several):
    x, y, z = several
    games.acquire(y, "other", 10_000)
    told = games.commit_many(
        [
            Proposal(x, [BID, LATE], 0, None, None, GameState.FINISHED),
            Proposal(y, [BID], 0, "mine"),
            Proposal(z, [BID], 2, None),
        ]
    )
    assert [each.status for each in told] == ["committed", "lease", "length"]
    assert (told[0].state, told[0].length) == (GameState.FINISHED, 2)
    assert [events(games, game) for game in several] == [[BID, LATE], [], []]


def test_many_appended_again_are_appended_once(games, several):
    proposals = [Proposal(game, [BID], 0, None) for game in several]
    first = games.commit_many(proposals)
    assert games.commit_many(proposals) == [replace(each, is_new=False) for each in first]
    assert [events(games, game) for game in several] == [[BID]] * 3


def test_damaged_game_among_many_is_told_in_its_place(redis, games, several):
    redis.set(keys.game_log(several[1]), "nonsense")
    told = games.commit_many([Proposal(game, [BID], 0, None) for game in several])
    assert isinstance(told[1], DamagedError)
    assert [each.status for each in (told[0], told[2])] == ["committed"] * 2


def test_script_that_the_server_has_forgotten_is_sent_again(redis, games, several):
    redis.script_flush()
    told = games.commit_many([Proposal(game, [BID], 0, None) for game in several])
    assert [each.status for each in told] == ["committed"] * 3
