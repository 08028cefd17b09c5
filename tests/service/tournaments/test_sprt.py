"""The sequential test: its bounds, its order, and its error rates over simulated matches."""

from __future__ import annotations

from itertools import islice
from math import log
from random import Random
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from service.store.entities import Sprt
from service.tournaments.sprt import Verdict, course, judge

SCORES = [0, 0.5, 1, 1.5, 2]


@given(st.lists(st.sampled_from([*SCORES, None]), max_size=60))
def test_course_leads_pair_by_pair_to_where_the_test_stands(scores):
    test = Sprt(elo0=0, elo1=150)
    ratios, state = course(test, scores), judge(test, scores)
    assert len(ratios) == state.pairs
    counted = [score for score in scores if score is not None]
    assert ratios == [judge(test, counted[: number + 1]).llr for number in range(state.pairs)]


def test_the_bounds_are_walds():
    state = judge(Sprt(elo0=0, elo1=50, alpha=0.05, beta=0.1), [])
    assert (state.lower, state.upper) == pytest.approx((log(0.1 / 0.95), log(0.9 / 0.05)))
    assert (state.llr, state.pairs, state.verdict, state.crossing) == (0, 0, None, None)


@pytest.mark.parametrize(("scores", "verdict"), [([2.0] * 40, Verdict.H1), ([0.0] * 40, Verdict.H0)])
def test_clear_matches_end_early(scores, verdict):
    state = judge(Sprt(elo0=0, elo1=100), scores)
    assert state.verdict is verdict
    assert 2 < state.pairs < 20
    assert state.crossing == state.pairs - 1


def test_level_pairs_are_no_certainty_at_once():
    test = Sprt(elo0=-5, elo1=5)
    assert judge(test, [1.0] * 20).verdict is None
    assert judge(test, [1.0] * 20).llr == pytest.approx(0, abs=1e-9)
    assert judge(Sprt(elo0=0, elo1=100), [1.0] * 40).verdict is Verdict.H0


@given(st.lists(st.sampled_from([*SCORES, None]), max_size=60), st.lists(st.sampled_from(SCORES), max_size=20))
def test_pairs_after_the_crossing_dont_matter(scores, more):
    test = Sprt(elo0=0, elo1=150)
    state = judge(test, scores)
    if state.verdict is not None:
        assert judge(test, [*scores, *more]) == state
        assert judge(test, scores[: state.crossing + 1]) == state
        assert judge(test, scores[: state.crossing]).verdict is None


@given(st.lists(st.sampled_from([*SCORES, None]), max_size=60))
def test_pairs_that_dont_count_are_passed_over(scores):
    test = Sprt(elo0=0, elo1=150)
    state, bare = judge(test, scores), judge(test, [score for score in scores if score is not None])
    assert (state.llr, state.pairs, state.verdict) == (bare.llr, bare.pairs, bare.verdict)
    if state.crossing is not None:
        assert sum(score is not None for score in scores[: state.crossing + 1]) == state.pairs


@given(st.lists(st.sampled_from(SCORES), max_size=40))
def test_seen_from_the_other_side_the_hypotheses_swap(scores):
    mine = judge(Sprt(elo0=-20, elo1=70, alpha=0.02, beta=0.1), scores)
    others = judge(Sprt(elo0=-70, elo1=20, alpha=0.1, beta=0.02), [2 - score for score in scores])
    assert others.llr == pytest.approx(-mine.llr, abs=1e-9)
    assert others.pairs == mine.pairs


def test_the_ratio_is_that_of_the_greatest_likelihoods():
    scores = [0, 0.5, 1, 1, 1.5, 2, 2, 1, 1, 1.5]
    expected = [1 / (1 + 10 ** (-elo / 400)) for elo in (0, 60)]
    middle = sum(expected) / 2
    counts = [1 + 2 * (1 - middle), 1, 4, 2, 2 + 2 * middle]

    def greatest(mean: float) -> float:
        found = optimize.minimize(
            lambda p: -sum(count * log(max(share, 1e-12)) for count, share in zip(counts, p, strict=True)),
            [0.2] * 5,
            bounds=[(1e-9, 1)] * 5,
            constraints=[
                {"type": "eq", "fun": lambda p: sum(p) - 1},
                {"type": "eq", "fun": lambda p: sum(share * s / 2 for share, s in zip(p, SCORES, strict=True)) - mean},
            ],
            options={"ftol": 1e-14, "maxiter": 1000},
        )
        return -found.fun

    state = judge(Sprt(elo0=0, elo1=60), scores)
    assert state.llr == pytest.approx(greatest(expected[1]) - greatest(expected[0]), abs=1e-6)


