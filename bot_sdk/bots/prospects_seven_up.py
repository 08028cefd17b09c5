"""What a score of Seven Up is worth: how likely it wins the game, if both sides play equally well.

Bots that think weigh the points of a deal by this. Near the end one point more can decide everything, or nothing.
"""

from __future__ import annotations

from functools import cache
from typing import Final, TypeAlias

from bot_sdk.bot import Decision
from bot_sdk.cards import RANKS

SCORED: Final = {
    (0, 2): 1, (0, 3): 103, (0, 4): 52, (1, 0): 1, (1, 1): 3, (1, 2): 126, (1, 3): 49, (2, 0): 2, (2, 1): 173,
    (2, 2): 64, (3, 0): 262, (3, 1): 64, (4, 0): 100,
}  # fmt: skip
"""In how many deals of a thousand eldest and dealer get so many points from the play: eldest leads, and gets more.

Counted by ``benchmarks/deals_seven_up.py`` over games of ``house:counting`` against itself.
"""

JACK_TURNED: Final = 1 / len(RANKS)
"""How likely the first upcard scores for the dealer, before anything is played."""
MOST: Final = 4
"""The points that a side can get from the play of one deal."""

Chances: TypeAlias = list[list[float]]
"""How likely the next deal's dealer wins the game: ``chances[dealer's total][eldest's total]``, both under target."""


def worth(decision: Decision) -> list[list[float]]:
    """Give how likely we win the game after this deal, by the points that we and they get from its play."""
    target, shown = decision.options["target"], decision.observation
    ours, theirs = shown["totals"][decision.seat], shown["totals"][1 - decision.seat]
    dealt, points = shown["dealer"] == decision.seat, range(MOST + 1)
    return [[after(ours + won, theirs + lost, target, dealt=dealt) for lost in points] for won in points]


def after(ours: int, theirs: int, target: int, *, dealt: bool) -> float:
    """Give how likely we win with these totals, when the deal that is over was `dealt` by us or by them."""
    if ours != theirs and max(ours, theirs) >= target:
        return float(ours > theirs)
    # a tie at the target or beyond is like one a point short of it: whoever is ahead after a deal has won
    ours, theirs = min(ours, target - 1), min(theirs, target - 1)
    return 1 - chances(target)[theirs][ours] if dealt else chances(target)[ours][theirs]


@cache
def chances(target: int) -> Chances:
    """Work out the chances from the end of the game back to its beginning.

    Deals that score nothing, and Jacks turned in a run, are rare and left out.
    """
    found = [[0.5] * target for _ in range(target)]
    for _ in range(20):  # a tie can follow from a tie
        found[-1][-1] = _chance(found, target - 1, target - 1)
    for total in range(2 * target - 3, -1, -1):
        for dealer in range(max(0, total - target + 1), min(total, target - 1) + 1):
            found[dealer][total - dealer] = _chance(found, dealer, total - dealer)
    return found


def _chance(found: Chances, dealer: int, eldest: int) -> float:
    """Work out one chance from those of the scores that one deal can lead to."""
    with_jack = 1.0 if dealer + 1 == len(found) else _by_play(found, dealer + 1, eldest)
    return JACK_TURNED * with_jack + (1 - JACK_TURNED) * _by_play(found, dealer, eldest)


def _by_play(found: Chances, dealer: int, eldest: int) -> float:
    target, chance = len(found), 0.0
    for (to_eldest, to_dealer), deals in SCORED.items():
        ends = dealer + to_dealer, eldest + to_eldest
        if ends[0] != ends[1] and max(ends) >= target:
            chance += deals * (ends[0] > ends[1])
        else:  # the deal passes on
            chance += deals * (1 - found[min(ends[1], target - 1)][min(ends[0], target - 1)])
    return chance / sum(SCORED.values())
