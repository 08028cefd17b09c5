"""The formats as they run: what is drawn when, who goes on, how it ends, and how many tournaments share bots."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress

import pytest
from msgspec.structs import replace

from bot_sdk.results.values import GameState
from service.arena import running as running_module
from service.arena.counting import counted
from service.arena.errors import ConflictError
from service.arena.scoreboard import Scoreboard
from service.store import due
from service.store.entities import BotState, Sprt, TournamentState
from tests.service.bench import Background
from tests.service.fakes import first_legal, standing

FIVE = ("bot_a", "bot_b", "bot_c", "bot_d", "bot_e")
STEPS = (TournamentState.PAUSED, TournamentState.CANCELLED, TournamentState.PAUSED, TournamentState.RUNNING)
SHORT_RIVER = {"ruleset": "river", "options": {"start_cards": 1}}


@pytest.fixture
def finish(running, worker, queue, store):
    """Take a tournament to its end, some looks at most; give it."""

    def go_on(tournament_id, looks=40):
        for _ in range(looks):
            worker.drive(*running.advance(tournament_id, 1))
            worker.drive(*[game for shard in queue.shards for game in shard], *queue.driven)
            tournament = store.tournaments.get(tournament_id)
            if tournament.state.is_end:
                return tournament
        raise AssertionError(f"not finished after {looks} looks")

    return go_on


def results_of(store, tournament_id):
    return store.tournaments.results(tournament_id)


def games_of(store, tournament_id):
    """Give all games in order of round, table and leg."""
    found, cursor = store.games.list_for_tournament(tournament_id, limit=100)
    while cursor:
        more, cursor = store.games.list_for_tournament(tournament_id, limit=100, cursor=cursor)
        found += more
    return sorted(found, key=lambda game: (game.slot.round, game.slot.table, game.slot.leg))


# --- swiss ------------------------------------------------------------------------------------------------------------


def test_next_round_of_a_swiss_is_drawn_once_the_last_is_over(running, start, store, worker):
    tournament = start(*FIVE, format="swiss", rounds=3)
    first, second = running.advance(tournament, 1)
    worker.drive(first)
    assert running.advance(tournament, 1) == []
    assert list(store.tournaments.rounds(tournament)) == [1]
    worker.drive(second)
    assert len(running.advance(tournament, 1)) == 2
    assert list(store.tournaments.rounds(tournament)) == [1, 2]


def test_swiss_plays_its_rounds_without_rematches_and_gives_each_a_bye_at_most(start, finish, store):
    tournament = finish(start(*FIVE, format="swiss", rounds=3))
    drawn = store.tournaments.rounds(tournament.id)
    met = Counter(frozenset(table) for each in drawn.values() for table in each.tables)
    assert (len(drawn), set(met.values())) == (3, {1})
    assert len({bye for each in drawn.values() for bye in each.byes}) == 3
    assert tournament.reason == "all its 6 games are over"


def test_processes_that_draw_a_round_at_once_draw_it_once(running, start, store, worker):
    tournament = start(*FIVE, format="swiss", rounds=2)
    worker.drive(*running.advance(tournament, 1))
    threads = [Background(lambda: running.advance(tournament, 1)) for _ in range(4)]
    made = {game for thread in threads for game in thread.result()}
    assert len(made) == 2
    assert list(store.tournaments.rounds(tournament)) == [1, 2]


def test_withdrawn_leader_is_drawn_no_more(running, start, store, worker, tournaments, owner, finish):
    tournament = start(*FIVE, format="swiss", rounds=4)
    worker.drive(*running.advance(tournament, 1))
    leader = next(bot for result in results_of(store, tournament) for bot in result.bots)
    tournaments.withdraw(owner, tournament, leader)
    ended = finish(tournament)
    later = [each for number, each in store.tournaments.rounds(tournament).items() if number > 1]
    assert all(leader not in (*each.byes, *(bot for table in each.tables for bot in table)) for each in later)
    assert ended.reason == f"all its 8 games are over; {leader} withdrew"


@pytest.mark.parametrize(("form", "changes"), [("swiss", {"rounds": 3}), ("knockout", {}), ("ladder", {})])
def test_tournament_that_everybody_leaves_ends_and_says_so(
    running, start, store, worker, tournaments, owner, finish, form, changes
):
    tournament = start(*FIVE, format=form, **changes)
    worker.drive(*running.advance(tournament, 1))
    for bot in FIVE:
        tournaments.withdraw(owner, tournament, bot)
    ended = finish(tournament)
    assert ended.state is TournamentState.FINISHED
    assert ended.reason.startswith("ended early: 0 of 5 entries were left")
    assert all(f"{bot} withdrew" in ended.reason for bot in FIVE)


@pytest.mark.parametrize("stay", [0, 1])
def test_knockout_left_before_its_first_draw_ends_and_says_so(start, tournaments, owner, finish, stay):
    tournament = start("bot_a", "bot_b", format="knockout")
    for bot in ("bot_a", "bot_b")[stay:]:
        tournaments.withdraw(owner, tournament, bot)
    assert f"{stay} of 2 entries were left before the first round" in finish(tournament).reason


def test_knockout_left_by_too_many_for_a_first_table_ends_and_says_so(start, tournaments, owner, finish):
    tournament = start(*FIVE[:4], format="knockout", **SHORT_RIVER)
    tournaments.withdraw(owner, tournament, "bot_a")
    assert "3 of 4 entries were left before the first round" in finish(tournament).reason


def test_round_robin_that_everybody_leaves_is_forfeited_to_its_end(start, tournaments, owner, finish):
    tournament = start("bot_a", "bot_b", "bot_c")
    for bot in ("bot_a", "bot_b", "bot_c"):
        tournaments.withdraw(owner, tournament, bot)
    ended = finish(tournament)
    assert "bot_a withdrew and forfeited 2 games" in ended.reason
    assert "3 games not played since everybody at the table forfeited" in ended.reason


def test_paused_swiss_draws_no_round_until_it_is_resumed(running, start, store, worker, tournaments, owner):
    tournament = start(*FIVE, format="swiss", rounds=2)
    made = running.advance(tournament, 1)
    tournaments.set_state(owner, tournament, TournamentState.PAUSED)
    worker.drive(*made)
    assert running.advance(tournament, 1) == []
    assert list(store.tournaments.rounds(tournament)) == [1]
    tournaments.set_state(owner, tournament, TournamentState.RUNNING)
    assert len(running.advance(tournament, 1)) == 2


def test_swiss_of_river_tables_seats_everybody_and_rotates_who_sits_out(start, finish, store):
    tournament = finish(start(*FIVE, "bot_f", format="swiss", rounds=3, **SHORT_RIVER))
    drawn = store.tournaments.rounds(tournament.id)
    assert [len(each.tables) for each in drawn.values()] == [1, 1, 1]
    assert set(Counter(bye for each in drawn.values() for bye in each.byes).values()) == {1}


# --- knockout ---------------------------------------------------------------------------------------------------------


def test_winners_of_a_knockout_go_on_until_one_is_left(start, finish, store):
    tournament = finish(start(*FIVE, format="knockout"))
    drawn = store.tournaments.rounds(tournament.id)
    assert [(len(each.tables), len(each.byes)) for each in drawn.values()] == [(1, 3), (2, 0), (1, 0)]
    won = {
        (result.slot.round, result.slot.table): result.bots[result.places.index(1)]
        for result in results_of(store, tournament.id)
    }
    assert set(drawn[2].tables[0]) | set(drawn[2].tables[1]) == {won[1, 1], *drawn[1].byes}
    assert set(drawn[3].tables[0]) == {won[2, 1], won[2, 2]}
    assert tournament.reason == "all its 4 games are over"


def test_best_of_each_river_table_go_on(start, finish, store):
    eight = [f"bot_{letter}" for letter in "abcdefgh"]
    tournament = finish(start(*eight, format="knockout", advance=2, **SHORT_RIVER))
    assert [len(each.tables) for each in store.tournaments.rounds(tournament.id).values()] == [2, 1]


# --- gauntlet, ladder -------------------------------------------------------------------------------------------------


def test_gauntlet_seats_the_challenger_at_every_table(start, finish, store):
    tournament = finish(start(*FIVE, format="gauntlet", challenger="bot_c", rounds=2))
    results = results_of(store, tournament.id)
    assert len(results) == 8
    assert Counter(result.bots.index("bot_c") for result in results) == {0: 4, 1: 4}


def test_ladder_goes_on_until_it_has_its_games(start, finish, store):
    tournament = finish(start(*FIVE, format="ladder", max_games=23))
    assert len(results_of(store, tournament.id)) == 23
    games = Counter(bot for result in results_of(store, tournament.id) for bot in result.bots)
    assert max(games.values()) - min(games.values()) <= 2


def test_ladder_without_an_end_finishes_when_it_is_told(running, start, store, worker, tournaments, owner, finish):
    tournament = start(*FIVE, format="ladder")
    for _ in range(3):
        worker.drive(*running.advance(tournament, 1))
    tournaments.set_state(owner, tournament, TournamentState.FINISHED)
    assert store.tournaments.get(tournament).state is TournamentState.RUNNING
    assert finish(tournament).state is TournamentState.FINISHED
    assert len(results_of(store, tournament)) >= 10
    assert tournaments.set_state(owner, tournament, TournamentState.FINISHED).state is TournamentState.FINISHED


# --- matches and their test -------------------------------------------------------------------------------------------


@pytest.fixture
def sprt_match(start, calls, desk):
    """Start a match with a test between a bot that plays well and one that doesn't."""
    for bot in ("bot_a", "bot_b"):
        desk.bot(bot, max_games=64)

    def begin(*, elo1=100.0, rounds=400):
        test = Sprt(elo0=0.0, elo1=elo1)
        changes = {"format": "match", "deals": "rotate", "sprt": test, "rounds": rounds, "challenger": "bot_a"}
        return start("bot_a", "bot_b", **changes)

    calls.bots["bot_a"], calls.bots["bot_b"] = standing, first_legal
    return begin


