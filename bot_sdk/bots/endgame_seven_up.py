"""Perfect play of a deal of Seven Up whose cards all lie open: `Endgame`.

Once hands are down to six, twelve cards decide the deal. Each side's are numbered from 0, so a hand is a mask of six
bits, and who takes which pair of cards, with what it brings, is looked up. Which trumps score high, low and jack is
fixed from the start, since it depends on the twelve cards alone. What is left is alpha-beta with a table of positions
met before, and it looks no further where the points that are left can't matter any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Final, NamedTuple, TypeAlias

from bot_sdk.cards import JACK, SUIT_MASKS, cards_in, rank_of
from bot_sdk.games.seven_up import HAND, PIPS
from bot_sdk.games.tricks import BEATS, LED

Worth = Sequence[Sequence[float]]
"""What a deal is worth to us by the points that we and they get from its play: ``worth[ours][theirs]``, 0 to 4 each.

It must never fall with our points, nor rise with theirs.
"""

WE, THEY = 0, 1

Position: TypeAlias = tuple[int, int, int, int, int]
"""Before a trick: who leads, its hand, the other's hand, its points, and how many pips more than the other it has."""

_IN: Final = tuple(tuple(cards_in(mask)) for mask in range(1 << HAND))
"""The numbers of the cards in a hand."""
_UNKNOWN: Final = (-inf, inf)


@dataclass(frozen=True, slots=True)
class Rules:
    """What the play of a deal depends on besides the cards."""

    trump: int
    pips: tuple[int, ...]
    """What a card counts towards game, by rank."""
    must_trump: bool
    """Whether a follower who is void in the led suit has to trump."""
    tie: int | None
    """Who scores game on equal pips, `WE` or `THEY`; None for nobody."""

    @classmethod
    def of(cls, options: dict[str, Any], trump: int, eldest: int) -> Rules:
        """Read them from a game's options; `eldest` is `WE` or `THEY`."""
        tie = eldest if options["game_tie"] == "non_dealer" else None
        return cls(trump, PIPS[options["pips"]], options["void_play"] == "must_trump", tie)


class _Trick(NamedTuple):
    """What comes of one card led and one that follows."""

    is_kept: bool
    """Whether who led takes it."""
    points: int
    pips: int


