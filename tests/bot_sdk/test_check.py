from __future__ import annotations

import time
from dataclasses import dataclass, replace

import msgspec
import pytest

from bot_sdk import check, messages, signing
from bot_sdk.bot import Bot
from bot_sdk.bots.greedy import greedy
from bot_sdk.checking.caller import Caller, Heard
from bot_sdk.events import Outcome
from bot_sdk.games.registry import RULESETS
from bot_sdk.hosting import respond, serving
from bot_sdk.positions import VARIANTS, positions

SECRET = signing.make_secret(bytes(range(32)))
EVERYTHING = [
    "card", "challenge", "game_started", "seven_up beg", "seven_up gift", "seven_up discard", "seven_up play",
    "river bid", "river play", "cold start", "unknown fields", "asked again", "batch", "batch in another order",
    "full batch", "game_ended", "wrong signature", "no signature", "stale signature",
]  # fmt: skip


@dataclass
class Direct:
    """A line straight into a bot; `spoil` may change what comes back."""

    bot: Bot
    spoil: object = None

    def get_card(self, budget_ms):
        return self._heard(respond(self.bot, "GET", {}, b""), b"")

    def post(self, body, budget_ms, secret, *, decisions=1, age_s=0):
        headers = signing.sign("msg_1", int(time.time()) - age_s, body, [secret]) if secret else {}
        return self._heard(respond(self.bot, "POST", headers, body), body)

    def _heard(self, reply, asked):
        heard = Heard(Outcome.OK, 1.0, int(reply.status), None, reply.body)
        if reply.status != 200:
            heard = Heard(Outcome.BAD_STATUS, 1.0, int(reply.status), f"status {reply.status}")
        return self.spoil(heard, asked) if self.spoil else heard


def run(line, **more):
    arguments = {"bot_id": "bot_1", "secret": SECRET, "challenge": "fresh", **more}
    return {step.name: step for step in check.run(line, **arguments)}


def failing(steps):
    return {name: step.detail for name, step in steps.items() if not step.ok}


def held(bot):
    bot.secret = SECRET
    return bot


def test_a_good_bot_passes_every_step_over_http():
    with serving(held(greedy())) as server:
        caller = Caller(server.url)
        steps = list(check.run(caller, bot_id="bot_1", secret=SECRET, challenge="fresh"))
        caller.close()
    assert [step.name for step in steps] == EVERYTHING
    assert check.passed(steps), steps
    assert all(step.ms > 0 for step in steps)


def test_a_check_without_any_step_is_not_passed():
    assert not check.passed([])


def test_a_bot_without_secret_and_batches_is_asked_for_neither():
    bot = Bot("plain")
    bot.on("river")(lambda decision: decision.legal[0])
    steps = run(Direct(bot), secret=None)
    assert list(steps) == [
        "card", "game_started", "river bid", "river play", "cold start", "unknown fields", "asked again", "game_ended",
    ]  # fmt: skip
    assert not failing(steps)


def test_another_secret_fails_the_challenge_and_ends_the_check():
    bot = greedy()
    bot.secret = signing.make_secret(bytes(32))
    steps = run(Direct(bot))
    assert list(steps) == ["card", "challenge"]
    assert "401" in failing(steps)["challenge"]


def test_a_wrong_proof_is_told_apart_from_a_refusal():
    def wrong(heard, asked):
        if b'"challenge"' not in asked:
            return heard
        body = messages.encode(messages.ChallengeReply("fresh", "00" * 32))
        return Heard(Outcome.OK, 1.0, 200, None, body)

    assert "is it the same secret" in failing(run(Direct(held(greedy()), wrong)))["challenge"]


