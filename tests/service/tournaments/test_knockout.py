"""Knockouts of every size, with favourites, surprises and withdrawals: full tables, the better go on, an end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot_sdk.results.values import Round
from service.tournaments.errors import ImpossibleScheduleError
from service.tournaments.knockout import default_advance, knockout_round, tables_by_round

FORMS = [(2, 1), *((size, advance) for size in range(4, 9) for advance in range(1, size))]


class Knockout:
    """A knockout played to its end: `rank` says how a table ends, `leave` who withdraws before a round is drawn."""

    def __init__(
        self,
        n: int,
        size: int,
        advance: int,
        rank: Callable[[Sequence[str]], Sequence[str]],
        leave: Callable[[list[str]], Sequence[str]] = lambda _: [],
    ) -> None:
        self.entries = [f"bot_{number:02}" for number in range(1, n + 1)]  # ids sort by seed
        self.rounds: list[Round] = []
        self.rankings: list[list[Sequence[str]]] = []
        self.gone: set[str] = set()
        self.gone_before: list[set[str]] = []
        while self._draw(size, advance, leave) and len(self.rounds) <= n:
            self.rankings.append([rank(table) for table in self.rounds[-1].tables])

    def _draw(self, size, advance, leave) -> bool:
        self.gone.update(leave([bot for bot in self.entries if bot not in self.gone]))
        self.gone_before.append(set(self.gone))
        drawn = knockout_round(
            self.entries, self.rounds, self.rankings, table_size=size, advance=advance, gone=self.gone
        )
        self.rounds += [drawn] if drawn else []
        return drawn is not None

    def part(self, number: int) -> list[str]:
        return sorted([*self.rounds[number].byes, *(bot for table in self.rounds[number].tables for bot in table)])


@cache
def favourites(n: int, size: int, advance: int) -> Knockout:
    return Knockout(n, size, advance, sorted)


@cache
def surprises(n: int, size: int, advance: int) -> Knockout:
    rng = Random(f"{n}/{size}/{advance}")
    return Knockout(n, size, advance, lambda table: rng.sample(table, size))


SOME = {*range(2, 25), 31, 32, 33, 47, 48, 49, *range(63, 67)}


@pytest.fixture(params=["some", pytest.param("every", marks=pytest.mark.soak)])
def fields(request):
    """Give from how many entries on up to 66 a knockout is played: to some numbers of them, or to every one."""
    return lambda least: [n for n in range(least, 67) if n in SOME or request.param == "every"]


@pytest.mark.parametrize(("size", "advance"), FORMS)
def test_a_knockout_of_any_size_ends_with_the_tables_counted_beforehand(size, advance, fields):
    for n in fields(size):
        played = surprises(n, size, advance)
        counted = tables_by_round(n, table_size=size, advance=advance)
        assert [len(round_.tables) for round_ in played.rounds] == counted
        assert len(played.rounds[-1].tables[0]) == size
        assert played.rounds[-1].byes == ()


@pytest.mark.parametrize(("size", "advance"), FORMS)
def test_tables_are_full_and_nobody_is_twice_in_a_round(size, advance, fields):
    for n in fields(size):
        played = surprises(n, size, advance)
        for number, round_ in enumerate(played.rounds):
            assert all(len(table) == size for table in round_.tables)
            assert len(set(played.part(number))) == len(played.part(number))
        assert played.part(0) == played.entries


@pytest.mark.parametrize(("size", "advance"), FORMS)
def test_who_is_best_at_a_table_goes_on_and_the_rest_only_to_fill_the_final(size, advance, fields):
    for n in fields(size):
        played = surprises(n, size, advance)
        for number, ranking in enumerate(played.rankings[:-1]):
            best = sorted([*played.rounds[number].byes, *(bot for table in ranking for bot in table[:advance])])
            following = played.part(number + 1)
            assert set(best) <= set(following)
            if following != best:
                losers = sorted((rank, bot) for table in ranking for rank, bot in enumerate(table) if rank >= advance)
                assert following == sorted(best + [bot for _, bot in losers[: size - len(best)]])
                assert len(following) == size


@pytest.mark.parametrize(("size", "advance"), FORMS)
def test_byes_go_to_the_best_seeds(size, advance, fields):
    for n in fields(size):
        played = surprises(n, size, advance)
        for number, round_ in enumerate(played.rounds):
            assert sorted(round_.byes) == played.part(number)[: len(round_.byes)]


@pytest.mark.parametrize(("size", "advance"), FORMS)
def test_if_favourites_win_the_best_two_meet_in_the_final_only(size, advance, fields):
    for n in fields(size):
        *earlier, final = favourites(n, size, advance).rounds
        assert {"bot_01", "bot_02"} <= set(final.tables[0])
        assert not any({"bot_01", "bot_02"} <= set(table) for round_ in earlier for table in round_.tables)


def test_if_favourites_win_a_bracket_halves_the_field_from_below():
    for n in range(2, 67):
        played = favourites(n, 2, 1)
        for back, number in enumerate(reversed(range(1, len(played.rounds))), start=1):
            assert played.part(number) == played.entries[: 2**back]
            assert played.rounds[number].byes == ()


def test_a_bracket_of_eight_is_the_usual_one():
    first, second, final = favourites(8, 2, 1).rounds
    assert [{int(bot[-2:]) for bot in table} for table in first.tables] == [{1, 8}, {4, 5}, {2, 7}, {3, 6}]
    assert [{int(bot[-2:]) for bot in table} for table in second.tables] == [{1, 4}, {2, 3}]
    assert [{int(bot[-2:]) for bot in table} for table in final.tables] == [{1, 2}]


def test_seeds_are_spread_to_and_fro_over_the_tables():
    first = favourites(12, 4, 2).rounds[0]
    assert [{int(bot[-2:]) for bot in table} for table in first.tables] == [{1, 6, 7, 12}, {2, 5, 8, 11}, {3, 4, 9, 10}]


def test_the_first_seat_goes_to_who_had_it_less_and_then_to_the_better_seed():
    first, second, final = Knockout(8, 2, 1, lambda table: sorted(table, reverse=True)).rounds
    assert first.tables == (
        ("bot_01", "bot_08"),
        ("bot_04", "bot_05"),
        ("bot_02", "bot_07"),
        ("bot_03", "bot_06"),
    )
    assert second.tables == (("bot_05", "bot_08"), ("bot_06", "bot_07"))
    assert final.tables == (("bot_07", "bot_08"),)
    assert favourites(6, 2, 1).rounds[1].tables == (("bot_01", "bot_04"), ("bot_02", "bot_03"))


@pytest.mark.parametrize(("size", "advance"), FORMS[1:])
def test_seats_are_level(size, advance, fields):
    for n in fields(size):
        played = surprises(n, size, advance)
        sat = Counter(
            (bot, seat) for round_ in played.rounds for table in round_.tables for seat, bot in enumerate(table)
        )
        games = Counter(bot for bot, _ in sat.elements())
        assert all(times <= -(-games[bot] // size) + 1 for (bot, _), times in sat.items())


@st.composite
def stormy(draw, forms: Sequence[tuple[int, int]] = FORMS) -> tuple[Knockout, int, int]:
    size, advance = draw(st.sampled_from(forms))
    rng = draw(st.randoms(use_true_random=False))
    storm = draw(st.sampled_from([0.05, 0.2, 0.5]))
    n = draw(st.integers(size, 40))
    played = Knockout(
        n,
        size,
        advance,
        lambda table: rng.sample(table, size),
        lambda left: [bot for bot in left if rng.random() < storm],
    )
    return played, size, advance


@given(stormy())
def test_withdrawals_leave_no_knockout_stuck(stormed):
    played, size, _ = stormed
    assert len(played.rounds) <= len(played.entries)
    for number, round_ in enumerate(played.rounds):
        assert round_.tables
        assert all(len(set(table)) == size for table in round_.tables)
        assert len(set(played.part(number))) == len(played.part(number))
        assert not played.gone_before[number].intersection(played.part(number))


@given(stormy())
def test_after_withdrawals_nobody_left_is_out_while_places_are_free(stormed):
    played, size, advance = stormed
    for number, ranking in enumerate(played.rankings[:-1]):
        gone = played.gone_before[number + 1]
        for table in ranking:
            left = [bot for bot in table if bot not in gone]
            assert set(left[:advance]) <= set(played.part(number + 1))
        assert set(played.rounds[number].byes) - gone <= set(played.part(number + 1))
        assert size == 2 or len(played.part(number + 1)) >= size


@given(stormy(forms=[(2, 1)]))
def test_at_most_one_entry_of_a_bracket_is_unbeaten(stormed):
    played, _, _ = stormed
    beaten = {table[1] for ranking in played.rankings for table in ranking}
    unbeaten = set(played.entries) - beaten - played.gone
    assert len(unbeaten) <= 1


def test_the_place_of_who_withdraws_goes_to_the_next_at_the_table():
    rounds = [Round((("a", "d"), ("b", "c")))]
    drawn = knockout_round("abcd", rounds, [["ad", "bc"]], table_size=2, advance=1, gone={"a"})
    assert drawn == Round((("d", "b"),))


def test_a_table_whose_entries_are_all_gone_gives_the_next_opponent_a_bye():
    rounds = [Round((("a", "h"), ("d", "e"), ("b", "g"), ("c", "f")))]
    drawn = knockout_round("abcdefgh", rounds, [["ah", "de", "bg", "cf"]], table_size=2, advance=1, gone={"d", "e"})
    assert drawn == Round((("b", "c"),), ("a",))


def test_a_round_in_which_nobody_has_an_opponent_is_left_out():
    rounds = [Round((("a", "h"), ("d", "e"), ("b", "g"), ("c", "f")))]
    drawn = knockout_round("abcdefgh", rounds, [["ah", "de", "bg", "cf"]], table_size=2, advance=1, gone=set("decf"))
    assert drawn == Round((("a", "b"),))


def test_the_bracket_is_made_of_those_who_are_there_at_the_start():
    assert knockout_round("abcde", [], [], table_size=2, advance=1, gone={"b"}) == Round((("a", "e"), ("c", "d")))


def test_the_best_losers_fill_the_final_after_withdrawals():
    rounds = [Round((("a", "d", "e", "h"), ("b", "c", "f", "g")))]
    drawn = knockout_round("abcdefgh", rounds, [["adeh", "gfcb"]], table_size=4, advance=2, gone={"a", "d", "f", "g"})
    assert drawn is not None
    assert sorted(drawn.tables[0]) == ["b", "c", "e", "h"]


@pytest.mark.parametrize(
    ("entries", "rounds", "rankings", "size", "gone"),
    [
        ("ab", [], [], 2, "a"),
        ("abcd", [], [], 4, "c"),
        ("ab", [Round((("a", "b"),))], [["ba"]], 2, ""),
        ("abcd", [Round((tuple("abcd"),))], [["dcba"]], 4, ""),
        ("abc", [Round((("b", "c"),), ("a",))], [["bc"]], 2, "bc"),
        ("abcde", [Round((tuple("bcde"),), ("a",))], [["bcde"]], 4, "bc"),
    ],
)
def test_a_decided_knockout_has_no_further_round(entries, rounds, rankings, size, gone):
    assert knockout_round(entries, rounds, rankings, table_size=size, advance=size // 2, gone=gone) is None


def test_half_of_a_table_goes_on_unless_said_otherwise():
    assert [default_advance(size) for size in (2, 4, 5, 6, 7, 8)] == [1, 2, 2, 3, 3, 4]


@pytest.mark.parametrize(
    ("entries", "size", "advance", "message"),
    [
        ("abc", 4, 2, "expected at least 4 entries for tables of 4, got 3"),
        ("aab", 2, 1, "expected each entry once, got 'a' 2 times"),
        ("abcd", 4, 4, "expected advance to be from 1 to 3 at tables of 4, got 4"),
        ("abcd", 4, 0, "expected advance to be from 1 to 3 at tables of 4, got 0"),
        ("abcd", 2, 2, "expected advance to be 1 at tables of 2, got 2"),
    ],
)
def test_an_impossible_knockout_says_what_would_do(entries, size, advance, message):
    with pytest.raises(ImpossibleScheduleError) as refused:
        knockout_round(entries, [], [], table_size=size, advance=advance, gone=())
    assert str(refused.value) == message


@pytest.mark.soak
@pytest.mark.parametrize(("size", "advance"), FORMS)
def test_every_size_of_field_weathers_withdrawals(size, advance):
    for n in range(size, 65):
        for storm in (0.02, 0.1, 0.4):
            rng = Random(f"{n}/{storm}")
            played = Knockout(
                n,
                size,
                advance,
                lambda table, rng=rng: rng.sample(table, size),
                lambda left, rng=rng, storm=storm: [bot for bot in left if rng.random() < storm],
            )
            assert len(played.rounds) <= n
            assert all(len(set(table)) == size for round_ in played.rounds for table in round_.tables)


def test_the_sum_of_tables_decides_all_but_one_of_a_bracket():
    assert all(sum(tables_by_round(n, table_size=2, advance=1)) == n - 1 for n in range(2, 200))


def test_pairs_of_a_bracket_never_meet_again():
    played = surprises(33, 2, 1)
    met = Counter(
        frozenset(pair) for round_ in played.rounds for table in round_.tables for pair in combinations(table, 2)
    )
    assert set(met.values()) == {1}
