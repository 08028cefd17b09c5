"""Decisions arranged around a hand, to ask what a bot does that holds these cards.

Each is of a real game, reached by packs and legal actions alone: what the hand and the upcard leave open is dealt and
played by chance from a seed. It says nothing about how likely such a position is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from bot_sdk import messages
from bot_sdk.cards import NAMES, cards_in, mask_of, names_in, parse_card, suit_of
from bot_sdk.errors import SdkError
from bot_sdk.games.base import Packs
from bot_sdk.games.game import Game
from bot_sdk.games.packs import seeded
from bot_sdk.games.registry import ruleset
from bot_sdk.games.river import schedule_of
from bot_sdk.games.seven_up import HAND, MOST_RUNS, RUN

_ATTEMPTS: Final = 1000
"""How many games are tried: in Seven Up a seat may be forced to part with a card that it should keep."""
_FIRST_UPCARD: Final = 2 * HAND
_DRAWN_BY_A_RUN: Final = 2 * RUN + 1


class PositionError(SdkError, ValueError):
    """A position that can't be: the message says what it would take."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the caller fixes: `hand` as a mask, `upcard` None to have one drawn."""

    phase: str
    hand: int
    upcard: int | None

    @property
    def cards(self) -> int:
        return self.hand.bit_count()


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Which decision is looked for, and where: `seat` owes it in deal `deal` of a game."""

    phase: str
    hand: int
    deal: int
    seat: int

    def is_owed(self, game: Game) -> bool:
        state = game.state
        return (
            state.deal_number == self.deal
            and state.phase == self.phase
            and state.hands[self.seat] == self.hand
            and state.mask(self.seat) != 0
        )


def holding(
    ruleset_name: str,
    phase: str,
    hand: str,
    *,
    upcard: str | None = None,
    seats: int | None = None,
    options: Mapping[str, Any] | None = None,
    seed: str = "0",
) -> messages.Decision:
    """Give a decision of this phase, owed by a seat that holds exactly this hand, such as ``"AS TH 7H 4D JC 2C"``.

    `upcard` is the card that was turned last, whose suit is trump or offered as trump. `seats` are as few as the rules
    allow unless given, `options` the defaults. In Seven Up it is a decision of the first deal: ``beg`` and ``gift``
    (which sets that option) take 6 cards, ``discard`` 7 to 21, ``play`` 1 to 6 after eldest stood. In River it is one
    of the first round with as many cards, ``play`` the seat's first. The same arguments give the same decision.

    Raises `PositionError` for what can't be, `CardError` for a text that is no card, `RulesetError` and `OptionError`
    for a table that can't be.
    """
    rules = ruleset(ruleset_name)
    if phase not in rules.phases:
        raise PositionError(f"expected a phase of {rules.name} among {', '.join(rules.phases)}, got {phase!r:.80}")
    asked = _asked(phase, hand, upcard)
    seats = seats or rules.min_seats
    resolved = rules.resolve({**({"gift": True} if phase == "gift" else {}), **(options or {})}, seats)
    if phase == "gift" and not resolved["gift"]:
        raise PositionError("expected the option gift for a decision of the phase gift, got it switched off")
    for attempt in range(_ATTEMPTS):
        rng = Random(f"{seed}/{attempt}")
        arrange = _in_river if rules.name == "river" else _in_seven_up
        wanted, pack = arrange(asked, resolved, seats, rng)
        game = Game(rules, resolved, seats, _with_pack(wanted.deal, pack, seeded(seed, seats)))
        if _reaches(game, wanted, rng):
            return messages.decision_of(game, _info(game, wanted.seat, seed), wanted.seat, messages.BUDGET_MS)
    raise PositionError(
        f"expected a hand that can be held in {rules.name} {phase} with these options, "
        f"got {hand!r:.80}, which no game came to"
    )


def _asked(phase: str, hand: str, upcard: str | None) -> _Asked:
    """Read the cards; none may be there twice."""
    cards = [parse_card(name) for name in hand.split()]
    turned = None if upcard is None else parse_card(upcard)
    for at, card in enumerate(cards):
        if card in cards[:at]:
            raise PositionError(f"expected each card once in the hand, got {NAMES[card]} again")
        if card == turned:
            raise PositionError(f"expected an upcard that isn't in the hand, got {upcard}")
    return _Asked(phase, mask_of(cards), turned)


def _in_river(asked: _Asked, options: dict[str, Any], seats: int, rng: Random) -> tuple[_Wanted, list[int]]:
    """Deal the hand to some seat in the first round of that many cards."""
    cards = asked.cards
    schedule = schedule_of(options)
    if cards not in schedule:
        raise PositionError(f"expected 1 to {options['start_cards']} cards (start_cards) in hand, got {cards}")
    deal = schedule.index(cards)
    seat = rng.randrange(seats)
    eldest = (options["first_dealer"] + deal + 1) % seats
    places = dict(zip(range((seat - eldest) % seats, seats * cards, seats), cards_in(asked.hand), strict=True))
    places[seats * cards] = rng.choice(_others(asked.hand)) if asked.upcard is None else asked.upcard
    return _Wanted(asked.phase, asked.hand, deal, seat), _filled(places, rng)


def _in_seven_up(asked: _Asked, options: dict[str, Any], _seats: int, rng: Random) -> tuple[_Wanted, list[int]]:
    """Deal the hand, and what the seat will have parted with, to a seat that comes to owe this phase."""
    runs = _runs(asked)
    dealer = options["first_dealer"]
    seat = {"beg": 1 - dealer, "gift": dealer}.get(asked.phase, rng.randrange(2))
    begins = [0, *(_FIRST_UPCARD + 1 + run * _DRAWN_BY_A_RUN for run in range(runs))]
    own = [begin + 2 * at + (seat == dealer) for begin in begins for at in range(RUN if begin else HAND)]
    places = dict(zip(rng.sample(own, asked.cards), cards_in(asked.hand), strict=True))
    places |= {_FIRST_UPCARD + run * _DRAWN_BY_A_RUN: card for run, card in enumerate(_upcards(asked, runs, rng))}
    return _Wanted(asked.phase, asked.hand, 0, seat), _filled(places, rng)


def _runs(asked: _Asked) -> int:
    """Count the runs it takes to hold so many cards in a phase of Seven Up."""
    phase, cards = asked.phase, asked.cards
    most = HAND + MOST_RUNS * RUN
    least, most = {"discard": (HAND + 1, most), "play": (1, HAND)}.get(phase, (HAND, HAND))
    if not least <= cards <= most:
        expected = str(least) if least == most else f"{least} to {most}"
        raise PositionError(f"expected {expected} cards in hand for {phase}, got {cards}")
    return max(0, -(-(cards - HAND) // RUN))


def _upcards(asked: _Asked, runs: int, rng: Random) -> list[int]:
    """Draw what is turned: before each run a card of the first suit, after the last one a card of another.

    There are always enough of some suit: to leave fewer than 5 in each of three takes 27 cards, and nobody holds 22.
    """
    turned = rng.choice(_others(asked.hand)) if asked.upcard is None else asked.upcard
    others = _others(asked.hand)
    suits = [suit for suit in range(4) if suit != suit_of(turned)]
    of_suit = [[card for card in others if suit_of(card) == suit] for suit in suits]
    return [*rng.sample(rng.choice([cards for cards in of_suit if len(cards) >= runs]), runs), turned]


def _others(hand: int) -> list[int]:
    return [card for card in range(len(NAMES)) if not hand >> card & 1]


def _filled(places: Mapping[int, int], rng: Random) -> list[int]:
    """Give a pack with these cards at these indices and the others by chance between them."""
    rest = _others(mask_of(places.values()))
    rng.shuffle(rest)
    others = iter(rest)
    return [places[at] if at in places else next(others) for at in range(len(NAMES))]


def _with_pack(deal: int, pack: list[int], others: Packs) -> Packs:
    return lambda number: pack if number == deal else others(number)


def _reaches(game: Game, wanted: _Wanted, rng: Random) -> bool:
    """Play a game by chance until the wanted decision is owed, and tell whether it came to that."""
    while not game.is_over and game.state.deal_number <= wanted.deal:
        if wanted.is_owed(game):
            return True
        seat = rng.choice(game.owed())
        choices = _choices(game, seat, wanted)
        if not choices:
            return False
        game.apply(game.judged(seat, rng.choice(choices), ms=0.0))
    return False


def _choices(game: Game, seat: int, wanted: _Wanted) -> list[str]:
    """List the legal actions that may still lead there: who should hold the hand keeps its cards."""
    legal = game.state.legal_actions(seat)
    if game.state.deal_number < wanted.deal:
        return legal
    if game.state.phase in {"beg", "gift"}:
        on_the_way = {"beg": "stand" if wanted.phase == "play" else "beg", "gift": "run"}
        return [on_the_way[game.state.phase]]
    if seat != wanted.seat:
        return legal
    kept = set(names_in(wanted.hand))
    return [action for action in legal if action[-2:] not in kept]


def _info(game: Game, seat: int, seed: str) -> messages.GameInfo:
    names = ["you" if at == seat else f"player {at}" for at in range(game.seats)]
    return messages.GameInfo(f"position-{seed}", game.ruleset.name, game.state.options, names)
