"""What an author's tests say of bots that are right, and of bots that aren't."""

from __future__ import annotations

import traceback

import pytest

from bot_sdk.bot import Bot, BotError
from bot_sdk.bots import house
from bot_sdk.hosting import serving
from bot_sdk.loading import LoadError
from bot_sdk.local import MatchError
from bot_sdk.positions import VARIANTS
from bot_sdk.testing import BotFault, BotTester

HAND = "AS TH 7H 4D JC 2C"


def deciding(decide, *rulesets):
    bot = Bot("mine")
    for ruleset in rulesets or ("seven_up", "river"):
        bot.on(ruleset)(decide)
    return bot


def first(decision):
    return decision.legal[0]


def test_a_bot_that_plays_legally_passes_over_all_kinds_of_tables():
    met = set()

    def decide(decision):
        met.add((len(decision.game.seats), decision.options["bidding"], decision.options["schedule"]))
        return decision.legal[-1]

    BotTester(deciding(decide, "river")).plays_legally("river", games=3)
    assert met == {(4, "sequential", "down_up"), (6, "simultaneous", "down_up"), (8, "sequential", "up_down")}
    assert len(VARIANTS["river"]) == 3


def test_it_plays_as_many_games_as_asked_in_every_seat_and_at_the_table_asked_for():
    games, seats = set(), set()

    def decide(decision):
        games.add(decision.game.id)
        seats.add(decision.seat)
        assert (len(decision.game.seats), decision.options["start_cards"]) == (5, 2)
        return first(decision)

    BotTester(deciding(decide)).plays_legally("river", games=7, seats=5, options={"start_cards": 2})
    assert (len(games), seats) == (7, set(range(5)))


def test_an_illegal_action_is_shown_with_the_decision_the_hand_what_was_legal_and_what_was_chosen():
    tester = BotTester(deciding(lambda decision: "play:ZZ" if decision.phase == "play" else first(decision)))
    with pytest.raises(BotFault) as caught:
        tester.answers("seven_up", phase="play", hand="AS TH", upcard="9S")
    said = str(caught.value).splitlines()
    assert said[0] == "expected a legal action, got 'play:ZZ'"
    lines = dict(line.split(maxsplit=1) for line in said[1:])
    assert lines["decision"].startswith("seven_up play, seat ")
    assert (lines["hand"], lines["chosen"], lines["trump"]) == ("TH AS", "play:ZZ", '"S"')
    assert set(lines["legal"].split()) <= {"play:TH", "play:AS"}
    assert len(lines["tricks"]) > 100
    assert isinstance(caught.value, AssertionError)


def test_a_fault_in_a_game_ends_the_match_and_names_the_decision():
    def decide(decision):
        return "bid:99" if decision.phase == "bid" and decision.observation["deal"] == 1 else first(decision)

    with pytest.raises(
        BotFault, match=r"(?s)legal action, got 'bid:99'.*river bid, seat \d of 4 \(offline:0/0/0\.0\.\d"
    ):
        BotTester(deciding(decide)).plays_legally("river", games=20)


def test_an_exception_is_shown_from_the_authors_own_line_on():
    def decide(decision):
        raise ZeroDivisionError("by hand")

    with pytest.raises(BotFault, match="expected an action, got ZeroDivisionError: by hand") as caught:
        BotTester(deciding(decide)).plays_legally("seven_up", games=1)
    frames = traceback.extract_tb(caught.value.__cause__.__traceback__)
    assert [frame.name for frame in frames] == ["decide"]


@pytest.mark.parametrize("wrong", [None, ["play:QH"], "plây:QH", ("a", "b", "c")])
def test_what_is_no_action_is_named(wrong):
    with pytest.raises(BotFault, match=r"expected an action such as 'stand', or .action, note. for beg, got "):
        BotTester(deciding(lambda _decision: wrong)).answers("seven_up", phase="beg", hand=HAND)