def test_at_most_eight_pairs_of_a_test_run_side_by_side(running, sprt_match, store):
    tournament = sprt_match()
    assert len(running.advance(tournament, 1)) == 16
    assert running.advance(tournament, 1) == []
    games = games_of(store, tournament)
    assert {game.slot.round for game in games} == set(range(1, 9))


def test_pairs_are_judged_in_order_and_those_after_the_end_do_not_count(running, sprt_match, store, worker, rated):
    tournament = sprt_match()
    held = {}
    for _ in range(300):
        made = running.advance(tournament, 1)
        held |= {game: store.games.get(game).slot for game in made}
        first = min((slot.round for slot in held.values()), default=0)
        late = [game for game, slot in held.items() if slot.round == first]
        worker.drive(*[game for game in held if game not in late])
        assert all(result.slot.round != first for result in results_of(store, tournament))
        worker.drive(*late)
        held = {}
        if store.tournaments.get(tournament).state.is_end:
            break
    ended = store.tournaments.get(tournament)
    assert ended.state is TournamentState.FINISHED
    assert "holds after" in ended.reason
    assert "Elo stronger fits the challenger better than" in ended.reason
    counted = {int(board.split(".")[0]) for board in rated.by_board}
    assert counted == set(range(1, max(counted) + 1))
    assert f"after {len(counted)} pairs" in ended.reason
    states = Counter(game.state for game in games_of(store, tournament))
    assert states[GameState.RUNNING] == 0


