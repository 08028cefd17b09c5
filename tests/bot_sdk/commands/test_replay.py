from __future__ import annotations

import json

import pytest

from bot_sdk.bot import Bot
from bot_sdk.games import record
from bot_sdk.games.registry import RULESETS
from bot_sdk.hosting import serving
from bot_sdk.local import Match, in_process, play, play_game
from bot_sdk.replaying import decisions
from tests.bot_sdk.commands.running import slagbot
from tests.bot_sdk.parallel.made import bot_file

SECRET = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="


def drawing(secret=None):
    bot = Bot("draws", secret=secret)
    for ruleset in RULESETS:
        bot.on(ruleset)(lambda decision: decision.rng.choice(decision.legal))
    return bot


@pytest.fixture(autouse=True)
def clean(monkeypatch, tmp_path):
    monkeypatch.delenv("SLAGVELD_BOT_SECRET", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def games(tmp_path):
    table = [in_process(drawing()) for _ in range(4)]
    made = [one.record for one in play(Match(RULESETS["river"], {"start_cards": 3}), table, games=2)]
    (tmp_path / "r.jsonl").write_bytes(b"".join(record.encode(one) + b"\n" for one in made))
    (tmp_path / "one.json").write_text(json.dumps(json.loads(record.encode(made[0])), indent=2))
    return made


def test_what_the_bot_says_now_stands_beside_what_was_recorded(games, tmp_path):
    asked = next(one for one in decisions(games[0]) if len(one.message.legal_actions) > 1 and one.deal == 1)
    other = next(action for action in asked.message.legal_actions if action != asked.decided.action)
    bot = bot_file(tmp_path, f"return {other!r}, 'now'", f"decision.id == {asked.message.decision_id!r}")
    at = f"{asked.deal}.{asked.at}"
    shown = slagbot("replay", "one.json", "--ask", bot, "--at", at).stdout
    assert shown.startswith(f"{at} {asked.message.decision_id}: draws (seat {asked.message.seat})")
    assert f"then        {asked.decided.action} in" in shown
    assert f"now         {other} in" in shown
    assert shown.endswith("something else now\n")
    told = json.loads(slagbot("replay", "one.json", "--ask", bot, "--at", at, "--json").stdout)
    assert told["answer"]["action"] == other
    assert told["recorded"]["action"] == asked.decided.action
    assert told["message"]["observation"] == asked.message.observation


def test_the_same_bot_says_the_same(games, tmp_path):
    (tmp_path / "same.py").write_text(
        "from bot_sdk.bot import Bot\nbot = Bot('draws')\n@bot.on('river')\n"
        "def any_action(decision):\n    return decision.rng.choice(decision.legal)\n"
    )
    asked = [one for one in decisions(games[1]) if len(one.message.legal_actions) > 1]
    for one in asked:
        arguments = ["--at", f"{one.deal}.{one.at}", "--game", games[1].game_id]
        assert slagbot("replay", "r.jsonl", "--ask", "same.py", *arguments).stdout.endswith("the same now\n")


def test_draws_of_an_arenas_game_are_those_made_with_the_bots_secret(tmp_path):
    player = in_process(drawing())
    keyed = type(player)(player.bot, player.shown, key=SECRET)
    match = Match(RULESETS["seven_up"])
    _, made = play_game(match, [keyed, keyed], game_id="gam_1", secret=b"s" * 32, label="gam_1")
    (tmp_path / "r.json").write_bytes(record.encode(made))
    (tmp_path / ".secret").write_text(SECRET)
    (tmp_path / "same.py").write_text(
        "from bot_sdk.bot import Bot\nbot = Bot('draws')\n@bot.on('seven_up')\n"
        "def any_action(decision):\n    return decision.rng.choice(decision.legal)\n"
    )
    asked = [one for one in decisions(made) if len(one.message.legal_actions) > 2]
    for one in asked:
        told = slagbot("replay", "r.json", "--ask", "same.py", "--at", f"{one.deal}.{one.at}").stdout
        assert told.endswith("the same now\n")
    with serving(drawing(SECRET)) as server:
        one = asked[0]
        told = slagbot("replay", "r.json", "--ask", server.url, "--at", f"{one.deal}.{one.at}").stdout
        assert told.endswith("the same now\n")


def test_what_a_bot_does_wrong_now_is_named(games, tmp_path):
    illegal = bot_file(tmp_path, "return 'play:ZZ'", name="illegal")
    assert (
        "now         play:ZZ, which is illegal" in slagbot("replay", "one.json", "--ask", illegal, "--at", "0.0").stdout
    )
    broken = bot_file(tmp_path, "raise RuntimeError", name="broken")
    assert "now         nothing: bad_status" in slagbot("replay", "one.json", "--ask", broken, "--at", "0.0").stdout
    told = json.loads(slagbot("replay", "one.json", "--ask", illegal, "--at", "0.0", "--json").stdout)
    assert told["answer"]["outcome"] == "illegal"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["r.jsonl", "--ask", "house:greedy", "--at", "0.0"], "expected one record, got several"),
        (["one.json", "--ask", "house:greedy", "--at", "99.0"], "expected a deal from 0 to"),
        (["one.json", "--ask", "house:greedy", "--at", "first"], "expected DEAL.EVENT such as 3.17, got 'first'"),
        (["one.json", "--ask", "nowhere.py", "--at", "0.0"], "expected a file such as"),
        (["one.json", "--at", "0.0"], "--ask"),
        (["missing.json", "--ask", "house:greedy", "--at", "0.0"], "missing.json"),
        (["text", "--ask", "house:greedy", "--at", "0.0"], "expected a record of format 1"),
    ],
)
def test_what_cannot_be_is_2_with_a_sentence(games, tmp_path, arguments, told):
    (tmp_path / "text").write_text("no record\n")
    assert told in slagbot("replay", *arguments, status=2).output


def test_what_the_bot_prints_is_no_part_of_the_answer(games, tmp_path):
    bot = bot_file(tmp_path, "print('hm')")
    told = slagbot("replay", "one.json", "--ask", bot, "--at", "0.0", "--json")
    assert json.loads(told.stdout)["at"] == "0.0"
    assert "hm" in told.stderr
