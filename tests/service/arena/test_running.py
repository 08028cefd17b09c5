"""Running tournaments: every game of the schedule once, whatever bots, workers and processes do meanwhile."""

from __future__ import annotations

from collections import Counter

import pytest
from msgspec.structs import replace

from bot_sdk.events import Outcome
from bot_sdk.games.packs import board_secret, commitment
from bot_sdk.results.values import GameState
from service.arena import running as running_module
from service.arena.starting import Attempt, Starting
from service.store import due, keys
from service.store.entities import BotState, Sprt, TournamentState
from service.store.maintenance import Maintenance
from service.tournaments.boards import Place, label_of
from service.tournaments.schedule import round_robin
from tests.service.arena.conftest import PATIENCE_MS, ROOT_SECRET
from tests.service.bench import Background, Worker
from tests.service.fakes import FakeCalls, fails

THREE = ("bot_a", "bot_b", "bot_c")
FOUR = (*THREE, "bot_d")
ROUNDS_OF_THREE = {"1.1.0", "2.1.0", "3.1.0"}


@pytest.fixture
def finish(running, worker, store):
    """Take a tournament to its end, some looks at most; give its results by place."""

    def go_on(tournament_id, looks=12):
        for _ in range(looks):
            worker.drive(*running.advance(tournament_id, 1))
            if store.tournaments.get(tournament_id).state.is_end:
                return results(store, tournament_id)
        raise AssertionError(f"not finished after {looks} looks")

    return go_on


def results(store, tournament_id):
    return {f"{r.slot.round}.{r.slot.table}.{r.slot.leg}": r for r in store.tournaments.results(tournament_id)}


def games_of(store, tournament_id):
    return store.games.list_for_tournament(tournament_id, limit=100)[0][::-1]


def drawn_for(store, tournament_id):
    tournament, entries = store.tournaments.get(tournament_id), store.tournaments.entries(tournament_id)
    bots = [entry.bot_id for entry in entries]
    return round_robin(bots, table_size=tournament.table_size, rounds=tournament.rounds, seed=tournament.seed)


def attempt(tournament_id, number, *bots):
    """The first attempt at the one table of a round."""
    return Attempt(Place(tournament_id, number, 1, 0, bots, "fresh"), 0)


def by_place(store, tournament_id):
    return {f"{game.slot.round}.{game.slot.table}.{game.slot.leg}": game for game in games_of(store, tournament_id)}


def play_out(desk, game):
    """Commit a game's decisions to the last, and leave the rest undone, as a worker does that dies then."""
    while not (table := desk.table(game)).game.is_over:
        seat = table.game.owed()[0]
        desk.commit(game, seat, table.game.state.legal_actions(seat)[-1])


# --- the schedule -----------------------------------------------------------------------------------------------------


def test_schedule_is_written_once_and_before_the_first_game(running, start, store):
    tournament = start(*FOUR)
    running.advance(tournament, 1)
    rounds = store.tournaments.rounds(tournament)
    drawn = drawn_for(store, tournament)
    assert list(rounds.items()) == list(enumerate(drawn, 1))
    store.tournaments.change(tournament, lambda old: replace(old, seed=old.seed + 1))
    running.advance(tournament, 1)
    assert store.tournaments.rounds(tournament) == rounds


def test_schedule_half_written_by_a_process_that_died_is_completed(running, start, store):
    tournament = start(*FOUR)
    drawn = drawn_for(store, tournament)
    store.tournaments.put_round(tournament, 2, drawn[1])
    running.advance(tournament, 1)
    rounds = store.tournaments.rounds(tournament)
    assert list(rounds) == [1, 2, 3]
    assert len(games_of(store, tournament)) == 6


