"""How findings are told: each kind once, few of many by name, nothing that nobody may know."""

from __future__ import annotations

import io
import json
import shlex
from collections import Counter
from pathlib import Path

import pytest
from rich.console import Console

from service.config import Settings
from service.doctor.examination import Finding, Findings
from service.doctor.place import Patient, by_folder
from service.doctor.showing import as_json, show
from tests.service.doctor.test_damages import PLANTED

PATIENT = Patient(Settings(), is_still=False)
MANY = Findings([Finding("pack_damaged", f"gam_{n:02d}", f"gam_{n:02d}") for n in range(12)], 99)


def shown(findings, mended=(), patient=PATIENT):
    out = io.StringIO()
    show(Console(file=out, width=60), findings, Counter(mended), patient)
    return out.getvalue().splitlines()


def test_people_are_named_a_few_of_many():
    first, *named, more, run, last = shown(MANY)
    assert first == "error pack_damaged: packed games that are damaged: their records can't be read"
    assert named == [f"    gam_{n:02d}" for n in range(10)]
    assert more == "    and 2 more; --json names them all"
    assert run.startswith("  run: REDIS_URL=EMPTY slagveld restore")
    assert run.endswith("slagveld doctor --drop gam_00")
    assert last == "looked at 99 keys; somebody is needed"


def test_of_more_than_is_looked_at_twice_nobody_says_how_many():
    lines = shown(MANY._replace(cut=frozenset({"pack_damaged"})))
    assert lines[11] == "    and more than 2 more"
    (told,) = json.loads(as_json(MANY._replace(cut=frozenset({"pack_damaged"})), Counter(), PATIENT))["findings"]
    assert (told["count"], told["is_all"]) == (12, False)


@pytest.mark.parametrize("name", ["gam_\x1b[2J", "gam_\n error x", "gam_\u202e", "x" * 10_000, "$(reboot)", "gam_'"])
def test_whatever_somebody_wrote_into_the_store_stays_in_its_line_and_its_word(name):
    lines = shown(Findings([Finding("parts_left", name, name)], 1))
    assert len(lines) == 4
    assert all(line.isprintable() and len(line) < 500 for line in lines)
    assert shlex.split(lines[2])[-2] == "--drop"


@pytest.mark.parametrize("data", [None, Path("/srv/a b")])
def test_advice_is_for_the_store_that_was_looked_at(data):
    codes = ("overdue", "key_damaged", "key_unknown", "counter_stale")
    findings = Findings([Finding(code, "x", "x") for code in codes], 1)
    by_url, in_folder = (
        "\n".join(shown(findings, patient=patient)) for patient in (PATIENT, PATIENT._replace(commands=by_folder(data)))
    )
    option = " --data '/srv/a b'" if data else ""
    for run in (
        "slagveld worker\n",
        'redis-cli -u "$REDIS_URL" UNLINK',
        "REDIS_URL=EMPTY slagveld restore",
        "doctor --mend\n",
    ):
        assert run in by_url
    socket = "'/srv/a b/valkey/valkey.sock'" if data else str(Path("slagveld-data/valkey/valkey.sock").absolute())
    for run in (
        f"slagveld up{option}\n",
        f"redis-cli -s {socket} UNLINK",
        "slagveld restore BACKUP --data fresh",
        f"doctor{option} --mend\n",
    ):
        assert run in in_folder


def test_programs_are_told_all():
    (told,) = json.loads(as_json(MANY, Counter(), PATIENT))["findings"]
    assert (told["code"], told["severity"], told["count"]) == ("pack_damaged", "error", 12)
    assert told["where"] == [f"gam_{n:02d}" for n in range(12)]


def test_several_keys_of_one_thing_are_one_thing():
    found = Findings([Finding("parts_left", "gam_1", key) for key in ("{g:gam_1}:log", "secret:{g:gam_1}:pack")], 2)
    (told,) = json.loads(as_json(found, Counter(), PATIENT))["findings"]
    assert (told["count"], told["where"]) == (1, ["gam_1"])


@pytest.mark.parametrize(
    ("code", "ends"),
    [
        ("maintenance", "nobody is needed"),
        ("overdue", "nobody is needed"),
        ("bot_refused", "somebody is needed"),
        ("log_short", "somebody is needed"),
    ],
)
def test_somebody_is_needed_for_what_is_lost_or_doesnt_heal(code, ends):
    findings = Findings([Finding(code, "x", "x")], 1)
    assert shown(findings)[-1].endswith(ends)
    assert findings.needs_somebody is (ends == "somebody is needed")
    assert json.loads(as_json(findings, Counter(), PATIENT))["is_well"] is not findings.needs_somebody


def test_what_heals_is_said_to_and_what_was_mended_is_told():
    lines = shown(Findings([Finding("counter_stale", "x", "x")], 1), {"board_open": 2})
    assert lines[0].startswith("mended 2: boards")
    assert lines[3] == "  heals by itself: they are dropped as soon as somebody needs the room"
    assert lines[4] == "  or run: slagveld doctor --mend"


def test_nothing_that_nobody_may_know_is_said(world):
    for code in ("bot_refused", "log_torn", "alarm", "game_tried", "parts_left", "pack_damaged", "tournament_damaged"):
        PLANTED[code](world)
    findings, _ = world.look()
    assert len(findings.found) > 5
    said = as_json(findings, Counter(), PATIENT) + "\n".join(shown(findings))
    secrets = [
        world.redis.get(name) for name in world.redis.scan_iter("secret:*") if world.redis.type(name) == b"string"
    ]
    assert len(secrets) > 8
    for secret in secrets:
        assert secret.hex() not in said
        assert secret.decode("latin-1") not in said
    assert "whsec_" not in said
    assert "http://" not in said
