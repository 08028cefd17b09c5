"""Up and Down the River by counting cards: a fitted bid, then certain winners while tricks are wanted."""

from __future__ import annotations

from typing import Final

from bot_sdk.bot import Decision
from bot_sdk.bots import bids_river
from bot_sdk.bots.strength import SUIT_MASKS, TRUMPS
from bot_sdk.bots.view_river import View

STRONGEST_FIRST: Final = SUIT_MASKS[::-1]


def bid(decision: Decision) -> str:
    """Bid what promises most points."""
    return f"bid:{bids_river.best(decision)}"


def play(decision: Decision) -> str:
    """Take tricks while the bid isn't met, avoid them while it is, and take what there is once it is lost."""
    view = View.of(decision)
    turn = view.turn
    if turn.suit:
        return view.action(follow(view.legal, turn.beating, view.wants, turn.to_come == 1))
    return view.action(lead(view.hand, view.out, view.wants))


def lead(hand: int, out: int, wants: bool) -> int:  # noqa: FBT001 - asked for every trick of every playout
    """Choose a card to lead from `hand`, while the cards `out` may be in other hands.

    Who wants tricks leads a certain winner, a card above all that are out of its suit: a trump first, others may be
    trumped. Who has none, or wants no trick, leads the weakest card.
    """
    if wants:
        for suit in STRONGEST_FIRST:
            own = hand & suit
            if own > out & suit:
                return own.bit_length()
    return (hand & -hand).bit_length()


def follow(legal: int, beating: int, wants: bool, is_last: bool) -> int:  # noqa: FBT001 - as is this
    """Choose among the `legal` cards of a follower, of which those in `beating` take the trick as it stands.

    Who wants it takes it, as cheaply as possible if nobody comes after or if a trump is needed, else as surely as
    possible; who can't take it parts with its weakest card. Who doesn't want it loses with the strongest card that can.
    """
    taking = legal & beating
    losing = legal ^ taking
    if wants:
        if not taking:
            return (losing & -losing).bit_length()
        weakest = taking & -taking
        if is_last or (weakest & TRUMPS and beating >= TRUMPS):  # every trump takes a trick without one
            return weakest.bit_length()
        return taking.bit_length()
    if losing:
        return losing.bit_length()
    return taking.bit_length() if is_last else (taking & -taking).bit_length()
