"""The faults that bots typically have, and how each is told by what the bot answers.

A fault's word is stable: it stands in ``--json``, in the steps of the arena's checks and as a heading of docs/faq.md.
Nothing here asks anybody anything.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from enum import StrEnum
from http import HTTPStatus
from typing import Any, Final

import msgspec
from msgspec import Struct

from bot_sdk import messages
from bot_sdk.errors import quoted
from bot_sdk.events import Outcome
from bot_sdk.replies import MAX_ACTION_CHARACTERS


class Fault(StrEnum):
    """What is wrong, in one word."""

    RETURNED_NONE = "returned_none"
    WRONG_CASE = "wrong_case"
    CARD_ONLY = "card_only"
    CARD_OBJECT = "card_object"
    EARLIER_ACTION = "earlier_action"
    IGNORES_BODY = "ignores_body"
    ANSWERED_LIST = "answered_list"
    PRINTED = "printed"
    RAISED = "raised"
    SLOW = "slow"
    COLD_START = "cold_start"
    CONTENT_TYPE = "content_type"
    REDIRECT = "redirect"
    HTTP_1_0 = "http_1_0"
    CLOSES = "closes"
    SINGLE_THREADED = "single_threaded"
    STALLS = "stalls"
    OVERLOADED = "overloaded"
    MIXED_UP = "mixed_up"
    NO_BATCH = "no_batch"
    PARTLY_ANSWERED = "partly_answered"
    UNSIGNED = "unsigned"
    SECRET = "secret"  # noqa: S105 - the name of a fault
    CARD = "card"
    ILLEGAL = "illegal"
    UNREACHABLE = "unreachable"
    BAD_STATUS = "bad_status"
    BAD_REPLY = "bad_reply"
    OUR_FAULT = "our_fault"


ADVICE: Final[dict[Fault, str]] = {
    Fault.RETURNED_NONE: "return the action on every path through the function; printing it isn't returning it",
    Fault.WRONG_CASE: "send one of legal_actions to the letter: lower-case words, then the card as in 'QH' or 'TD'",
    Fault.CARD_ONLY: "send the whole string out of legal_actions, not only the card in it",
    Fault.CARD_OBJECT: "send a string out of legal_actions, such as 'play:QH', and no card or object of your own",
    Fault.EARLIER_ACTION: "answer from the request at hand; keep nothing that was worked out for another one",
    Fault.IGNORES_BODY: "read the whole body of each request, as many bytes as Content-Length says, and answer that",
    Fault.ANSWERED_LIST: "answer one object with the fields decision_id and action; a batch with one field, actions",
    Fault.PRINTED: "take the print out, or log to stderr: what goes to stdout may become part of an answer",
    Fault.RAISED: "put the error right, see the bot's own log; until then the arena plays the fallback",
    Fault.SLOW: "answer within budget_ms of the request, the network's time included",
    Fault.COLD_START: "load what the bot needs when it starts, not at the first decision",
    Fault.CONTENT_TYPE: "send the header Content-Type: application/json",
    Fault.REDIRECT: "redirects aren't followed: give the very URL that answers, with or without the slash at its end",
    Fault.HTTP_1_0: "answer in HTTP/1.1, with Content-Length; in http.server, protocol_version = 'HTTP/1.1'",
    Fault.CLOSES: "keep connections open: send a Content-Length, and no Connection: close",
    Fault.SINGLE_THREADED: "serve each connection in a thread or a process of its own, such as ThreadingHTTPServer",
    Fault.STALLS: "write head and body at once, or set TCP_NODELAY on the connection",
    Fault.OVERLOADED: "raise the backlog and the threads of the server, or lower max_games on the card",
    Fault.MIXED_UP: "keep what belongs to one request in local variables, where no other thread writes",
    Fault.NO_BATCH: "answer {'actions': [...]} to a message of type decisions, or set max_batch to 1",
    Fault.PARTLY_ANSWERED: "answer each decision once, or lower max_batch; the SDK leaves out those whose code raised",
    Fault.UNSIGNED: "verify the signature and the time of every POST (docs/contract.md, Signatures)",
    Fault.SECRET: "give the bot the secret that the arena has for it: SLAGVELD_BOT_SECRET, or the file .secret",
    Fault.CARD: "answer GET with the bot card (docs/contract.md, GET: the bot card)",
    Fault.ILLEGAL: "choose out of legal_actions: it has every action that is legal",
    Fault.UNREACHABLE: "see that its server runs and is reached at this URL; without one, that `slagbot connect` runs",
    Fault.BAD_STATUS: "answer with status 200",
    Fault.BAD_REPLY: "answer as docs/contract.md says",
    Fault.OUR_FAULT: "the arena itself broke: nothing to do but to ask once more",
}


class Finding(Struct, frozen=True):
    """What was found wrong, and where: a field of the answer, or a line of code. `advice` None is the fault's own."""

    fault: Fault
    detail: str
    where: str | None = None
    advice: str | None = None

    @property
    def what_to_do(self) -> str:
        """The advice to the bot's author."""
        return self.advice or ADVICE[self.fault]


