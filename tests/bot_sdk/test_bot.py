from __future__ import annotations

import msgspec
import pytest

from bot_sdk import messages
from bot_sdk.bot import Bot, BotError, Decision
from bot_sdk.games.registry import RULESETS, RulesetError
from bot_sdk.positions import positions
from bot_sdk.signing import SigningError


def river_bid() -> messages.Decision:
    return positions("river", "bid", 1, "test")[0]


def test_decorated_function_stays_a_plain_function():
    bot = Bot("b")

    @bot.on("river", "bid")
    def bid(decision):
        return decision.legal[-1]

    message = river_bid()
    assert bid(Decision(message)) == message.legal_actions[-1]
    assert bot.answer(message) == messages.ActionReply(
        decision_id=message.decision_id, action=message.legal_actions[-1]
    )


def test_subclass_with_decide_plays_every_ruleset_or_those_it_names():
    class Last(Bot):
        def decide(self, decision):
            return decision.legal[-1], "why not"

    class OnlyRiver(Last):
        plays = ("river",)

    message = river_bid()
    assert Last("l").answer(message).note == "why not"
    assert Last("l").card().rulesets == list(RULESETS)
    assert OnlyRiver("l").card().rulesets == ["river"]


def test_card_claims_the_rulesets_whose_phases_are_registered():
    bot = Bot("b", version="7", author="a", max_batch=4, max_games=2)
    bot.on("river")(lambda decision: decision.legal[0])
    assert msgspec.to_builtins(bot.card()) == {
        "api": 1, "name": "b", "version": "7", "author": "a", "rulesets": ["river"], "max_batch": 4, "max_games": 2,
    }  # fmt: skip


def test_card_refuses_a_ruleset_begun_but_not_finished():
    bot = Bot("b")
    with pytest.raises(BotError, match="every phase of a ruleset"):
        bot.card()
    bot.on("seven_up", "beg", "discard", "play")(lambda decision: decision.legal[0])
    with pytest.raises(BotError, match="seven_up gift"):
        bot.card()


@pytest.mark.parametrize("wrong", [{"max_batch": 65}, {"max_games": 0}, {"version": ""}])
def test_card_refuses_values_out_of_range(wrong):
    bot = Bot("b", **wrong)
    bot.on("river")(lambda decision: decision.legal[0])
    with pytest.raises(BotError, match="valid card"):
        bot.card()


def test_a_coroutine_function_is_refused_since_nobody_would_await_it():
    async def play(decision):
        return decision.legal[0]

    with pytest.raises(BotError, match="expected a plain function for river, got async def play"):
        Bot("x").on("river")(play)


def test_registering_refuses_what_does_not_exist_or_is_taken():
    bot = Bot("b")
    bot.on("river", "bid")(str)
    with pytest.raises(BotError, match="a second"):
        bot.on("river", "bid")(str)
    with pytest.raises(BotError, match="among bid, play"):
        bot.on("river", "beg")
    with pytest.raises(RulesetError):
        bot.on("whist", "bid")


@pytest.mark.parametrize("nonsense", [None, 3, ["bid:1"], ("bid:1", 3), ("a", "b", "c"), "bid:١"])
def test_nonsense_is_refused_with_what_was_expected(nonsense):
    bot = Bot("b")
    bot.on("river")(lambda _decision: nonsense)
    with pytest.raises(BotError, match=r"expected an action such as 'bid:0', or \(action, note\)"):
        bot.answer(river_bid())


def test_illegal_action_is_sent_as_it_is_with_a_warning(caplog):
    bot = Bot("b")
    bot.on("river")(lambda _decision: "bid:99")
    assert bot.answer(river_bid()).action == "bid:99"
    assert "'bid:99' isn't legal" in caplog.text


def test_note_is_cut_to_500_bytes_at_a_characters_edge():
    bot = Bot("b")
    bot.on("river")(lambda decision: (decision.legal[0], "é" * 251))
    assert bot.answer(river_bid()).note == "é" * 250


