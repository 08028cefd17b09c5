"""Who else writes: other workers, people, the operator; and what a store that lost its last second leaves behind."""

from __future__ import annotations

from time import monotonic

from bot_sdk.events import Decided, Outcome, Retired, RetiredBecause
from bot_sdk.results.values import GameState
from service.store import keys
from tests.service.bench import LEASE_MS
from tests.service.fakes import HOLD, first_legal, standing, until

FISTS = {"bidding": "simultaneous"}


def asked_ids(calls, bot_id):
    return [decision["decision_id"] for decision in calls.decisions_of(bot_id)]


def at(calls, bot_id, number, act):
    """Have `act` happen while the bot is being asked its decision `number`, the first time."""
    done = []

    def behave(decision):
        if decision["decision_id"].endswith(f".{number}") and not done:
            done.append(True)
            act()
        return first_legal(decision)

    calls.bots[bot_id] = behave


# --- workers ----------------------------------------------------------------------------------------------------------


def test_of_two_shards_with_the_same_games_one_drives_and_the_other_leaves(make_worker, desk, calls):
    games = [desk.game("bot_b", "bot_a") for _ in range(3)]
    calls.bots["bot_a"] = lambda decision: HOLD if decision["last"] is None else first_legal(decision)
    first = make_worker(calls).driving(*games)
    calls.wait_until_held()
    other = make_worker()
    assert other.drive(*games) == []
    assert other.calls.asked == []
    assert all(desk.is_leased(game) for game in games)
    while not all(desk.state(game) is GameState.FINISHED for game in games):
        calls.let_go()
    assert first.result() == []
    assert all(len(set(asked_ids(calls, bot))) == len(asked_ids(calls, bot)) for bot in ("bot_a", "bot_b"))


def test_game_named_twice_in_a_shard_is_driven_once(worker, desk, calls):
    game = desk.game("bot_b", "bot_a")
    worker.drive(game, game)
    assert len(set(asked_ids(calls, "bot_a"))) == len(asked_ids(calls, "bot_a"))
    assert desk.state(game) is GameState.FINISHED


def test_game_that_is_not_there_or_not_begun_is_left(worker, desk, calls, store):
    waits = desk.game("bot_b", "bot_a", state=GameState.OPEN)
    assert worker.drive("gam_none", waits) == []
    assert (calls.asked, calls.told, desk.is_leased(waits)) == ([], [], False)


def test_lease_that_ran_out_is_taken_again_and_nothing_is_asked_twice(worker, desk, calls, redis):
    game = desk.game("bot_b", "bot_a")
    at(calls, "bot_a", 1, lambda: redis.delete(keys.game_lease(game)))
    worker.drive(game)
    assert desk.state(game) is GameState.FINISHED
    assert len(set(asked_ids(calls, "bot_a"))) == len(asked_ids(calls, "bot_a"))


def test_game_whose_lease_went_to_another_is_left_alone(worker, make_worker, desk, calls, redis):
    game = desk.game("bot_b", "bot_a")
    at(calls, "bot_a", 1, lambda: redis.set(keys.game_lease(game), "another", px=9_000))
    before = monotonic()
    assert worker.drive(game) == []
    assert monotonic() - before < 8  # the other one's lease lasts for longer
    assert desk.state(game) is GameState.RUNNING
    assert redis.get(keys.game_lease(game)) == b"another"
    assert game not in worker.leases._held


def test_lease_of_another_shard_of_the_process_is_not_forgotten(worker, desk, redis):
    game = desk.game("bot_b", "bot_a")
    assert worker.leases.take(game, "first")
    redis.delete(keys.game_lease(game))  # it ran out
    assert worker.leases.take(game, "second")
    worker.leases.forget(game, "first")
    worker.leases.give_back(game, "first")
    worker.leases.renew_all()
    assert redis.pttl(keys.game_lease(game)) > 0
    assert worker.leases._held[game].token == "second"


def test_lease_is_renewed_while_a_bot_thinks_and_due_follows_it(make_worker, desk, calls, redis):
    worker = make_worker(calls, lease_ms=2_000)
    game = desk.game("bot_b", "bot_a")
    calls.bots["bot_a"] = lambda decision: HOLD if decision["last"] is None else first_legal(decision)
    run = worker.driving(game)
    calls.wait_until_held()
    redis.pexpire(keys.game_lease(game), 500)
    due_at = desk.due_at(game)
    assert due_at > desk.store.due.now() + 1_000
    worker.leases.renew_all()
    assert redis.pttl(keys.game_lease(game)) > 1_500
    assert desk.due_at(game) >= due_at
    calls.let_go()
    run.result()
    assert worker.leases._held == {}
    worker.leases.renew_all()
    assert desk.due_at(game) is None