def test_a_bot_that_answers_strangers_is_warned_of_it_and_passes():
    class Open(Bot):
        def decide(self, decision):
            return decision.legal[0]

    bot = Open("open")

    def prove(heard, asked):
        if b'"challenge"' not in asked:
            return heard
        body = messages.encode(messages.ChallengeReply("fresh", signing.proof(SECRET, "bot_1", "fresh")))
        return Heard(Outcome.OK, 1.0, 200, None, body)

    steps = run(Direct(bot, prove))
    assert not failing(steps)
    warned = {name: step for name, step in steps.items() if step.warning}
    assert set(warned) == {"wrong signature", "no signature", "stale signature"}
    assert "anybody could ask this bot" in warned["no signature"].detail
    assert "could repeat it" in warned["stale signature"].detail
    assert {step.fault for step in warned.values()} == {"unsigned"}


@pytest.mark.parametrize("status", [400, 403, 404, 500])
def test_a_bot_that_refuses_strangers_by_another_status_is_not_warned(status):
    def refuse(heard, _):
        return replace(heard, status=status) if heard.status == 401 else heard

    steps = run(Direct(held(greedy()), refuse))
    assert not [step for step in steps.values() if step.warning]
    assert steps["stale signature"].detail == f"refused with {status}"


@pytest.mark.parametrize(("ruleset", "phase"), [(name, phase) for name in RULESETS for phase in RULESETS[name].phases])
def test_an_illegal_answer_is_found_in_the_phase_it_is_given_in(ruleset, phase):
    class Wrong(Bot):
        def decide(self, decision):
            if (decision.ruleset, decision.phase) == (ruleset, phase):
                return "play:XX"
            return decision.legal[-1]

    failed = failing(run(Direct(held(Wrong("wrong")))))
    assert set(failed) - {"unknown fields", "asked again"} == {f"{ruleset} {phase}"}
    assert "got 'play:XX'" in failed[f"{ruleset} {phase}"]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"[]", "expected an object, got a list"),
        (b'{"decision_id":"x","action":"bid:0"}', "expected decision_id"),
        (b"{NaN}", "expected JSON"),
    ],
)
def test_a_bad_reply_is_named(body, told):
    def spoil(heard, asked):
        return Heard(Outcome.OK, 1.0, 200, None, body) if b'"type":"decision"' in asked else heard

    failed = failing(run(Direct(held(greedy()), spoil)))
    assert told in failed["river bid"]


def test_a_batch_that_leaves_one_out_is_found():
    def spoil(heard, asked):
        if b'"type":"decisions"' not in asked:
            return heard
        actions = msgspec.json.decode(heard.body)["actions"][1:]
        return Heard(Outcome.OK, 1.0, 200, None, messages.encode({"actions": actions}))

    failed = failing(run(Direct(held(greedy()), spoil)))
    assert set(failed) == {"batch", "batch in another order"}
    assert failed["batch"].startswith("late: expected an item for this decision")


def test_a_card_must_name_what_is_claimed():
    bot = Bot("river only")
    bot.on("river")(lambda decision: decision.legal[0])
    steps = run(Direct(bot), claimed=["seven_up"])
    assert failing(steps) == {"card": "expected seven_up on the card, got river"}


def named(*rulesets):
    """Have the card name these."""

    def spoil(heard, asked):
        if asked:
            return heard
        return replace(heard, body=msgspec.json.encode(msgspec.json.decode(heard.body) | {"rulesets": rulesets}))

    return spoil


def test_rulesets_that_are_not_known_here_are_passed_over():
    steps = run(Direct(held(greedy()), named("whist", "river")))
    assert not failing(steps)
    assert not any(name.startswith(("seven_up", "whist")) for name in steps)


def test_a_card_must_name_a_ruleset_that_is_known_here():
    assert failing(run(Direct(held(greedy()), named("whist")))) == {
        "card": "expected one of seven_up, river on the card, got whist"
    }


def test_only_what_is_claimed_is_asked():
    steps = run(Direct(held(greedy())), claimed=["river"])
    assert not failing(steps)
    assert not any(name.startswith("seven_up") for name in steps)


