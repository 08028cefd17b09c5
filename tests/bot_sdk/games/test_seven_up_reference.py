"""The engine of Seven Up beside the set-based reference: same packs, same actions, compared at every step.

Most packs are plain shuffles. Some are arranged so that what is rare happens often: runs that find no other suit,
turned Jacks, and deals in which no card counts for *game*.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from bot_sdk.cards import NAMES, parse_card, rank_of
from bot_sdk.games.registry import RULESETS
from tests.bot_sdk.games.reference_seven_up import CLASSIC, FACE, ReferenceSevenUp

SEED = 7
DEALS = 27_000
SHUFFLED_DEALS = 20_000
HITS = 500
TARGETS = range(1, 51)
VALUES: dict[str, tuple[Any, ...]] = {
    "first_dealer": (0, 1),
    "turned_jack": ("every", "final"),
    "gift": (False, True),
    "void_play": ("must_trump", "free"),
    "pips": ("face", "classic"),
    "game_tie": ("none", "non_dealer"),
}
UPCARDS = (12, 19, 26, 33, 40, 47)


class CountingReference(ReferenceSevenUp):
    """Counts how often each option value decided something, not just how often it was set."""

    def __init__(self, options: dict[str, Any], packs: Packs, hits: Counter[str]) -> None:
        self.hits = hits
        super().__init__(options, packs.names)

    def hit(self, option: str) -> None:
        self.hits[f"{option}={self.options[option]}"] += 1

    def deal(self, number: int) -> None:
        void = number > 0 and bool(self.hands[0])
        self.hits["void deal"] += void
        super().deal(number)
        self.hit("target")
        self.hit("first_dealer")

    def turn(self) -> None:
        super().turn()
        if self.upcards[-1][0] == "J":
            self.hit("turned_jack")
            self.hits["won by a turned Jack"] += self.over
            self.hits["second turned Jack"] += len(self.upcards) > 1 and self.upcards[0][0] == "J"

    def answer_beg(self, action: str) -> None:
        super().answer_beg(action)
        if action == "beg":
            self.hit("gift")
            self.hits["gift refused"] += self.phase == "gift" and not self.may_give()

    def play(self, seat: int, card: str) -> None:
        if self.on_table:
            suits = {held[1] for held in self.hands[seat]}
            if self.trump in suits and self.on_table[0][1] not in suits:
                self.hit("void_play")
        super().play(seat, card)

    def captor_of_game(self) -> list[int]:
        face, classic = (self.captured_pips(value) for value in (FACE, CLASSIC))
        if (face[0] > face[1], face[0] < face[1]) != (classic[0] > classic[1], classic[0] < classic[1]):
            self.hit("pips")
        pips = face if self.options["pips"] == "face" else classic
        if pips[0] == pips[1]:
            self.hit("game_tie")
            self.hits["tie at 0"] += pips[0] == 0
        return super().captor_of_game()

    def captured_pips(self, value: dict[str, int]) -> list[int]:
        return [sum(value[card[0]] for card in won) for won in self.captured]


class Packs:
    """Packs of one game, made when first asked for and the same for whoever asks."""

    def __init__(self, rng: random.Random, hits: Counter[str]) -> None:
        self.rng = rng
        self.hits = hits
        self.made: dict[int, list[int]] = {}

    def numbers(self, deal: int) -> list[int]:
        if deal not in self.made:
            pack = list(range(52))
            self.rng.shuffle(pack)
            self.made[deal] = self.arranged(pack)
        return self.made[deal]

    def names(self, deal: int) -> list[str]:
        return [NAMES[card] for card in self.numbers(deal)]

    def arranged(self, pack: list[int]) -> list[int]:
        kind = self.rng.choices(("shuffled", "low cards on top", "one suit turned", "Jacks turned"), (16, 2, 2, 1))[0]
        self.hits[kind] += 1
        if kind == "low cards on top":
            pack.sort(key=lambda card: rank_of(card) >= rank_of(parse_card("TC")))
        if kind == "one suit turned":
            suit = self.rng.randrange(4)
            self.turn(pack, self.rng.sample(range(13 * suit, 13 * suit + 13), self.rng.randint(2, 6)))
        if kind == "Jacks turned":
            self.turn(pack, self.rng.sample([parse_card("J" + suit) for suit in "CDHS"], self.rng.randint(1, 2)))
        return pack

    @staticmethod
    def turn(pack: list[int], cards: list[int]) -> None:
        """Bring these cards to where the first upcards lie."""
        for at, card in zip(UPCARDS, cards, strict=False):
            other = pack.index(card)
            pack[at], pack[other] = pack[other], pack[at]


def draw_options(rng: random.Random, hits: Counter[str]) -> dict[str, Any]:
    """Draw every option at random, but the target that has been played least so far."""
    options = {name: rng.choice(values) for name, values in VALUES.items()}
    return options | {"target": min(TARGETS, key=lambda target: hits[f"target={target}"])}


def snapshot(game: Any, *, over: bool) -> tuple[Any, ...]:
    """All that is compared: who owes what, what each seat may do, the score, the deal, its dealer, the end."""
    actors = game.actors()
    legal = [game.legal_actions(seat) for seat in (0, 1)]
    return actors, legal, list(game.totals), game.deal_number, game.dealer, over


def play_side_by_side(rng: random.Random, hits: Counter[str]) -> None:
    """Play one game at random in both; any difference is an AssertionError that tells how to get there."""
    options = draw_options(rng, hits)
    packs = Packs(rng, hits)
    reference = CountingReference(options, packs, hits)
    engine = RULESETS["seven_up"].new(options, 2, packs.numbers)
    taken: list[tuple[int, str]] = []
    while True:
        expected = snapshot(reference, over=reference.over)
        assert snapshot(engine, over=engine.is_over) == expected, (options, packs.made, taken)
        actors, legal = expected[:2]
        if reference.over:
            break
        seat = rng.choice(actors)
        action = rng.choice(legal[seat])
        reference.apply(seat, action)
        engine.apply(seat, action)
        taken.append((seat, action))
    assert engine.places == reference.places, (options, packs.made, taken)
    hits["deals"] += reference.deal_number + 1


@pytest.fixture(scope="module")
def hits() -> Counter[str]:
    rng = random.Random(SEED)
    counted: Counter[str] = Counter()
    while counted["deals"] < DEALS:
        play_side_by_side(rng, counted)
    return counted


def test_engine_and_reference_agree_over_20_000_shuffled_deals(hits):
    assert hits["shuffled"] >= SHUFFLED_DEALS


@pytest.mark.parametrize("value", [f"{option}={value}" for option, values in VALUES.items() for value in values])
def test_option_value_decided_something_500_times(hits, value):
    assert hits[value] >= HITS


@pytest.mark.parametrize("target", TARGETS)
def test_target_was_played_for_500_deals(hits, target):
    assert hits[f"target={target}"] >= HITS


@pytest.mark.parametrize(
    "event", ["void deal", "won by a turned Jack", "second turned Jack", "gift refused", "tie at 0"]
)
def test_rare_event_happened_100_times(hits, event):
    assert hits[event] >= 100