class Exchanged(Struct, frozen=True):
    """A decision that was asked, and the whole answer."""

    decision: messages.Decision
    body: bytes


_BODY: Final = "the body"
_ID: Final = "the field decision_id"
_ACTION: Final = "the field action"
_SUITS: Final = str.maketrans("♣♦♥♠", "CDHS")


_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_REFUSALS: Final = frozenset({401, 403})


def of_call(outcome: Outcome, status: int | None, said: str) -> Finding:
    """Name what is wrong with a call that brought no answer; `said` is what came instead, in words."""
    match outcome:
        case Outcome.LATE:
            return Finding(Fault.SLOW, said, "the field budget_ms of the decision")
        case Outcome.UNREACHABLE:
            return Finding(Fault.UNREACHABLE, said)
        case Outcome.OUR_FAULT:
            return Finding(Fault.OUR_FAULT, said)
        case Outcome.BAD_STATUS:
            return Finding(_fault_of(status or 0), said, "the status")
    if "application/json" in said:  # so outbound and the checker's own line word it
        return Finding(Fault.CONTENT_TYPE, said, "the header Content-Type")
    return Finding(Fault.BAD_REPLY, said)


def _fault_of(status: int) -> Fault:
    if status in _REDIRECTS:
        return Fault.REDIRECT
    if status in _REFUSALS:
        return Fault.SECRET
    return Fault.RAISED if status == HTTPStatus.INTERNAL_SERVER_ERROR else Fault.BAD_STATUS


def of_action(decision: messages.Decision, action: str, before: Sequence[Exchanged]) -> Finding:
    """Name what is wrong with an action that isn't legal; `before` is what was asked earlier, latest last."""
    for fault, alike in ((Fault.WRONG_CASE, _plain), (Fault.CARD_ONLY, _card)):
        meant = [legal for legal in decision.legal_actions if alike(legal) == _plain(action)]
        if meant:
            return Finding(fault, f"expected {meant[0]!r}, got {action!r}", _ACTION)
    if len(before) > 1 and all(action_in(each.body) == action for each in before[-2:]):
        return Finding(Fault.IGNORES_BODY, f"expected an answer to each decision, got {action!r} to all", _ACTION)
    if before and action in before[-1].decision.legal_actions:
        earlier = before[-1].decision
        told = f"got {action!r}, which was legal in the one asked before ({earlier.decision_id}, {earlier.phase})"
        return Finding(Fault.EARLIER_ACTION, f"expected an action of this {decision.phase}, {told}", _ACTION)
    legal = ", ".join(decision.legal_actions)
    return Finding(Fault.ILLEGAL, f"illegal: expected for {decision.phase} one of {legal}, got {action!r}", _ACTION)


def of_reply(decision: messages.Decision, body: bytes, error: str, before: Sequence[Exchanged]) -> Finding:
    """Name what is wrong with an answer to one decision that couldn't be read, for the reason in `error`."""
    value = _read(body)
    if isinstance(value, _Unread):
        return _not_json(body, error)
    if not isinstance(value, dict):
        return _no_object(value, decision, error)
    if value.get("decision_id") != decision.decision_id:
        return _wrong_id(value, body, error, before)
    if _is_action(value.get("action")):
        return Finding(Fault.BAD_REPLY, error, "the field note")
    return of_value(value.get("action"), decision, _ACTION)