def test_every_scheduled_game_is_played_once_and_the_tournament_finishes(start, finish, store, clock):
    tournament = start(*FOUR, "house:random")
    played = finish(tournament)
    drawn = drawn_for(store, tournament)
    assert {place: tuple(result.bots) for place, result in played.items()} == {
        f"{number}.{at}.0": table for number, each in enumerate(drawn, 1) for at, table in enumerate(each.tables, 1)
    }
    assert len(games_of(store, tournament)) == len(played) == 10
    ended = store.tournaments.get(tournament)
    assert (ended.state, ended.ended_at) == (TournamentState.FINISHED, clock.now)
    assert store.due.at(due.tournament(tournament)) is None


def test_tables_of_river_are_played_too(start, finish):
    played = finish(start(*FOUR, "house:greedy", ruleset="river", options={"start_cards": 1}))
    assert len(played) == 5
    seats = Counter((bot, seat) for result in played.values() for seat, bot in enumerate(result.bots))
    assert set(seats.values()) == {1}


def test_looking_again_makes_no_game_twice(running, start, store):
    tournament = start(*FOUR)
    made = running.advance(tournament, 1)
    assert len(made) == 6
    assert running.advance(tournament, 1) == []
    assert sorted(game.id for game in games_of(store, tournament)) == sorted(made)


def test_processes_that_look_at_once_make_each_game_once(running, start, store):
    """Only the holder of the sweeper's lock looks; should it stall for longer than that, two do."""
    tournament = start(*FOUR, "bot_e", "bot_f")
    threads = [Background(lambda: running.advance(tournament, 1)) for _ in range(4)]
    made = {game for thread in threads for game in thread.result()}
    games = games_of(store, tournament)
    assert len(games) == 15
    assert made == {game.id for game in games}
    assert set(store.tournaments.started(tournament).values()) == {0}
    assert store.unfinished.count("bot:bot_a") == 5


def test_game_claimed_by_a_process_that_died_before_making_it_is_made(running, start, store):
    tournament = start(*THREE)
    claimed = attempt(tournament, 2)
    assert store.tournaments.claim(tournament, claimed.slot)
    made = running.advance(tournament, 1)
    assert len(made) == 3
    assert claimed.game_id in made


def test_game_is_what_tournament_and_boards_say(running, start, store, clock, tournaments, owner):
    tournament_id = start("bot_b", "bot_a", limits={"budget_ms": 300, "max_faults": 2})
    (made,) = running.advance(tournament_id, 1)
    game, _, secret = store.games.load(made)
    label = label_of(tournament_id, "1.1")
    assert secret == board_secret(ROOT_SECRET, "1.1")
    assert (game.label, game.commitment) == (label, commitment(secret, label))
    assert (game.limits.budget_ms, game.limits.max_faults, game.options["target"]) == (300, 2, 1)
    assert (game.state, game.owner, game.forfeited) == (GameState.RUNNING, None, [])
    assert [seat.url for seat in game.seats] == [store.bots.get(seat.bot_id).url for seat in game.seats]
    assert store.due.at(due.game(made)) == clock.now + PATIENCE_MS


def test_entropy_of_all_entries_in_order_of_bot_id_goes_into_every_board(
    running, tournaments, owner, mint, tournament_order, desk, store
):
    tournament_id = tournaments.create(owner, tournament_order(), mint()).id
    for bot in ("bot_c", "bot_a", "bot_b"):
        desk.bot(bot)
        tournaments.enter(owner, tournament_id, bot, f"from {bot}" if bot != "bot_b" else None)
    tournaments.set_state(owner, tournament_id, TournamentState.RUNNING)
    running.advance(tournament_id, 1)
    assert {tuple(game.entropy) for game in games_of(store, tournament_id)} == {("from bot_a", "", "from bot_c")}


# --- how many at once -------------------------------------------------------------------------------------------------


def test_no_bot_plays_more_games_at_once_than_it_takes(running, start, store, desk, worker):
    desk.bot("bot_a", max_games=2)
    desk.bot("bot_b", max_games=1)
    tournament = start(*FOUR, "bot_e")
    made = running.advance(tournament, 1)
    playing = Counter(seat.bot_id for game in games_of(store, tournament) for seat in game.seats)
    assert (playing["bot_a"], playing["bot_b"]) == (2, 1)
    assert {store.unfinished.count("bot:bot_a"), store.unfinished.count("bot:bot_b")} == {2, 1}
    worker.drive(*made)
    assert store.unfinished.count("bot:bot_a") == 0
    assert running.advance(tournament, 1) != []