def test_decision_shows_all_of_the_message():
    message = river_bid()
    decision = Decision(message)
    assert decision.id == message.decision_id
    assert decision.hand == message.observation["hand"]
    assert decision.legal == message.legal_actions
    assert (decision.ruleset, decision.phase, decision.seat) == ("river", "bid", message.seat)
    assert decision.options == message.game.options
    assert (decision.budget_ms, decision.last, decision.game) == (message.budget_ms, message.last, message.game)


def test_rng_is_the_same_for_the_same_decision_and_another_for_another():
    message = river_bid()
    other = msgspec.structs.replace(message, decision_id="another.0.0")
    draws = [Decision(each).rng.random() for each in (message, message, other)]
    assert draws[0] == draws[1] != draws[2]


def test_rng_of_a_bot_with_a_secret_is_another_than_everybody_can_guess():
    message = river_bid()
    guessed, key = Decision(message).rng.random(), "whsec_" + "A" * 32
    drawn = [Decision(message, each).rng.random() for each in (key, key, "whsec_" + "B" * 32)]
    assert drawn[0] == drawn[1]
    assert len({guessed, *drawn}) == 3


def test_a_bot_draws_by_its_secret_unless_another_key_is_given():
    bot = Bot("b", secret="whsec_" + "A" * 32)
    bot.on("river")(lambda decision: (decision.legal[0], str(decision.rng.random())))
    drawn = [bot.answer(river_bid(), key).note for key in (None, bot.secret, "")]
    assert drawn == [str(Decision(river_bid(), key).rng.random()) for key in (bot.secret, bot.secret, "")]


def test_secret_comes_from_the_argument_or_the_environment(monkeypatch):
    monkeypatch.delenv("SLAGVELD_BOT_SECRET", raising=False)
    assert Bot("b").secret is None
    monkeypatch.setenv("SLAGVELD_BOT_SECRET", "whsec_" + "A" * 32)
    assert Bot("b").secret == "whsec_" + "A" * 32
    assert Bot("b", secret="whsec_" + "B" * 32).secret == "whsec_" + "B" * 32
    monkeypatch.setenv("SLAGVELD_BOT_SECRET", " whsec_" + "A" * 32 + "\n")  # as $(cat .secret) on Windows, say
    assert Bot("b").secret == "whsec_" + "A" * 32
    monkeypatch.setenv("SLAGVELD_BOT_SECRET", " ")
    assert Bot("b").secret is None
    with pytest.raises(SigningError):
        Bot("b", secret="hunter2")


def test_secret_may_stand_in_a_file(monkeypatch, tmp_path):
    monkeypatch.delenv("SLAGVELD_BOT_SECRET", raising=False)
    monkeypatch.setenv("SLAGVELD_BOT_SECRET_FILE", str(tmp_path / "secret"))
    with pytest.raises(SigningError, match=r"SLAGVELD_BOT_SECRET_FILE, got '.*', which is no file"):
        Bot("b")
    (tmp_path / "secret").write_text("whsec_" + "A" * 32 + "\n")
    assert Bot("b").secret == "whsec_" + "A" * 32
    monkeypatch.setenv("SLAGVELD_BOT_SECRET", "whsec_" + "B" * 32)
    with pytest.raises(SigningError, match="got both"):
        Bot("b")


def test_environment_that_holds_no_secret_stops_the_start_and_is_not_shown(monkeypatch):
    monkeypatch.setenv("SLAGVELD_BOT_SECRET", "hunter2")
    with pytest.raises(SigningError, match="SLAGVELD_BOT_SECRET: expected a secret that begins with whsec_") as refused:
        Bot("b")
    assert "hunter2" not in str(refused.value)


def test_hooks_hear_of_beginnings_and_ends():
    bot = Bot("b")
    heard = []
    bot.on_game_started(heard.append)
    bot.on_game_ended(heard.append)
    info = messages.GameInfo("g", "river", {}, ["b"] * 4)
    started = messages.GameStarted(game=info, seat=1)
    ended = messages.GameEnded(
        game=info, seat=1, state="void", totals=[0] * 4, places=None, outcomes={"late": 5}, record_url="x"
    )
    bot.game_started(started)
    bot.game_ended(ended)
    assert heard == [started, ended]
