from __future__ import annotations

import pytest

from bot_sdk import messages
from bot_sdk.bot import Bot
from bot_sdk.bots import house
from bot_sdk.events import Outcome, RetiredBecause
from bot_sdk.games import record
from bot_sdk.games.options import OptionError
from bot_sdk.games.registry import RULESETS, RulesetError
from bot_sdk.local import ROTATIONS, Answered, InProcess, Match, MatchError, in_process, play, seated

RANDOM = in_process(house("house:random"), bot_id="house:random")


def river(**options):
    return Match(RULESETS["river"], {"start_cards": 2, **options})


def named(name, decide):
    bot = Bot(name)
    for ruleset in RULESETS:
        bot.on(ruleset)(decide)
    return in_process(bot)


def first(decision):
    return decision.legal[0]


def broken(decision):
    raise RuntimeError("by hand")


@pytest.mark.parametrize("ruleset", RULESETS)
def test_records_are_complete_and_verify(ruleset):
    rules = RULESETS[ruleset]
    table = seated([RANDOM, named("first", first)], rules.min_seats)
    for played in play(Match(rules), table, games=4, seed="records"):
        read = record.read(record.encode(played.record))
        assert record.verify(read).places == played.game.places
        assert [seat.kind for seat in read.seats].count("house") == rules.min_seats // 2
        assert read.seats[played.players.index(0)] == record.SeatShown("random", "house", "house:random", "1")


def test_each_board_is_dealt_again_with_every_player_once_in_every_seat():
    table = [named(name, first) for name in "abcd"]
    legs = list(play(river(), table, games=8, seed="x"))
    for board in (0, 1):
        seats = [leg.players for leg in legs if leg.board == board]
        assert [sorted(column) for column in zip(*seats, strict=True)] == [[0, 1, 2, 3]] * 4
        decks = {leg.record.deals[0].deck[0] + leg.record.deals[0].deck[1] for leg in legs if leg.board == board}
        assert len(decks) == 1
    assert legs[0].record.deals[0].deck != legs[4].record.deals[0].deck
    assert [seat.name for seat in legs[0].record.seats] == ["a", "b", "d", "c"]
    assert len({leg.record.game_id for leg in legs}) == 8


@pytest.mark.parametrize("seats", ROTATIONS)
def test_rotations_name_each_player_once(seats):
    assert sorted(ROTATIONS[seats]) == list(range(seats))


def test_the_same_seed_plays_the_same_games_and_another_seed_others():
    def actions(seed):
        return [
            [event.action for event in played.game.log] for played in play(river(), [RANDOM] * 4, games=2, seed=seed)
        ]

    assert actions("a") == actions("a") != actions("b")


def test_a_bot_that_raises_is_bad_status_and_retires(caplog):
    table = [named("broken", broken), RANDOM, RANDOM, RANDOM]
    (played,) = play(river(), table, games=1)
    assert played.game.outcomes[0] == {Outcome.BAD_STATUS: 5, Outcome.RETIRED: played.game.decisions[0] - 5}
    assert played.game.retired[0] is RetiredBecause.FAULTS
    assert played.record.seats[0].retired
    assert "by hand" in caplog.text
    record.verify(played.record)


def test_a_game_nobody_answers_is_void_and_its_record_verifies():
    (played,) = play(Match(RULESETS["seven_up"]), [named("x", broken), named("y", broken)], games=1)
    assert (played.record.status, played.record.places) == ("void", None)
    record.verify(played.record)


def test_illegal_actions_are_named_and_the_fallback_is_played():
    (played,) = play(river(), [named("wrong", lambda _decision: "play:ZZ"), RANDOM, RANDOM, RANDOM], games=1)
    assert played.game.outcomes[0][Outcome.ILLEGAL] == 5


def test_what_takes_longer_than_the_budget_is_late_by_the_time_it_took():
    ticks = iter([0.0, 2.5])
    slow = InProcess(named("slow", first).bot, RANDOM.shown, clock=lambda: next(ticks))
    decision = messages.Decision(
        decision_id="g.0.0", budget_ms=2000, last=None, game=messages.GameInfo("g", "river", {}, ["a"] * 4),
        seat=0, phase="bid", observation={}, legal_actions=["bid:0"],
    )  # fmt: skip
    assert slow.ask(decision) == Answered(Outcome.LATE, 2500.0)


def test_budgets_names_and_last_reach_the_bot():
    seen = []

    def watch(decision):
        seen.append(decision)
        return decision.legal[0]

    list(play(river(), [named("watch", watch), RANDOM, RANDOM, RANDOM], games=1))
    assert [decision.budget_ms for decision in seen][:2] == [5000, 1000]
    assert seen[0].last is None
    assert seen[1].last.outcome is Outcome.OK
    assert seen[0].game.seats == ["watch", "random", "random", "random"]
    assert [decision.id.rsplit(".", 1)[1] for decision in seen] == [str(number) for number in range(len(seen))]


def test_hooks_hear_of_beginning_and_end_with_the_result():
    heard = []
    bot = Bot("ears")
    bot.on("river")(first)
    bot.on_game_started(heard.append)
    bot.on_game_ended(heard.append)
    (played,) = play(river(), [in_process(bot), RANDOM, RANDOM, RANDOM], games=1)
    started, ended = heard
    assert (started.seat, started.game.id) == (0, played.record.game_id)
    assert (ended.totals, ended.places) == (played.record.totals, played.record.places)
    assert ended.outcomes == {"ok": played.game.decisions[0]}


def test_a_table_that_cannot_be_is_refused_before_the_first_game():
    with pytest.raises(RulesetError, match="4 to 8 seats"):
        next(play(river(), [RANDOM] * 3, games=1))
    with pytest.raises(OptionError, match="at most 6"):
        next(play(river(start_cards=7), [RANDOM] * 8, games=1))
    with pytest.raises(MatchError, match="1 to 2 players for 2 seats, got 3"):
        seated([RANDOM] * 3, 2)


def test_fewer_players_than_seats_sit_down_in_turn():
    a, b = named("a", first), named("b", first)
    assert seated([a, b], 5) == [a, b, a, b, a]
