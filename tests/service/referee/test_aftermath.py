"""What follows from a commit: the owner's ledger, news to the bots, endings, results; all of it may be done twice."""

from __future__ import annotations

from collections import Counter

import pytest

from bot_sdk.events import Decided, Outcome
from bot_sdk.results.values import GameState
from service.store import keys
from tests.service.fakes import HEAD, fails, first_legal

FOUR = ("bot_a", "bot_b", "bot_c", "bot_d")


def lines_of(store, bot_id):
    """Give the ledger of a bot, oldest first."""
    return store.ledger.lines(bot_id, limit=1_000)[0][::-1]


def by_number(answers):
    """Make a bot that answers its first decisions as listed, and well from then on."""
    waiting = list(answers)
    return lambda decision: waiting.pop(0) if waiting else first_legal(decision)


# --- the ledger -------------------------------------------------------------------------------------------------------


def test_ledger_has_a_line_for_each_decision_as_the_log_has_it(worker, desk, store, monkeypatch):
    monkeypatch.setattr(store.games, "pack", lambda _: False)  # what is packed tells of the last stamp only
    game = desk.game("bot_b", "bot_a")
    worker.drive(game)
    for seat, bot in enumerate(("bot_b", "bot_a")):
        lines, decided = lines_of(store, bot), desk.decided(game, seat)
        assert [(line.decision_id, line.outcome, line.ms, line.action) for line in lines] == [
            (f"{game}.{seat}.{number}", event.outcome, event.ms, event.action) for number, event in enumerate(decided)
        ]
        stamps = [at for at, event in store.games.log(game) if isinstance(event, Decided) and event.seat == seat]
        assert [line.at for line in lines] == stamps
        assert {(line.error, line.head) for line in lines} == {(None, None)}


def test_ledger_says_what_was_wrong_and_what_was_sent_instead(worker, desk, calls, store):
    bodies = {
        "bad": b'{"decision_id": "gam_1.1.0", "act": 7}',
        "illegal": b'{"decision_id": "gam_1.1.1", "action": "play:ZZ"}',
    }
    calls.bots["bot_a"] = by_number([*bodies.values(), Outcome.BAD_STATUS, Outcome.LATE, Outcome.UNREACHABLE])
    game = desk.game("bot_b", "bot_a", options={"target": 2}, limits={"max_faults": 9})
    worker.drive(game)
    bad, illegal, status, late, unreachable = lines_of(store, "bot_a")[:5]
    assert bad.outcome is Outcome.BAD_REPLY
    assert (bad.error, bad.status, bad.head) == (
        "expected an action of at most 64 characters, got nothing",
        200,
        bodies["bad"].decode(),
    )
    assert illegal.outcome is Outcome.ILLEGAL
    assert illegal.error == "expected a legal action, got 'play:ZZ'"
    assert illegal.head == bodies["illegal"].decode()
    assert (status.error, status.status, status.head) == ("expected 200, got 500", 500, HEAD.decode())
    assert (late.outcome, late.ms, late.head) == (Outcome.LATE, 1_000, None)
    assert (unreachable.outcome, unreachable.error) == (Outcome.UNREACHABLE, "it was unreachable")


def test_ledger_shows_no_more_than_the_beginning_of_a_reply(worker, desk, calls, store):
    calls.bots["bot_a"] = by_number([b"\xff" + b"x" * 5_000])
    worker.drive(desk.game("bot_b", "bot_a"))
    assert lines_of(store, "bot_a")[0].head == "\ufffd" + "x" * 511


def test_our_own_faults_and_decisions_after_retirement_stand_in_no_ledger(worker, desk, calls, store):
    calls.bots["bot_a"] = by_number([Outcome.OUR_FAULT, Outcome.LATE, Outcome.OUR_FAULT, Outcome.LATE])
    game = desk.game(*FOUR, options={"start_cards": 2}, limits={"max_faults": 2})
    worker.drive(game)
    assert [line.outcome for line in lines_of(store, "bot_a")] == [Outcome.LATE] * 2
    assert len(desk.decided(game, 0)) > 2


# --- news and endings -------------------------------------------------------------------------------------------------


def told(calls, kind):
    return {bot: message for bot, message in calls.told if message["type"] == kind}


