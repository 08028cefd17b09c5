"""The bot contract, version 1, in one place: every message between the arena and a bot (docs/contract.md).

Both sides use these. The arena builds requests and reads replies strictly; a bot may ignore fields it doesn't know.
``openapi/bot.yaml`` is generated from here.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct

from bot_sdk.events import Decided, Outcome
from bot_sdk.games.game import Game
from bot_sdk.games.registry import RULESETS

API: Final = 1
MAX_NOTE_BYTES: Final = 500
MAX_REPLY_BYTES: Final = 64 * 1024
MAX_REPLY_BYTES_PER_DECISION: Final = 1024
MAX_BATCH: Final = 64
FIRST_BUDGET_MS: Final = 5_000
BUDGET_MS: Final = 1_000

_DECISION_ID: Final = re.compile(r"(.{1,80})\.(\d{1,2})\.(\d{1,6})")

ActionText = Annotated[str, Meta(max_length=64, examples=["play:QH"])]
CardText = Annotated[str, Meta(pattern="^[2-9TJQKA][CDHS]$", examples=["QH"])]
SuitText = Annotated[str, Meta(pattern="^[CDHS]$")]
RulesetName = Annotated[str, Meta(min_length=1, max_length=64, pattern=r"\S", examples=list(RULESETS))]


class Last(Struct, frozen=True):
    """How the seat's previous decision in this game went."""

    ms: float
    outcome: Outcome


class GameInfo(Struct, frozen=True):
    """The game a message is about: its options are complete, `seats` are the players' names by seat."""

    id: str
    ruleset: str
    options: dict[str, Any]
    seats: list[str]


class Decision(Struct, frozen=True, tag_field="type", tag="decision", kw_only=True):
    """A request for one action. `budget_ms` is all the time there is, network included.

    `observation` is a `SevenUpObservation` or a `RiverObservation`; `legal_actions` is complete and sorted, its first
    element is played if no good answer comes in time.
    """

    api: int = API
    decision_id: str
    budget_ms: int
    last: Last | None
    game: GameInfo
    seat: int
    phase: str
    observation: dict[str, Any]
    legal_actions: list[str]


class Decisions(Struct, frozen=True, tag_field="type", tag="decisions", kw_only=True):
    """Several decisions in one request, to bots whose card says `max_batch` > 1; the budget covers the whole reply."""

    api: int = API
    budget_ms: int
    decisions: list[Decision]


class Challenge(Struct, frozen=True, tag_field="type", tag="challenge", kw_only=True):
    """Asks whoever answers at this URL to prove that they hold the bot's secret."""

    api: int = API
    challenge: str
    bot_id: str


class GameStarted(Struct, frozen=True, tag_field="type", tag="game_started", kw_only=True):
    """A game with this bot is about to begin; any 2xx will do and nothing waits for it."""

    api: int = API
    game: GameInfo
    seat: int


class GameEnded(Struct, frozen=True, tag_field="type", tag="game_ended", kw_only=True):
    """A game of this bot has ended and its record can be read; `outcomes` counts the bot's own decisions."""

    api: int = API
    game: GameInfo
    seat: int
    state: str
    totals: list[int]
    places: list[int] | None
    outcomes: dict[str, int]
    record_url: str


Request = Decision | Decisions | Challenge | GameStarted | GameEnded


class ActionReply(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The answer to a decision."""

    decision_id: str
    action: ActionText
    note: Annotated[str, Meta(max_length=MAX_NOTE_BYTES)] | None = None


class ActionsReply(Struct, frozen=True):
    """The answers to a batch, in any order; a decision without one is late."""

    actions: list[ActionReply]


class ChallengeReply(Struct, frozen=True):
    """`proof` is the hex HMAC-SHA256 of ``<bot_id>.<challenge>`` under the bot's secret."""

    challenge: str
    proof: str


class BotCard(Struct, frozen=True, kw_only=True):
    """What a bot says of itself in answer to GET.

    `rulesets` may name some that aren't known here: those don't count. `max_batch` is the most decisions it takes in
    one request, `max_games` the most games at once over the whole arena.
    """

    api: Literal[1] = API
    name: Annotated[str, Meta(min_length=1, max_length=64, pattern=r"\S")]
    version: Annotated[str, Meta(min_length=1, max_length=64)]
    author: Annotated[str, Meta(max_length=128)] = ""
    rulesets: Annotated[list[RulesetName], Meta(min_length=1, max_length=64, extra_json_schema={"uniqueItems": True})]
    max_batch: Annotated[int, Meta(ge=1, le=MAX_BATCH)] = 1
    max_games: Annotated[int, Meta(ge=1, le=64)] = 8

    def __post_init__(self) -> None:
        """Raise ValueError for a ruleset that is named twice; msgspec makes a ValidationError of it."""
        twice = [name for at, name in enumerate(self.rulesets) if name in self.rulesets[:at]]
        if twice:
            raise ValueError(f"expected each ruleset once, got {twice[0]!r:.80} again")

    @property
    def known(self) -> list[str]:
        """The rulesets on the card that are known here."""
        return [name for name in self.rulesets if name in RULESETS]


class TrickShown(Struct, frozen=True, omit_defaults=True):
    """The cards of a trick in the order played; no `winner` while it is open."""

    leader: int
    cards: list[CardText]
    winner: int | None = None


class SevenUpObservation(Struct, frozen=True, kw_only=True):
    """What a seat of Seven Up may know: its own hand and discards, and what lies open.

    `trump` is null until it is fixed; `to_discard` says how many cards this seat still has to discard.
    """

    deal: int
    dealer: int
    hand: list[CardText]
    upcards: list[CardText]
    trump: SuitText | None
    begged: bool
    discards: list[CardText]
    to_discard: int
    totals: list[int]
    trick: TrickShown | None
    tricks: list[TrickShown]


class RiverObservation(Struct, frozen=True, kw_only=True):
    """What a seat of Up and Down the River may know; a bid not yet made or not yet revealed is null."""

    deal: int
    cards: int
    dealer: int
    hand: list[CardText]
    upcard: CardText
    trump: SuitText
    bids: list[int | None]
    tricks_won: list[int]
    totals: list[int]
    trick: TrickShown | None
    tricks: list[TrickShown]


OBSERVATIONS: Final = {"seven_up": SevenUpObservation, "river": RiverObservation}

encode = msgspec.json.Encoder().encode


def decision_id(game_id: str, seat: int, number: int) -> str:
    """Name a decision: `number` counts that seat's own decisions from 0, so that simultaneous ones keep their names."""
    return f"{game_id}.{seat}.{number}"


def parse_decision_id(text: str) -> tuple[str, int, int] | None:
    """Read a decision id as (game id, seat, number); None if it isn't one."""
    match = _DECISION_ID.fullmatch(text)
    return (match[1], int(match[2]), int(match[3])) if match else None


def last_of(decided: Decided | None) -> Last | None:
    """Say how a seat's previous decision went."""
    return Last(decided.ms, decided.outcome) if decided else None


def decision_of(game: Game, info: GameInfo, seat: int, budget_ms: int) -> Decision:
    """Build the request for the decision that `seat` owes."""
    return Decision(
        decision_id=decision_id(info.id, seat, game.decisions[seat]),
        budget_ms=budget_ms,
        last=last_of(game.last[seat]),
        game=info,
        seat=seat,
        phase=game.state.phase,
        observation=game.state.observe(seat),
        legal_actions=game.state.legal_actions(seat),
    )