def test_games_elsewhere_count_against_a_bots_limit(running, start, store, desk):
    desk.bot("bot_a", max_games=2)
    for _ in range(2):
        desk.game("bot_a", "bot_x")
    tournament = start(*THREE)
    running.advance(tournament, 1)
    assert "bot_a" not in {seat.bot_id for game in games_of(store, tournament) for seat in game.seats}


def test_games_that_have_ended_keep_no_bot_busy(running, start, store, desk, worker, finish):
    """A slow sweeper may count a game again that another has made and that has ended meanwhile."""
    desk.bot("bot_a", max_games=2)
    ended = [desk.game("bot_a", "bot_x") for _ in range(2)]
    worker.drive(*ended)
    for game in ended:
        assert store.unfinished.reserve("bot:bot_a", game, 2)
    assert len(finish(start(*THREE))) == 3


def test_game_counted_by_a_process_that_died_does_not_keep_its_own_bot_busy(running, start, store, desk):
    desk.bot("bot_a", max_games=1)
    tournament = start("bot_a", "bot_b")
    counted = attempt(tournament, 1).game_id
    assert store.unfinished.reserve("bot:bot_a", counted, 1)
    assert running.advance(tournament, 1) == [counted]


def test_slow_sweeper_leaves_nothing_counted_for_a_game_that_has_ended_meanwhile(running, start, store, worker):
    tournament = start("bot_a", "bot_b")
    slow = Starting(store, store.tournaments.get(tournament), 0, lambda: 1)
    made = running.advance(tournament, 1)
    stale = [attempt(tournament, 1, "bot_a", "bot_b")]
    worker.drive(*made)
    assert slow.start(stale, 1) == []
    assert store.unfinished.count("bot:bot_a") == 0
    assert store.due.at(due.game(made[0])) is None


def test_tournament_keeps_no_more_games_running_than_its_workers_take(running, start, store, worker, monkeypatch):
    monkeypatch.setattr(running_module, "WINDOW_PER_WORKER", 3)
    tournament = start(*FOUR, "house:random")
    first = running.advance(tournament, 1)
    assert len(first) == 3
    assert running.advance(tournament, 1) == []
    assert len(running.advance(tournament, 2)) == 3
    worker.drive(*first)
    assert len(running.advance(tournament, 2)) == 3


def test_tournament_with_a_bot_of_one_game_at_a_time_finishes(start, finish, desk):
    desk.bot("bot_a", max_games=1)
    assert len(finish(start(*FOUR))) == 6


# --- games that fail --------------------------------------------------------------------------------------------------


def test_aborted_game_is_played_again_on_a_board_of_its_own(running, start, store, finish):
    tournament = start(*THREE)
    running.advance(tournament, 1)
    first = by_place(store, tournament)["2.1.0"]
    store.games.end(first.id, GameState.ABORTED)
    (again,) = running.advance(tournament, 1)
    second = store.games.get(again)
    assert (second.slot.attempt, second.slot.board, second.slot.round, second.slot.table) == (1, "2.1~1", 2, 1)
    assert (second.seats, second.options) == (first.seats, first.options)
    assert second.commitment != first.commitment
    assert second.label == label_of(tournament, "2.1~1")
    played = _finish_what_runs(store, finish, running, tournament)
    assert played["2.1.0"].game_id == again
    assert set(played) == ROUNDS_OF_THREE


def _finish_what_runs(store, finish, running, tournament):
    """Have a worker drive what others have begun, then go on."""
    worker = Worker(store, FakeCalls())
    worker.drive(*[game.id for game in games_of(store, tournament) if not game.state.is_end])
    return finish(tournament)