def test_a_score_that_no_pair_has_is_refused():
    with pytest.raises(ValueError, match=r"of 0, 0\.5, 1, 1\.5 or 2, got 0\.7"):
        judge(Sprt(elo0=0, elo1=10), [0.7])


@pytest.mark.parametrize("elo", [-1000, 1000])
def test_the_farthest_hypotheses_can_be_judged(elo):
    test = Sprt(elo0=min(elo, 0), elo1=max(elo, 0))
    assert judge(test, [1.0] * 50).verdict is (Verdict.H0 if elo > 0 else Verdict.H1)


# Error rates


def pairs(elo: float, likeness: float, rng: Random):
    """Yield the scores of pairs without end: each game won as `elo` expects, the two of a pair alike or opposed.

    At likeness -0.9 the cards decide: whoever has the better seat wins, and pairs are mostly split. At 0.8 most
    pairs have one winner.
    """
    threshold = NormalDist().inv_cdf(1 / (1 + 10 ** (-elo / 400)))
    while True:
        one = rng.gauss(0, 1)
        other = likeness * one + (1 - likeness**2) ** 0.5 * rng.gauss(0, 1)
        yield float((one < threshold) + (other < threshold))


def errors(test: Sprt, holds: Verdict, likeness: float, *, runs: int, most: int) -> int:
    """Count the matches of at most so many pairs that end with the hypothesis that doesn't hold."""
    rng = Random(f"{test}/{holds}/{likeness}")
    elo = test.elo0 if holds is Verdict.H0 else test.elo1
    wrong = 0
    for _ in range(runs):
        verdict = judge(test, islice(pairs(elo, likeness, rng), most)).verdict
        wrong += verdict is not None and verdict is not holds
    return wrong


def assert_within(rate: float, wrong: int, runs: int) -> None:
    """Fail if so many errors would come up once in 10,000 times by chance at that rate."""
    assert stats.binomtest(wrong, runs, rate, alternative="greater").pvalue > 1e-4, f"{wrong} of {runs}"


@pytest.mark.parametrize("likeness", [-0.9, 0.0, 0.8])
@pytest.mark.parametrize("holds", list(Verdict))
@pytest.mark.parametrize(("elo0", "elo1"), [(0, 200), (100, 250)])
def test_errors_are_within_their_rates(elo0, elo1, holds, likeness):
    test = Sprt(elo0=elo0, elo1=elo1, alpha=0.05, beta=0.1)
    wrong = errors(test, holds, likeness, runs=1000, most=80)
    assert_within(0.05 if holds is Verdict.H0 else 0.1, wrong, 1000)


@pytest.mark.soak
@pytest.mark.parametrize("rate", [0.05, 0.01])
@pytest.mark.parametrize("likeness", [-0.9, 0.0, 0.8])
@pytest.mark.parametrize("holds", list(Verdict))
@pytest.mark.parametrize(("elo0", "elo1", "most"), [(0, 50, 600), (-50, 50, 300), (0, 400, 60), (200, 300, 400)])
def test_errors_are_within_their_rates_over_many_matches(elo0, elo1, most, holds, likeness, rate):
    test = Sprt(elo0=elo0, elo1=elo1, alpha=rate, beta=rate)
    assert_within(rate, errors(test, holds, likeness, runs=2000, most=most), 2000)


def test_matches_between_level_bots_end_with_h0_and_between_unlike_ones_with_h1():
    test = Sprt(elo0=0, elo1=200)
    for holds, elo in ((Verdict.H0, 0), (Verdict.H1, 200)):
        rng = Random(f"power/{holds}")
        verdicts = [judge(test, islice(pairs(elo, 0.0, rng), 100)).verdict for _ in range(100)]
        assert verdicts.count(holds) >= 90
