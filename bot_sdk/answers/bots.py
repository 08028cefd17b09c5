"""What the arena says of bots, their checks and their decisions."""

from __future__ import annotations

from bot_sdk.answers.base import Answer


class SuspensionView(Answer, frozen=True, kw_only=True):
    """Why a bot is suspended, the games that show it, and how the arena's checks of it go."""

    since: int
    games: list[str]
    checks: int
    good: int


class BotView(Answer, frozen=True, kw_only=True):
    """A bot: `state` is pending, active, paused, suspended or disabled; times are Unix milliseconds.

    `transport` (push or pull), `url`, `new_transport` and `new_url` (which take their places once they are checked),
    `reason` (of its state) and `suspension` are for its owner; for others they are None. With the transport pull there
    is no URL.
    """

    id: str
    kind: str
    name: str
    account_id: str | None
    rulesets: list[str]
    availability: str
    state: str
    version: str | None
    max_batch: int
    max_games: int
    created_at: int
    activated_at: int | None
    transport: str | None = None
    url: str | None = None
    new_transport: str | None = None
    new_url: str | None = None
    reason: str | None = None
    suspension: SuspensionView | None = None


class BotMade(BotView, frozen=True, kw_only=True):
    """A new bot; `secret` is there this once, and only if the arena made it."""

    secret: str | None = None


class Step(Answer, frozen=True, kw_only=True):
    """One thing that a check tried."""

    name: str
    ok: bool
    detail: str | None = None
    ms: float | None = None
    warning: bool = False
    fault: str | None = None
    where: str | None = None
    advice: str | None = None


class CheckView(Answer, frozen=True, kw_only=True):
    """A check of a bot: `state` is queued, running, passed or failed; `asked_by` is owner or arena.

    `url` is None if the bot fetches its calls.
    """

    id: str
    bot_id: str
    state: str
    url: str | None
    asked_by: str
    created_at: int
    ended_at: int | None
    steps: list[Step]


class SecretMade(Answer, frozen=True, kw_only=True):
    """A bot's new secret, None if it was given; the old one is valid for `previous_valid_ms` more."""

    secret: str | None
    previous_valid_ms: int


class LedgerLine(Answer, frozen=True, kw_only=True):
    """One decision a bot was asked for: how it went, how long it took, and the head of what the bot answered."""

    decision_id: str
    game_id: str
    at: int
    outcome: str
    ms: float
    action: str | None
    error: str | None
    status: int | None
    head: str | None


class PulledCall(Answer, frozen=True, kw_only=True):
    """A call that a bot has fetched: the headers that sign it, and its body as text, byte for byte."""

    id: str
    headers: dict[str, str]
    body: str


class AnswersTaken(Answer, frozen=True, kw_only=True):
    """The ids of those calls that were still waiting for the answers sent."""

    taken: list[str]