def test_time_at_which_a_game_is_given_back_outlives_a_renewal_under_way(worker, desk, store, monkeypatch):
    game = desk.game("bot_b", "human:ann")
    assert worker.leases.take(game, "token")
    renew, until_then = store.games.renew, store.due.now() + 1_000

    def overtaken(*args):
        ours = renew(*args)
        assert worker.leases.give_back(game, "token", due_at=until_then)
        return ours

    monkeypatch.setattr(store.games, "renew", overtaken)
    worker.leases.renew_all()
    assert (desk.due_at(game), desk.is_leased(game), worker.leases._held) == (until_then, False, {})


def test_due_follows_a_lease_again_after_somebody_else_had_set_it(worker, desk, store):
    game = desk.game("bot_b", "bot_a")
    assert worker.leases.take(game, "token")
    store.due.add(f"game:{game}", store.due.now() + 1_000)  # the sweeper, say
    worker.leases.renew_all()
    worker.leases.renew_all()
    assert desk.due_at(game) > store.due.now() + LEASE_MS / 2


# --- people -----------------------------------------------------------------------------------------------------------


def test_answer_is_committed_after_somebody_else_acted_meanwhile(worker, desk, calls):
    """Three bots have bid, a person was quicker than the worker: nobody is asked twice."""
    game = desk.game("bot_a", "human:ann", "bot_c", "bot_d", options=FISTS)
    at(calls, "bot_c", 0, lambda: desk.commit(game, 1, "bid:1"))
    assert worker.drive(game) == []
    assert {bot: len(asked_ids(calls, bot)) for bot in ("bot_a", "bot_c", "bot_d")} == {
        "bot_a": 1,
        "bot_c": 1,
        "bot_d": 1,
    }
    assert desk.log(game)[0] == Decided(1, "bid:1", ms=1.0)
    assert sorted(event.seat for event in desk.log(game)) == [0, 1, 2, 3]


def test_person_who_leaves_meanwhile_ends_the_game_and_the_answer_is_dropped(worker, desk, calls, store):
    game = desk.game("bot_a", "human:ann", options={"target": 7})
    desk.commit(game, 1, "stand")
    desk.commit(game, 1, desk.table(game).game.state.legal_actions(1)[0])
    leaves = [Retired(1, RetiredBecause.LEFT)]

    def leave():
        table = desk.table(game)
        table.game.apply(leaves[0])
        store.games.commit(game, leaves, expected=table.length, lease=None, ending=table.ending)

    at(calls, "bot_a", 0, leave)
    assert worker.drive(game) == []
    assert desk.log(game)[-1] == leaves[0]
    assert desk.state(game) is GameState.VOID  # the bot has never answered
    assert desk.due_at(game) is None


def test_move_that_comes_while_the_game_is_given_back_is_gone_on_with(worker, desk, calls, monkeypatch):
    """A person acts between the worker's last look and its release: the worker goes on, nobody else will."""
    game = desk.game("bot_a", "human:ann")
    release = worker.leases.give_back
    acted = []

    def act_first(*args, **kwargs):
        if not acted:
            acted.append(True)
            desk.commit(game, 1, "stand")
            desk.commit(game, 1, desk.table(game).game.state.legal_actions(1)[0])
        return release(*args, **kwargs)

    monkeypatch.setattr(worker.leases, "give_back", act_first)
    assert worker.drive(game, seconds=3) == []
    assert asked_ids(calls, "bot_a")[0] == f"{game}.0.0"
    assert desk.table(game).game.owed() == [1]
    assert not desk.is_leased(game)
    assert desk.due_at(game) == desk.table(game).deadline(1, desk.store.clock.read())


def test_game_kept_because_of_such_a_move_is_due_when_its_lease_could_run_out(worker, desk):
    game = desk.game("bot_a", "human:ann", limits={"human_budget_ms": 600_000})
    assert worker.leases.take(game, "token")
    desk.commit(game, 1, "stand")
    assert not worker.leases.give_back(
        game, "token", seen=0, due_at=desk.table(game).deadline(1, desk.store.clock.read())
    )
    assert desk.due_at(game) <= desk.store.due.now() + LEASE_MS


# --- the operator -----------------------------------------------------------------------------------------------------


def test_cancelled_game_refuses_the_next_commit_and_is_left(worker, desk, calls, store):
    game = desk.game("bot_b", "bot_a", options={"target": 7})
    at(calls, "bot_a", 2, lambda: store.games.end(game, GameState.CANCELLED))
    assert worker.drive(game) == []
    assert desk.state(game) is GameState.CANCELLED
    assert len(desk.decided(game, 1)) == 2
    assert (desk.due_at(game), desk.is_leased(game)) == (None, False)
    ended = [message for _, message in calls.told if message["type"] == "game_ended"]
    assert [message["state"] for message in ended] == ["cancelled"] * 2
    assert all(message["places"] is None for message in ended)


