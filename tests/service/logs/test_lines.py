"""A record as one line, for people and for programs."""

from __future__ import annotations

import json
import logging
import sys
import unicodedata
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.logs import about, lines

FORGED = "bot\n2026-01-01 00:00:00,000 INFO worker 1: all is well\r\x1b[2K\x9b2K\u2028\u202e\x7f"
SECRETS = [
    "slt_3q2-7w_aB", "sst_3q2-7w_aB", "whsec_Y2F1dGlvdXMgZXhhbXBsZSBib3Q=", "Bearer abc.def-123", "ab" * 32, "QH", "TC",
]  # fmt: skip


def record_of(message, *args, exc_info=None, **extra):
    made = logging.LogRecord("slagveld", logging.WARNING, __file__, 1, message, args, exc_info)
    made.__dict__.update(extra)
    return made


def text(*args, **more):
    return lines.OneLine("worker").format(record_of(*args, **more))


def read(*args, **more):
    line = lines.JsonLine("worker").format(record_of(*args, **more))
    assert line.isascii()
    assert line.isprintable(), "nothing in it can control a terminal, or begin another line"
    return json.loads(line)


def raised(error):
    """Give an error as it is once it has been raised, with its traceback."""
    try:
        raise error
    except type(error):
        return sys.exc_info()


def deeply(depth, error):
    if depth:
        deeply(depth - 1, error)
    raise error


@pytest.fixture(autouse=True)
def about_nothing():
    about.begin(None)
    yield
    about.begin(None)


# --- text -------------------------------------------------------------------------------------------------------------


def test_record_is_a_line_with_time_level_and_process():
    made = record_of("swept %d games", 3)
    said = lines.OneLine("worker").format(made).split(" ", 2)[2]
    assert said == f"WARNING worker {made.process}: swept 3 games"


def test_message_cannot_pass_for_another_line():
    assert text("bad name %s", FORGED).endswith(
        "bad name bot\\n2026-01-01 00:00:00,000 INFO worker 1: all is well\\r\\x1b[2K\\x9b2K\\u2028\\u202e\\x7f"
    )


def test_traceback_stays_in_its_line():
    shown = text("broke", exc_info=raised(ValueError("no\nway")))
    assert "\n" not in shown
    assert shown.endswith("ValueError: no\\nway")


def test_line_for_people_names_the_request_behind_it():
    about.begin("a-request-1")
    assert text("the store is away").endswith("the store is away (request a-request-1)")


# --- JSON -------------------------------------------------------------------------------------------------------------


def test_line_for_programs_has_its_fields():
    made = record_of("game %s broke", "gam_1", game_id="gam_1", route=None, taskName="ours?")
    made.created = datetime(2026, 11, 30, 15, 0, 0, 123_000, UTC).timestamp()
    assert json.loads(lines.JsonLine("worker").format(made)) == {
        "time": "2026-11-30T15:00:00.123Z",
        "level": "warning",
        "logger": "slagveld",
        "process": "worker",
        "pid": made.process,
        "message": "game gam_1 broke",
        "game_id": "gam_1",
    }


def test_what_is_done_for_a_request_names_it_and_what_it_is_about():
    about.begin("a-request-1")
    about.add({"game_id": "gam_1", "seat": "0"})
    fields = read("broke", tournament_id="trn_1")
    assert (fields["request_id"], fields["game_id"], fields["tournament_id"]) == ("a-request-1", "gam_1", "trn_1")
    assert "seat" not in fields
    about.begin(None)
    assert "request_id" not in read("broke")


def test_a_line_that_knows_better_is_about_that():
    about.add({"game_id": "gam_1"})
    assert read("broke", game_id="gam_2")["game_id"] == "gam_2"


def test_an_error_is_one_field_with_its_traceback():
    error = read("broke", exc_info=raised(ValueError("no\nway")))["error"]
    assert error.startswith("Traceback (most recent call last):\n")
    assert error.endswith("ValueError: no\nway")


@pytest.mark.parametrize("form", [lines.OneLine(), lines.JsonLine()])
@pytest.mark.parametrize("letter", ["x", "\n", "ü", "\U0001f0a1"])
@pytest.mark.parametrize("where", ["message", "error", "both"])
def test_a_line_is_no_longer_than_a_pipe_takes_at_once(form, letter, where):
    long = f"begins {letter * 20_000} ends"
    error = raised(ValueError(long if where != "message" else "short"))
    line = form.format(record_of(long if where != "error" else "short", exc_info=error))
    assert len(line.encode()) <= lines.LONGEST
    assert "ends" in line


def test_of_a_traceback_that_is_too_long_its_beginning_and_end_are_told():
    try:
        deeply(200, ValueError("the very end"))
    except ValueError:
        fields = read("broke", exc_info=sys.exc_info())
    assert fields["error"].startswith("Traceback (most recent call last):\n")
    assert fields["error"].endswith("ValueError: the very end")
    assert fields["message"] == "broke"


@given(st.text(st.characters()), st.text(st.characters()))
def test_whatever_strangers_say_stays_within_its_field(message, name):
    fields = read("%s", message, bot_id=name or "x", exc_info=raised(ValueError(message)))
    readable = message.encode(errors="replace").decode()
    assert fields["message"] == lines.covered(readable)
    assert fields["level"] == "warning"


@given(st.text(st.characters()))
def test_whatever_strangers_say_stays_within_a_line_for_people(message):
    line = text("%s", message)
    assert len(line.splitlines()) == 1
    assert not [each for each in line if unicodedata.category(each) == "Cc" or each in "\u202a\u202b\u202d\u202e\u2066"]


# --- what isn't told --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("around", ["got '{}'", "({},", "play:{}", "{}"])
def test_a_secret_that_an_error_quotes_is_covered(secret, around):
    said = around.format(secret)
    assert secret not in text("broke over %s", said, exc_info=raised(ValueError(said)))
    fields = read("broke over %s", said, exc_info=raised(ValueError(said)), bot_id=said)
    assert secret not in json.dumps(fields)
    assert lines.COVERED in fields["message"]


def test_who_may_see_what_a_url_names_is_covered():
    assert read("no redis://ann:pass@host:6379/0")["message"] == "no redis://***@host:6379/0"


@pytest.mark.parametrize(
    "plain", ["gam_" + "a" * 26, "house:greedy", "2026-11-30", "ab" * 16, "HTTP/1.1 200 OK", "ASK"]
)
def test_what_is_no_secret_is_told(plain):
    assert read("of %s", plain)["message"] == f"of {plain}"
