"""Judging what came back from a bot: legal or not, and by what name if not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec

from bot_sdk import messages
from bot_sdk.checking import faults
from bot_sdk.checking.faults import Exchanged, Fault, Finding
from bot_sdk.checking.values import Doctor, Failed, Sent
from bot_sdk.events import Outcome
from bot_sdk.games.registry import RULESETS
from bot_sdk.replies import BadReply, Missed, Reply, read_action, read_actions

T = TypeVar("T")


class Judge:
    """Judges the answers of one bot, and remembers them: some faults are seen only beside what came before.

    All but `seen` raise `Failed` for an answer that is no good. The `doctor` is asked about everything that is found.
    """

    def __init__(self, doctor: Doctor | None = None) -> None:
        self._doctor = doctor
        self._before: list[Exchanged] = []

    def seen(self, found: Finding, decisions: Sequence[messages.Decision], sent: Sent | None) -> Finding:
        """Have the doctor look at what was found."""
        return self._doctor.look(found, decisions, sent) if self._doctor else found

    def answered(self, sent: Sent, decisions: Sequence[messages.Decision] = ()) -> bytes:
        """Give the body of an answer that came."""
        return self._judged(lambda: ok(sent), sent, decisions)

    def card(self, sent: Sent) -> messages.BotCard:
        """Read the bot card."""
        return self._judged(lambda: card_of(sent), sent, ())

    def action(self, decision: messages.Decision, sent: Sent) -> str:
        """Give the action that was chosen in one decision."""
        body = self.answered(sent, [decision])
        try:
            return self._judged(lambda: self._action(decision, body, sent.ms), sent, [decision])
        finally:
            self._before.append(Exchanged(decision, body))

    def batch(self, decisions: Sequence[messages.Decision], sent: Sent) -> None:
        """See that each decision of a batch has its action."""
        body = self.answered(sent, decisions)
        try:
            read = read_actions(body, [decision.decision_id for decision in decisions])
        except BadReply as error:
            raise Failed(self.seen(faults.of_batch(body, str(error)), decisions, sent), sent.ms) from None
        found = [(each, bad) for each in decisions if (bad := _of_item(each, read[each.decision_id]))]
        if not found:
            return
        decision, bad = found[0]
        told = f"{bad.detail} ({decision.game.ruleset} {decision.phase}, {decision.decision_id})"
        more = f", and {len(found) - 1} more of {len(decisions)}" if len(found) > 1 else ""
        bad = msgspec.structs.replace(bad, detail=told + more)
        raise Failed(self.seen(bad, [decision], sent), sent.ms)

    def _action(self, decision: messages.Decision, body: bytes, ms: float) -> str:
        try:
            action = read_action(body, decision.decision_id).action
        except BadReply as error:
            raise Failed(faults.of_reply(decision, body, str(error), self._before), ms) from None
        if action not in decision.legal_actions:
            raise Failed(faults.of_action(decision, action, self._before), ms)
        return action

    def _judged(self, check: Callable[[], T], sent: Sent, decisions: Sequence[messages.Decision]) -> T:
        try:
            return check()
        except Failed as failed:
            raise Failed(self.seen(failed.found, decisions, sent), failed.ms) from None


def ok(sent: Sent) -> bytes:
    """Give the body of an answer that came; raises `Failed`."""
    if sent.outcome is not Outcome.OK:
        raise Failed(faults.of_call(sent.outcome, sent.status, why(sent)), sent.ms)
    return sent.body or b""


def why(sent: Sent) -> str:
    """Say in words what came instead of an answer."""
    return f"{sent.outcome.value}: {sent.error}" if sent.error else sent.outcome.value


def card_of(sent: Sent) -> messages.BotCard:
    """Read a bot card that names at least one ruleset known here; raises `Failed`."""
    body = ok(sent)
    try:
        card = msgspec.json.decode(body, type=messages.BotCard)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
        raise Failed(Finding(Fault.CARD, f"expected a bot card: {error}"), sent.ms) from None
    if not card.known:
        told = f"expected one of {', '.join(RULESETS)} on the card, got {', '.join(card.rulesets):.200}"
        raise Failed(Finding(Fault.CARD, told, "the field rulesets"), sent.ms)
    return card


def _of_item(decision: messages.Decision, reply: Reply | Missed) -> Finding | None:
    if isinstance(reply, Missed):
        fault = Fault.PARTLY_ANSWERED if reply.outcome is Outcome.LATE else Fault.BAD_REPLY
        return Finding(fault, f"{reply.outcome.value}: {reply.error}", "the field actions")
    return None if reply.action in decision.legal_actions else faults.of_action(decision, reply.action, ())