def of_value(value: object, decision: messages.Decision, where: str | None) -> Finding:
    """Name what is wrong with something that was chosen and is no action at all."""
    expected = f"expected an action such as {decision.legal_actions[0]!r} for {decision.phase}"
    if value is None:
        return Finding(Fault.RETURNED_NONE, f"{expected}, got nothing", where)
    if isinstance(value, list):
        return Finding(Fault.ANSWERED_LIST, f"{expected}, got a list: {quoted(value)}", where)
    if isinstance(value, str):
        return Finding(Fault.ILLEGAL, f"{expected}, got {quoted(value)}", where)
    return Finding(Fault.CARD_OBJECT, f"{expected}, got {quoted(value)}", where)


def of_batch(body: bytes, error: str) -> Finding:
    """Name what is wrong with an answer to a batch that couldn't be read, for the reason in `error`."""
    value = _read(body)
    if isinstance(value, _Unread):
        return _not_json(body, error)
    if isinstance(value, list):
        return Finding(Fault.ANSWERED_LIST, "expected an object with a list of actions, got the bare list", _BODY)
    if isinstance(value, dict) and "action" in value:
        return Finding(Fault.NO_BATCH, "expected a list of actions, got a single one", "the field actions")
    return Finding(Fault.NO_BATCH, error, "the field actions" if isinstance(value, dict) else _BODY)


def _wrong_id(value: dict[str, Any], body: bytes, error: str, before: Sequence[Exchanged]) -> Finding:
    given = value.get("decision_id")
    if before and before[-1].body == body and before[-1].decision.decision_id != given:
        return Finding(Fault.IGNORES_BODY, f"{error}: the same answer whatever is asked", _BODY)
    if any(each.decision.decision_id == given for each in before):
        return Finding(Fault.EARLIER_ACTION, f"{error}, which was asked before", _ID)
    if given is None:
        return Finding(Fault.BAD_REPLY, error, _ID, "copy decision_id from the request into the answer")
    return Finding(Fault.IGNORES_BODY, f"{error}, which nobody asked", _ID)


def _no_object(value: Any, decision: messages.Decision, error: str) -> Finding:
    if value is None:
        return of_value(None, decision, _BODY)
    if isinstance(value, list):
        return Finding(Fault.ANSWERED_LIST, error, _BODY)
    return Finding(Fault.BAD_REPLY, error, _BODY, 'answer an object: {"decision_id": …, "action": …}')


def _not_json(body: bytes, error: str) -> Finding:
    """Tell text that got into the answer, before its JSON or after it, from what is no JSON anyway."""
    text = body.decode(errors="replace")
    if not text.strip():
        return Finding(Fault.RETURNED_NONE, "expected JSON, got an empty body", _BODY)
    start = text.find("{")
    try:
        _, end = json.JSONDecoder().raw_decode(text, start) if start >= 0 else (None, -1)
    except (ValueError, RecursionError):
        end = -1
    extra = f"{text[:start]} {text[end:]}".strip() if end >= 0 else ""
    if extra:
        return Finding(Fault.PRINTED, f"expected JSON, got other text beside it: {extra[:80]!r}", _BODY)
    return Finding(Fault.BAD_REPLY, error, _BODY)


def of_neighbour(decision: messages.Decision, body: bytes, asked: Collection[str]) -> Finding | None:
    """Tell an answer that belongs to another decision that was `asked` at the same time; None if it doesn't."""
    value = _read(body)
    given = value.get("decision_id") if isinstance(value, dict) else None
    if given == decision.decision_id or given not in asked:
        return None
    told = f"expected decision_id {decision.decision_id!r}, got {given!r}, which was asked at the same time"
    return Finding(Fault.MIXED_UP, told, _ID)


class _Unread:
    """Stands for what is no JSON."""


def _read(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (ValueError, RecursionError, msgspec.MsgspecError):
        return _Unread()


def action_in(body: bytes) -> Any:
    """Give the action in an answer, whatever that is; None if there is none."""
    value = _read(body)
    return value.get("action") if isinstance(value, dict) else None


def _is_action(value: object) -> bool:
    return isinstance(value, str) and len(value) <= MAX_ACTION_CHARACTERS


def _plain(action: str) -> str:
    """Make alike what people write for the same action."""
    return "".join(action.translate(_SUITS).lower().split()).replace("10", "t")


def _card(action: str) -> str:
    return _plain(action.partition(":")[2]) or action
