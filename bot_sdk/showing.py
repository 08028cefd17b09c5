"""Games and decisions in words: lines for a terminal, objects for programs.

Names and notes come from strangers: whatever in them isn't printable is replaced, since a terminal would obey it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from bot_sdk import messages
from bot_sdk.events import Decided, Event, Outcome
from bot_sdk.games.registry import RULESETS
from bot_sdk.local import Answered
from bot_sdk.plain import plain
from bot_sdk.replaying import Recorded, Step

_INDENT: Final = "  "


def seat_names(names: Sequence[str]) -> list[str]:
    """Give the players by seat, told apart by their seats where two have one name."""
    return [f"{name} ({seat})" if names.count(name) > 1 else name for seat, name in enumerate(names)]


def game_text(game_id: str, ruleset: str, names: Sequence[str]) -> str:
    """Say what a game is and who plays it."""
    title = RULESETS[ruleset].title if ruleset in RULESETS else ruleset
    return plain(f"{game_id}: {title}, {' - '.join(names)}")


def event_text(event: Mapping[str, Any], names: Sequence[str]) -> str:
    """Tell a public event (docs/contract.md) in a line; one of a later version as it is."""
    tell = _TOLD.get(event["event"])
    return plain(tell(event, names) if tell else json.dumps(event))


def step_text(step: Step, names: Sequence[str]) -> list[str]:
    """Tell an event of a record: its place, what the seat held and did, and what came of it."""
    event = step.event
    done = _done(event) if isinstance(event, Decided) else f"is retired: {event.reason}"
    held = f"   from {' '.join(step.message.observation['hand'])}" if step.message else ""
    told = plain(f"{_INDENT}{step.deal}.{step.at:<3} {names[event.seat]} {done}{held}")
    return [told, *(event_text(news, names) for news in step.news if news["event"] not in {"action", "retired"})]


def step_json(step: Step) -> dict[str, Any]:
    """Give an event of a record, with its place and what everybody learned by it."""
    return {"at": f"{step.deal}.{step.at}", **_event_json(step.event), "news": step.news}


def chosen_text(decision: Recorded, answered: Answered, names: Sequence[str]) -> str:
    """Show a decision: what the seat saw and chose, and what was played for it if it chose badly."""
    rows = [*_seen(decision.message), ("chose", answer_text(decision, answered))]
    if decision.decided.outcome is not Outcome.OK:
        rows.append(("played", _done(decision.decided)))
    return _laid_out(decision, rows, names)


def asked_again_text(decision: Recorded, answered: Answered, names: Sequence[str]) -> str:
    """Show a decision: what the seat saw, what it did then, and what it says now."""
    rows = [*_seen(decision.message), ("then", _done(decision.decided)), ("now", answer_text(decision, answered))]
    is_same = decision.decided.outcome is answered.outcome and decision.decided.action == answered.action
    return f"{_laid_out(decision, rows, names)}\n{'the same' if is_same else 'something else'} now"


def _laid_out(decision: Recorded, rows: Iterable[tuple[str, str]], names: Sequence[str]) -> str:
    message = decision.message
    who = f"{names[message.seat]} (seat {message.seat})"
    head = f"{decision.deal}.{decision.at} {message.decision_id}: {who}, {message.phase}"
    return "\n".join(map(plain, [head, *(f"{_INDENT}{name:<11} {value}" for name, value in rows)]))


def _seen(message: messages.Decision) -> Iterator[tuple[str, str]]:
    """Show what came with a decision, field by field; the tricks as (who led, the cards, who won)."""
    for name, value in message.observation.items():
        if name != "tricks":
            yield name, _words(value)
    for trick in message.observation["tricks"]:
        yield "won", _words(trick)
    yield "legal", _words(message.legal_actions)
    yield "last", "-" if message.last is None else f"{message.last.outcome} in {message.last.ms:g} ms"
    yield "budget", f"{message.budget_ms} ms"


def _words(value: Any) -> str:
    if isinstance(value, dict):  # a trick
        won = f", {value['winner']} won" if "winner" in value else ""
        return f"{value['leader']} led: {_words(value['cards'])}{won}"
    if isinstance(value, list):
        return " ".join(map(_words, value)) or "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value is None else str(value)


def answer_text(decision: Recorded, answered: Answered) -> str:
    """Show an answer: the action, whether it is legal, and the time it took."""
    if answered.outcome is not Outcome.OK:
        return f"nothing: {answered.outcome} after {answered.ms:.2g} ms"
    illegal = "" if answered.action in decision.message.legal_actions else ", which is illegal"
    return f"{answered.action}{illegal} in {answered.ms:.2g} ms{_note(answered.note)}"


def decision_json(decision: Recorded, answered: Answered) -> dict[str, Any]:
    """Give a decision with its answer: `outcome` is as the arena would have judged it."""
    is_illegal = answered.outcome is Outcome.OK and answered.action not in decision.message.legal_actions
    answer = msgspec.to_builtins(answered)
    if is_illegal:
        answer["outcome"] = Outcome.ILLEGAL.value
    return {
        "at": f"{decision.deal}.{decision.at}",
        "message": msgspec.to_builtins(decision.message),
        "recorded": _event_json(decision.decided),
        "answer": answer,
    }


def _event_json(event: Event) -> dict[str, Any]:
    shown: dict[str, Any] = msgspec.structs.asdict(event)
    return shown if isinstance(event, Decided) else {**shown, "event": "retired"}


def _done(event: Decided) -> str:
    fault = "" if event.outcome is Outcome.OK else f", the fallback: {event.outcome}"
    return f"{event.action}{fault} in {event.ms:g} ms{_note(event.note)}"


def _note(note: str | None) -> str:
    return f" ({note})" if note else ""


def _deal(event: Mapping[str, Any], names: Sequence[str]) -> str:
    of_cards = f" of {event['cards']} cards" if "cards" in event else ""
    return f"deal {event['deal']}{of_cards}: {names[event['dealer']]} deals, {event['upcard']} is turned"


def _action(event: Mapping[str, Any], names: Sequence[str]) -> str:
    fault = "" if event["outcome"] == Outcome.OK else f", the fallback: {event['outcome']}"
    return f"{_INDENT}{names[event['seat']]} {event['action']}{fault} in {event['ms']:g} ms"


def _run(event: Mapping[str, Any], _names: Sequence[str]) -> str:
    return f"{_INDENT}three more cards each, {event['upcard']} is turned"


def _trump(event: Mapping[str, Any], _names: Sequence[str]) -> str:
    return f"{_INDENT}{event['trump']} is trump"


def _discarded(_event: Mapping[str, Any], _names: Sequence[str]) -> str:
    return f"{_INDENT}all have discarded"


def _trick(event: Mapping[str, Any], names: Sequence[str]) -> str:
    return f"{_INDENT}{names[event['winner']]} wins the trick"


def _deal_ended(event: Mapping[str, Any], names: Sequence[str]) -> str:
    scores = zip(names, event["points"], event["totals"], strict=True)
    told = ", ".join(f"{name} {points:+d} to {total}" for name, points, total in scores)
    return f"deal {event['deal']} is {'void' if event['void'] else 'over'}: {told}"


def _retired(event: Mapping[str, Any], names: Sequence[str]) -> str:
    return f"{_INDENT}{names[event['seat']]} is retired: {event['reason']}"


def _ended(event: Mapping[str, Any], names: Sequence[str]) -> str:
    if not event["places"]:
        return "the game is over, and void"
    ranks = sorted(zip(event["places"], names, event["totals"], strict=True))
    told = ", ".join(f"{place}. {name} {total}" for place, name, total in ranks)
    return f"the game is over, by {event['ended_by']}: {told}"


_TOLD: Final[Mapping[str, Callable[[Mapping[str, Any], Sequence[str]], str]]] = {
    "deal": _deal,
    "action": _action,
    "run": _run,
    "trump": _trump,
    "discarded": _discarded,
    "trick": _trick,
    "deal_ended": _deal_ended,
    "retired": _retired,
    "ended": _ended,
}
