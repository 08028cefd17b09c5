"""A whole game that a seat may be in, as far as it knows: `sample`.

The hidden cards are dealt, a pack is put together that deals all hands like that, and the deal is played again on it up
to the decision, by the rules themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, TypeAlias

from bot_sdk.cards import JACK, NAMES, cards_in, parse_card, rank_of
from bot_sdk.games.base import Deal, Packs, State
from bot_sdk.games.registry import RULESETS
from bot_sdk.games.river import BID
from bot_sdk.games.seven_up import BEG, DISCARD, GIVE, GO_RUN, HAND, RUN, STAND
from bot_sdk.knowledge.known import Knowledge

Steps: TypeAlias = Iterator[tuple[int, int]]
"""Actions in order, each as seat and code."""


def sample(known: Knowledge, rng: Random) -> State:
    """Draw a game that agrees with all that the seat knows: it observes the same and may do the same.

    Hands are drawn by `Knowledge.draw_hands`; discards of others and the stock follow by chance, too, and the packs of
    deals to come. Where actions are hidden, others are taken not to have acted yet. The deals before this one are there
    by number, but all that they scored stands in the last of them; in River `exact_bids` begins at this deal.
    """
    game, dealer = known.message.game, known.message.observation["dealer"]
    hands = known.draw_hands(rng)
    rest = _shuffled(known.out & ~sum(hands), rng)
    discards = _discards(known, rest)
    dealt = [
        _shuffled(hand | played | thrown, rng)
        for hand, played, thrown in zip(hands, known.played, discards, strict=True)
    ]
    pack = _pack(known, dealt[dealer + 1 :] + dealt[: dealer + 1], rest)
    before = _before(known)
    state = RULESETS[game.ruleset].state(game.options, known.seats, _packs(len(before), pack, rng), deals=before)
    for seat, code in _steps(known, discards):
        state.step(seat, code)
    return state


def _shuffled(cards: int, rng: Random) -> list[int]:
    return rng.sample(list(cards_in(cards)), cards.bit_count())


def _packs(number: int, pack: list[int], rng: Random) -> Packs:
    """Give the pack of the deal that is on, and of any other one that follows from what is drawn now."""
    seed = rng.getrandbits(64)

    def packs(asked: int) -> Sequence[int]:
        return pack if asked == number else Random(f"{seed}/{asked}").sample(range(len(NAMES)), len(NAMES))

    return packs


def _upcards(shown: dict[str, Any]) -> list[int]:
    names = shown["upcards"] if "upcards" in shown else [shown["upcard"]]
    return [parse_card(name) for name in names]


def _discards(known: Knowledge, rest: list[int]) -> list[int]:
    """Give what each seat has discarded: the own cards, and those of another seat, taken off `rest`."""
    shown = known.message.observation
    discards = [0] * known.seats
    for name in shown.get("discards", ()):
        discards[known.seat] |= 1 << parse_card(name)
    if "discards" in shown and known.message.phase == "play":
        for _ in range(RUN * (len(shown["upcards"]) - 1)):
            discards[1 - known.seat] |= 1 << rest.pop()
    return discards


def _pack(known: Knowledge, dealt: list[list[int]], rest: list[int]) -> list[int]:
    """Put together the pack that deals these cards, from eldest on, and turns what was turned."""
    shown = known.message.observation
    pack: list[int] = []
    each = shown.get("cards", HAND)
    for upcard in _upcards(shown):
        for _ in range(each):
            pack += [cards.pop() for cards in dealt]
        pack.append(upcard)
        each = RUN
    return pack + rest


def _before(known: Knowledge) -> list[Deal]:
    """Make up the deals before this one, of which the seat knows the number and what they came to.

    In Seven Up void deals don't pass the deal on: one of them is void if the dealer is another than without.
    """
    shown, options = known.message.observation, known.message.game.options
    number = shown["deal"]
    totals = [total - now for total, now in zip(shown["totals"], _scored(known), strict=True)]
    voids = (options["first_dealer"] + number - shown["dealer"]) % known.seats
    nothing = [0] * known.seats
    return [
        Deal(
            at,
            (options["first_dealer"] + max(0, at - voids)) % known.seats,
            at < voids,
            totals if at == number - 1 else nothing,
            totals if at == number - 1 else nothing,
        )
        for at in range(number)
    ]


def _scored(known: Knowledge) -> list[int]:
    """Give what this deal has scored so far: turned Jacks and the gift of Seven Up."""
    shown, options = known.message.observation, known.message.game.options
    scored = [0] * known.seats
    if "upcards" not in shown:
        return scored
    counting = _upcards(shown)
    if options["turned_jack"] == "final":
        counting = counting[-1:] if shown["trump"] else []
    scored[shown["dealer"]] = sum(rank_of(card) == JACK for card in counting)
    scored[1 - shown["dealer"]] = int(_was_given(known))
    return scored


def _was_given(known: Knowledge) -> bool:
    """Whether the dealer of Seven Up has answered the beg by a point."""
    shown = known.message.observation
    return bool(shown["begged"]) and known.message.phase == "play" and len(shown["upcards"]) == 1


def _steps(known: Knowledge, discards: list[int]) -> Steps:
    """Yield what has been done in this deal."""
    if "bids" in known.message.observation:
        yield from _bids(known)
    else:
        yield from _begging(known)
        for seat, thrown in enumerate(discards):
            for card in cards_in(thrown):
                yield seat, DISCARD + card
    for trick in (*known.tricks, known.trick):
        for at, card in enumerate(trick.cards):
            yield (trick.leader + at) % known.seats, card


def _bids(known: Knowledge) -> Steps:
    shown = known.message.observation
    for after in range(1, known.seats + 1):
        seat = (shown["dealer"] + after) % known.seats
        if shown["bids"][seat] is not None:
            yield seat, BID + shown["bids"][seat]


def _begging(known: Knowledge) -> Steps:
    shown, phase = known.message.observation, known.message.phase
    dealer = shown["dealer"]
    if shown["begged"]:
        yield 1 - dealer, BEG
        if known.message.game.options["gift"] and phase != "gift":
            yield dealer, GIVE if _was_given(known) else GO_RUN
    elif phase == "play":
        yield 1 - dealer, STAND