def test_a_late_answer_is_named_with_the_time_it_took(monkeypatch):
    ticks = iter(range(0, 100, 3))
    monkeypatch.setattr("bot_sdk.testing.time.perf_counter", lambda: next(ticks))
    with pytest.raises(BotFault, match="expected an answer within 1000 ms, got late after 3000 ms"):
        BotTester(deciding(first)).answers("seven_up", phase="beg", hand=HAND)


def test_the_answer_is_given():
    bot = deciding(lambda decision: ("beg" if "7H" in decision.hand else "stand", "a note"), "seven_up")
    assert BotTester(bot).answers("seven_up", phase="beg", hand=HAND) == "beg"
    assert BotTester(bot).answers("seven_up", phase="beg", hand=HAND.replace("7H", "8H")) == "stand"


def test_a_bot_may_spoil_the_lists_it_is_given():
    def decide(decision):
        decision.legal.clear()
        return "play:ZZ"

    with pytest.raises(BotFault, match="got 'play:ZZ'"):
        BotTester(deciding(decide)).answers("river", phase="play", hand="AS")


def test_the_better_bot_beats_the_worse_by_interval():
    (comparison,) = BotTester(house("house:greedy")).beats("house:random", ruleset="seven_up", games=60)
    assert comparison.low > 0
    assert (comparison.boards, comparison.games, comparison.second) == (30, 60, "house:random")


def test_without_a_ruleset_every_one_on_the_card_is_played():
    found = BotTester(house("house:greedy")).beats(house("house:random"), games=40)
    assert [comparison.games for comparison in found] == [40, 40]


def test_a_bot_that_is_no_better_fails_and_the_interval_says_by_how_much():
    says = r"expected to beat house:greedy in seven_up, got -0\.\d{3} \(-[01]\.\d{3} to [+-]0\.\d{3} at 95%, "
    with pytest.raises(BotFault, match=says):
        BotTester(house("house:random")).beats("house:greedy", ruleset="seven_up", games=60)
    with pytest.raises(BotFault, match=r"\+0\.000 .* over 10 boards, 20 games"):
        BotTester(deciding(first)).beats(deciding(first), ruleset="seven_up", games=19)


def test_an_opponent_has_to_play_what_is_played():
    with pytest.raises(MatchError, match="expected an opponent that plays river, got one that plays seven_up"):
        BotTester(house("house:greedy")).beats(deciding(first, "seven_up"), ruleset="river")


def test_a_match_needs_two_boards():
    with pytest.raises(MatchError, match="expected more than 4 games, which are one board at a table, got 4"):
        BotTester(house("house:greedy")).beats("house:random", ruleset="river", games=4)


OWN = """
from bot_sdk import Bot

mine = Bot("mine")


@mine.on("seven_up")
def last(decision):
    return decision.legal[-1]
"""


def test_a_bot_is_also_a_file_or_a_url(tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    assert BotTester(f"{tmp_path / 'own.py'}:mine").answers("seven_up", phase="beg", hand=HAND) == "beg"
    with pytest.raises(BotFault, match="expected a bot that plays river, got one that plays seven_up"):
        BotTester(f"{tmp_path / 'own.py'}:mine").plays_legally("river")
    with pytest.raises(LoadError):
        BotTester(f"{tmp_path / 'none.py'}:mine")
    with pytest.raises(BotError, match="every phase of a ruleset"):
        BotTester(Bot("empty"))


def test_a_bot_behind_a_url_is_held_to_the_same():
    def decide(decision):
        if decision.phase == "play":
            raise ZeroDivisionError("by hand")
        return first(decision)

    with serving(deciding(decide)) as server:
        assert BotTester(server.url).answers("seven_up", phase="beg", hand=HAND) == "stand"
        with pytest.raises(BotFault, match=r"(?s)got bad_status after \d+ ms.*chosen +nothing"):
            BotTester(server.url).answers("seven_up", phase="play", hand=HAND)