def test_bots_are_told_that_a_game_begins_and_how_it_ended(worker, desk, calls):
    calls.bots["bot_c"] = fails(Outcome.LATE)
    game = desk.game(*FOUR, options={"start_cards": 2}, limits={"max_faults": 2})
    worker.drive(game)
    assert [(bot, message["type"]) for bot, message in calls.told] == [
        *((bot, "game_started") for bot in FOUR),
        *((bot, "game_ended") for bot in FOUR),
    ]
    play = desk.table(game).game
    for seat, bot in enumerate(FOUR):
        started, ended = told(calls, "game_started")[bot], told(calls, "game_ended")[bot]
        assert started["seat"] == ended["seat"] == seat
        assert started["game"] == ended["game"]
        assert started["game"]["id"] == game
        assert (ended["state"], ended["totals"], ended["places"]) == ("finished", play.state.totals, play.places)
        assert ended["record_url"] == f"https://arena.example/v1/games/{game}/record"
    assert told(calls, "game_ended")["bot_c"]["outcomes"] == {"late": 2, "retired": len(play.log) // 4 - 2}
    assert told(calls, "game_ended")["bot_a"]["outcomes"] == {"ok": len(desk.decided(game, 0))}


def test_house_bots_and_people_are_told_nothing(worker, desk, calls):
    desk_game = desk.game("house:random", "house:greedy")
    worker.drive(desk_game)
    assert desk.state(desk_game) is GameState.FINISHED
    assert calls.told == []


def test_void_game_has_no_places_in_the_news(worker, desk, calls):
    calls.bots |= dict.fromkeys(("bot_a", "bot_b"), fails(Outcome.LATE))
    game = desk.game("bot_b", "bot_a", options={"target": 7}, limits={"max_faults": 1})
    worker.drive(game)
    ended = told(calls, "game_ended")["bot_a"]
    assert (ended["state"], ended["places"]) == ("void", None)


def test_endings_tell_who_retired_and_who_forfeited(worker, desk, calls, store):
    calls.bots["bot_a"] = fails(Outcome.BAD_STATUS)
    game = desk.game(*FOUR, limits={"max_faults": 1}, options={"start_cards": 2}, forfeited=[3])
    worker.drive(game)
    endings = {bot: store.ledger.endings(bot, limit=5) for bot in FOUR}
    assert {bot: (each[0].retired, each[0].forfeited) for bot, each in endings.items()} == {
        "bot_a": (True, False),
        "bot_b": (False, False),
        "bot_c": (False, False),
        "bot_d": (False, True),
    }
    assert {each[0].at for each in endings.values()} == {desk.meta(game).ended_at}


def test_game_cancelled_before_its_start_is_no_news_and_no_ending(worker, desk, calls, store):
    game = desk.game("bot_a", "bot_b", state=GameState.OPEN)
    store.games.end(game, GameState.CANCELLED)
    worker.drive(game)
    assert (calls.told, store.ledger.endings("bot_a", limit=5), desk.due_at(game)) == ([], [], None)


# --- appearances ------------------------------------------------------------------------------------------------------


def test_every_bot_of_a_game_appears_in_it_as_the_log_has_it(worker, desk, calls, store):
    calls.bots["bot_c"] = by_number([Outcome.LATE, Outcome.UNREACHABLE])
    who = ("bot_a", "house:greedy", "bot_c", "house:greedy")
    game = desk.game(*who, options={"start_cards": 2})
    worker.drive(game)
    play = desk.table(game).game
    for bot in set(who):
        (shown,) = store.appearances.all_of(bot)
        assert (shown.game_id, shown.at, shown.ruleset) == (game, desk.meta(game).ended_at, "river")
        assert (shown.totals, shown.places, shown.is_retired) == (play.state.totals, play.places, False)
        assert shown.seats == [seat for seat, each in enumerate(who) if each == bot]
        decided = [event for seat in shown.seats for event in desk.decided(game, seat)]
        assert shown.outcomes == Counter(event.outcome.value for event in decided)
        assert sum(count for _, count in shown.times) == sum(
            event.outcome is not Outcome.UNREACHABLE for event in decided
        )
    assert store.appearances.all_of("bot_c")[0].outcomes.keys() == {"late", "ok", "unreachable"}


def test_seat_that_retired_appears_so_and_a_void_game_without_places(worker, desk, calls, store):
    calls.bots |= dict.fromkeys(("bot_a", "bot_b"), fails(Outcome.LATE))
    worker.drive(desk.game("bot_b", "bot_a", options={"target": 7}, limits={"max_faults": 1}))
    shown = {bot: store.appearances.all_of(bot)[0] for bot in ("bot_a", "bot_b")}
    assert {each.places for each in shown.values()} == {None}
    assert sorted(each.is_retired for each in shown.values()) == [False, True]


def test_nobody_appears_in_a_game_cancelled_before_its_start_nor_a_bot_that_is_deleted(worker, desk, calls, store):
    game = desk.game("bot_a", "bot_b", state=GameState.OPEN)
    store.games.end(game, GameState.CANCELLED)
    worker.drive(game)
    assert store.appearances.all_of("bot_a") == []
    running = desk.game("bot_a", "bot_b")
    store.bots.delete(store.bots.get("bot_a"))
    worker.drive(running)
    assert [[each.game_id for each in store.appearances.all_of(bot)] for bot in ("bot_a", "bot_b")] == [[], [running]]


def test_nobody_appears_in_a_game_before_its_board_is_closed(worker, store, redis, pair):
    worker.drive(*pair)
    assert redis.keys("*:appearances") == []
    close(store, *pair)
    worker.drive(*pair)
    shown = [[each.game_id for each in store.appearances.all_of(bot)] for bot in FOUR]
    assert shown == [[pair[0]]] * 2 + [[pair[1]]] * 2


def test_game_that_two_workers_settle_and_a_third_finds_packed_is_counted_once(make_worker, desk, store, monkeypatch):
    """The first is held up before it packs, for longer than its lease lasts; meanwhile many other games end."""
    game = desk.game("bot_a", "bot_b")
    pack = store.games.pack

    def held_up(game_id):
        monkeypatch.setattr(store.games, "pack", pack)
        store.games.release(game_id, store._redis.get(keys.game_lease(game_id)).decode())
        make_worker().drive(game_id, *(desk.game("bot_a", "house:greedy") for _ in range(3)))
        return pack(game_id)

    monkeypatch.setattr(store.games, "pack", held_up)
    make_worker().drive(game)
    assert desk.due_at(game) is None
    store.due.add(f"game:{game}", store.due.now())
    make_worker().drive(game)
    ids = [each.game_id for each in store.appearances.all_of("bot_a")]
    assert (len(ids), ids.count(game), len(set(ids))) == (4, 1, 4)


# --- results ----------------------------------------------------------------------------------------------------------


def test_tournament_game_leaves_its_result_and_the_tournament_is_due(worker, desk, calls, store):
    calls.bots["bot_c"] = fails(Outcome.LATE)
    game = desk.game(*FOUR, options={"start_cards": 2}, limits={"max_faults": 2}, slot=desk.slot(3))
    worker.drive(game)
    (result,) = store.tournaments.results("trn_1")
    play = desk.table(game).game
    assert (result.game_id, result.slot, result.bots) == (game, desk.slot(3), list(FOUR))
    assert (result.state, result.ended_by) == (GameState.FINISHED, "play")
    assert (result.totals, result.places) == (play.state.totals, play.places)
    assert result.retired == [False, False, True, False]
    assert (result.forfeited, result.deals) == ([], 3)
    assert result.outcomes[2]["late"] == 2
    exact = [sum(deal.points[seat] >= 10 for deal in play.state.deals) for seat in range(4)]
    assert result.exact_bids == exact
    assert result.ended_at == desk.meta(game).ended_at
    assert store.due.at("tournament:trn_1") <= store.due.now()


def test_seven_up_has_no_bids_and_a_void_game_no_places_in_its_result(worker, desk, store):
    game = desk.game("bot_a", "bot_b", slot=desk.slot(), forfeited=[0, 1])
    worker.drive(game)
    (result,) = store.tournaments.results("trn_1")
    assert (result.state, result.places, result.ended_by) == (GameState.VOID, None, None)
    assert (result.exact_bids, result.forfeited, result.deals) == (None, [0, 1], 0)


def test_aborted_game_has_no_result_but_wakes_its_tournament(worker, desk, calls, store):
    calls.bots["bot_a"] = fails(Outcome.OUR_FAULT)
    worker.drive(desk.game("bot_b", "bot_a", slot=desk.slot()))
    assert store.tournaments.results("trn_1") == []
    assert store.due.at("tournament:trn_1") <= store.due.now()


def test_game_of_no_tournament_leaves_no_result(worker, desk, redis):
    worker.drive(desk.game("bot_b", "bot_a"))
    assert redis.keys("{t:*") == []


# --- boards that several games share ----------------------------------------------------------------------------------


def ended_news(calls):
    return sorted((bot, message["game"]["id"]) for bot, message in calls.told if message["type"] == "game_ended")


def close(store, *game_ids):
    """Close the board as the sweeper does, up to sending the games to a worker."""
    for game_id in game_ids:
        store.due.add(f"game:{game_id}", store.due.now())
    store.tournaments.close_board("trn_1", "1")


@pytest.fixture
def pair(desk):
    """Make two games on one board."""
    return [desk.game(*who, slot=desk.shared_slot(n)) for n, who in enumerate([FOUR[:2], FOUR[2:]], 1)]


def test_bots_on_a_shared_board_are_told_of_the_end_once_it_is_closed(worker, desk, calls, store, pair):
    worker.drive(*pair)
    assert {desk.state(game) for game in pair} == {GameState.FINISHED}
    assert ended_news(calls) == []
    close(store, *pair)
    for _ in range(2):
        worker.drive(*pair)
        assert ended_news(calls) == [("bot_a", pair[0]), ("bot_b", pair[0]), ("bot_c", pair[1]), ("bot_d", pair[1])]
        assert [desk.due_at(game) for game in pair] == [None, None]


def test_all_but_the_news_follows_from_the_end_itself(worker, desk, store, pair):
    worker.drive(*pair)
    assert [result.game_id for result in store.tournaments.results("trn_1")] == pair
    assert store.due.at("tournament:trn_1") <= store.due.now()
    assert [store.ledger.endings(bot, limit=5)[0].game_id for bot in FOUR] == [pair[0]] * 2 + [pair[1]] * 2
    assert {store.unfinished.count(f"bot:{bot}") for bot in FOUR} == {0}
    assert [desk.due_at(game) for game in pair] == [None, None]


@pytest.mark.parametrize("state", [GameState.CANCELLED, GameState.ABORTED])
def test_game_stopped_on_a_shared_board_is_told_when_that_is_closed(worker, calls, store, pair, state):
    store.games.end(pair[0], state)
    worker.drive(*pair)
    assert ended_news(calls) == []
    close(store, *pair)
    worker.drive(*pair)
    assert {message["state"] for _, message in calls.told if message["game"]["id"] == pair[0]} == {state}
    assert len(ended_news(calls)) == 4


def test_process_that_dies_before_it_closes_a_board_leaves_its_games_untold_and_not_due(
    worker, desk, calls, store, pair
):
    worker.drive(*pair)
    for game in pair:
        store.due.add(f"game:{game}", store.due.now())
    worker.drive(*pair)
    assert (ended_news(calls), [desk.due_at(game) for game in pair]) == ([], [None, None])
    close(store, *pair)
    worker.drive(*pair)
    assert len(ended_news(calls)) == 4


@pytest.mark.parametrize("step", ["settle", "release"])
def test_board_closed_while_its_last_game_is_being_settled_is_noticed(worker, calls, store, desk, monkeypatch, step):
    """Who is sent to tell the bots finds the game leased, and goes."""
    game = desk.game("bot_a", "bot_b", slot=desk.shared_slot())
    do_step = getattr(store.games, step)

    def closed_meanwhile(*args):
        done = do_step(*args)
        close(store)
        return done

    monkeypatch.setattr(store.games, step, closed_meanwhile)
    worker.drive(game)
    assert ended_news(calls) == [("bot_a", game), ("bot_b", game)]


def test_of_several_workers_sent_to_tell_one_does(make_worker, calls, store, pair):
    make_worker(calls).drive(*pair)
    close(store, *pair)
    runs = [make_worker(calls).driving(*pair) for _ in range(4)]
    for run in runs:
        run.result()
    assert len(ended_news(calls)) == 4


def test_games_of_a_closed_board_do_not_make_their_tournament_due_again(worker, store, pair):
    worker.drive(*pair)
    store.due.drop("tournament:trn_1")
    close(store, *pair)
    worker.drive(*pair)
    assert store.due.at("tournament:trn_1") is None


def test_result_that_a_crash_kept_from_being_written_is_written_after_the_close_too(worker, store, pair, monkeypatch):
    """A cancelled tournament closes its boards when their games have ended, results or not."""
    with monkeypatch.context() as patch:
        patch.setattr(store.tournaments, "put_result", lambda _result: True)
        worker.drive(*pair)
    assert store.tournaments.results("trn_1") == []
    close(store, *pair)
    worker.drive(*pair)
    assert [result.game_id for result in store.tournaments.results("trn_1")] == pair


# --- twice ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", [GameState.FINISHED, GameState.CANCELLED, GameState.ABORTED])
@pytest.mark.parametrize("is_shared", [False, True])
def test_aftermath_done_again_changes_nothing(make_worker, desk, redis, store, state, is_shared):
    """A worker died between the last commit and what follows from it; another does all of it again."""
    slot = desk.shared_slot() if is_shared else desk.slot()
    game = desk.game("bot_b", "bot_a", slot=slot, owner="acc_1")
    store.tournaments.close_board("trn_1", "1")
    if state is not GameState.FINISHED:
        store.games.end(game, state)
    make_worker().drive(game)
    before = kept(redis)
    store.due.add(f"game:{game}", store.due.now())
    assert make_worker().drive(game) == []
    assert kept(redis) == before
    assert desk.due_at(game) is None
    assert store.unfinished.count("bot:bot_a") == 0 == store.unfinished.count("account:acc_1")


def kept(redis):
    """Write down the whole store but the times at which things are due."""
    return {key: redis.dump(key) for key in redis.scan_iter() if key != b"due"}


def test_end_that_no_worker_has_seen_is_settled_by_whoever_looks(worker, desk, calls, store):
    """A person made the last move; the API commits it and leaves the rest to a worker."""
    game = desk.game("human:ann", "human:bea")
    table = desk.table(game)
    while not table.game.is_over:
        desk.commit(game, table.game.owed()[0], table.game.state.legal_actions(table.game.owed()[0])[-1])
        table = desk.table(game)
    assert (desk.state(game), desk.due_at(game) is not None) == (GameState.FINISHED, True)
    worker.drive(game)
    assert desk.due_at(game) is None


# --- packing ----------------------------------------------------------------------------------------------------------


def test_game_is_packed_at_its_end(worker, desk, redis):
    game = desk.game("bot_a", "bot_b")
    worker.drive(game)
    assert redis.exists(keys.game_packed(game))
    assert not redis.exists(*(key(game) for key in (keys.game_meta, keys.game_log, keys.game_secret)))


def test_game_on_a_shared_board_is_packed_once_that_is_closed(worker, redis, store, pair):
    worker.drive(*pair)
    assert not redis.exists(*map(keys.game_packed, pair))
    close(store, *pair)
    worker.drive(*pair)
    assert redis.exists(*map(keys.game_packed, pair)) == 2
    assert not redis.exists(*map(keys.game_secret, pair))


def test_board_that_is_closed_under_the_hands_of_its_worker_has_its_game_packed(
    worker, desk, redis, store, monkeypatch
):
    game = desk.game("bot_a", "bot_b", slot=desk.shared_slot())
    settle = store.games.settle
    monkeypatch.setattr(store.games, "settle", lambda meta: (settle(meta), store.tournaments.close_board("trn_1", "1")))
    worker.drive(game)
    assert redis.exists(keys.game_packed(game))


def test_worker_that_dies_before_it_packs_leaves_the_game_due_and_readable(
    make_worker, desk, redis, store, monkeypatch
):
    game = desk.game("bot_a", "bot_b")

    def dies(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(store.games, "pack", dies)
    with pytest.raises(KeyboardInterrupt):
        make_worker().drive(game)
    monkeypatch.undo()
    before = desk.table(game).record("finished")
    assert desk.due_at(game) is not None
    store.games.release(game, store._redis.get(keys.game_lease(game)).decode())
    make_worker().drive(game)
    assert redis.exists(keys.game_packed(game))
    assert (desk.table(game).record("finished"), desk.due_at(game)) == (before, None)
