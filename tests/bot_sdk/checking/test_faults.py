"""What is no legal action gets the name of the fault that mostly stands behind it."""

from __future__ import annotations

import pytest

from bot_sdk.checking.faults import Exchanged, Fault, of_action, of_batch, of_call, of_reply
from bot_sdk.events import Outcome
from bot_sdk.messages import encode
from bot_sdk.positions import positions
from bot_sdk.replies import BadReply, read_action, read_actions

BID, PLAY = positions("river", "bid", 1, "faults")[0], positions("river", "play", 9, "faults")
TEN = next(each for each in PLAY if any("T" in action for action in each.legal_actions))
TEN_ACTION = next(action for action in TEN.legal_actions if "T" in action)
SUITS = dict(zip("CDHS", "♣♦♥♠", strict=True))


def replied(action, decision=BID):
    return encode({"decision_id": decision.decision_id, "action": action})


@pytest.mark.parametrize(
    ("written", "fault"),
    [
        (TEN_ACTION.upper(), Fault.WRONG_CASE),
        (TEN_ACTION.lower(), Fault.WRONG_CASE),
        (f" {TEN_ACTION}\n", Fault.WRONG_CASE),
        (TEN_ACTION.replace("T", "10"), Fault.WRONG_CASE),
        (TEN_ACTION[:-1] + SUITS[TEN_ACTION[-1]], Fault.WRONG_CASE),
        (TEN_ACTION[-2:], Fault.CARD_ONLY),
        (TEN_ACTION[-2:].lower(), Fault.CARD_ONLY),
        ("play:joker", Fault.ILLEGAL),
        ("play:", Fault.ILLEGAL),
        ("", Fault.ILLEGAL),
    ],
)
def test_what_is_nearly_an_action_is_told_from_what_is_not(written, fault):
    found = of_action(TEN, written, [])
    assert found.fault is fault
    assert repr(written) in found.detail
    assert fault is Fault.ILLEGAL or repr(TEN_ACTION) in found.detail


def test_the_action_of_the_decision_before_is_known_again():
    before = [Exchanged(BID, replied("bid:0"))]
    found = of_action(TEN, "bid:0", before)
    assert found.fault is Fault.EARLIER_ACTION
    assert BID.decision_id in found.detail


def test_the_same_action_to_all_is_a_body_ignored():
    before = [Exchanged(BID, replied("bid:99")), Exchanged(PLAY[0], replied("bid:99", PLAY[0]))]
    assert of_action(TEN, "bid:99", before).fault is Fault.IGNORES_BODY


@pytest.mark.parametrize(
    ("body", "fault", "where"),
    [
        (b"", Fault.RETURNED_NONE, "the body"),
        (b"null", Fault.RETURNED_NONE, "the body"),
        (replied(None), Fault.RETURNED_NONE, "the field action"),
        (b"[]", Fault.ANSWERED_LIST, "the body"),
        (replied(["bid:0"]), Fault.ANSWERED_LIST, "the field action"),
        (replied({"rank": "Q"}), Fault.CARD_OBJECT, "the field action"),
        (replied(12), Fault.CARD_OBJECT, "the field action"),
        (replied("x" * 65), Fault.ILLEGAL, "the field action"),
        (b"bidding... " + replied("bid:0"), Fault.PRINTED, "the body"),
        (replied("bid:0") + b"\ndone", Fault.PRINTED, "the body"),
        (b'"bid:0"', Fault.BAD_REPLY, "the body"),
        (b"<html>{</html>", Fault.BAD_REPLY, "the body"),
        (b"\xff\xfe", Fault.BAD_REPLY, "the body"),
        (b"[" * 5000, Fault.BAD_REPLY, "the body"),
        (b'{"action": "bid:0"}', Fault.BAD_REPLY, "the field decision_id"),
        (b'{"decision_id": "mine", "action": "bid:0"}', Fault.IGNORES_BODY, "the field decision_id"),
        (replied("bid:0")[:-1] + b', "note": 7}', Fault.BAD_REPLY, "the field note"),
    ],
)  # fmt: skip
def test_a_bad_reply_is_named_by_its_field(body, fault, where):
    with pytest.raises(BadReply) as refused:
        read_action(body, BID.decision_id)
    found = of_reply(BID, body, str(refused.value), [])
    assert (found.fault, found.where) == (fault, where)
    assert found.what_to_do


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (b"[]", Fault.ANSWERED_LIST),
        (replied("bid:0"), Fault.NO_BATCH),
        (b"{}", Fault.NO_BATCH),
        (b"7", Fault.NO_BATCH),
        (b'ok {"actions": []}', Fault.PRINTED),
        (b"", Fault.RETURNED_NONE),
    ],
)
def test_a_bad_reply_to_a_batch_is_named(body, fault):
    with pytest.raises(BadReply) as refused:
        read_actions(body, [BID.decision_id])
    assert of_batch(body, str(refused.value)).fault is fault


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ("bad_reply: expected content-type application/json, got 'text/html'", Fault.CONTENT_TYPE),
        ("bad_reply: expected application/json, got ''", Fault.CONTENT_TYPE),
        ("bad_reply: the connection closed within the headers", Fault.BAD_REPLY),
    ],
)
def test_a_content_type_is_known_by_the_words_of_either_line(said, fault):
    assert of_call(Outcome.BAD_REPLY, 200, said).fault is fault
