"""The conformance check of a bot: the same code for ``slagbot check`` and for the arena's own check.

It says what to send and judges what comes back; a `Line` carries it, with its own deadlines.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Final, Protocol

import msgspec
from msgspec import Struct

from bot_sdk import messages, signing
from bot_sdk.events import Outcome
from bot_sdk.games.registry import RULESETS
from bot_sdk.positions import positions
from bot_sdk.replies import BadReply, Missed, read_action, read_actions

POSITIONS: Final = 3
"""How many decisions of each phase are asked."""


class Sent(Protocol):
    """What became of one request. `ok` means a whole body of JSON type with status 200, which nobody has read yet."""

    @property
    def outcome(self) -> Outcome:
        """One of ok, late, unreachable, bad_status, bad_reply, our_fault."""

    @property
    def ms(self) -> float:
        """The time waited."""

    @property
    def status(self) -> int | None:
        """The HTTP status, if there was one."""

    @property
    def error(self) -> str | None:
        """What went wrong, in words for the bot's owner."""

    @property
    def body(self) -> bytes | None:
        """The body of an `ok`."""


class Line(Protocol):
    """Carries requests to the bot that is checked; it raises nothing and takes no longer than the budget."""

    def get_card(self, budget_ms: int) -> Sent:
        """GET the bot's URL."""

    def post(self, body: bytes, budget_ms: int, secret: str | None, *, decisions: int = 1) -> Sent:
        """POST a message, signed with `secret` if there is one; a batch has the size limit of its `decisions`."""


class Step(Struct, frozen=True):
    """One thing that was tried; `detail` says what came, or what was expected instead."""

    name: str
    ok: bool
    detail: str
    ms: float


class _Failed(Exception):  # noqa: N818 - a verdict on the bot, no error of ours
    def __init__(self, detail: str, ms: float = 0.0) -> None:
        super().__init__(detail)
        self.ms = ms


def passed(steps: Sequence[Step]) -> bool:
    """Whether the check is passed: it got as far as any step, and none failed."""
    return bool(steps) and all(step.ok for step in steps)


def card_in(line: Line, *, budget_ms: int = messages.FIRST_BUDGET_MS) -> messages.BotCard:
    """Read the bot's card; raises `BadReply` if it has none or a bad one."""
    try:
        return _card(_ok(line.get_card(budget_ms)))
    except _Failed as failed:
        raise BadReply(str(failed)) from None


def run(
    line: Line,
    *,
    bot_id: str,
    secret: str | None,
    challenge: str,
    claimed: Sequence[str] | None = None,
    seed: str = "check",
    budget_ms: int = messages.BUDGET_MS,
    first_budget_ms: int = messages.FIRST_BUDGET_MS,
) -> Iterator[Step]:
    """Check a bot step by step; `passed` judges the steps.

    `secret` is what the bot must hold, None to check one that takes unsigned calls. `challenge` is fresh random text.
    `claimed` are the rulesets it is registered for, None for those on its card. A bot whose card or proof fails isn't
    asked anything else.
    """
    checks = _Checks(line, bot_id, secret, seed, budgets=(first_budget_ms, budget_ms))
    step, card = checks.card(claimed)
    yield step
    if card is None:
        return
    if secret is not None:
        step = checks.prove(challenge)
        yield step
        if not step.ok:
            return
    yield checks.started()
    for name in claimed or card.known:
        for phase in RULESETS[name].phases:
            yield checks.phase(name, phase)
    if card.max_batch > 1:
        yield checks.batch(claimed or card.known, card.max_batch)
    yield checks.ended()
    if secret is not None:
        yield checks.forged("wrong signature", _other(secret))
        yield checks.forged("no signature", None)