def test_game_that_fails_three_times_counts_as_aborted_and_the_tournament_finishes(start, finish, calls, store):
    calls.bots["bot_c"] = fails(Outcome.OUR_FAULT)
    tournament = start(*THREE, options={"target": 7})
    played = finish(tournament)
    assert set(played) == ROUNDS_OF_THREE
    aborted = [result for result in played.values() if "bot_c" in result.bots]
    assert {(result.state, result.slot.attempt) for result in aborted} == {(GameState.ABORTED, 2)}
    assert all(result.places is None and result.totals == [0, 0] for result in aborted)
    assert len(games_of(store, tournament)) == 1 + 2 * 3
    assert store.due.count() == 0


@pytest.mark.parametrize("kind", ["hash", "string"])
def test_games_that_can_not_be_read_count_as_aborted_and_the_tournament_finishes(
    running, start, finish, store, worker, kind
):
    tournament = start(*THREE)
    for _ in range(3):
        running.advance(tournament, 1)
        damaged = [game.id for game in games_of(store, tournament) if game.seats[0].bot_id == "bot_a"]
        for game_id in damaged:
            _damage(store._redis, game_id, kind)
        worker.drive(*damaged)
    played = _finish_what_runs(store, finish, running, tournament)
    assert set(played) == ROUNDS_OF_THREE
    states = {result.bots[0] == "bot_a": (result.state, result.slot.attempt) for result in played.values()}
    assert states == {True: (GameState.ABORTED, 2), False: (GameState.FINISHED, 0)}
    assert store.due.count() == 0


def _damage(redis, game_id, kind):
    if kind == "string":
        redis.set(keys.game_meta(game_id), "nonsense")
    else:
        redis.hset(keys.game_meta(game_id), "body", "{")


def test_finished_game_without_a_result_is_driven_to_it(running, start, store, queue, desk, worker):
    """Its worker died after the last commit; the result must come, and no second game be made."""
    tournament = start("bot_a", "bot_b")
    (game,) = running.advance(tournament, 1)
    play_out(desk, game)
    assert running.advance(tournament, 1) == []
    assert queue.driven == [game]
    worker.drive(game)
    assert set(results(store, tournament)) == {"1.1.0"}
    running.advance(tournament, 1)
    assert store.tournaments.get(tournament).state is TournamentState.FINISHED


def test_entries_that_change_while_the_start_is_checked_are_checked_before_the_first_draw(
    running, tournaments, owner, mint, tournament_order, desk, store, monkeypatch
):
    changes = {"format": "match", "deals": "rotate", "challenger": "bot_a", "sprt": Sprt(elo0=0, elo1=10)}
    tournament = tournaments.create(owner, tournament_order(**changes), mint()).id
    for bot in THREE:
        desk.bot(bot)
    for bot in ("bot_a", "bot_b"):
        tournaments.enter(owner, tournament, bot, None)
    add = store.due.add

    def add_late(name, at):
        monkeypatch.undo()
        tournaments.withdraw(owner, tournament, "bot_a")
        tournaments.enter(owner, tournament, "bot_c", None)
        add(name, at)

    monkeypatch.setattr(store.due, "add", add_late)
    tournaments.set_state(owner, tournament, TournamentState.RUNNING)
    assert running.advance(tournament, 1) == []
    ended = store.tournaments.get(tournament)
    assert ended.state is TournamentState.CANCELLED
    assert ended.reason == "it couldn't be drawn: expected the challenger among the entries, got 'bot_a'"


# --- pause and cancel -------------------------------------------------------------------------------------------------


def test_paused_tournament_begins_nothing_and_goes_on_when_told(running, start, store, tournaments, owner, finish):
    tournament = start(*FOUR)
    tournaments.set_state(owner, tournament, TournamentState.PAUSED)
    assert running.advance(tournament, 1) == []
    assert games_of(store, tournament) == []
    assert store.tournaments.get(tournament).state is TournamentState.PAUSED
    tournaments.set_state(owner, tournament, TournamentState.RUNNING)
    assert len(finish(tournament)) == 6


