"""How seats are asked: decisions become calls, one each or batched for bots that take batches; answers become verdicts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from bot_sdk.events import Outcome
from bot_sdk.messages import Decision, Decisions, encode
from service.outbound.replies import BadReply, read_action, read_actions
from service.outbound.values import Answer, Call, Endpoint
from service.referee.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class Asking:
    """One decision to be asked of one bot."""

    game_id: str
    decision: Decision
    endpoint: Endpoint
    max_batch: int = 1

    @property
    def decision_id(self) -> str:
        """The id of the decision."""
        return self.decision.decision_id


def calls_for(askings: Iterable[Asking], new_id: Callable[[], str]) -> Iterator[tuple[Call, list[Asking]]]:
    """Make the calls that ask all these: a batch holds decisions of one endpoint with equal budgets."""
    together: dict[tuple[Endpoint, int], list[Asking]] = defaultdict(list)
    for asking in askings:
        if asking.max_batch > 1:
            together[asking.endpoint, asking.decision.budget_ms].append(asking)
        else:
            yield _call([asking], new_id), [asking]
    for group in together.values():
        size = group[0].max_batch
        for start in range(0, len(group), size):
            chunk = group[start : start + size]
            yield _call(chunk, new_id), chunk


def verdicts_in(answer: Answer, askings: Sequence[Asking]) -> Iterator[tuple[Asking, Verdict]]:
    """Read the answer to a call as one verdict for each decision it asked."""
    if answer.outcome is not Outcome.OK or answer.body is None:
        failed = Verdict(answer.outcome, answer.ms, error=answer.error, head=answer.head)
        yield from ((asking, failed) for asking in askings)
    elif len(askings) == 1:
        yield askings[0], _read_one(answer, answer.body, askings[0])
    else:
        yield from _read_batch(answer, answer.body, askings)


def _call(askings: list[Asking], new_id: Callable[[], str]) -> Call:
    first = askings[0]
    single = len(askings) == 1
    message = first.decision if single else _batch(askings)
    return Call(
        key=tuple(asking.decision_id for asking in askings),
        endpoint=first.endpoint,
        body=encode(message),
        budget_ms=first.decision.budget_ms,
        webhook_id=f"msg_{first.decision_id}" if single else new_id(),
        decisions=len(askings),
    )


def _batch(askings: list[Asking]) -> Decisions:
    return Decisions(budget_ms=askings[0].decision.budget_ms, decisions=[asking.decision for asking in askings])


def _read_one(answer: Answer, body: bytes, asking: Asking) -> Verdict:
    try:
        reply = read_action(body, asking.decision_id)
    except BadReply as error:
        return Verdict(Outcome.BAD_REPLY, answer.ms, error=str(error), head=answer.head)
    return Verdict(Outcome.OK, answer.ms, reply.action, reply.note, head=answer.head)


def _read_batch(answer: Answer, body: bytes, askings: Sequence[Asking]) -> Iterator[tuple[Asking, Verdict]]:
    try:
        replies = read_actions(body, [asking.decision_id for asking in askings])
    except BadReply as error:
        bad = Verdict(Outcome.BAD_REPLY, answer.ms, error=str(error), head=answer.head)
        yield from ((asking, bad) for asking in askings)
        return
    for asking in askings:
        reply = replies[asking.decision_id]
        if isinstance(reply, Outcome):
            yield asking, Verdict(reply, answer.ms, error=f"{reply.value} in a batch", head=answer.head)
        else:
            yield asking, Verdict(Outcome.OK, answer.ms, reply.action, reply.note, head=answer.head)