class Endgame:
    """A deal with all its cards known, from the moment on at which we choose a card."""

    def __init__(self, rules: Rules, ours: int, theirs: int, taken: tuple[int, int], worth: Worth) -> None:
        """Take both hands, at most six cards each, and the cards that we and they have taken; all are masks.

        A card that lies on the table counts to the hand it came from.
        """
        self._rules = rules
        self._cards = [_best_first(hand, rules.trump) for hand in (ours, theirs)]
        self._prizes = _prizes(rules.trump, ours | theirs | taken[WE] | taken[THEY])
        self._points_in = [_sums(self._prizes.get(card, 0) for card in cards) for cards in self._cards]
        self._pips_in = [_sums(rules.pips[rank_of(card)] for card in cards) for cards in self._cards]
        self._follow = [[self._binding(led) for led in cards] for cards in self._cards]
        self._tricks = [
            [[self._trick(led, card) for card in self._cards[1 - side]] for led in self._cards[side]]
            for side in (WE, THEY)
        ]
        self._ends = [_ends(worth, rules.tie), _ends(_as_they_see(worth), None if rules.tie is None else 1 - rules.tie)]
        self._known: dict[Position, tuple[float, float]] = {}
        self._total = sum(self._prizes.values())
        self._points = [sum(self._prizes.get(card, 0) for card in cards_in(cards)) for cards in taken]
        pips = [sum(rules.pips[rank_of(card)] for card in cards_in(cards)) for cards in taken]
        self._ahead = pips[WE] - pips[THEY]

    def leads(self) -> dict[int, float]:
        """Give what each card is worth that we may lead, if both play perfectly from then on."""
        start = self._start(WE)
        cards = enumerate(self._cards[WE])
        return {card: self._led(start, at, self._replies(start, at), -inf, inf) for at, card in cards}

    def replies(self, led: int) -> dict[int, float]:
        """Give what each card is worth that we may play to the one they have led, if both play perfectly afterwards."""
        start, at = self._start(THEY), self._cards[THEY].index(led)
        replies = _IN[self._replies(start, at)]
        return {self._cards[WE][reply]: -self._led(start, at, 1 << reply, -inf, inf) for reply in replies}

    def _start(self, leader: int) -> Position:
        hand, other = ((1 << len(self._cards[side])) - 1 for side in (leader, 1 - leader))
        return leader, hand, other, self._points[leader], self._ahead if leader == WE else -self._ahead

    def _replies(self, position: Position, led: int) -> int:
        """Give what may be played to a lead, as a mask of the other hand."""
        side, _, other, _, _ = position
        bound, needed = self._follow[side][led]
        return other & bound if other & needed else other

    def _lead(self, position: Position, low: float, high: float) -> float:
        """Give the worth of a position to the side that leads, or a bound of it beyond `low` or `high`."""
        side, hand, other, points, ahead = position
        pips = self._pips_in[side][hand] + self._pips_in[1 - side][other]
        left = self._points_in[side][hand] + self._points_in[1 - side][other]
        their_points = self._total - points - left
        won, tied, lost = self._ends[side]
        most = (won if ahead > -pips else tied if ahead == -pips else lost)[points + left][their_points]
        least = (won if ahead > pips else tied if ahead == pips else lost)[points][their_points + left]
        if most == least or most <= low:
            return most
        if least >= high:
            return least
        known_least, known_most = self._known.get(position, _UNKNOWN)
        if known_least >= high or known_least == known_most:
            return known_least
        if known_most <= low:
            return known_most
        best = self._best_lead(position, low, high)
        self._known[position] = (best if best > low else -inf, best if best < high else inf)
        return best

    def _best_lead(self, position: Position, low: float, high: float) -> float:
        side, hand, other, _, _ = position
        follow, best = self._follow[side], -inf
        for led in _IN[hand]:
            bound, needed = follow[led]
            value = self._led(position, led, other & bound if other & needed else other, low, high)
            if value > best:
                best = value
                if best >= high:
                    break
                low = max(low, best)
        return best

    def _led(self, position: Position, led: int, replies: int, low: float, high: float) -> float:
        """Give the worth of a lead to the side that makes it, or a bound of it beyond `low` or `high`."""
        side, hand, other, points, ahead = position
        their_points = self._total - points - self._points_in[side][hand] - self._points_in[1 - side][other]
        tricks = self._tricks[side][led]
        hand ^= 1 << led
        worst = inf
        for reply in _IN[replies]:
            is_kept, won, pips = tricks[reply]
            left = other ^ 1 << reply
            if is_kept:
                value = self._lead((side, hand, left, points + won, ahead + pips), low, high)
            else:
                value = -self._lead((1 - side, left, hand, their_points + won, pips - ahead), -high, -low)
            if value < worst:
                worst = value
                if worst <= low:
                    break
                high = min(high, worst)
        return worst

    def _binding(self, led: int) -> tuple[int, int]:
        """Give what binds the follower of a card, as masks of its hand: what it must play from, if it holds what.

        docs/rules.md, Seven Up 5.
        """
        side = THEY if led in self._cards[WE] else WE
        suit = LED[led]
        bound = suit | SUIT_MASKS[self._rules.trump]
        needed = bound if self._rules.must_trump else suit
        return self._numbers(side, bound), self._numbers(side, needed)

    def _numbers(self, side: int, cards: int) -> int:
        return sum(1 << at for at, card in enumerate(self._cards[side]) if cards >> card & 1)

    def _trick(self, led: int, card: int) -> _Trick:
        points = self._prizes.get(led, 0) + self._prizes.get(card, 0)
        pips = self._rules.pips[rank_of(led)] + self._rules.pips[rank_of(card)]
        return _Trick(not BEATS[self._rules.trump][led][card], points, pips)


def _best_first(hand: int, trump: int) -> list[int]:
    """Order a hand so that what is good is tried first: the search then cuts more."""
    return sorted(cards_in(hand), key=lambda card: (card // 13 == trump, rank_of(card)), reverse=True)


def _prizes(trump: int, cards: int) -> dict[int, int]:
    """Give the cards that score when captured, with their points: high, low and jack (docs/rules.md, Seven Up 6)."""
    prizes: dict[int, int] = {}
    trumps = list(cards_in(cards & SUIT_MASKS[trump]))
    jack = trump * 13 + JACK
    for card in (*trumps[-1:], *trumps[:1], *({jack} & {*trumps})):
        prizes[card] = prizes.get(card, 0) + 1
    return prizes


def _sums(values: Iterable[int]) -> list[int]:
    """Give the sum of the values of each hand, by its mask."""
    sums = [0]
    for value in values:
        sums += [value + other for other in sums]
    return sums


def _ends(worth: Worth, tie: int | None) -> tuple[Worth, Worth, Worth]:
    """Give the worth by the points without game, for a side that wins game, ties it or loses it."""
    most = len(worth) - 1
    won = [[worth[min(most, ours + 1)][theirs] for theirs in range(most + 1)] for ours in range(most + 1)]
    lost = [[worth[ours][min(most, theirs + 1)] for theirs in range(most + 1)] for ours in range(most + 1)]
    return won, {WE: won, THEY: lost, None: worth}[tie], lost


def _as_they_see(worth: Worth) -> Worth:
    """Turn a worth round: what is good for us is as bad for them."""
    return [[-worth[ours][theirs] for ours in range(len(worth))] for theirs in range(len(worth))]
