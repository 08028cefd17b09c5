"""Seven Up by calculation: draw what the other side may hold, solve each of these deals, play what wins most of them.

Six cards a side are few enough to be played out perfectly, see `endgame_seven_up`. A point counts by what it does for
the game, see `prospects_seven_up`. The number of deals is fixed, never the time: a busy machine makes it no weaker.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Final

from bot_sdk.bot import Decision
from bot_sdk.bots import prospects_seven_up
from bot_sdk.bots.endgame_seven_up import THEY, WE, Endgame, Rules
from bot_sdk.bots.greedy_seven_up import worth_keeping
from bot_sdk.cards import NAMES, cards_in, mask_of
from bot_sdk.games.seven_up import HAND, RUN
from bot_sdk.knowledge import Knowledge

WORLDS: Final = 20
"""How many deals are solved for a decision; more hardly make a difference."""
TRIES: Final = 20
"""How often a hand is drawn again that they wouldn't have kept."""


def play(decision: Decision) -> str:
    """Play the card that wins the game most often, over the deals that may be on."""
    if len(decision.legal) == 1:
        return decision.legal[0]
    known = decision.knowledge
    eldest = THEY if decision.observation["dealer"] == decision.seat else WE
    rules = Rules.of(decision.options, known.trump, eldest)
    worth = prospects_seven_up.worth(decision)
    taken = known.taken[known.seat], known.taken[1 - known.seat]
    led = known.trick.cards
    chances: Counter[int] = Counter()
    for theirs in worlds(known, decision.rng):
        endgame = Endgame(rules, known.hand, theirs | mask_of(led), taken, worth)
        chances.update(endgame.replies(led[0]) if led else endgame.leads())
    return f"play:{NAMES[max(chances, key=lambda card: chances[card])]}"


def worlds(known: Knowledge, rng: Random) -> Iterator[int]:
    """Draw hands that the other side may hold, as masks: after a run, such as it would have kept."""
    other = 1 - known.seat
    thrown = RUN * (len(known.message.observation["upcards"]) - 1)
    for _ in range(WORLDS):
        hand = _kept(known, thrown, rng) if thrown else None
        yield known.draw_hands(rng)[other] if hand is None else hand


def _kept(known: Knowledge, thrown: int, rng: Random) -> int | None:
    """Draw cards for the other side and keep the best, as it would; None if that never fits what it has shown."""
    other = 1 - known.seat
    cards = list(cards_in(known.out))
    played = list(cards_in(known.played[other]))
    for _ in range(TRIES):
        drawn = played + rng.sample(cards, known.cards_left[other] + thrown)
        drawn.sort(key=lambda card: worth_keeping(card, known.trump), reverse=True)
        kept = mask_of(drawn[:HAND])
        if kept & known.played[other] == known.played[other] and not (kept ^ known.played[other]) & known.voids[other]:
            return kept ^ known.played[other]
    return None
