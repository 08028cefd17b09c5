"""Answers the messages of the bot contract by asking a bot, and tells who listens of each decision.

Knows no HTTP, checks no signature, and doesn't judge what the bot answers: that is the arena's business.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias

from bot_sdk import messages, signing
from bot_sdk.errors import SdkError

SPENT: Final = 0.9
"""The share of a batch's budget after which what is answered is sent: a late reply would lose all of it."""

FAILURES: Final = (Exception, SystemExit)
"""What the author's code may raise: `exit()` in a decision is its failure, and mustn't end the server."""

log = logging.getLogger("slagveld.bot")


class Hosted(Protocol):
    """What can be served: `bot_sdk.bot.Bot`, or anything that answers like it."""

    @property
    def secret(self) -> str | None:
        """The secret that calls must be signed with; None to answer everybody."""

    def card(self) -> messages.BotCard:
        """Give the bot card."""

    def answer(self, message: messages.Decision, /) -> messages.ActionReply:
        """Decide."""

    def game_started(self, started: messages.GameStarted, /) -> None:
        """Take notice of a beginning."""

    def game_ended(self, ended: messages.GameEnded, /) -> None:
        """Take notice of an end."""


@dataclass(frozen=True, slots=True)
class Served:
    """One decision that a bot was asked for: the `action` it chose, or in `error` what its code raised instead."""

    decision: messages.Decision
    ms: float
    action: str | None = None
    error: str | None = None

    @property
    def legal(self) -> bool:
        """Whether the bot chose one of the legal actions."""
        return self.action in self.decision.legal_actions


OnDecided: TypeAlias = Callable[[Served], None]
"""What is told of each decision before its answer is sent: it must be quick, may be called by many threads at once,
and whatever it raises is taken for the bot's own failure."""


class NoSecretError(SdkError):
    """A challenge to a bot that holds no secret."""


def answer(
    bot: Hosted,
    message: messages.Request,
    *,
    on_decided: OnDecided | None = None,
    monotonic: Callable[[], float] = time.monotonic,
) -> bytes:
    """Answer one message with the body of a reply.

    Raises whatever the bot's own code raises, and `NoSecretError`. In a batch a decision whose code fails is left out,
    the others are answered.
    """
    asking = _Asking(bot, on_decided or _tell_nobody, monotonic)
    match message:
        case messages.Decision():
            return messages.encode(asking.decide(message))
        case messages.Decisions():
            return messages.encode(asking.decide_all(message))
        case messages.Challenge():
            return messages.encode(_prove(bot.secret, message))
        case messages.GameStarted():
            bot.game_started(message)
        case messages.GameEnded():
            bot.game_ended(message)
    return b"{}"


def _tell_nobody(_served: Served) -> None:
    pass


@dataclass(slots=True)
class _Asking:
    """Asks a bot for the decisions of one request, one after the other, and tells how each went."""

    bot: Hosted
    tell: OnDecided
    monotonic: Callable[[], float]
    at: float = field(init=False)

    def __post_init__(self) -> None:
        self.at = self.monotonic()

    def decide(self, decision: messages.Decision) -> messages.ActionReply:
        try:
            reply = self.bot.answer(decision)
        except FAILURES as error:
            self.tell(Served(decision, self._taken(), error=f"{type(error).__name__}: {error}"))
            raise
        self.tell(Served(decision, self._taken(), reply.action))
        return reply

    def decide_all(self, batch: messages.Decisions) -> messages.ActionsReply:
        until = self.at + batch.budget_ms / 1000 * SPENT
        actions: list[messages.ActionReply] = []
        for at, decision in enumerate(batch.decisions):
            if self.at > until:
                log.warning("the budget is nearly spent: %d of a batch left unanswered", len(batch.decisions) - at)
                break
            try:
                actions.append(self.decide(decision))
            except FAILURES:  # one failure must not take the others along
                log.exception("the bot failed to answer %s", decision.decision_id)
        return messages.ActionsReply(actions)

    def _taken(self) -> float:
        """Give the milliseconds since it was called last: those of the decision that has just been taken."""
        before, self.at = self.at, self.monotonic()
        return 1000 * (self.at - before)


def _prove(secret: str | None, challenge: messages.Challenge) -> messages.ChallengeReply:
    if secret is None:
        raise NoSecretError("the bot holds no secret, set SLAGVELD_BOT_SECRET")
    proof = signing.proof(secret, challenge.bot_id, challenge.challenge)
    return messages.ChallengeReply(challenge.challenge, proof)