# --- a store that lost its last second --------------------------------------------------------------------------------


def lose(redis, game, events):
    redis.ltrim(keys.game_log(game), 0, -events - 1)


def test_shorter_log_is_loaded_anew_and_what_it_owes_asked_again(worker, desk, calls, redis):
    game = desk.game("bot_b", "bot_a")
    at(calls, "bot_a", 3, lambda: lose(redis, game, 3))
    assert worker.drive(game) == []
    assert desk.state(game) is GameState.FINISHED
    assert desk.table(game).game.is_over  # and replays
    names = asked_ids(calls, "bot_a") + asked_ids(calls, "bot_b")
    assert sorted({name for name in names if names.count(name) == 2}) != []


def test_answer_given_to_a_lost_position_is_not_used_in_another(worker, desk, calls, redis):
    """The log loses four events; asked again, the bots play otherwise, so a later answer was to another hand."""
    game = desk.game("bot_b", "bot_a")
    choice, said = [0], {}

    def behave(decision):
        name, legal = decision["decision_id"], decision["legal_actions"]
        said[name] = legal[choice[0]]
        if name == f"{game}.1.3" and choice == [0]:
            lose(redis, game, 4)  # bot_a's decisions 1 and 2 are among them
            choice[0] = -1
        return said[name]

    calls.bots |= {"bot_a": behave, "bot_b": behave}
    assert worker.drive(game) == []
    assert desk.state(game) is GameState.FINISHED
    assert asked_ids(calls, "bot_a").count(f"{game}.1.3") == 2
    for seat in (0, 1):
        assert set(desk.outcomes(game, seat)) == {Outcome.OK}
        actions = [event.action for event in desk.decided(game, seat)]
        assert actions == [said[f"{game}.{seat}.{number}"] for number in range(len(actions))]


def test_answer_on_its_way_to_a_lost_position_is_dropped(worker, desk, calls, redis):
    """One bid is still on its way when the log turns out to have lost the deal before: it is asked again, and only the
    answer to that counts."""
    game = desk.game("bot_a", "bot_b", "bot_c", "bot_d", options={"start_cards": 2} | FISTS)
    lost = []

    def bot_c(decision):
        if decision["phase"] == "bid" and decision["observation"]["deal"] == 1 and not lost:
            return HOLD
        return decision["legal_actions"][-1]

    def bot_d(decision):
        if decision["phase"] == "bid" and decision["observation"]["deal"] == 1 and not lost:
            lost.append(True)
            lose(redis, game, 3)
        return standing(decision)

    calls.bots |= {"bot_a": standing, "bot_b": standing, "bot_c": bot_c, "bot_d": bot_d}
    run = worker.driving(game)
    calls.wait_until_held()
    until(lambda: asked_ids(calls, "bot_c").count(f"{game}.2.3") == 2)
    calls.let_go("bid:0")  # the answer to the first asking comes at last
    assert run.result() == []
    assert desk.state(game) is GameState.FINISHED
    assert desk.decided(game, 2)[3].action == "bid:1"


def test_answer_given_to_another_past_of_the_same_length_is_not_used(worker, desk, calls, redis, store):
    """While bot_a follows, the log loses what was led and regains another lead: the answer was to a trick that isn't
    there."""
    game = desk.game("bot_b", "bot_a")
    led, said = [], {}

    def bot_a(decision):
        trick = decision["observation"]["trick"]
        if decision["phase"] == "play" and trick and len(trick["cards"]) == 1 and not led:
            lead_again(trick["cards"][0])
        said[decision["decision_id"]] = decision["legal_actions"][-1]
        return said[decision["decision_id"]]

    def lead_again(card):
        stamp = desk.table(game).times[-1]
        lose(redis, game, 1)
        others = [action for action in desk.table(game).game.state.legal_actions(0) if action != f"play:{card}"]
        until(lambda: store.due.now() > stamp)
        desk.commit(game, 0, others[-1])
        led.append(others[-1])

    calls.bots |= {"bot_a": bot_a}
    assert worker.drive(game) == []
    assert desk.state(game) is GameState.FINISHED
    assert led[0] in [event.action for event in desk.decided(game, 0)]
    assert len(calls.decisions_of("bot_a")) == len(desk.decided(game, 1)) + 1
    assert [event.action for event in desk.decided(game, 1)] == list(said.values())