@pytest.mark.parametrize(("ruleset", "phase"), [(name, phase) for name in RULESETS for phase in RULESETS[name].phases])
def test_positions_are_of_that_phase_from_several_tables_and_repeat(ruleset, phase):
    met = positions(ruleset, phase, 9, "p")
    assert len(met) == 9
    assert met == positions(ruleset, phase, 9, "p") != positions(ruleset, phase, 9, "q")
    assert {(decision.game.ruleset, decision.phase) for decision in met} == {(ruleset, phase)}
    assert len({decision.decision_id for decision in met}) == 9
    assert len({messages.encode(decision.game.options) for decision in met}) >= len(VARIANTS[ruleset]) - 1
    for decision in met:
        msgspec.convert(decision.observation, messages.OBSERVATIONS[ruleset])


def late(times):
    """Have the first so many answers to decisions come too late."""
    left = [None] * times

    def spoil(heard, asked):
        if b'"type":"decision"' not in asked or not left:
            return heard
        left.pop()
        return Heard(Outcome.LATE, 1000.0, None, "no whole answer within 1000 ms")

    return spoil


def test_being_late_once_is_forgiven_with_a_warning():
    steps = run(Direct(held(greedy()), late(1)))
    assert not failing(steps)
    step = steps["seven_up beg"]
    assert (step.warning, step.fault) == (True, "cold_start")
    assert "asked again it was in time" in step.detail


def test_being_late_with_a_second_decision_fails_though_asked_again_it_would_be_in_time():
    numbers = iter(range(10_000))

    def spoil(heard, asked):
        if b'"type":"decision"' in asked and next(numbers) in {0, 4}:
            return Heard(Outcome.LATE, 1000.0, None, "no whole answer within 1000 ms")
        return heard

    assert set(failing(run(Direct(held(greedy()), spoil)))) == {"seven_up gift"}


def test_being_late_again_fails():
    assert set(failing(run(Direct(held(greedy()), late(2))))) == {"seven_up beg"}


def test_a_decision_asked_again_may_have_another_legal_answer():
    bot = Bot("moody", max_batch=1)
    turns = iter(range(10_000))
    bot.on("river")(lambda decision: decision.legal[next(turns) % len(decision.legal)])
    steps = run(Direct(held(bot)), claimed=["river"])
    assert not failing(steps)
    assert "another legal answer" in steps["asked again"].detail


def test_a_bot_that_chokes_on_unknown_fields_is_found():
    def spoil(heard, asked):
        if b'"later"' in asked:
            return Heard(Outcome.BAD_STATUS, 1.0, 400, "status 400: unknown field 'later'")
        return heard

    failed = failing(run(Direct(held(greedy()), spoil)))
    assert set(failed) == {"unknown fields"}
    assert "unknown field" in failed["unknown fields"]


def test_a_large_batch_that_is_partly_answered_is_a_warning():
    def spoil(heard, asked):
        if asked.count(b'"type":"decision"') < 60:
            return heard
        actions = msgspec.json.decode(heard.body)["actions"][:40]
        return replace(heard, body=messages.encode({"actions": actions}))

    steps = run(Direct(held(greedy()), spoil))
    assert not failing(steps)
    assert (steps["full batch"].warning, steps["full batch"].fault) == (True, "partly_answered")
    assert "23 more of 64" in steps["full batch"].detail


def test_a_stale_signature_is_told_from_a_wrong_one():
    class Timeless(Direct):
        def post(self, body, budget_ms, secret, *, decisions=1, age_s=0):
            return super().post(body, budget_ms, secret, decisions=decisions)

    steps = run(Timeless(held(greedy())))
    assert [name for name, step in steps.items() if step.warning] == ["stale signature"]


@pytest.mark.parametrize(
    ("number", "fault"), [(308, "redirect"), (401, "secret"), (500, "raised"), (404, "bad_status")]
)
def test_a_status_gets_the_name_of_its_fault(number, fault):
    def spoil(heard, asked):
        return Heard(Outcome.BAD_STATUS, 1.0, number, f"status {number}") if b'"game_ended"' in asked else heard

    steps = run(Direct(held(greedy()), spoil))
    assert (steps["game_ended"].ok, steps["game_ended"].fault, steps["game_ended"].where) == (
        False,
        fault,
        "the status",
    )
    assert steps["game_ended"].advice
