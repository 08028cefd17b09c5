"""Seven Up by rule of thumb: beg with few trumps, keep trumps and high cards, take what is worth taking."""

from __future__ import annotations

from typing import Final

from bot_sdk.bot import Decision
from bot_sdk.bots.playing import playable, strength_of
from bot_sdk.cards import JACK, NAMES, RANKS, SUITS, parse_card, rank_of, suit_of
from bot_sdk.games.seven_up import PIPS
from bot_sdk.games.tricks import LED
from bot_sdk.knowledge import Knowledge

ACE, KING, QUEEN = RANKS.index("A"), RANKS.index("K"), RANKS.index("Q")

HONOURS: Final = {ACE: 1.0, KING: 0.7, QUEEN: 0.4, JACK: 0.4}
"""What an honour of trumps is worth above any other trump."""
STAND_FROM: Final = 2.4
GIVE_FROM: Final = 3.0


def suit_strength(decision: Decision) -> float:
    """Value the hand with the first upcard's suit as trump: the number of trumps plus honours."""
    suit = suit_of(parse_card(decision.observation["upcards"][0]))
    trumps = [card for card in map(parse_card, decision.hand) if suit_of(card) == suit]
    return len(trumps) + sum(HONOURS.get(rank_of(card), 0.0) for card in trumps)


def beg(decision: Decision) -> str:
    """Stand on a suit that is strong enough."""
    return "stand" if suit_strength(decision) >= STAND_FROM else "beg"


def gift(decision: Decision) -> str:
    """Pay a point for a suit that is worth it, if the rules let us."""
    return "give" if "give" in decision.legal and suit_strength(decision) >= GIVE_FROM else "run"


def discard(decision: Decision) -> str:
    """Throw the card that is worth least to keep."""
    trump = SUITS.index(decision.observation["trump"])
    return min(decision.legal, key=lambda action: worth_keeping(parse_card(action.removeprefix("discard:")), trump))


def worth_keeping(card: int, trump: int) -> float:
    """Value a card for the play: trumps before all others, then by rank."""
    rank = rank_of(card)
    if suit_of(card) == trump:
        return 100.0 + rank
    return float(rank)


def play(decision: Decision) -> str:
    """Take what is worth taking as cheaply as possible, lose what isn't."""
    known, cards = decision.knowledge, playable(decision)
    values = PIPS[decision.options["pips"]]
    if known.trick.cards:
        card = max(cards, key=lambda card: after(known, card, values))
    else:
        card = max(cards, key=lambda card: leading(known, card, values))
    return f"play:{NAMES[card]}"


def stake(known: Knowledge, card: int, values: tuple[int, ...]) -> float:
    """Value what a captured card scores: pips for game, the Jack of trumps, a low trump that may be the lowest."""
    worth = values[rank_of(card)] / 10
    if suit_of(card) == known.trump:
        if rank_of(card) == JACK:
            worth += 5.0
        below = known.out & LED[card] & (1 << card) - 1
        worth += 2.5 / (1 + below.bit_count())
    return worth


def after(known: Knowledge, card: int, values: tuple[int, ...]) -> float:
    """Value a follower's card: what it takes or gives away, less what it costs to part with it."""
    at_stake = stake(known, known.trick.cards[0], values) + stake(known, card, values)
    return (at_stake if known.takes(card) else -at_stake) - cost(known, card)


def cost(known: Knowledge, card: int) -> float:
    """Value the power that a card takes along."""
    return 0.12 * strength_of(card, known.trump)


def leading(known: Knowledge, card: int, values: tuple[int, ...]) -> float:
    """Value a lead: certain winners of trumps first, else little to lose."""
    worth = stake(known, card, values)
    is_certain = not known.above(card)
    if suit_of(card) == known.trump:
        return 2.0 + worth if is_certain else -worth - cost(known, card)
    return (0.5 - worth if is_certain else -worth) - cost(known, card)