def test_games_that_run_when_a_tournament_is_paused_finish(running, start, store, tournaments, owner, worker):
    tournament = start(*FOUR)
    made = running.advance(tournament, 1)
    tournaments.set_state(owner, tournament, TournamentState.PAUSED)
    worker.drive(*made)
    assert len(results(store, tournament)) == 6


def test_games_made_while_the_tournament_is_cancelled_are_cancelled_too(
    running, start, tournaments, owner, store, queue, worker, monkeypatch
):
    """A slow sweeper's games: another has looked for what to cancel before they were there."""
    tournament = start(*THREE)
    create, overtaken = store.games.create, []

    def create_late(*args, **kwargs):
        if not overtaken:
            overtaken.append(tournaments.set_state(owner, tournament, TournamentState.CANCELLED))
            running.advance(tournament, 1)
            assert store.due.at(due.tournament(tournament)) is None
        return create(*args, **kwargs)

    monkeypatch.setattr(store.games, "create", create_late)
    assert running.advance(tournament, 1) == []
    assert Counter(game.state for game in games_of(store, tournament)) == {GameState.CANCELLED: 3}
    worker.drive(*queue.driven)
    running.advance(tournament, 1)
    assert (store.due.count(), store.unfinished.count("bot:bot_a")) == (0, 0)


def test_cancelled_tournament_waits_for_the_results_of_games_that_have_ended(
    running, start, store, tournaments, owner, desk, worker, queue, rated
):
    """They count for ratings as well, so the boards must not be closed before they are there."""
    tournament = start("bot_a", "bot_b")
    (game,) = running.advance(tournament, 1)
    play_out(desk, game)
    tournaments.set_state(owner, tournament, TournamentState.CANCELLED)
    running.advance(tournament, 1)
    assert (queue.driven, store.tournaments.closed(tournament)) == ([game], set())
    worker.drive(game)
    running.advance(tournament, 1)
    assert [result.game_id for result in rated.by_board["1.1"]] == [game]
    assert store.due.count() == 0


def test_cancelled_tournament_stops_its_games_and_keeps_its_results(
    running, start, store, tournaments, owner, worker, queue
):
    tournament = start(*FOUR)
    made = running.advance(tournament, 1)
    worker.drive(*made[:2])
    tournaments.set_state(owner, tournament, TournamentState.CANCELLED)
    assert running.advance(tournament, 1) == []
    states = Counter(game.state for game in games_of(store, tournament))
    assert states == {GameState.FINISHED: 2, GameState.CANCELLED: 4}
    assert sorted(queue.driven) == sorted(made[2:])
    worker.drive(*queue.driven)
    running.advance(tournament, 1)
    assert (len(results(store, tournament)), store.due.count()) == (2, 0)
    assert store.unfinished.count("bot:bot_a") == 0


@pytest.mark.parametrize("state", [TournamentState.FINISHED, TournamentState.CANCELLED])
def test_tournament_that_is_over_leaves_what_is_due(running, start, store, state, finish, tournaments, owner):
    tournament = start("bot_a", "bot_b")
    if state is TournamentState.FINISHED:
        finish(tournament)
    else:
        tournaments.set_state(owner, tournament, state)
    store.due.add(due.tournament(tournament), 1)
    assert running.advance(tournament, 1) == []
    assert store.due.at(due.tournament(tournament)) is None


def test_tournament_that_is_not_there_or_not_started_leaves_what_is_due(
    running, tournaments, owner, mint, tournament_order, store
):
    waiting = tournaments.create(owner, tournament_order(), mint()).id
    for tournament in (waiting, "trn_none"):
        store.due.add(due.tournament(tournament), 1)
        assert running.advance(tournament, 1) == []
    assert store.due.count() == 0
    assert store.tournaments.get(waiting).state is TournamentState.OPEN


