"""The check itself: the same code for ``slagbot check`` and for the arena's own.

It says what to send, one request at a time; a `Line` carries it, with its own deadlines. What is told by time alone is
a warning and never a failure, but for a bot that is late again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Any, Final

import msgspec

from bot_sdk import messages, signing
from bot_sdk.checking import faults
from bot_sdk.checking.asking import Asker, as_of_many_games
from bot_sdk.checking.faults import Fault, Finding
from bot_sdk.checking.judging import Judge, card_of, why
from bot_sdk.checking.values import Doctor, Failed, Line, Sent, Step, Verdict, failed_step, shown, step_of
from bot_sdk.games.registry import RULESETS
from bot_sdk.replies import BadReply

POSITIONS: Final = 3
"""How many decisions of each phase are asked."""
STALE_S: Final = 3600
"""How old the signature is that a bot should refuse."""
_COLD: Final = 5
"""So many times as long as the others the first answer takes, where a start is called cold."""
_LATER: Final[dict[str, Any]] = {"later": [1, {"deep": None}]}


def card_in(line: Line, *, budget_ms: int = messages.FIRST_BUDGET_MS) -> messages.BotCard:
    """Read the bot's card; raises `BadReply` if it has none or a bad one."""
    try:
        return card_of(line.get_card(budget_ms))
    except Failed as failed:
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
    doctor: Doctor | None = None,
) -> Iterator[Step]:
    """Check a bot step by step; `passed` judges the steps.

    `secret` is what the bot must hold, None to check one that takes unsigned calls. `challenge` is fresh random text.
    `claimed` are the rulesets it is registered for, None for those on its card. A bot whose card or proof fails isn't
    asked anything else. The `doctor` is asked about each fault that is found.
    """
    checks = _Checks(line, bot_id, secret, seed, budgets=(first_budget_ms, budget_ms), judge=Judge(doctor))
    step, card = checks.card(claimed)
    yield step
    if card is None:
        return
    if secret is not None:
        step = checks.prove(challenge)
        yield step
        if not step.ok:
            return
    names = claimed or card.known
    yield checks.started()
    for name in names:
        for phase in RULESETS[name].phases:
            yield checks.phase(name, phase)
    yield checks.cold_start()
    yield checks.unknown_fields(names)
    yield checks.asked_again(names)
    if card.max_batch > 1:
        yield from checks.batches(names, card.max_batch)
    yield checks.ended()
    if secret is not None:
        yield checks.forged("wrong signature", _other(secret))
        yield checks.forged("no signature", None)
        yield checks.forged("stale signature", secret, age_s=STALE_S)


