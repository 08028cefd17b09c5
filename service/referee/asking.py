"""How seats are asked: decisions become calls, several in one or each by itself, and answers become verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from bot_sdk.events import Outcome
from bot_sdk.messages import encode
from bot_sdk.replies import BadReply, Missed, Reply, read_action, read_actions
from bot_sdk.sending import SentDecision, SentDecisions
from service.outbound.values import HEAD_SHOWN, Answer, Call, Endpoint
from service.referee.verdicts import Verdict


class Asking(msgspec.Struct, frozen=True):
    """One decision to be asked of one bot."""

    game_id: str
    decision: SentDecision
    endpoint: Endpoint
    max_batch: int = 1

    @property
    def decision_id(self) -> str:
        """The id of the decision."""
        return self.decision.decision_id


def single(asking: Asking, key: int) -> Call:
    """Make the call that asks one decision."""
    decision = asking.decision
    return Call(
        key=key,  # not its id: the decision may be on its way twice, if the store lost the first asking's position
        endpoint=asking.endpoint,
        body=encode(decision),
        budget_ms=decision.budget_ms,
        webhook_id=f"msg_{decision.decision_id}",
    )


def batch(askings: Sequence[Asking], key: int, name: str) -> Call:
    """Make the call that asks several decisions of one endpoint with equal budgets, under a `name` of its own."""
    endpoint, budget_ms = askings[0].endpoint, askings[0].decision.budget_ms
    message = SentDecisions(budget_ms=budget_ms, decisions=[asking.decision for asking in askings])
    return Call(
        key=key,
        endpoint=endpoint,
        body=encode(message),
        budget_ms=budget_ms,
        webhook_id=f"msg_{name}",
        decisions=len(askings),
    )


def verdicts_in(answer: Answer, askings: Sequence[Asking]) -> Iterator[tuple[Asking, Verdict]]:
    """Read the answer to a call as one verdict for each decision it asked."""
    if answer.outcome is not Outcome.OK or answer.body is None:
        yield from _all(answer, askings, answer.outcome, answer.error)
        return
    try:
        replies = _replies(answer.body, [asking.decision_id for asking in askings])
    except BadReply as error:
        yield from _all(answer, askings, Outcome.BAD_REPLY, str(error))
        return
    for asking, reply in zip(askings, replies, strict=True):
        if isinstance(reply, Missed):
            yield asking, _verdict(answer, reply.outcome, error=reply.error)
        else:
            yield asking, _verdict(answer, Outcome.OK, action=reply.action, note=reply.note)


def _replies(body: bytes, decision_ids: list[str]) -> list[Reply | Missed]:
    if len(decision_ids) == 1:
        return [read_action(body, decision_ids[0])]
    found = read_actions(body, decision_ids)
    return [found[decision_id] for decision_id in decision_ids]


def _all(
    answer: Answer, askings: Sequence[Asking], outcome: Outcome, error: str | None
) -> Iterator[tuple[Asking, Verdict]]:
    return ((asking, _verdict(answer, outcome, error=error)) for asking in askings)


def _verdict(
    answer: Answer,
    outcome: Outcome,
    *,
    action: str | None = None,
    note: str | None = None,
    error: str | None = None,
) -> Verdict:
    head = answer.head or (answer.body or b"")[:HEAD_SHOWN]
    return Verdict(outcome, answer.ms, action, note, error, answer.status, head, answer.is_unattended)
