"""Swiss rounds of two seats: against all pairings there are where these can be listed, else in whole tournaments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot_sdk.results.lots import lot
from bot_sdk.results.values import Round
from service.tournaments.errors import ImpossibleScheduleError
from service.tournaments.swiss import swiss_round

FIELDS = [5, 6, 7, 8, 9, 10, 13, 16, 21, 32, 33, 63, 64]


def field(n: int) -> list[str]:
    return [f"bot_{number}" for number in range(n)]


def draw(entries, rounds, scores, seed=1) -> Round:
    return swiss_round(entries, rounds, scores, table_size=2, seed=seed)


def play(n: int, rounds: int, seed: int, stay: Callable[[int, list[str]], list[str]] | None = None) -> list[Round]:
    """Play a tournament among bots of random strength; `stay` says who is left before each round."""
    rng = Random(f"{n}/{seed}")
    entries = field(n)
    strength = {bot: rng.gauss(0, 1) for bot in entries}
    scores: Counter[str] = Counter()
    played: list[Round] = []
    for number in range(rounds):
        entries = stay(number, entries) if stay else entries
        played.append(draw(entries, played, scores, seed))
        assert sorted(seated(played[-1]) + list(played[-1].byes)) == sorted(entries)
        scores.update(played[-1].byes)
        for one, other in played[-1].tables:
            scores[one if rng.random() < 1 / (1 + 10 ** (strength[other] - strength[one])) else other] += 1
    return played


def seated(round_: Round) -> list[str]:
    return [bot for table in round_.tables for bot in table]


def met(rounds: list[Round]) -> Counter[frozenset[str]]:
    return Counter(frozenset(table) for round_ in rounds for table in round_.tables)


def byes(rounds: list[Round]) -> Counter[str]:
    return Counter(bot for round_ in rounds for bot in round_.byes)


def check_without_rematch(n: int) -> None:
    rounds = play(n, n // 2, seed=n)
    assert max(met(rounds).values()) == 1
    assert max(byes(rounds).values(), default=0) <= 1
    assert byes(rounds).total() == n // 2 * (n % 2)


@pytest.mark.parametrize("n", FIELDS)
def test_nobody_meets_twice_or_has_two_byes_in_the_first_half_of_all_rounds(n):
    check_without_rematch(n)


@pytest.mark.soak
@pytest.mark.parametrize("n", sorted(set(range(5, 65)) - set(FIELDS)))
def test_in_no_field_up_to_64_anybody_meets_twice_or_has_two_byes(n):
    check_without_rematch(n)


# --- against every pairing there is -----------------------------------------------------------------------------------


def pairings(entries: list[str]) -> Iterator[tuple[list[tuple[str, str]], list[str]]]:
    """List every way to pair entries, with every choice of the bye."""
    if len(entries) % 2:
        for bye in entries:
            yield from ((pairs, [bye]) for pairs, _ in pairings([bot for bot in entries if bot != bye]))
    elif not entries:
        yield [], []
    else:
        one, *others = entries
        for other in others:
            for pairs, _ in pairings([bot for bot in others if bot != other]):
                yield [(one, other), *pairs], []


def badness(pairs, idle, ranked, rounds, scores) -> tuple[float, ...]:
    """Say how bad a pairing is, the worst first: byes, rematches, whom the bye is for, scores, ranks."""
    times, rested = met(rounds), byes(rounds)
    fewest = min(times[frozenset(pair)] for pair in combinations(ranked, 2))
    again = [times[frozenset(pair)] - fewest for pair in pairs]
    return (
        sum(rested[bot] for bot in idle),
        sum(more > 0 for more in again),
        sum(again),
        sum(len(ranked) - ranked.index(bot) for bot in idle),
        sum((scores.get(one, 0) - scores.get(other, 0)) ** 2 for one, other in pairs),
        sum(abs(ranked.index(one) - ranked.index(other)) for one, other in pairs),
    )


@st.composite
def situations(draw_):
    """Small fields after any number of rounds, however they were paired, and some entries gone since."""
    n = draw_(st.integers(2, 9))
    entries = field(n)
    rounds = []
    for _ in range(draw_(st.integers(0, 9))):
        order = draw_(st.permutations(entries))
        tables = zip(order[: n // 2 * 2 : 2], order[1::2], strict=True)
        rounds.append(Round(tuple(tables), tuple(order[n // 2 * 2 :])))
    stay = draw_(st.lists(st.sampled_from(entries), min_size=2, max_size=8, unique=True))
    scores = draw_(st.dictionaries(st.sampled_from(entries), st.integers(0, 12).map(lambda halves: halves / 2)))
    return stay, rounds, scores, draw_(st.integers(0, 2**63))


@settings(deadline=None)
@given(situations())
def test_no_pairing_is_better(situation):
    stay, rounds, scores, seed = situation
    drawn = draw(stay, rounds, scores, seed)
    ranked = sorted(stay, key=lambda bot: (-scores.get(bot, 0), lot(seed, bot)))
    best = min(badness(pairs, idle, ranked, rounds, scores) for pairs, idle in pairings(stay))
    assert badness(drawn.tables, drawn.byes, ranked, rounds, scores) == best


@settings(deadline=None)
@given(situations(), st.randoms(use_true_random=False))
def test_the_order_of_entries_says_nothing(situation, random):
    stay, rounds, scores, seed = situation
    assert draw(random.sample(stay, len(stay)), rounds, scores, seed) == draw(stay, rounds, scores, seed)


# --- single behaviours ------------------------------------------------------------------------------------------------


def test_the_first_round_is_drawn_by_lot():
    firsts = {frozenset(met([draw(field(8), [], {}, seed)])) for seed in range(20)}
    assert len(firsts) > 10


def test_leaders_sit_at_the_first_table_and_equal_scores_meet():
    scores = {"bot_0": 1, "bot_1": 3, "bot_2": 2, "bot_3": 3, "bot_4": 1, "bot_5": 2}
    tables = [set(table) for table in draw(field(6), [], scores).tables]
    assert tables == [{"bot_1", "bot_3"}, {"bot_2", "bot_5"}, {"bot_0", "bot_4"}]


def test_the_bye_is_for_the_last_who_has_had_none():
    scores = {f"bot_{number}": 10 - number for number in range(5)}
    had = [Round((("bot_0", "bot_1"), ("bot_2", "bot_3")), ("bot_4",))]
    assert draw(field(5), [], scores).byes == ("bot_4",)
    assert draw(field(5), had, scores).byes == ("bot_3",)


def test_the_bye_leaves_no_rematch_if_another_can_have_it():
    # With the bye for bot_4, the last, bot_3 would have to meet somebody again.
    had = [Round((("bot_3", "bot_0"),)), Round((("bot_3", "bot_1"),)), Round((("bot_3", "bot_2"),))]
    scores = {f"bot_{number}": 10 - number for number in range(5)}
    drawn = draw(field(5), had, scores)
    assert drawn.byes == ("bot_3",)
    assert max(met([*had, drawn]).values()) == 1


def test_a_second_bye_comes_only_after_everybody_had_one():
    for rounds in (play(7, 7, seed) for seed in range(10)):
        assert byes(rounds) == dict.fromkeys(field(7), 1)


def test_two_play_each_other_for_ever_and_change_seats():
    tables = [round_.tables for round_ in play(2, 4, seed=0)]
    assert tables[0] == tables[2] != tables[1] == tables[3]


@pytest.mark.parametrize("n", [5, 8, 11])
def test_after_all_have_met_the_next_cycle_begins(n):
    rounds = play(n, 4 * n, seed=3)
    times = met(rounds)
    assert max(times.values()) - min(times[frozenset(pair)] for pair in combinations(field(n), 2)) <= 3
    assert max(byes(rounds).values(), default=0) <= 4


@pytest.mark.parametrize("seed", range(5))
def test_withdrawals_leave_nobody_without_an_opponent(seed):
    rng = Random(seed)

    def stay(_: int, entries: list[str]) -> list[str]:
        return [bot for bot in entries if rng.random() < 0.95] if len(entries) > 8 else entries

    rounds = play(41, 40, seed, stay)
    assert len(rounds[-1].tables) >= 2


@pytest.mark.parametrize("n", [6, 9, 20, 33])
def test_seats_are_shared_evenly(n):
    rounds = play(n, n // 2 + 10, seed=n)
    for bot in field(n):
        seats = Counter(table.index(bot) for round_ in rounds for table in round_.tables if bot in table)
        assert abs(seats[0] - seats[1]) <= 3


def test_seat_0_goes_to_who_has_sat_there_less_then_to_who_did_not_last():
    less = [Round((("bot_0", "bot_2"),)), Round((("bot_3", "bot_1"),))]
    assert draw(["bot_0", "bot_1"], less, {}).tables == (("bot_1", "bot_0"),)
    even = [*less, Round((("bot_2", "bot_0"),)), Round((("bot_1", "bot_3"),))]
    assert draw(["bot_0", "bot_1"], even, {}).tables == (("bot_0", "bot_1"),)


def test_too_few_entries_are_refused():
    with pytest.raises(ImpossibleScheduleError, match=r"^expected at least 2 entries for tables of 2, got 1$"):
        draw(["bot_0"], [], {})
    with pytest.raises(ImpossibleScheduleError, match="got 'bot_0' 2 times"):
        draw(["bot_0", "bot_0"], [], {})