def test_pairs_behind_one_under_way_decide_nothing_and_those_behind_the_last_never_count(
    running, sprt_match, store, worker, tournaments, finish
):
    tournament, scoreboard = sprt_match(elo1=400.0), Scoreboard(store, tournaments, clock=lambda: 0)
    running.advance(tournament, 1)
    first, others = games_of(store, tournament)[:2], games_of(store, tournament)[2:]
    worker.drive(*[game.id for game in others])
    running.advance(tournament, 1)
    assert [store.games.get(game.id).state for game in first] == [GameState.RUNNING] * 2
    assert counted(store, store.tournaments.get(tournament)) == (store.tournaments.entries(tournament), {}, [])
    worker.drive(*[game.id for game in first])
    running.advance(tournament, 1)
    assert GameState.CANCELLED in {game.state for game in games_of(store, tournament)}  # now it is decided
    finish(tournament)
    pairs, found = scoreboard.view(tournament)["test"]["pairs"], counted(store, store.tournaments.get(tournament))
    assert list(found.rounds) == list(range(1, pairs + 1))
    assert [result.slot.round for result in found.results] == [number for number in found.rounds for _ in range(2)]
    assert len(results_of(store, tournament)) > 2 * pairs


def test_games_under_way_when_a_test_is_decided_are_cancelled(running, sprt_match, store, worker, finish):
    tournament = sprt_match()
    for _ in range(300):
        made = running.advance(tournament, 1)
        if not made and store.tournaments.get(tournament).state.is_end:
            break
        worker.drive(*[game.id for game in games_of(store, tournament) if game.state is GameState.RUNNING][:4])
    games = games_of(store, tournament)
    assert Counter(game.state for game in games)[GameState.CANCELLED] > 0
    assert finish(tournament).state is TournamentState.FINISHED
    assert store.tournaments.closed(tournament) >= {game.slot.board for game in games}


