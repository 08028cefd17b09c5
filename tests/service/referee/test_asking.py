"""How bots are asked: budgets, names, what they are told, batches (docs/contract.md)."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from bot_sdk.events import Outcome
from bot_sdk.results.values import GameState
from service.referee import outbox
from tests.service.fakes import HOLD, MISSING, Twice, first_legal, standing, until

LIMITS = {"first_budget_ms": 4_000, "budget_ms": 700}
FISTS = {"bidding": "simultaneous"}


def test_first_decision_of_a_seat_has_a_budget_of_its_own(worker, desk, calls):
    game = desk.game("bot_a", "bot_b", limits=LIMITS)
    worker.drive(game)
    for bot in ("bot_a", "bot_b"):
        first, *others = [decision["budget_ms"] for decision in calls.decisions_of(bot)]
        assert (first, set(others)) == (4_000, {700})
    assert [call.budget_ms for call in calls.calls] == [decision["budget_ms"] for decision in calls.asked]


def test_last_tells_how_the_previous_decision_of_the_seat_went(worker, desk, calls):
    answers = iter(["nonsense", Outcome.LATE, Outcome.BAD_STATUS])
    calls.bots["bot_a"] = lambda decision: next(answers, None) or first_legal(decision)
    game = desk.game("bot_b", "bot_a", limits=LIMITS)
    worker.drive(game)
    assert [decision["last"] for decision in calls.decisions_of("bot_a")][:5] == [
        None,
        {"ms": 1.0, "outcome": "illegal"},
        {"ms": 700.0, "outcome": "late"},
        {"ms": 1.0, "outcome": "bad_status"},
        {"ms": 1.0, "outcome": "ok"},
    ]
    assert {decision["last"] and decision["last"]["outcome"] for decision in calls.decisions_of("bot_b")} == {
        None,
        "ok",
    }


def test_decisions_are_named_by_seat_and_counted_by_seat(worker, desk, calls):
    game = desk.game("bot_a", "bot_b", "bot_c", "bot_d", options={"start_cards": 2} | FISTS)
    worker.drive(game)
    for seat, bot in enumerate(["bot_a", "bot_b", "bot_c", "bot_d"]):
        asked = calls.decisions_of(bot)
        assert [decision["decision_id"] for decision in asked] == [f"{game}.{seat}.{n}" for n in range(len(asked))]
        assert len(asked) == 3 + 5  # three bids, and a card in each of five tricks
    assert [call.webhook_id for call in calls.calls] == [f"msg_{each['decision_id']}" for each in calls.asked]


def test_simultaneous_decisions_go_out_together_before_any_is_answered(worker, desk, calls):
    game = desk.game("bot_a", "bot_b", "bot_c", "bot_d", options=FISTS)
    worker.drive(game)
    together = calls.asked[:4]
    assert [decision["seat"] for decision in together] == [0, 1, 2, 3]
    assert all(decision["observation"]["bids"] == [None] * 4 for decision in together)


def test_each_seat_is_told_the_game_and_its_own_hand_only(worker, desk, calls):
    game = desk.game("bot_a", "bot_b")
    worker.drive(game)
    for decision in calls.asked:
        seat = decision["seat"]
        assert decision["game"]["id"] == game
        assert decision["game"]["seats"] == ["bot_a", "bot_b"]
        hand = {action.removeprefix("play:") for action in decision["legal_actions"] if action.startswith("play:")}
        assert hand <= set(decision["observation"]["hand"])
        assert seat == {"bot_a": 0, "bot_b": 1}[decision["game"]["seats"][seat]]


# --- batches ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def batcher(desk, monkeypatch):
    """Make a bot that takes three decisions in a request; none is sent while others are about to be owed."""
    monkeypatch.setattr(outbox, "GATHER_S", 5.0)
    return desk.bot("bot_many", max_batch=3)


def sizes(calls, bot_id="bot_many"):
    return [call.decisions for call in calls.calls if call.endpoint.bot_id == bot_id]


def test_decisions_for_a_batching_bot_go_in_one_request_up_to_its_limit(worker, desk, calls, batcher):
    games = [desk.game("bot_b", "bot_many", limits=LIMITS) for _ in range(7)]
    assert worker.drive(*games) == []
    assert sizes(calls)[:3] == [3, 3, 1]
    assert max(sizes(calls)) == 3
    assert {desk.state(game) for game in games} == {GameState.FINISHED}
    assert all(set(desk.outcomes(game, 1)) == {Outcome.OK} for game in games)


def test_bot_that_takes_no_batches_is_asked_one_by_one(worker, desk, calls):
    worker.drive(*[desk.game("bot_a", "bot_b") for _ in range(3)])
    assert set(sizes(calls, "bot_a")) == set(sizes(calls, "bot_b")) == {1}


def test_batch_holds_equal_budgets_of_one_bot(worker, desk, calls, batcher):
    desk.bot("bot_more", max_batch=3)
    quick = [desk.game("bot_b", "bot_many", limits={"first_budget_ms": 500}) for _ in range(2)]
    slow = [desk.game("bot_b", "bot_many", limits={"first_budget_ms": 900}) for _ in range(2)]
    others = [desk.game("bot_b", "bot_more", limits={"first_budget_ms": 500}) for _ in range(2)]
    worker.drive(*quick, *slow, *others)
    for call in calls.calls:
        message = json.loads(call.body)
        for decision in message.get("decisions", [message]):
            assert decision["budget_ms"] == message["budget_ms"] == call.budget_ms
    assert [call.decisions for call in calls.calls[:3]] == [2, 2, 2]


def test_batch_goes_to_one_endpoint_and_is_signed_with_its_secrets(worker, desk, calls, batcher):
    """A bot that has moved is asked by games made before where it was."""
    old = desk.game("bot_b", "bot_many")
    desk.store.bots.change("bot_many", lambda bot: _moved(bot, "http://127.0.0.1:9/new"))
    new = desk.game("bot_b", "bot_many")
    worker.drive(old, new)
    urls = {call.endpoint.url for call in calls.calls if call.endpoint.bot_id == "bot_many"}
    assert urls == {"http://127.0.0.1:9/bot_many", "http://127.0.0.1:9/new"}
    assert set(sizes(calls)) == {1}
    assert {call.endpoint.secrets for call in calls.calls} == {("whsec_" + "A" * 32,)}


def _moved(bot, url):
    return replace(bot, url=url)


def test_each_batch_has_a_webhook_id_of_its_own(worker, desk, calls, batcher):
    worker.drive(*[desk.game("bot_b", "bot_many") for _ in range(3)])
    names = [call.webhook_id for call in calls.calls]
    assert len(set(names)) == len(names)


def test_item_left_out_is_late_and_a_doubled_one_a_bad_reply_for_it_alone(worker, desk, calls, batcher):
    said = {"gam_1": MISSING, "gam_2": Twice("stand"), "gam_3": "beg"}
    calls.bots["bot_many"] = lambda decision: (
        said[decision["game"]["id"]] if decision["last"] is None else first_legal(decision)
    )
    games = [desk.game("bot_b", "bot_many") for _ in range(3)]
    worker.drive(*games)
    firsts = [desk.decided(game, 1)[0] for game in games]
    assert [event.outcome for event in firsts] == [Outcome.LATE, Outcome.BAD_REPLY, Outcome.OK]
    assert [event.action for event in firsts] == ["stand", "stand", "beg"]


def test_illegal_item_spoils_no_other(worker, desk, calls, batcher):
    calls.bots["bot_many"] = lambda decision: "bid:3" if decision["game"]["id"] == "gam_2" else standing(decision)
    games = [desk.game("bot_b", "bot_many", options={"target": 7}, limits={"max_faults": 2}) for _ in range(3)]
    worker.drive(*games)
    assert desk.outcomes("gam_2", 1) == [Outcome.ILLEGAL] * 2
    assert {Outcome.OK} == {*desk.outcomes("gam_1", 1), *desk.outcomes("gam_3", 1)}


@pytest.mark.parametrize(
    ("said", "outcome"),
    [(b"[]", Outcome.BAD_REPLY), (b'{"actions": {}}', Outcome.BAD_REPLY), (Outcome.LATE, Outcome.LATE)],
)
@pytest.mark.usefixtures("batcher")
def test_whole_answer_that_is_bad_is_so_for_each_decision_in_it(worker, desk, calls, said, outcome):
    calls.bots["bot_many"] = lambda decision: said if decision["last"] is None else first_legal(decision)
    games = [desk.game("bot_b", "bot_many") for _ in range(3)]
    worker.drive(*games)
    assert [desk.decided(game, 1)[0].outcome for game in games] == [outcome] * 3


def test_slow_bot_holds_up_no_other_game(worker, desk, calls):
    """What one game waits for keeps nothing else of the shard from being asked."""
    calls.bots["bot_slow"] = lambda decision: HOLD if decision["last"] is None else first_legal(decision)
    slow, quick = desk.game("bot_b", "bot_slow"), desk.game("bot_b", "bot_c")
    run = worker.driving(slow, quick)
    calls.wait_until_held()
    until(lambda: desk.state(quick) is GameState.FINISHED)
    assert desk.log(slow) == []
    calls.let_go()
    assert run.result() == []
    assert desk.state(slow) is GameState.FINISHED