class _Checks:
    """The single checks; each gives one step."""

    def __init__(
        self, line: Line, bot_id: str, secret: str | None, seed: str, *, budgets: tuple[int, int], judge: Judge
    ) -> None:
        self._line = line
        self._bot_id = bot_id
        self._secret = secret
        self._first_budget_ms, self._budget_ms = budgets
        self._judge = judge
        self._opening: list[tuple[float, str]] = []
        self._asker = Asker(line, secret, seed, judge, budgets=budgets)
        self._info = messages.GameInfo("check-news", "seven_up", RULESETS["seven_up"].resolve({}, 2), ["you", "other"])

    def card(self, claimed: Sequence[str] | None) -> tuple[Step, messages.BotCard | None]:
        """See that the card is there, is valid and names every ruleset that is claimed."""
        read: list[messages.BotCard] = []

        def check() -> Verdict:
            sent = self._line.get_card(self._first_budget_ms)
            self._opening.append((sent.ms, "card"))
            card = self._judge.card(sent)
            missing = [name for name in claimed or () if name not in card.known]
            if missing:
                told = f"expected {', '.join(missing)} on the card, got {', '.join(card.known)}"
                raise Failed(Finding(Fault.CARD, told, "the field rulesets"), sent.ms)
            read.append(card)
            return Verdict(f"{card.name} {card.version} plays {', '.join(card.known)}", sent.ms)

        return self._step("card", check), read[0] if read else None

    def prove(self, challenge: str) -> Step:
        """See that the bot holds the secret."""
        message = messages.encode(messages.Challenge(challenge=challenge, bot_id=self._bot_id))

        def check() -> Verdict:
            assert self._secret is not None  # noqa: S101 - asked only then
            sent = self._line.post(message, self._first_budget_ms, self._secret)
            self._opening.append((sent.ms, "challenge"))
            try:
                reply = msgspec.json.decode(self._judge.answered(sent), type=messages.ChallengeReply)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
                raise Failed(Finding(Fault.BAD_REPLY, f"expected challenge and proof: {error}"), sent.ms) from None
            if reply.challenge != challenge:
                told = f"expected the challenge {challenge!r} back, got {reply.challenge!r:.80}"
                raise Failed(Finding(Fault.BAD_REPLY, told, "the field challenge"), sent.ms)
            if not signing.is_proof(reply.proof, self._secret, self._bot_id, challenge):
                told = "expected the proof that the secret makes, got another: is it the same secret?"
                raise Failed(Finding(Fault.SECRET, told, "the field proof"), sent.ms)
            return Verdict("holds the secret", sent.ms)

        return self._step("challenge", check)

    def phase(self, ruleset: str, phase: str) -> Step:
        """See that decisions of one phase get legal answers in time."""

        def check() -> Verdict:
            asked = self._asker.several(ruleset, phase, POSITIONS)
            slowest = max([self._asker.decision(decision) for decision in asked])
            return Verdict(f"{len(asked)} legal answers", slowest)

        return self._step(f"{ruleset} {phase}", check)

    def cold_start(self) -> Step:
        """See whether the first decision, or what came before, took much longer than others.

        Not news of a game: a bot may well warm up at that.
        """

        def check() -> Verdict:
            decision, times = self._asker.first, self._asker.times
            if decision is None or len(times) < 2:
                return Verdict("not measured: too few answers", 0.0)
            usual = median(times[1:])
            ms, what = max((*self._opening, (times[0], "decision")))
            told = f"the first {what} took {shown(ms)}, later decisions {shown(usual)}"
            if ms < max(self._budget_ms / 2, _COLD * usual):
                return Verdict(told, ms)
            asked = [decision] if what == "decision" else []
            return Verdict(told, ms, self._judge.seen(Finding(Fault.COLD_START, told), asked, None))

        return self._step("cold start", check)

    def unknown_fields(self, rulesets: Sequence[str]) -> Step:
        """See that fields of later versions don't disturb the bot."""

        def check() -> Verdict:
            slowest = 0.0
            for decision in self._asker.one_of_each(rulesets, "unknown"):
                value = msgspec.json.decode(messages.encode(decision))
                for place in (value, value["game"], value["observation"]):
                    place.update(_LATER)
                sent = self._asker.send(value, [decision])
                slowest = max(slowest, sent.ms)
                self._action(decision, sent, "with unknown fields: ")
            return Verdict("legal answers beside fields that nobody knows yet", slowest)

        return self._step("unknown fields", check)

    def asked_again(self, rulesets: Sequence[str]) -> Step:
        """See that a decision asked twice is answered legally twice; any legal answer will do (docs/contract.md)."""

        def check() -> Verdict:
            decision = self._asker.one_of_each(rulesets, "again")[0]
            sent = self._asker.send(decision, [decision])
            first = self._action(decision, sent, "")
            again = self._asker.send(decision, [decision])
            same = self._action(decision, again, "asked again: ") == first
            told = "the same answer" if same else "another legal answer, which is allowed: one of them counts"
            return Verdict(told, max(sent.ms, again.ms))

        return self._step("asked again", check)

    def batches(self, rulesets: Sequence[str], most: int) -> Iterator[Step]:
        """See that one request with several decisions gets a legal answer to each, in whatever order they stand.

        That as many as the card says are answered in time is hoped for, not demanded: so many seldom come at once.
        """
        mixed = self._asker.one_of_each(rulesets, "batch")[:most]
        yield self._batch("batch", mixed)
        yield self._batch("batch in another order", mixed[::-1])
        if most > len(mixed):
            yield self._batch("full batch", as_of_many_games(mixed, most), is_long=True)

    def _batch(self, name: str, decisions: Sequence[messages.Decision], *, is_long: bool = False) -> Step:
        def check() -> Verdict:
            message = messages.Decisions(budget_ms=self._budget_ms, decisions=list(decisions))
            sent = self._asker.send(message, decisions)
            try:
                self._judge.batch(decisions, sent)
            except Failed as failed:
                if is_long and failed.found.fault in {Fault.SLOW, Fault.PARTLY_ANSWERED}:
                    return Verdict(failed.found.detail, failed.ms, failed.found)
                raise
            return Verdict(f"{len(decisions)} decisions in one request", sent.ms)

        return self._step(name, check)

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

    def forged(self, name: str, secret: str | None, *, age_s: int = 0) -> Step:
        """See whether a call is refused that isn't signed with the bot's secret, or was an hour ago.

        A bot may ignore signatures (docs/contract.md), so an answer is a warning. Any status but a success refuses.
        """
        message = messages.encode(messages.GameStarted(game=self._info, seat=0))

        def check() -> Verdict:
            sent = self._line.post(message, self._budget_ms, secret, age_s=age_s)
            if sent.status is not None and sent.status >= 400:
                return Verdict(f"refused with {sent.status}", sent.ms)
            if sent.status is None:
                raise Failed(faults.of_call(sent.outcome, None, f"expected status 401, got none: {why(sent)}"), sent.ms)
            risk = "whoever overheard a call could repeat it" if age_s else "anybody could ask this bot"
            told = f"expected status 401, got {sent.status}: {risk}"
            return Verdict(told, sent.ms, Finding(Fault.UNSIGNED, told, "the header webhook-signature"))

        return self._step(name, check)

    def _news(self, name: str, message: messages.Request) -> Step:
        def check() -> Verdict:
            sent = self._line.post(messages.encode(message), self._first_budget_ms, self._secret)
            if sent.status is None or not 200 <= sent.status < 300:
                found = faults.of_call(sent.outcome, sent.status, f"expected a status 2xx: {why(sent)}")
                raise Failed(self._judge.seen(found, (), sent), sent.ms)
            return Verdict(f"status {sent.status}", sent.ms)

        return self._step(name, check)

    def _action(self, decision: messages.Decision, sent: Sent, when: str) -> str:
        try:
            return self._judge.action(decision, sent)
        except Failed as failed:
            found = msgspec.structs.replace(failed.found, detail=when + failed.found.detail)
            raise Failed(found, failed.ms) from None

    def _step(self, name: str, check: Callable[[], Verdict]) -> Step:
        try:
            verdict = check()
        except Failed as failed:
            return failed_step(name, failed)
        finally:
            forgiven = self._asker.forgiven()
        if forgiven and verdict.warning is None:
            verdict = msgspec.structs.replace(verdict, warning=forgiven)
        return step_of(name, verdict)


def _other(secret: str) -> str:
    """Make a secret that isn't the bot's."""
    return signing.make_secret(hashlib.sha256(b"not " + secret.encode()).digest())