def test_tournament_that_is_started_while_the_sweeper_looks_stays_due(
    running, tournaments, owner, mint, tournament_order, store, desk, monkeypatch
):
    tournament = tournaments.create(owner, tournament_order(), mint()).id
    for bot in ("bot_a", "bot_b"):
        desk.bot(bot)
        tournaments.enter(owner, tournament, bot, None)
    settle = store.tournaments.settle

    def settle_after_a_start(tournament_id):
        tournaments.set_state(owner, tournament_id, TournamentState.RUNNING)
        settle(tournament_id)

    monkeypatch.setattr(store.tournaments, "settle", settle_after_a_start)
    assert running.advance(tournament, 1) == []
    assert store.due.at(due.tournament(tournament)) is not None


# --- bots that are gone -----------------------------------------------------------------------------------------------


def withdraw(store, tournaments, owner, tournament):
    tournaments.withdraw(owner, tournament, "bot_a")


def pause(store, tournaments, owner, tournament):
    store.bots.change("bot_a", lambda bot: replace(bot, state=BotState.PAUSED))


def suspend(store, tournaments, owner, tournament):
    store.bots.change("bot_a", lambda bot: replace(bot, state=BotState.SUSPENDED))


def delete(store, tournaments, owner, tournament):
    store.bots.delete(store.bots.get("bot_a"))


@pytest.mark.parametrize("goes", [withdraw, pause, suspend, delete])
def test_waiting_games_of_a_bot_that_is_gone_are_forfeited(
    running, start, store, tournaments, owner, finish, calls, goes
):
    tournament = start(*THREE)
    goes(store, tournaments, owner, tournament)
    played = finish(tournament)
    assert set(played) == ROUNDS_OF_THREE
    for result in played.values():
        gone = [seat for seat, bot in enumerate(result.bots) if bot == "bot_a"]
        assert result.forfeited == gone
        assert result.ended_by == ("forfeit" if gone else "play")
        assert all(result.places[seat] == 2 for seat in gone)
    assert calls.decisions_of("bot_a") == []
    assert store.unfinished.count("bot:bot_a") == 0


def test_game_that_runs_when_its_bot_withdraws_is_played_out(running, start, store, tournaments, owner, worker):
    tournament = start(*THREE)
    made = running.advance(tournament, 1)
    tournaments.withdraw(owner, tournament, "bot_a")
    worker.drive(*made)
    assert {tuple(result.forfeited) for result in results(store, tournament).values()} == {()}


def test_withdrawn_house_bot_forfeits_too(start, tournaments, owner, finish):
    tournament = start("bot_a", "house:random")
    tournaments.withdraw(owner, tournament, "house:random")
    (result,) = finish(tournament).values()
    assert [result.bots[seat] for seat in result.forfeited] == ["house:random"]


def test_games_that_both_have_forfeited_are_void(start, tournaments, owner, finish):
    tournament = start("bot_a", "bot_b")
    for bot in ("bot_a", "bot_b"):
        tournaments.withdraw(owner, tournament, bot)
    (result,) = finish(tournament).values()
    assert (result.state, result.places) == (GameState.VOID, None)


def test_bot_paused_and_back_again_plays_what_still_waits(running, start, store, desk, finish):
    desk.bot("bot_a", max_games=1)
    tournament = start(*FOUR)
    pause(store, None, None, tournament)
    store.bots.change("bot_a", lambda bot: replace(bot, state=BotState.ACTIVE))
    assert all(result.forfeited == [] for result in finish(tournament).values())


# --- maintenance ------------------------------------------------------------------------------------------------------


def test_in_maintenance_no_game_is_started_and_those_that_run_count(running, start, store, worker, finish):
    tournament = start(*THREE)
    begun = running.advance(tournament, 1)
    worker.drive(*begun[:1])
    store.maintenance.begin(Maintenance(reason="a new disk", since=1))
    fresh = start(*FOUR)
    assert running.advance(fresh, 1) == []
    worker.drive(*begun[1:])
    assert running.advance(tournament, 1) == []
    assert store.tournaments.count_results(tournament) == len(begun)
    assert store.tournaments.get(tournament).state is TournamentState.FINISHED
    store.maintenance.end()
    assert len(finish(fresh)) == 6
