"""Reading what bots answer to decisions, strictly, as the arena does: the other half of ``bot_sdk/messages.py``.

Whether an action is legal isn't known here. Unknown fields are ignored, whatever they hold, as long as the whole is
JSON of at most 32 levels: no NaN or Infinity, no number beyond a double, no lone surrogates, nothing after the end.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Any, Final, NamedTuple

import msgspec
from msgspec import Meta

from bot_sdk.errors import SdkError
from bot_sdk.events import Outcome
from bot_sdk.messages import MAX_NOTE_BYTES

MAX_ACTION_CHARACTERS: Final = 64
MAX_DEPTH: Final = 32

_decode = msgspec.json.Decoder().decode


class _Item(msgspec.Struct, forbid_unknown_fields=True):
    """A reply as nearly all are: these fields and no others, so that none is left unread."""

    decision_id: str
    action: Annotated[str, Meta(max_length=MAX_ACTION_CHARACTERS)]
    note: str | None = None


class _Items(msgspec.Struct, forbid_unknown_fields=True):
    actions: list[_Item]


_decode_item = msgspec.json.Decoder(_Item).decode
_decode_items = msgspec.json.Decoder(_Items).decode


class BadReply(SdkError):  # noqa: N818 - the contract's own word for it
    """A reply that doesn't say what was asked; the message is for the bot's owner."""


class Reply(NamedTuple):
    """What a bot chose, and the remark it makes on it."""

    action: str
    note: str | None


class Missed(NamedTuple):
    """A decision of a batch without a good reply: `late` if it has none, `bad_reply` if it has a bad one or two."""

    outcome: Outcome
    error: str


def read_action(body: bytes, decision_id: str) -> Reply:
    """Read the answer to one decision; raises `BadReply`."""
    try:
        item = _decode_item(body)
    except _UNUSUAL:
        item = None  # it may hold more than is asked, or is wrong: read below, where it is said how
    if item is not None and item.decision_id == decision_id and _is_note(item.note):
        return Reply(item.action, item.note)
    reply = _object(_json(body))
    given = reply.get("decision_id")
    if given != decision_id:
        raise BadReply(f"expected decision_id {decision_id!r}, got {_shown(given)}")
    return _reply(reply)


def read_actions(body: bytes, decision_ids: Collection[str]) -> dict[str, Reply | Missed]:
    """Read the answer to a batch: for each decision its reply, or what it missed.

    Items of other decisions, and items that name none, are ignored. Raises `BadReply` if it is no list of actions at
    all: that is a bad reply for each of them.
    """
    try:
        items = _decode_items(body).actions
    except _UNUSUAL:
        items = []
    found = {item.decision_id: Reply(item.action, item.note) for item in items if _is_note(item.note)}
    if len(found) == len(items) == len(decision_ids) and found.keys() == set(decision_ids):
        return dict(found)
    actions = _object(_json(body)).get("actions")
    if not isinstance(actions, list):
        raise BadReply(f"expected a list of actions, got {_shown(actions)}")
    read: dict[str, Reply | Missed] = dict.fromkeys(decision_ids, _NO_ITEM)
    for item in actions:
        name = item.get("decision_id") if isinstance(item, dict) else None
        if isinstance(name, str) and name in read:
            read[name] = _item(item) if read[name] is _NO_ITEM else _TWO_ITEMS
    return read


_UNUSUAL: Final = (ValueError, RecursionError, msgspec.MsgspecError)
_NO_ITEM: Final = Missed(Outcome.LATE, "expected an item for this decision, got none")
_TWO_ITEMS: Final = Missed(Outcome.BAD_REPLY, "expected one item for this decision, got more")


def _item(item: dict[str, Any]) -> Reply | Missed:
    try:
        return _reply(item)
    except BadReply as error:
        return Missed(Outcome.BAD_REPLY, str(error))


def _json(body: bytes) -> Any:
    try:
        value = _decode(body)
    except RecursionError:
        raise BadReply(f"expected at most {MAX_DEPTH} levels of nesting") from None
    except (ValueError, msgspec.MsgspecError) as error:  # the former of an integer with thousands of digits
        raise BadReply(f"expected JSON: {error}") from None
    if body.count(b"[") + body.count(b"{") > MAX_DEPTH and _is_deep(value):
        raise BadReply(f"expected at most {MAX_DEPTH} levels of nesting")
    return value


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return False
    return any(isinstance(outer, dict | list) for outer in level)


def _inside(value: Any) -> Collection[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadReply(f"expected an object, got {_shown(value)}")
    return value


def _reply(reply: dict[str, Any]) -> Reply:
    action = reply.get("action")
    if not isinstance(action, str) or len(action) > MAX_ACTION_CHARACTERS:
        raise BadReply(f"expected an action of at most {MAX_ACTION_CHARACTERS} characters, got {_shown(action)}")
    note = reply.get("note")
    if note is not None and (not isinstance(note, str) or not _is_note(note)):
        raise BadReply(f"expected a note of at most {MAX_NOTE_BYTES} bytes, got {_shown(note)}")
    return Reply(action, note)


def _is_note(note: str | None) -> bool:
    return note is None or (len(note) <= MAX_NOTE_BYTES and len(note.encode()) <= MAX_NOTE_BYTES)


def _shown(value: Any) -> str:
    """Show a value in a message: scalars shortened, the rest by kind, since it may be large."""
    if isinstance(value, str):
        return repr(value[:80])
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    return "nothing" if value is None else str(value)[:80]
