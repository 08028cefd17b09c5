"""Strict reading of what bots answer to decisions."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot_sdk.events import Outcome
from bot_sdk.replies import BadReply, Missed, Reply, read_action, read_actions

ID = "gam_1.0.0"


def body(**fields: object) -> bytes:
    return json.dumps({"decision_id": ID, "action": "play:QH"} | fields).encode()


def test_an_action_is_read():
    assert read_action(body(), ID) == Reply("play:QH", None)


def test_a_note_of_500_bytes_is_read():
    assert read_action(body(note="é" * 250), ID) == Reply("play:QH", "é" * 250)


def test_no_note_and_null_are_the_same():
    assert read_action(body(note=None), ID).note is None


def test_unknown_fields_are_ignored():
    assert read_action(body(thinking={"depth": [1, 2.5, None]}, x="☃"), ID).action == "play:QH"


@given(
    st.dictionaries(
        st.sampled_from(["decision_id", "action", "note"]),
        st.sampled_from([ID, "gam_2.0.0", "play:QH", "x" * 64, "x" * 65, "é" * 64, None, 7, [], "é" * 250, "é" * 251])
        | st.text(),
    )
)
def test_the_usual_fields_alone_are_read_as_beside_others(fields: dict[str, object]):
    def read(**more: object) -> object:
        raw = json.dumps(fields | more).encode()
        batch = json.dumps({"actions": [fields | more]}).encode()
        try:
            one = read_action(raw, ID)
        except BadReply as error:
            return str(error), read_actions(batch, [ID])
        return one, read_actions(batch, [ID])

    assert read() == read(unknown=1)


NOT_JSON = {
    "nothing": b"",
    "html": b"<html>",
    "nan": b'{"decision_id":"gam_1.0.0","action":"play:QH","x":NaN}',
    "infinity": b'{"decision_id":"gam_1.0.0","action":"play:QH","x":Infinity}',
    "minus infinity": b'{"decision_id":"gam_1.0.0","action":"play:QH","x":-Infinity}',
    "beyond a double": b'{"decision_id":"gam_1.0.0","action":"play:QH","x":1e999}',
    "5000 digits": b'{"decision_id":"gam_1.0.0","action":"play:QH","x":%b}' % (b"1" * 5000),
    "lone surrogate": b'{"decision_id":"gam_1.0.0","action":"\\ud800"}',
    "lone surrogate elsewhere": b'{"decision_id":"gam_1.0.0","action":"play:QH","x":"\\udc00"}',
    "bad utf-8": b'{"decision_id":"gam_1.0.0","action":"\xff"}',
    "surrogate in utf-8": b'{"decision_id":"gam_1.0.0","action":"\xed\xa0\x80"}',
    "bom": b"\xef\xbb\xbf" + body(),
    "utf-16": body().decode().encode("utf-16"),
    "two documents": body() + body(),
    "cut": body()[:-1],
    "trailing comma": b'{"decision_id":"gam_1.0.0","action":"play:QH",}',
    "single quotes": body().replace(b'"', b"'"),
    "30000 levels": b"[" * 30_000,
    "30000 closed levels": b"[" * 30_000 + b"]" * 30_000,
    "33 levels": b'{"decision_id":"gam_1.0.0","action":"play:QH","x":%b1%b}' % (b"[" * 32, b"]" * 32),
    "33 levels of objects": b'{"decision_id":"gam_1.0.0","action":"play:QH","x":%b1%b}' % (b'{"a":' * 32, b"}" * 32),
}


@pytest.mark.parametrize("raw", NOT_JSON.values(), ids=NOT_JSON)
def test_what_is_no_strict_json_is_a_bad_reply(raw):
    with pytest.raises(BadReply):
        read_action(raw, ID)
    with pytest.raises(BadReply):
        read_actions(b'{"actions":[%b]}' % raw if raw else raw, [ID])


def test_32_levels_and_many_brackets_will_do():
    raw = b'{"decision_id":"gam_1.0.0","action":"play:QH","x":%b1%b}' % (b"[" * 31, b"]" * 31)
    assert read_action(raw, ID).action == "play:QH"
    assert read_action(body(x=[[]] * 500, note="[{" * 200), ID).action == "play:QH"


@pytest.mark.parametrize("raw", [b"[]", b"null", b'"play:QH"', b"7", b"true", b"[" + body() + b"]", b"{}"])
def test_the_top_level_is_an_object_that_names_the_decision(raw):
    with pytest.raises(BadReply):
        read_action(raw, ID)


@pytest.mark.parametrize("other", ["gam_1.0.1", "", None, 7, [ID], {"id": ID}, True])
def test_another_decision_is_a_bad_reply(other):
    with pytest.raises(BadReply, match="expected decision_id 'gam_1"):
        read_action(body(decision_id=other), ID)


@pytest.mark.parametrize("action", [None, 7, 1.5, True, ["play:QH"], {"play": "QH"}, "x" * 65])
def test_an_action_is_a_short_string(action):
    with pytest.raises(BadReply, match="expected an action"):
        read_action(body(action=action), ID)


@pytest.mark.parametrize("note", [7, False, ["x"], {"x": 1}, "x" * 501, "é" * 251])
def test_a_note_is_a_string_of_at_most_500_bytes(note):
    with pytest.raises(BadReply, match="expected a note"):
        read_action(body(note=note), ID)


def test_messages_stay_short():
    with pytest.raises(BadReply) as caught:
        read_action(body(decision_id="x" * 60_000), ID)
    assert len(str(caught.value)) < 200


class TestBatches:
    IDS = ("gam_1.0.0", "gam_2.1.4", "gam_3.0.9")

    def read(self, *items: object) -> dict[str, Reply | Missed]:
        return read_actions(json.dumps({"actions": items}).encode(), self.IDS)

    def test_items_come_in_any_order(self):
        items = [{"decision_id": name, "action": f"bid:{n}"} for n, name in enumerate(self.IDS)]
        assert self.read(*reversed(items)) == {name: Reply(f"bid:{n}", None) for n, name in enumerate(self.IDS)}

    def test_a_missing_item_is_late(self):
        read = self.read({"decision_id": "gam_1.0.0", "action": "bid:0"})
        assert [read[name].outcome for name in self.IDS[1:]] == [Outcome.LATE] * 2
        assert read["gam_1.0.0"] == Reply("bid:0", None)

    def test_a_doubled_item_is_a_bad_reply_for_it_alone(self):
        item = {"decision_id": "gam_2.1.4", "action": "bid:0"}
        read = self.read(item, {"decision_id": "gam_1.0.0", "action": "bid:0"}, item)
        assert read["gam_2.1.4"].outcome is Outcome.BAD_REPLY
        assert read["gam_1.0.0"] == Reply("bid:0", None)

    def test_a_tripled_item_and_a_good_one_after_a_bad_one_are_bad_too(self):
        good, bad = {"decision_id": "gam_2.1.4", "action": "bid:0"}, {"decision_id": "gam_2.1.4"}
        assert self.read(good, good, good)["gam_2.1.4"].outcome is Outcome.BAD_REPLY
        assert self.read(bad, good)["gam_2.1.4"].outcome is Outcome.BAD_REPLY

    def test_unknown_decisions_and_nameless_items_are_ignored(self):
        strangers = [{"decision_id": "gam_9.0.0", "action": 7}, {"action": "bid:0"}, {"decision_id": [1]}, 7, None, []]
        read = self.read(*strangers, {"decision_id": "gam_1.0.0", "action": "bid:0"})
        assert set(read) == set(self.IDS)
        assert read["gam_1.0.0"] == Reply("bid:0", None)

    @pytest.mark.parametrize(
        "fields",
        [
            {},
            {"action": 7},
            {"action": "x" * 65},
            {"action": "bid:0", "note": 7},
            {"action": "bid:0", "note": "é" * 251},
        ],
    )
    def test_a_bad_item_is_bad_for_it_alone(self, fields):
        read = self.read({"decision_id": "gam_1.0.0"} | fields, {"decision_id": "gam_2.1.4", "action": "bid:0"})
        assert read["gam_1.0.0"].outcome is Outcome.BAD_REPLY
        assert read["gam_2.1.4"] == Reply("bid:0", None)

    def test_a_note_too_long_is_bad_for_its_item_alone_where_all_have_one(self):
        items = [{"decision_id": name, "action": "bid:0", "note": "é" * 250} for name in self.IDS]
        assert self.read(*items) == {name: Reply("bid:0", "é" * 250) for name in self.IDS}
        items[1]["note"] += "é"
        read = self.read(*items)
        assert read.pop(self.IDS[1]).outcome is Outcome.BAD_REPLY
        assert set(read.values()) == {Reply("bid:0", "é" * 250)}

    @pytest.mark.parametrize("raw", [b"[]", b"{}", b'{"actions":{}}', b'{"actions":null}', b'{"actions":"x"}', b"7"])
    def test_without_a_list_of_actions_all_are_bad(self, raw):
        with pytest.raises(BadReply):
            read_actions(raw, self.IDS)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just(ID),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["decision_id", "action", "note", "x"]), inner),
)


@given(st.binary() | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_read_or_refused(raw):
    for read in (lambda: read_action(raw, ID), lambda: read_actions(raw, [ID])):
        with contextlib.suppress(BadReply):  # refused is well, too
            assert isinstance(read(), Reply | dict)
