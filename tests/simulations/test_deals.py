"""What the kinds of deals are good for: `rotate` takes luck out of a difference, `field` keeps memory from paying.

The long forms play River as it is by default, the short ones small games of it, with the same schedules, boards,
rules and standings. So they fail as the long ones do: if the legs of a board no longer share their packs or rotate
their seats, if the house's bot takes to chance, if a board comes again under `field`. Each of these moves a number
well beyond its floor.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from bot_sdk.bot import Bot, Decision
from bot_sdk.bots import greedy_river, house
from bot_sdk.examples import bold, cautious, counter
from bot_sdk.results.standings import standings
from service.arena.starting import Attempt
from service.tournaments.boards import FIELD, FRESH, ROTATE
from tests.simulations.remembering import Remembering
from tests.simulations.tournament import Held, play_river

DEFAULT: Mapping[str, Any] = {}
SMALL: Mapping[str, Any] = {"start_cards": 4, "schedule": "down"}
GREEDY = house("house:greedy")


def bolder(by: float) -> Bot:
    """Make a close variant of the house's bot: one that hopes for a little more."""
    bot = Bot("a little bolder")

    @bot.on("river", "bid")
    def bid(decision: Decision) -> str:
        hoped = greedy_river.hopes(decision) + by
        return min(decision.legal, key=lambda action: abs(int(action.removeprefix("bid:")) - hoped))

    bot.on("river", "play")(greedy_river.play)
    return bot


# --- rotate -----------------------------------------------------------------------------------------------------------

LIKE = {"a": GREEDY, "b": bolder(0.1), "c": GREEDY, "d": GREEDY}
UNLIKE = {"a": GREEDY, "b": bold.bot, "c": GREEDY, "d": GREEDY}
# How much unlike bots gain depends on the pair: most points of River are for bids met exactly, and what one bot's
# rules make of a hand tells little of another's. Against one that rolls its dice anew in each leg nothing is gained.


def gain(bots: Mapping[str, Bot], rounds: int, options: Mapping[str, Any]) -> float:
    """Tell how many times smaller `rotate` makes the standard error of the difference between `a` and `b`."""
    fresh = play_river(bots, deals=FRESH, rounds=rounds, options=options)
    rotated = play_river(bots, deals=ROTATE, rounds=rounds, options=options)
    assert len(fresh.results) == len(rotated.results) == 4 * rounds
    return half_width(fresh) / half_width(rotated)


def half_width(held: Held) -> float:
    """Tell how far the interval of the difference reaches: as many standard errors for all with as many rounds."""
    reach = held.lead("a", "b").half_width
    assert reach
    return reach


def test_rotation_levels_twins_on_every_board():
    held = play_river(dict.fromkeys("abcd", GREEDY), deals=ROTATE, rounds=3, options=DEFAULT)
    rows = standings(held.entries, held.results, "river", seed=0, deals=ROTATE)
    assert len({row.mean for row in rows}) == 1
    assert {(row.games, row.place) for row in rows} == {(12, 1)}


def test_rotation_halves_the_standard_error_between_close_variants():
    assert gain(LIKE, 80, SMALL) >= 2


def test_rotation_helps_unlike_bots_too():
    assert gain(UNLIKE, 80, SMALL) >= 1.15


@pytest.mark.soak
def test_rotation_halves_the_standard_error_between_close_variants_at_full_length():
    assert gain(LIKE, 300, DEFAULT) >= 2


@pytest.mark.soak
def test_rotation_helps_unlike_bots_at_full_length():
    assert gain(UNLIKE, 300, DEFAULT) >= 1.15


# --- memory -----------------------------------------------------------------------------------------------------------


def remembered(deals: str, rounds: int, options: Mapping[str, Any]) -> tuple[Held, Remembering]:
    """Let `a` remember and its twin `b` forget, in a field of eight; each fifth round is aborted and played again."""
    cheat = Remembering("elephant")
    others = [GREEDY, GREEDY, cautious.bot, counter.bot, bold.bot, house("house:random")]
    bots = dict(zip("abcdefgh", [cheat, GREEDY, *others], strict=True))

    def is_aborted(attempt: Attempt) -> bool:
        return attempt.number == 0 and attempt.place.round % 5 == 0

    return play_river(bots, deals=deals, rounds=rounds, options=options, is_aborted=is_aborted), cheat


def assert_memory_is_worthless(rounds: int, options: Mapping[str, Any]) -> None:
    held, cheat = remembered(FIELD, rounds, options)
    lead = held.lead("a", "b")
    assert lead.low <= 0 <= lead.high
    assert (len(cheat.memories), cheat.recognised) == (rounds + rounds // 5, 0)


def assert_memory_pays(rounds: int, options: Mapping[str, Any]) -> None:
    """Each leg but the first of a board is recognised, and each leg that is played again."""
    held, cheat = remembered(ROTATE, rounds, options)
    assert held.lead("a", "b").low > 0
    assert cheat.recognised == 3 * rounds + 4 * (rounds // 5)


def test_memory_gains_nothing_where_no_board_comes_again():
    assert_memory_is_worthless(150, SMALL)


def test_memory_gains_where_boards_rotate():
    assert_memory_pays(30, SMALL)


@pytest.mark.soak
def test_memory_gains_nothing_over_hundreds_of_boards():
    assert_memory_is_worthless(400, DEFAULT)


@pytest.mark.soak
def test_memory_gains_where_boards_rotate_at_full_length():
    assert_memory_pays(100, DEFAULT)
