"""Each typical fault is named, with the line of the author's code or the field of the answer."""

from __future__ import annotations

import sys

import pytest

from bot_sdk.check import passed
from bot_sdk.checking.whole import Manner, check_bot, check_url
from bot_sdk.loading import load_bot
from bot_sdk.reports import steps_text
from tests.bot_sdk.checking import faulty

SHORT = Manner("fresh text", budget_ms=400)
LONG = Manner("fresh text", budget_ms=5000)


def checked_url(handler, server=faulty.Quick, path="", manner=LONG):
    with faulty.served(handler, server) as url:
        return list(check_url(url + path, None, manner))


def until(fault, steps):
    """Take steps up to the one that fails by this fault: a bot that sleeps takes long over the others."""
    taken = []
    for step in steps:
        taken.append(step)
        if step.fault == fault and not step.ok:
            break
    steps.close()
    return taken


def found(steps):
    """Tell (whether it fails the check, where) by the names of the faults."""
    return {step.fault: (not step.ok, step.where or "") for step in reversed(steps) if step.fault}


FILES = {  # the fault, whether it fails the check, what stands in the line that is named, the code
    "returns None": ("returned_none", True, "bot.py:6, in bid: best = decision.legal[0]", """
def bid(decision):
    best = decision.legal[0]
"""),
    "wrong case": ("wrong_case", True, "bot.py:6, in bid: return decision.legal[0].upper()", """
def bid(decision):
    return decision.legal[0].upper()
"""),
    "card object": ("card_object", True, "bot.py:7, in bid: return Card()", """
class Card: pass
def bid(decision):
    return Card()
"""),
    "action of last turn": ("earlier_action", True, "bot.py:8, in bid: return answer", """
kept = []
def bid(decision):
    kept.append(decision.legal[-1]); answer = kept[-2:][0]
    return answer
def play(decision): return bid(decision)
"""),
    "raises": ("raised", True, "bot.py:8, in worth: return {}[card]", """
def bid(decision):
    return worth(decision.hand[0])
def worth(card):
    return {}[card]
"""),
    "sleeps": ("slow", True, "bot.py:7, in bid: time.sleep(0.6)", """
import time
def bid(decision):
    time.sleep(0.6)
    return decision.legal[0]
"""),
    "prints": ("printed", False, 'bot.py:6, in bid: print("thinking")', """
def bid(decision):
    print("thinking")
    return decision.legal[0]
"""),
    "slow cold start": ("cold_start", False, "bot.py:9, in bid: time.sleep(1)", """
import time
weights = []
def bid(decision):
    if not weights:
        time.sleep(1)
        weights.append(1)
    return decision.legal[0]
"""),
    "ignores what is asked": ("ignores_body", True, "bot.py:6, in bid: return 'bid:77'", """
def bid(decision):
    return 'bid:77'
def play(decision): return bid(decision)
"""),
    "threads share an attribute": ("mixed_up", True, "bot.py:9, in bid: return bot.now.legal[0]", """
import time
def bid(decision):
    bot.now = decision
    time.sleep(0.01)
    return bot.now.legal[0]
play = bid
"""),
    "answers a list": ("answered_list", True, "bot.py:6, in bid: return [decision.legal[0]]", """
def bid(decision):
    return [decision.legal[0]]
"""),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_fault_of_a_file_is_named_by_its_line(name, tmp_path):
    fault, fails, where, code = FILES[name]
    file = tmp_path / "bot.py"
    body = code if "play" in code else f"{code}\ndef play(decision): return decision.legal[0]\n"
    begin = "from bot_sdk.bot import Bot\n\nbot = Bot('faulty')\n"
    file.write_text(f"{begin}{body}\nbot.on('river', 'bid')(bid)\nbot.on('river', 'play')(play)\n")
    checking = check_bot(load_bot(f"{file}:bot"), tmp_path, SHORT)
    steps = until(fault, checking) if name == "sleeps" else list(checking)
    assert fault in found(steps), steps_text(steps)
    assert found(steps)[fault] == (fails, where), steps_text(steps)
    assert "the whole body" not in steps_text(steps)  # which the SDK reads


@pytest.mark.parametrize(
    ("handler", "fault", "fails", "where"),
    [
        (faulty.NullAction, "returned_none", True, "the field action"),
        (faulty.LongNote, "bad_reply", True, "the field note"),
        (faulty.NoId, "bad_reply", True, "the field decision_id"),
        (faulty.LowerCase, "wrong_case", True, "the field action"),
        (faulty.CardObject, "card_object", True, "the field action"),
        (faulty.LastTurn, "earlier_action", True, "the field action"),
        (faulty.LastAnswer, "earlier_action", True, "the field decision_id"),
        (faulty.Raises, "raised", True, "the status"),
        (faulty.PrintsIntoTheBody, "printed", True, "the body"),
        (faulty.HtmlType, "content_type", True, "the header Content-Type"),
        (faulty.OldHttp, "http_1_0", False, "the status line"),
        (faulty.Closes, "closes", False, "the header Connection"),
        (faulty.ClosesWithoutAWord, "closes", False, ""),
        (faulty.NeverSaysHowLong, "closes", False, "the header Content-Length"),
        (faulty.LeavesTheBody, "ignores_body", True, "the body of the request before, left unread on the connection"),
        (faulty.SameForAll, "ignores_body", True, "the field decision_id"),
        (faulty.AnswersList, "answered_list", True, "the body"),
        (faulty.MixesUp, "mixed_up", True, "the field decision_id"),
        (faulty.OneAnswerToABatch, "no_batch", True, "the field actions"),
        (faulty.LeavesOneOut, "partly_answered", True, "the field actions"),
    ],
)
def test_fault_of_a_server_is_named_by_its_field(handler, fault, fails, where):
    handler.kept = None
    steps = checked_url(handler)
    assert fault in found(steps), steps_text(steps)
    assert found(steps)[fault] == (fails, where), steps_text(steps)


def test_a_server_that_sleeps_over_its_budget_is_slow():
    with faulty.served(faulty.Sleeps) as url:
        steps = until("slow", check_url(url, None, SHORT))
    assert found(steps)["slow"] == (True, "the field budget_ms of the decision"), steps_text(steps)


def test_a_server_that_has_to_wake_up_is_told_so():
    faulty.WakesUp.awake.clear()
    steps = checked_url(faulty.WakesUp, manner=SHORT)
    assert passed(steps), steps_text(steps)
    (step,) = [step for step in steps if step.fault == "cold_start"]
    assert (step.warning, "the first card took" in step.detail) == (True, True)


@pytest.mark.parametrize(
    ("handler", "path", "where", "told"),
    [
        (faulty.SlashRedirect, "bot", "the header Location", "/bot/"),
        (faulty.SlashNotFound, "bot/", "the path of the URL", "/bot'"),
    ],
)
def test_a_slash_at_the_end_of_the_url_is_named(handler, path, where, told):
    (step,) = checked_url(handler, path=path)
    assert (step.ok, step.fault, step.where) == (False, "redirect", where)
    assert told in step.detail


def test_a_server_that_serves_one_connection_at_a_time_is_found_out():
    steps = checked_url(faulty.Stranger, faulty.OneByOne)
    assert found(steps) == {"single_threaded": (True, "the second connection")}, steps_text(steps)


def test_a_server_that_waits_until_a_closed_connection_is_closed_here_too_is_not_kept_waiting():
    steps = checked_url(faulty.Lingers, faulty.OneByOne)
    assert set(found(steps)) == {"closes", "single_threaded"}, steps_text(steps)
    assert "all answered" in steps[-1].detail


def test_requests_that_wait_for_each_other_are_found_out():
    steps = checked_url(faulty.Ponders, faulty.OneByOne, manner=SHORT)
    assert set(found(steps)) == {"http_1_0", "single_threaded"}, steps_text(steps)
    assert "one after another" in steps[-1].detail
    assert steps[-1].fault == "single_threaded"


def test_a_server_that_closes_but_serves_one_connection_at_a_time_is_found_out():
    steps = checked_url(faulty.OldHttp, faulty.OneByOne)
    assert found(steps)["single_threaded"] == (False, "the second connection"), steps_text(steps)
    assert "single_threaded" not in found(checked_url(faulty.OldHttp)), steps_text(steps)


@pytest.mark.parametrize("handler", [faulty.Stranger, faulty.Backwards])
def test_a_good_stranger_has_no_fault(handler):
    steps = checked_url(handler)
    assert not found(steps), steps_text(steps)
    names = [step.name for step in steps]
    assert {"asked again", "full batch", "keep-alive", "speed", "stalls", "second connection", "at once"} <= set(names)


def test_the_smallest_bot_of_the_contract_passes_and_is_warned_that_anybody_may_ask_it():
    with faulty.served(faulty.Smallest) as url:
        steps = list(check_url(url, faulty.SECRET, LONG))
    assert passed(steps)
    assert found(steps) == {"unsigned": (False, "the header webhook-signature")}, steps_text(steps)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can hold back its acknowledgements")
def test_a_nagle_stall_is_named_as_such():
    steps = checked_url(faulty.Stalls)
    assert found(steps)["stalls"][0] is False, steps_text(steps)
    (step,) = [step for step in steps if step.fault == "stalls"]
    assert "a Nagle stall" in step.detail
    assert "if that is acknowledged at once" in step.detail