def test_match_whose_pairs_are_all_played_says_that_nothing_was_refuted(sprt_match, finish):
    ended = finish(sprt_match(elo1=1.0, rounds=3))
    assert ended.reason.startswith("neither hypothesis was refuted after 3 pairs")


# --- tournaments beside each other ------------------------------------------------------------------------------------


def test_tournaments_that_want_more_share_the_window(running, start, store, monkeypatch):
    monkeypatch.setattr(running_module, "WINDOW_PER_WORKER", 8)
    large = start(*FIVE, rounds=20)
    assert len(running.advance(large, 1)) == 8
    other = start(*FIVE, rounds=20)
    assert len(running.advance(other, 1)) == 4
    small = start("bot_a", "bot_b", rounds=2)
    assert len(running.advance(small, 1)) == 2


def test_small_tournament_gets_its_turn_with_a_bot_that_a_large_one_wants_too(start, store, desk, worker, sweep, queue):
    desk.bot("bot_a", max_games=1)
    large = start("bot_a", "bot_b", rounds=200)
    small = start("bot_a", "bot_c", rounds=5)
    for _ in range(60):
        for tournament in (large, small):
            store.due.move({due.tournament(tournament): 1})
        sweep.once()
        worker.drive(*[game for shard in queue.shards for game in shard])
        queue.shards.clear()
        if store.tournaments.get(small).state.is_end:
            break
    assert store.tournaments.get(small).state is TournamentState.FINISHED
    assert 5 <= len(results_of(store, large)) <= 50


# --- orders at once ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["round_robin", "swiss"])
def test_pausing_and_cancelling_at_once_leave_a_tournament_that_is_cancelled_and_settles(
    running, start, store, worker, tournaments, owner, queue, form
):
    def steer(state):
        with suppress(ConflictError):  # a tournament that is cancelled already can't be paused
            tournaments.set_state(owner, tournament, state)

    tournament = start(*FIVE, format=form)
    made = running.advance(tournament, 1)
    threads = [Background(lambda state=state: steer(state)) for state in STEPS]
    for thread in threads:
        thread.result()
    for _ in range(4):
        running.advance(tournament, 1)
        worker.drive(*made, *queue.driven)
    running.advance(tournament, 1)
    assert store.tournaments.get(tournament).state is TournamentState.CANCELLED
    assert {game.state for game in games_of(store, tournament)} <= {GameState.CANCELLED, GameState.FINISHED}
    assert store.due.count() == 0


@pytest.mark.parametrize("state", [TournamentState.FINISHED, TournamentState.CANCELLED])
def test_ratings_of_a_tournament_are_due_when_it_has_ended(
    running, start, store, worker, tournaments, owner, queue, state
):
    tournament = start("bot_a", "bot_b", options={"target": 7}, rounds=2)
    store.bots.change("bot_b", lambda bot: replace(bot, account_id="acc_2"))
    first, *rest = running.advance(tournament, 1)
    worker.drive(first)
    if state is TournamentState.CANCELLED:
        tournaments.set_state(owner, tournament, state)
    for _ in range(3):
        worker.drive(*(rest if state is TournamentState.FINISHED else []), *queue.driven)
        running.advance(tournament, 1)
    assert store.tournaments.get(tournament).state is state
    assert store.due.at(due.fit(tournament)) is not None
    assert store.due.at(due.tournament(tournament)) is None


def test_finishing_twice_changes_nothing(running, start, store, finish, rated, clock):
    tournament = finish(start(*FIVE, deals="field"))
    before = {board: list(results) for board, results in rated.by_board.items()}
    clock.now += 60_000
    running.advance(tournament.id, 1)
    assert store.tournaments.get(tournament.id) == tournament
    assert rated.by_board == before


def test_ladder_whose_bots_all_stay_away_ends_and_says_so(start, store, finish):
    tournament = start("bot_a", "bot_b", "bot_c", format="ladder")
    for bot in ("bot_a", "bot_b", "bot_c"):
        store.bots.change(bot, lambda old: replace(old, state=BotState.PAUSED))
    ended = finish(tournament)
    assert ended.reason.startswith("ended early: in none of the last 20 games did both sides play")
    assert len(results_of(store, tournament)) < 40
