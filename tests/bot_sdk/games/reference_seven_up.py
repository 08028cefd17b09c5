"""Seven Up a second time, written from docs/rules.md alone and as plainly as it can be.

It shares nothing with the engine: cards are names such as 'QH', hands are sets of them, and each rule is said
once, under the number of its section. It is slow, and only for tests, which play it beside the engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

RANKS = "23456789TJQKA"
SUITS = "CDHS"
DEFAULTS: dict[str, Any] = {
    "target": 7,
    "first_dealer": 0,
    "turned_jack": "every",
    "gift": False,
    "void_play": "must_trump",
    "pips": "face",
    "game_tie": "none",
}
RULE_ORDER = {rank + suit: (SUITS.index(suit), RANKS.index(rank)) for suit in SUITS for rank in RANKS}
FACE = dict(zip(RANKS, (2, 3, 4, 5, 6, 7, 8, 9, 10, 1, 2, 3, 4), strict=True))
CLASSIC = dict(zip(RANKS, (0, 0, 0, 0, 0, 0, 0, 0, 10, 1, 2, 3, 4), strict=True))


def in_order(cards: Iterable[str]) -> list[str]:
    return sorted(cards, key=RULE_ORDER.__getitem__)


def height(card: str) -> int:
    return RANKS.index(card[0])


class ReferenceSevenUp:
    """One game. `packs(deal number)` gives the 52 card names of a deal, top card first."""

    def __init__(self, options: dict[str, Any], packs: Callable[[int], Sequence[str]]) -> None:
        self.options = DEFAULTS | options
        self.packs = packs
        self.totals = [0, 0]
        self.over = False
        self.played_deals = 0
        self.deal(0)

    # Seven Up 1 and 2

    def deal(self, number: int) -> None:
        self.deal_number = number
        self.dealer = (self.options["first_dealer"] + self.played_deals) % 2
        self.eldest = 1 - self.dealer
        self.pack = list(self.packs(number))
        self.hands: list[set[str]] = [set(), set()]
        self.upcards: list[str] = []
        self.trump = ""
        self.leader = self.eldest
        self.on_table: list[str] = []
        self.captured: list[set[str]] = [set(), set()]
        self.captor_of: dict[str, int] = {}
        self.phase = "beg"
        self.serve(6)
        self.turn()

    def serve(self, each: int) -> None:
        for _ in range(each):
            self.hands[self.eldest].add(self.pack.pop(0))
            self.hands[self.dealer].add(self.pack.pop(0))

    def turn(self) -> None:
        self.upcards.append(self.pack.pop(0))
        if self.options["turned_jack"] == "every":
            self.score_if_jack()

    def score_if_jack(self) -> None:
        if self.upcards[-1][0] == "J":
            self.totals[self.dealer] += 1
            self.test_for_the_end()

    def fix_trump(self) -> None:
        self.trump = self.upcards[-1][1]
        if self.options["turned_jack"] == "final":
            self.score_if_jack()

    # Seven Up 3, and the option `gift`

    def answer_beg(self, action: str) -> None:
        if action == "stand":
            self.fix_trump()
            self.phase = "play"
        elif self.options["gift"]:
            self.phase = "gift"
        else:
            self.run()

    def may_give(self) -> bool:
        with_the_gift = self.totals[self.eldest] + 1
        return not (with_the_gift >= self.options["target"] and with_the_gift > self.totals[self.dealer])

    def give(self) -> None:
        self.fix_trump()
        if not self.over:
            self.totals[self.eldest] += 1
            self.phase = "play"

    def run(self) -> None:
        first_suit = self.upcards[0][1]
        while self.upcards[-1][1] == first_suit:
            if len(self.pack) < 7:
                self.deal(self.deal_number + 1)  # void: played_deals stays, so the same seat deals
                return
            self.serve(3)
            self.turn()
            if self.over:
                return
        self.fix_trump()
        self.phase = "discard"

    # Seven Up 4

    def discard(self, seat: int, card: str) -> None:
        self.hands[seat].remove(card)
        if [len(hand) for hand in self.hands] == [6, 6]:
            self.phase = "play"

    # Seven Up 5

    def playable(self, seat: int) -> set[str]:
        hand = self.hands[seat]
        if not self.on_table:
            return hand
        led = self.on_table[0][1]
        of_led_suit = {card for card in hand if card[1] == led}
        trumps = {card for card in hand if card[1] == self.trump}
        if self.options["void_play"] == "free" and not of_led_suit:
            return hand
        return (of_led_suit | trumps) or hand

    def play(self, seat: int, card: str) -> None:
        self.hands[seat].remove(card)
        self.on_table.append(card)
        if len(self.on_table) == 2:
            self.finish_trick()
        if self.hands == [set(), set()] and not self.on_table:
            self.finish_deal()

    def finish_trick(self) -> None:
        led, answer = self.on_table
        answer_wins = answer[1] == self.trump
        if answer[1] == led[1]:
            answer_wins = height(answer) > height(led)
        winner = 1 - self.leader if answer_wins else self.leader
        for card in self.on_table:
            self.captured[winner].add(card)
            self.captor_of[card] = winner
        self.on_table = []
        self.leader = winner

    # Seven Up 6

    def finish_deal(self) -> None:
        for captor in [*self.captors_of_trumps(), *self.captor_of_game()]:
            self.totals[captor] += 1
        self.played_deals += 1
        self.test_for_the_end()
        if not self.over:
            self.deal(self.deal_number + 1)

    def captors_of_trumps(self) -> list[int]:
        trumps = in_order(card for card in self.captor_of if card[1] == self.trump)
        if not trumps:
            return []
        scoring = [trumps[-1], trumps[0], *(card for card in trumps if card[0] == "J")]
        return [self.captor_of[card] for card in scoring]

    def captor_of_game(self) -> list[int]:
        value = FACE if self.options["pips"] == "face" else CLASSIC
        pips = [sum(value[card[0]] for card in cards) for cards in self.captured]
        if pips[0] != pips[1]:
            return [0 if pips[0] > pips[1] else 1]
        return [self.eldest] if self.options["game_tie"] == "non_dealer" else []

    # Seven Up 7

    def test_for_the_end(self) -> None:
        self.over = max(self.totals) >= self.options["target"] and self.totals[0] != self.totals[1]

    @property
    def places(self) -> list[int]:
        return [1 if mine == max(self.totals) else 2 for mine in self.totals]

    # who owes what

    def actors(self) -> list[int]:
        if self.over:
            return []
        if self.phase == "beg":
            return [self.eldest]
        if self.phase == "gift":
            return [self.dealer]
        if self.phase == "discard":
            return [seat for seat in (0, 1) if len(self.hands[seat]) > 6]
        return [1 - self.leader if self.on_table else self.leader]

    def legal_actions(self, seat: int) -> list[str]:
        if seat not in self.actors():
            return []
        if self.phase == "beg":
            return ["stand", "beg"]
        if self.phase == "gift":
            return ["run", "give"] if self.may_give() else ["run"]
        cards = self.hands[seat] if self.phase == "discard" else self.playable(seat)
        return [f"{self.phase}:{card}" for card in in_order(cards)]

    def apply(self, seat: int, action: str) -> None:
        if action not in self.legal_actions(seat):
            raise ValueError(f"expected one of {self.legal_actions(seat)}, got {action!r}")
        verb, _, card = action.partition(":")
        if verb in {"stand", "beg"}:
            self.answer_beg(action)
        elif verb == "run":
            self.run()
        elif verb == "give":
            self.give()
        elif verb == "discard":
            self.discard(seat, card)
        else:
            self.play(seat, card)
