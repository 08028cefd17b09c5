from __future__ import annotations

import json
import threading
from http import HTTPStatus

import msgspec
import pytest

from bot_sdk.hosting import Reply, Served
from bot_sdk.positions import positions
from bot_sdk.printing import WAITING, Printer, decision_json, decision_line, exchange_json, exchange_lines, printable


@pytest.fixture
def decision():
    asked = positions("river", "bid", 1, "printing")[0]
    return msgspec.structs.replace(asked, decision_id="gam_1.3.17", legal_actions=["bid:0", "bid:2", "bid:3"])


def test_a_decision_is_a_line_of_phase_time_choice_and_what_was_legal(decision):
    line = decision_line(Served(decision, 0.4, "bid:2"))
    assert line.split() == ["river", "bid", "0.4", "ms", "chose", "2", "of", "0", "2", "3", "(gam_1.3.17)"]


def test_an_illegal_choice_is_shown_to_the_letter(decision):
    line = decision_line(Served(decision, 0.4, "BID:2"))
    assert "chose 'BID:2', expected one of bid:0 bid:2 bid:3" in line


def test_a_failure_is_shown_in_the_same_line(decision):
    line = decision_line(Served(decision, 12.0, error="KeyError: 'trump'\nand more"))
    assert "12.0 ms  failed with KeyError: 'trump'\\x0aand more; legal: 0 2 3" in line
    assert "\n" not in line


def test_json_says_the_same(decision):
    assert decision_json(Served(decision, 0.41234, "bid:2")) == {
        "decision_id": "gam_1.3.17",
        "ruleset": "river",
        "phase": "bid",
        "legal_actions": ["bid:0", "bid:2", "bid:3"],
        "action": "bid:2",
        "error": None,
        "ms": 0.412,
    }


def test_bodies_are_shown_whole_each_in_a_line():
    body = b'{"type":"?",\n"x":"' + b"y" * 5000 + b'\x1b[2J\xff"}'
    sent, answered = exchange_lines(body, Reply(HTTPStatus.BAD_REQUEST, b'{"error":"no"}')).split("\n")
    assert sent.startswith('< {"type":"?",\\x0a"x":"yyy')
    assert "y" * 5000 + "\\x1b[2J\\ufffd" in sent
    assert answered == '> 400 {"error":"no"}'
    told = exchange_json(body, Reply(HTTPStatus.OK, b"{}"))
    assert json.loads(json.dumps(told))["status"] == 200


def test_nothing_that_steers_a_terminal_or_breaks_a_line_is_printed():
    assert printable("a\r\n\x1b]0;x\x07\x7f é … 😀") == "a\\x0d\\x0a\\x1b]0;x\\x07\\x7f \\xe9 \\u2026 \\U0001f600"


def test_lines_are_written_in_order_and_all_before_the_end():
    written = []
    with Printer(written.append) as printer:
        for number in range(100):
            printer.print(str(number))
    assert b"".join(written).split() == [b"%d" % number for number in range(100)]


def test_a_terminal_that_stands_still_holds_up_nobody_and_is_told_what_it_missed():
    stands_still, begun, written = threading.Event(), threading.Event(), []

    def write(data):
        begun.set()
        assert stands_still.wait(30)
        written.append(data)

    with Printer(write) as printer:
        printer.print("first")
        assert begun.wait(30)
        for _ in range(WAITING + 7):
            printer.print("more")
        stands_still.set()
    assert written[:3] == [b"first\n", b"7 lines left out: they came faster than they were written\n", b"more\n"]
    assert len(written) == WAITING + 2


def test_a_reader_that_has_gone_ends_the_lines_and_nothing_else():
    def write(_data):
        raise BrokenPipeError

    with Printer(write) as printer:
        for _ in range(3):
            printer.print("x")