class _Checks:
    """The single checks; each gives one step."""

    def __init__(self, line: Line, bot_id: str, secret: str | None, seed: str, *, budgets: tuple[int, int]) -> None:
        self._line = line
        self._bot_id = bot_id
        self._secret = secret
        self._seed = seed
        self._first_budget_ms, self._budget_ms = budgets
        self._asked = count()
        self._info = messages.GameInfo("check-news", "seven_up", RULESETS["seven_up"].resolve({}, 2), ["you", "other"])

    def card(self, claimed: Sequence[str] | None) -> tuple[Step, messages.BotCard | None]:
        """See that the card is there, is valid and names every ruleset that is claimed."""
        read: list[messages.BotCard] = []

        def check() -> tuple[str, float]:
            sent = _ok(self._line.get_card(self._first_budget_ms))
            card = _card(sent)
            missing = [name for name in claimed or () if name not in card.known]
            if missing:
                raise _Failed(f"expected {', '.join(missing)} on the card, got {', '.join(card.known)}", sent.ms)
            read.append(card)
            return f"{card.name} {card.version} plays {', '.join(card.known)}", sent.ms

        return _step("card", check), read[0] if read else None

    def prove(self, challenge: str) -> Step:
        """See that the bot holds the secret."""

        def check() -> tuple[str, float]:
            assert self._secret is not None  # noqa: S101 - asked only then
            sent = self._post(messages.Challenge(challenge=challenge, bot_id=self._bot_id))
            try:
                reply = msgspec.json.decode(sent.body or b"", type=messages.ChallengeReply)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
                raise _Failed(f"expected challenge and proof: {error}", sent.ms) from None
            if reply.challenge != challenge:
                raise _Failed(f"expected the challenge {challenge!r} back, got {reply.challenge!r:.80}", sent.ms)
            if not signing.is_proof(reply.proof, self._secret, self._bot_id, challenge):
                raise _Failed("expected the proof that the secret makes, got another: is it the same secret?", sent.ms)
            return "holds the secret", sent.ms

        return _step("challenge", check)

    def phase(self, ruleset: str, phase: str) -> Step:
        """See that decisions of one phase get legal answers in time."""

        def check() -> tuple[str, float]:
            slowest = 0.0
            asked = positions(ruleset, phase, POSITIONS, f"{self._seed}/{ruleset}")
            for decision in asked:
                slowest = max(slowest, self._decide(decision))
            return f"{len(asked)} legal answers", slowest

        return _step(f"{ruleset} {phase}", check)

    def batch(self, rulesets: Sequence[str], most: int) -> Step:
        """See that one request with several decisions gets a legal answer to each."""

        def check() -> tuple[str, float]:
            kinds = [(name, phase) for name in rulesets for phase in RULESETS[name].phases]
            decisions = [
                msgspec.structs.replace(decision, budget_ms=self._budget_ms)
                for at, (name, phase) in enumerate(kinds)
                for decision in positions(name, phase, 1, f"{self._seed}/batch{at}")
            ][:most]
            sent = self._post(
                messages.Decisions(budget_ms=self._budget_ms, decisions=decisions), decisions=len(decisions)
            )
            _judge_batch(decisions, sent)
            return f"{len(decisions)} decisions in one request", sent.ms

        return _step("batch", check)

    def started(self) -> Step:
        """See that news of a beginning is taken."""
        return self._news("game_started", messages.GameStarted(game=self._info, seat=0))

    def ended(self) -> Step:
        """See that news of an end is taken."""
        ended = messages.GameEnded(
            game=self._info,
            seat=0,
            state="finished",
            totals=[7, 3],
            places=[1, 2],
            outcomes={"ok": 40},
            record_url="",
        )
        return self._news("game_ended", ended)

    def forged(self, name: str, secret: str | None) -> Step:
        """See that a call is refused if it isn't signed with the bot's secret."""

        def check() -> tuple[str, float]:
            message = messages.GameStarted(game=self._info, seat=0)
            sent = self._line.post(messages.encode(message), self._budget_ms, secret)
            if sent.status is None:
                raise _Failed(f"expected status 401, got none: {_why(sent)}", sent.ms)
            if sent.status not in {401, 403}:
                raise _Failed(f"expected status 401, got {sent.status}: anybody could ask this bot", sent.ms)
            return f"refused with {sent.status}", sent.ms

        return _step(name, check)

    def _news(self, name: str, message: messages.Request) -> Step:
        def check() -> tuple[str, float]:
            sent = self._line.post(messages.encode(message), self._first_budget_ms, self._secret)
            if sent.status is None or not 200 <= sent.status < 300:
                raise _Failed(f"expected a status 2xx: {_why(sent)}", sent.ms)
            return f"status {sent.status}", sent.ms

        return _step(name, check)

    def _decide(self, decision: messages.Decision) -> float:
        asked = msgspec.structs.replace(decision, budget_ms=self._budget())
        sent = self._post(asked)
        try:
            action = read_action(sent.body or b"", asked.decision_id).action
        except BadReply as error:
            raise _Failed(str(error), sent.ms) from None
        _judge(asked, action, sent.ms)
        return sent.ms

    def _budget(self) -> int:
        return self._budget_ms if next(self._asked) else self._first_budget_ms

    def _post(self, message: messages.Request, decisions: int = 1) -> Sent:
        budget_ms = message.budget_ms if hasattr(message, "budget_ms") else self._first_budget_ms
        return _ok(self._line.post(messages.encode(message), budget_ms, self._secret, decisions=decisions))


def _step(name: str, check: Callable[[], tuple[str, float]]) -> Step:
    try:
        detail, ms = check()
    except _Failed as failed:
        return Step(name, ok=False, detail=str(failed), ms=failed.ms)
    return Step(name, ok=True, detail=detail, ms=ms)


def _ok(sent: Sent) -> Sent:
    if sent.outcome is not Outcome.OK:
        raise _Failed(_why(sent), sent.ms)
    return sent


def _why(sent: Sent) -> str:
    return f"{sent.outcome.value}: {sent.error}" if sent.error else sent.outcome.value


def _card(sent: Sent) -> messages.BotCard:
    try:
        card = msgspec.json.decode(sent.body or b"", type=messages.BotCard)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise _Failed(f"expected a bot card: {error}", sent.ms) from None
    if not card.known:
        raise _Failed(
            f"expected one of {', '.join(RULESETS)} on the card, got {', '.join(card.rulesets):.200}", sent.ms
        )
    return card


def _judge(decision: messages.Decision, action: str, ms: float) -> None:
    if action not in decision.legal_actions:
        legal = ", ".join(decision.legal_actions)
        raise _Failed(f"illegal: expected for {decision.phase} one of {legal}, got {action!r}", ms)


def _judge_batch(decisions: Sequence[messages.Decision], sent: Sent) -> None:
    try:
        read = read_actions(sent.body or b"", [decision.decision_id for decision in decisions])
    except BadReply as error:
        raise _Failed(str(error), sent.ms) from None
    for decision in decisions:
        reply = read[decision.decision_id]
        if isinstance(reply, Missed):
            raise _Failed(f"{reply.outcome.value}: {reply.error} ({decision.decision_id})", sent.ms)
        _judge(decision, reply.action, sent.ms)


def _other(secret: str) -> str:
    """Make a secret that isn't the bot's."""
    return signing.make_secret(hashlib.sha256(b"not " + secret.encode()).digest())
