"""Seven Up for two seats: docs/rules.md, "Seven Up"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final, Self

from bot_sdk.cards import JACK, NAMES, SUIT_MASKS, SUITS, mask_of, names_in, rank_of, suit_of
from bot_sdk.games.base import NO_TRUMP, PLAY, Deal, Packs, State, Tell, suit_name
from bot_sdk.games.options import Choice, Option, Whole
from bot_sdk.games.tricks import LED

OPTIONS: Final[tuple[Option, ...]] = (
    Whole("target", 1, 50, 7, "points to win"),
    Choice("first_dealer", (0, 1), "the seat that deals first"),
    Choice(
        "turned_jack",
        ("every", "final"),
        "every turned Jack scores, or only the one whose suit becomes trump",
    ),
    Choice("gift", (False, True), "after a beg the dealer may give a point instead of running the cards"),
    Choice("void_play", ("must_trump", "free"), "what a follower void in the led suit plays while holding trumps"),
    Choice(
        "pips",
        ("face", "classic"),
        "what 10 … 2 count towards game: their number, or ten for the 10 and nothing below",
    ),
    Choice("game_tie", ("none", "non_dealer"), "who scores game when the pips are equal"),
)

HAND: Final = 6
RUN: Final = 3
MOST_RUNS: Final = 5
"""For how many runs the pack lasts."""
DISCARD: Final = 52
STAND, BEG, GO_RUN, GIVE = 104, 105, 106, 107
STAND_OR_BEG: Final = 1 << STAND | 1 << BEG

_HONOURS: Final = (1, 2, 3, 4)  # J Q K A
PIPS: Final = {
    "face": (2, 3, 4, 5, 6, 7, 8, 9, 10, *_HONOURS),
    "classic": (0, 0, 0, 0, 0, 0, 0, 0, 10, *_HONOURS),
}


class SevenUp(State):
    """The state of a game of Seven Up; phases ``beg gift discard play over``."""

    __slots__ = ("begged", "discards", "drawn", "fresh_points", "to_discard", "upcards")

    ACTIONS: ClassVar[tuple[str, ...]] = (
        *PLAY,
        *(f"discard:{name}" for name in NAMES),
        "stand",
        "beg",
        "run",
        "give",
    )
    CODES: ClassVar[dict[str, int]] = {action: code for code, action in enumerate(ACTIONS)}

    def __init__(
        self,
        options: dict[str, Any],
        seats: int,
        packs: Packs,
        tell: Tell | None = None,
        deals: Sequence[Deal] = (),
    ) -> None:
        """Start a game and deal; a turned Jack may end it at once."""
        super().__init__(options, seats, packs, tell, deals)
        self.phase = "beg"
        self._deal()

    @property
    def eldest(self) -> int:
        """The seat that isn't the dealer."""
        return 1 - self.dealer

    def seen(self, seat: int | None) -> dict[str, Any]:
        """Build what `seat` may know besides the tricks that are won (docs/contract.md, Seven Up)."""
        return {
            "deal": self.deal_number,
            "dealer": self.dealer,
            "hand": None if seat is None else names_in(self.hands[seat]),
            "upcards": [NAMES[card] for card in self.upcards],
            "trump": suit_name(self.trump),
            "begged": self.begged,
            "discards": None if seat is None else names_in(self.discards[seat]),
            "to_discard": None if seat is None else self.to_discard[seat],
            "totals": self.totals.copy(),
            "trick": self._shown_trick(),
        }

    def _copy_own(self, twin: Self) -> None:
        twin.begged = self.begged
        twin.discards = self.discards.copy()
        twin.drawn = self.drawn
        twin.fresh_points = self.fresh_points.copy()
        twin.to_discard = self.to_discard.copy()
        twin.upcards = self.upcards.copy()

    def _decide(self, seat: int, code: int) -> None:
        if code < STAND:
            self._discard(seat, code - DISCARD)
        elif code == STAND:
            self._fix_trump_of_first_upcard()
        elif code == GIVE:
            self._give()
        else:
            self._beg_or_run(code)

    def _beg_or_run(self, code: int) -> None:
        self.begged = True
        if code == BEG and self.options["gift"]:
            self._ask("gift", self.dealer, 1 << GO_RUN | (1 << GIVE if self._may_give() else 0))
        else:
            self._run_the_cards()

    def _deal(self) -> None:
        self.deal_number += 1
        played = sum(not deal.void for deal in self.deals)
        self.dealer = (self.options["first_dealer"] + played) % 2
        self.pack = self.packs(self.deal_number)
        self.drawn = 0
        self.hands = [0, 0]
        self.upcards: list[int] = []
        self.trump = NO_TRUMP
        self.begged = False
        self.discards = [0, 0]
        self.to_discard = [0, 0]
        self.played = []
        self.leaders = [self.eldest]
        self.fresh_points = [0, 0]
        self._ask("beg", self.eldest, STAND_OR_BEG)
        self._draw(HAND)
        self._turn_upcard("deal")

    def _draw(self, cards_each: int) -> None:
        end = self.drawn + 2 * cards_each
        self.hands[self.eldest] |= mask_of(self.pack[self.drawn : end : 2])
        self.hands[self.dealer] |= mask_of(self.pack[self.drawn + 1 : end : 2])
        self.drawn = end

    def _ask(self, phase: str, seat: int, legal: int) -> None:
        """Have `seat` alone owe an action."""
        self.phase = phase
        self.is_sealed = False
        self.actor = seat
        self.legal = legal

    def _turn_upcard(self, event: str) -> None:
        card = self.pack[self.drawn]
        self.drawn += 1
        self.upcards.append(card)
        if self.options["turned_jack"] == "every":
            self._score_turned_jack()
        if self.tell is not None:
            self.tell(
                {
                    "event": event,
                    "deal": self.deal_number,
                    "dealer": self.dealer,
                    "upcard": NAMES[card],
                    "totals": self.totals.copy(),
                }
            )
        self._end_if_won()

    def _score_turned_jack(self) -> None:
        if rank_of(self.upcards[-1]) == JACK:
            self._score(self.dealer)

    def _score(self, seat: int) -> None:
        self.totals[seat] += 1
        self.fresh_points[seat] += 1

    def _end_if_won(self) -> bool:
        if max(self.totals) < self.options["target"] or self.totals[0] == self.totals[1]:
            return False
        self._end()
        self._end_deal(self.fresh_points.copy())
        return True

    def _may_give(self) -> bool:
        with_gift = self.totals[self.eldest] + 1
        return with_gift < self.options["target"] or with_gift <= self.totals[self.dealer]

    def _give(self) -> None:
        if self._fix_trump():
            return
        self._score(self.eldest)
        self._lead(self.eldest)

    def _fix_trump_of_first_upcard(self) -> None:
        if not self._fix_trump():
            self._lead(self.eldest)

    def _fix_trump(self) -> bool:
        """Make the last upcard's suit trump; tell whether its Jack, under ``final``, has ended the game."""
        self.trump = suit_of(self.upcards[-1])
        if self.options["turned_jack"] == "final":
            self._score_turned_jack()
        if self.tell is not None:
            self.tell({"event": "trump", "trump": SUITS[self.trump], "totals": self.totals.copy()})
        return self.options["turned_jack"] == "final" and self._end_if_won()

    def _run_the_cards(self) -> None:
        first = suit_of(self.upcards[0])
        while suit_of(self.upcards[-1]) == first:
            if self.drawn + 2 * RUN + 1 > len(self.pack):
                self._void()
                return
            self._draw(RUN)
            self.to_discard = [owed + RUN for owed in self.to_discard]
            self._turn_upcard("run")
            if self.is_over:
                return
        if not self._fix_trump():
            self._ask_for_discards()

    def _void(self) -> None:
        self._end_deal(self.fresh_points.copy(), void=True)
        self._deal()

    def _ask_for_discards(self) -> None:
        """Have whoever holds too many cards owe discards, all at the same time."""
        actor = 0 if self.to_discard[0] else 1
        self._ask("discard", actor, self._sealed_mask(actor))
        self.is_sealed = True

    def _sealed_mask(self, seat: int) -> int:
        return self.hands[seat] << DISCARD if self.to_discard[seat] else 0

    def _discard(self, seat: int, card: int) -> None:
        self.hands[seat] ^= 1 << card
        self.discards[seat] |= 1 << card
        self.to_discard[seat] -= 1
        if any(self.to_discard):
            self._ask_for_discards()
            return
        if self.tell is not None:
            self.tell({"event": "discarded"})
        self._lead(self.eldest)

    def _binding_on(self, led: int) -> int:
        suit, trumps = LED[led], SUIT_MASKS[self.trump]
        follower = self.hands[1 - self.actor]
        if self.options["void_play"] == "must_trump" or follower & suit:
            return suit | trumps
        return 0

    def _trick_won(self, winner: int) -> None:  # noqa: ARG002 - who won is among the leaders
        if not self.legal:
            self._score_play()

    def _score_play(self) -> None:
        for seat in self._points_of_play():
            self._score(seat)
        if not self._end_if_won():
            self._end_deal(self.fresh_points.copy())
            self._deal()

    def _points_of_play(self) -> list[int]:
        """List the seats that score high, low, jack and game, each once a point (docs/rules.md, Seven Up 6)."""
        taken = self._taken()
        trumps = mask_of(self.played) & SUIT_MASKS[self.trump]
        prizes = [trumps.bit_length() - 1, (trumps & -trumps).bit_length() - 1] if trumps else []
        jack = self.trump * 13 + JACK
        if trumps >> jack & 1:
            prizes.append(jack)
        scorers = [0 if card in taken[0] else 1 for card in prizes]
        values = PIPS[self.options["pips"]]
        pips = [sum([values[rank_of(card)] for card in cards]) for cards in taken]
        if pips[0] != pips[1]:
            scorers.append(0 if pips[0] > pips[1] else 1)
        elif self.options["game_tie"] == "non_dealer":
            scorers.append(self.eldest)
        return scorers

    def _taken(self) -> list[list[int]]:
        """List the cards that each seat has taken."""
        taken: list[list[int]] = [[], []]
        for at, winner in enumerate(self.leaders[1:]):
            taken[winner] += self.played[2 * at : 2 * at + 2]
        return taken
