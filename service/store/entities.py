"""What the store keeps, as values. Who may do what with them is decided in `arena`."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final

import msgspec

from bot_sdk.results.values import GameState, Slot

PULL: Final = "pull:"
"""Stands where the URL would of a bot that fetches its calls from the arena: it has none."""


class Transport(StrEnum):
    """How calls get to a bot: the arena sends them to its URL, or it fetches them."""

    PUSH = "push"
    PULL = "pull"


def transport_of(url: str) -> Transport:
    """Tell how calls get to whoever is at a URL, or at `PULL`."""
    return Transport.PULL if url == PULL else Transport.PUSH


class BotState(StrEnum):
    """Only an active bot is given games."""

    PENDING = "pending"
    ACTIVE = "active"
    PAUSED = "paused"
    SUSPENDED = "suspended"
    DISABLED = "disabled"


class AccountState(StrEnum):
    """Only an active account's tokens are taken; one that was erased stays as a name that says so."""

    ACTIVE = "active"
    DISABLED = "disabled"
    ERASING = "erasing"
    ERASED = "erased"


class TournamentState(StrEnum):
    """The life of a tournament."""

    OPEN = "open"
    RUNNING = "running"
    PAUSED = "paused"
    FINISHED = "finished"
    CANCELLED = "cancelled"

    @property
    def is_end(self) -> bool:
        """Whether nothing can happen any more."""
        return self in {TournamentState.FINISHED, TournamentState.CANCELLED}


class Account(msgspec.Struct, frozen=True, kw_only=True):
    """Who owns bots, games and tournaments. `created_at` is in Unix milliseconds, as all times here are.

    `reason` is why the operator has disabled it.
    """

    id: str
    name: str
    created_at: int
    state: AccountState = AccountState.ACTIVE
    reason: str | None = None


class Suspension(msgspec.Struct, frozen=True, kw_only=True):
    """Why a bot is suspended `since` then, and how the arena's checks of it go.

    `games` show why. `is_gone`: the bot asked not to be called, so the arena doesn't check it either. So many `checks`
    have ended, the last one at `checked_at`; the last `good` of them were passed.
    """

    since: int
    games: list[str]
    is_gone: bool = False
    checks: int = 0
    good: int = 0
    checked_at: int | None = None


class AskedBy(StrEnum):
    """Who wanted a check: the bot's owner, or the arena, to see whether a suspended bot is well again."""

    OWNER = "owner"
    ARENA = "arena"


class Bot(msgspec.Struct, frozen=True, kw_only=True):
    """A registered bot. `version`, `max_batch` and `max_games` come from its card at the last passed check.

    `new_url` takes the place of `url` when a check of it passes; either is `PULL` if the bot fetches its calls.
    `suspension` is there while it is suspended; `with_account` says that it is disabled because its account is.
    """

    id: str
    account_id: str
    name: str
    url: str
    new_url: str | None = None
    rulesets: list[str]
    availability: str = "public"
    state: BotState = BotState.PENDING
    reason: str | None = None
    with_account: bool = False
    suspension: Suspension | None = None
    version: str | None = None
    max_batch: int = 1
    max_games: int = 8
    created_at: int
    activated_at: int | None = None


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One conformance check of a bot: `state` is queued, running, passed or failed.

    `steps` are those of `bot_sdk.check.Step` as JSON, in the order they ran.
    """

    id: str
    bot_id: str
    state: str = "queued"
    url: str
    asked_by: AskedBy = AskedBy.OWNER
    created_at: int
    ended_at: int | None = None
    steps: list[dict[str, Any]] = []


class Seat(msgspec.Struct, frozen=True, kw_only=True):
    """Who sits at a table: `kind` is bot, house, human or open. A bot's URL and version are pinned here."""

    kind: str
    name: str
    bot_id: str | None = None
    version: str | None = None
    url: str | None = None
    account_id: str | None = None
    max_batch: int = 1


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What a game allows its seats, in milliseconds and faults."""

    budget_ms: int = 1_000
    first_budget_ms: int = 5_000
    human_budget_ms: int = 120_000
    max_faults: int = 5


class Game(msgspec.Struct, frozen=True, kw_only=True):
    """The meta of one game: all that is fixed at its creation, and what may change until it starts.

    The `state` and the three times are the store's own; the log is kept beside it. `label` and `commitment` are
    those of its packs (docs/deals.md); the secret itself lives elsewhere. `rules` is the version of the ruleset by
    which it is played, 1 where none was noted.
    """

    id: str
    ruleset: str
    rules: int = 1
    options: dict[str, Any]
    seats: list[Seat]
    limits: Limits = Limits()
    label: str
    commitment: str
    entropy: list[str]
    start: str = "auto"
    owner: str | None = None
    forfeited: list[int] = []
    slot: Slot | None = None
    state: GameState = GameState.OPEN
    created_at: int
    started_at: int | None = None
    ended_at: int | None = None


class Sprt(msgspec.Struct, frozen=True, kw_only=True):
    """A sequential test of a match: is the challenger `elo0` or `elo1` stronger? With its two error rates."""

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05


class Tournament(msgspec.Struct, frozen=True, kw_only=True):
    """The meta of one tournament. `seed` settles ties of last resort and the order of entries.

    Which of `rounds`, `challenger`, `advance`, `max_games` and `sprt` it has depends on its format. `invited` lists
    the bots and accounts that may enter, None if all may. `reason` says how it came to its end. Since `resumed_at` it
    runs without a pause; it had `finished_before` results then.
    """

    id: str
    name: str
    owner: str | None
    ruleset: str
    options: dict[str, Any]
    format: str = "round_robin"
    deals: str = "field"
    table_size: int
    rounds: int | None = None
    challenger: str | None = None
    advance: int | None = None
    max_games: int | None = None
    sprt: Sprt | None = None
    seed: int
    limits: Limits = Limits()
    invited: list[str] | None = None
    entries_per_account: int | None = None
    root: str
    state: TournamentState = TournamentState.OPEN
    reason: str | None = None
    created_at: int
    started_at: int | None = None
    resumed_at: int | None = None
    finished_before: int = 0
    ended_at: int | None = None
