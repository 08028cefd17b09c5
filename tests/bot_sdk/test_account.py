"""`slagbot account|logs|stats|pause|practice` against an arena of prepared answers."""

from __future__ import annotations

import json
from itertools import islice

import pytest
from click.testing import CliRunner

from bot_sdk import signing
from bot_sdk.bots.greedy import greedy
from bot_sdk.cli import main
from bot_sdk.client import Arena, ArenaError
from bot_sdk.hosting import serving
from bot_sdk.ledger import Ledger
from bot_sdk.practising import Practice, Table
from tests.bot_sdk.specified import example, listed
from tests.bot_sdk.stub import Stub

MINE = {"id": "bot_1", "name": "lowball", "state": "active", "reason": None, "rulesets": ["seven_up"]}
OTHER = {**MINE, "id": "bot_2", "name": "highball"}
OWN = (200, listed("BotView", MINE))
BUSY = (409, {"code": "bot_busy", "detail": "expected at most 1 games at once for lowball; wait until one has ended"})


SECRET = signing.make_secret(bytes(range(32)))


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


def slagbot(stub, *arguments, status=0):
    ran = CliRunner().invoke(main, [*arguments, "--arena", stub.url, "--token", "t"], catch_exceptions=False)
    assert ran.exit_code == status, ran.output
    return ran


def line(number, outcome="ok", at=None, **more):
    wrong = {} if outcome != "ok" else {"error": None, "head": None, "status": None}
    made = {"decision_id": f"gam_1.0.{number}", "outcome": outcome, "at": 1_000 * number if at is None else at}
    return {**made, **wrong, **more}


def ledger_page(*lines, cursor=None):
    return (200, listed("LedgerLine", *lines, cursor=cursor))


class TestWhichBot:
    def test_one_that_is_alone_needs_no_name(self):
        with Stub([OWN, (200, example("BotView", **MINE))]) as stub:
            slagbot(stub, "pause")
        assert stub.got[1][:2] == ("PATCH", "/v1/bots/bot_1")

    @pytest.mark.parametrize("name", ["highball", "bot_2"])
    def test_a_name_or_an_id_says_which(self, name):
        with Stub([(200, listed("BotView", MINE, OTHER)), (200, example("BotView", **OTHER))]) as stub:
            slagbot(stub, "pause", name)
        assert stub.got[1][1] == "/v1/bots/bot_2"

    @pytest.mark.parametrize("arguments", [["pause"], ["pause", "middling"]])
    def test_otherwise_those_there_are_are_listed(self, arguments):
        with Stub([(200, listed("BotView", MINE, OTHER))]) as stub:
            said = slagbot(stub, *arguments, status=2).stderr
        assert "lowball (bot_1), highball (bot_2)" in said

    def test_who_has_no_token_is_told_what_to_set(self):
        refusal = (401, {"code": "token_needed", "detail": "send `Authorization: Bearer` with a token"})
        with Stub([refusal]) as stub:
            ran = CliRunner().invoke(main, ["account", "--arena", stub.url], env={"SLAGVELD_TOKEN": None})
        assert ran.exit_code == 2
        assert "--token or SLAGVELD_TOKEN" in ran.stderr


class TestStrangers:
    """What an arena says may come from anybody."""

    @pytest.mark.parametrize(
        ("command", "script"),
        [
            ("pause", [(409, {"code": "odd", "detail": "\x1b[2J", "errors": {"\x1b[3J": ["\x1b[H"]}})]),
            ("account", [(200, example("AccountView", name="\x1b[2J")),
                         (200, listed("BotView", MINE | {"name": "\x07"})),
                         (200, listed("TokenView", {"name": "\x1b[2J"}))]),
            ("logs", [OWN, ledger_page(line(1, "late", error="\x1b[2J", action="\x07", head="\x1b"))]),
            ("stats", [OWN, ledger_page(), (200, listed("RatingsView", {"ruleset": "\x1b"})),
                       (200, listed("OpponentView", {"name": "\x1b[2J"}))]),
        ],
    )  # fmt: skip
    def test_is_no_command_to_the_terminal(self, command, script):
        with Stub(script) as stub:
            said = slagbot(stub, command, status=2 if command == "pause" else 0).output
        assert {letter for letter in said if not letter.isprintable()} == {"\n"}


@pytest.mark.parametrize("token", ["slt_\u2026", "a\nb", "a b", "\u00e9", "\x7f"])
def test_a_token_that_can_be_none_is_refused_and_not_shown(token):
    ran = CliRunner().invoke(
        main, ["account", "--token", token, "--arena", "http://127.0.0.1:1"], catch_exceptions=False
    )
    assert ran.exit_code == 2
    assert "expected a token, got a text with other letters" in ran.stderr
    assert token not in ran.stderr


class TestRegister:
    def test_a_token_can_be_copied_however_narrow_the_terminal_is(self, monkeypatch):
        monkeypatch.setenv("SLAGVELD_BOT_SECRET", SECRET)
        token = "slt_" + "x" * 90
        script = [
            (201, example("AccountMade", token=token)),
            (200, listed("BotView")),
            (201, example("BotMade")),
            (202, example("CheckView")),
            (200, example("CheckView", state="passed")),
            (200, example("BotView", state="active")),
        ]
        with serving(greedy()) as server, Stub(script) as stub:
            arguments = ["register", server.url, "--name", "low ball", "--arena", stub.url]
            ran = CliRunner().invoke(main, arguments, env={"SLAGVELD_TOKEN": None}, catch_exceptions=False)
        assert f"export SLAGVELD_TOKEN={token}" in ran.stderr
        assert f"export SLAGVELD_TOKEN={token}" in ran.stdout
        assert f"slagbot practice 'low ball' --arena {stub.url}" in ran.stdout


class TestAccount:
    SCRIPT = (
        (200, example("AccountView", name="ann", id="acc_1")),
        (200, listed("BotView", {**MINE, "state": "suspended", "reason": "retired in 3 of its last 5 games"})),
        (200, listed("TokenView", {"name": "ci", "scopes": ["bots"]})),
    )

    def test_shows_bots_with_their_states_and_tokens_with_what_they_may(self):
        with Stub(self.SCRIPT) as stub:
            said = slagbot(stub, "account").stdout
        assert said.startswith("ann (acc_1), since 1970")
        assert "suspended: retired in 3 of its last 5 games" in said
        assert "none: it connects" not in said
        assert "ci" in said

    def test_a_bot_without_a_url_connects_and_so_may_one_that_is_to_be(self):
        account, _, tokens = self.SCRIPT
        pull = (200, listed("BotView", {**MINE, "transport": "pull", "url": None}))
        with Stub([account, pull, tokens, account, (200, listed("BotView")), tokens]) as stub:
            assert "none: it connects" in slagbot(stub, "account").stdout
            assert "no bots yet: slagbot connect, or slagbot register" in slagbot(stub, "account").stdout

    def test_as_json(self):
        with Stub(self.SCRIPT) as stub:
            told = json.loads(slagbot(stub, "account", "--json").stdout)
        assert (told["account"]["id"], told["bots"][0]["id"], told["tokens"][0]["scopes"]) == (
            "acc_1",
            "bot_1",
            ["bots"],
        )


class TestPause:
    def test_sets_the_flag_and_takes_it_away(self):
        paused, active = ((200, example("BotView", **{**MINE, "state": state})) for state in ("paused", "active"))
        with Stub([OWN, paused, OWN, active]) as stub:
            said = slagbot(stub, "pause", "lowball").stdout
            assert "lowball (bot_1) is paused" in said
            assert "slagbot pause lowball --resume" in said
            assert json.loads(slagbot(stub, "pause", "lowball", "--resume", "--json").stdout)["state"] == "active"
        assert [body for *_, body in stub.got if body] == [{"state": "paused"}, {"state": "active"}]


class TestLogs:
    def test_the_latest_come_last_with_what_went_wrong(self):
        wrong = line(2, "bad_status", status=500, error="expected status 200, got 500", head="<html>", action="play:QH")
        with Stub([OWN, ledger_page(line(3), wrong, line(1))]) as stub:
            said = slagbot(stub, "logs").stdout.splitlines()
        assert [each.split()[-1] for each in said if not each.startswith(" ")] == [
            "gam_1.0.1",
            "gam_1.0.2",
            "gam_1.0.3",
        ]
        assert said[2] == "    status 500: expected status 200, got 500"
        assert said[3] == "    got '<html>'"

    def test_only_some_outcomes_as_far_back_as_needed(self):
        pages = [ledger_page(line(4), line(3, "late"), cursor="c"), ledger_page(line(2), line(1, "illegal"))]
        with Stub([OWN, *pages]) as stub:
            said = slagbot(stub, "logs", "--outcome", "late", "--outcome", "illegal", "-n", "2", "--json").stdout
        assert [json.loads(each)["outcome"] for each in said.splitlines()] == ["illegal", "late"]

    def test_no_page_is_asked_for_that_is_not_needed(self):
        with Stub([OWN, ledger_page(line(20), line(19), line(2), line(1), cursor="c")]) as stub:
            slagbot(stub, "logs", "-n", "2")
        assert len(stub.got) == 2

    def test_an_outcome_that_is_none_is_2(self):
        with Stub([]) as stub:
            assert "bad_reply" in slagbot(stub, "logs", "--outcome", "slow", status=2).stderr

    def test_following_gives_each_once_also_one_that_was_written_late(self):
        script = [
            ledger_page(line(10, at=10_000), line(9, at=9_000)),
            ledger_page(line(10, at=10_000), line(9, at=9_000)),
            ledger_page(line(12, at=10_400), line(10, at=10_000), line(11, at=9_900), line(9, at=9_000)),
            ledger_page(line(13, "late", at=99_000), line(12, at=10_400)),
        ]
        clock = Clock()
        with Stub(script) as stub, Arena(stub.url, "t") as arena:
            ledger = Ledger(arena, "bot_1", sleep=clock.sleep, clock=clock)
            first = [each.decision_id for each in ledger.latest(1)]
            more = [each.decision_id for each in islice(ledger.follow(), 3)]
        assert first + more == [f"gam_1.0.{number}" for number in (10, 11, 12, 13)]

    def test_following_bears_with_an_arena_that_is_away_for_a_while_only(self):
        away = (503, {"code": "store_away", "detail": "the store is away"})
        clock = Clock()
        script = [ledger_page(), *[away] * 9, ledger_page(line(1)), *[away] * 99]
        with Stub(script) as stub, Arena(stub.url, "t") as arena:
            ledger = Ledger(arena, "bot_1", sleep=clock.sleep, clock=clock)
            ledger.latest(5)
            following = ledger.follow(patience_s=10)
            assert next(following).decision_id == "gam_1.0.1"
            with pytest.raises(ArenaError, match="the store is away"):
                next(following)
        assert 20 < clock.now < 25

    def test_following_ends_at_a_refusal(self):
        refusal = (401, {"code": "bad_token", "detail": "the token isn't known here"})
        clock = Clock()
        with Stub([refusal]) as stub, Arena(stub.url, "t") as arena, pytest.raises(ArenaError, match="isn't known"):
            next(Ledger(arena, "bot_1", sleep=clock.sleep, clock=clock).follow())


class TestStats:
    RATED = (
        (200, listed("RatingsView", {"ruleset": "river"}, {"ruleset": "seven_up"})),
        (200, listed("OpponentView", {"name": "greedy", "points": 2.5, "superiority": 0.973})),
    )

    def test_shows_ratings_head_to_head_and_outcomes(self):
        with Stub([OWN, ledger_page(line(3), line(2, "late"), line(1)), *self.RATED]) as stub:
            said = slagbot(stub, "stats", "lowball").stdout
        assert "lowball (bot_1) is active" in said
        assert "greedy" in said
        assert "97.3%" in said
        assert "its latest 3 decisions, since 1970" in said
        assert ": ok 2, late 1" in said

    def test_one_ruleset_as_json(self):
        with Stub([OWN, ledger_page(line(1)), *self.RATED]) as stub:
            told = json.loads(slagbot(stub, "stats", "--ruleset", "river", "--json").stdout)
        assert [each["ruleset"] for each in told["ratings"]] == ["river"]
        assert told["outcomes"] == {"ok": 1}
        assert stub.got[3][1].startswith("/v1/bots/bot_1/opponents?ruleset=river&")

    def test_a_bot_that_did_nothing_yet(self):
        empty = (200, {"items": [], "next_cursor": None})
        with Stub([OWN, empty, empty, empty]) as stub:
            said = slagbot(stub, "stats").stdout
        assert "not rated yet" in said
        assert "no decisions yet" in said


def summaries(**states):
    return (200, listed("GameSummary", *({"id": name, "state": state} for name, state in states.items())))


def ended(name, places, **more):
    seats = [example("SeatPlaying", name=who) for who in ("lowball", "greedy")]
    return (200, example("GameView", id=name, state="finished", seats=seats, places=places, totals=[7, 3], **more))


def recorded(*outcomes):
    """Answer with a record in which the seats decide in turn, seat 0 with these outcomes."""
    events = [{"seat": 0, "action": "play:QH", "outcome": each, "ms": 1.0, "note": None} for each in outcomes]
    events.append({"seat": 1, "action": "play:QC", "outcome": "ok", "ms": 1.0, "note": None})
    events.append({"seat": 0, "event": "retired", "reason": "faults"})
    deal = {"number": 0, "dealer": 0, "deck": [], "void": False, "events": events, "points": [7, 3], "totals": [7, 3]}
    seat = {"name": "x", "kind": "bot", "bot_id": None, "version": None, "retired": False}
    return (200, {
        "record": 1, "game_id": "gam_1", "ruleset": "seven_up", "options": {}, "status": "finished", "ended_by": "play",
        "limits": {"budget_ms": 1, "first_budget_ms": 1, "max_faults": 5}, "seats": [seat] * 2,
        "fairness": {"label": "l", "commitment": "c", "secret": "s", "entropy": ["", ""]}, "deals": [deal],
        "totals": [7, 3], "places": [1, 2],
    })  # fmt: skip


def made(name):
    return (201, example("GameMade", id=name))


SEVEN_UP = Table(ruleset="seven_up", against=["greedy"], seats=2, options={})


def practising(stub, clock, at=SEVEN_UP):
    arena = Arena(stub.url, "t", sleep=clock.sleep, clock=clock)
    return Practice(arena, arena.own_bot(), at, sleep=clock.sleep, clock=clock)


class TestPractice:
    def test_each_game_is_given_when_it_has_ended_and_no_more_run_than_are_allowed(self):
        script = [
            OWN, made("gam_1"), made("gam_2"),
            summaries(gam_2="running", gam_1="running"),
            summaries(gam_2="finished", gam_1="running"), ended("gam_2", [2, 1]), recorded("ok", "late"),
            made("gam_3"),
            summaries(gam_3="finished", gam_2="finished", gam_1="finished"), ended("gam_3", [1, 1]),
            recorded("ok"), ended("gam_1", [1, 2]), recorded("ok"),
        ]  # fmt: skip
        clock = Clock()
        with Stub(script) as stub:
            played = list(practising(stub, clock).play(3, at_once=2))
        assert [(one.game_id, one.seat, one.place, one.won) for one in played] == [
            ("gam_2", 1, 1, 1.0),
            ("gam_3", 0, 1, 0.5),
            ("gam_1", 0, 1, 1.0),
        ]
        assert played[0].outcomes == {"ok": 1}, "the other seat's outcomes, or retirements, were counted"
        assert clock.now == pytest.approx(0.3)

    def test_the_bot_takes_the_seats_in_turn_and_the_house_bots_too(self):
        at = Table(ruleset="river", against=["greedy", "random"], seats=4, options={"start_cards": 2})
        seated = [[seat.get("name", "me") for seat in at.seated("bot_1", number)] for number in range(4)]
        assert seated == [
            ["me", "greedy", "random", "greedy"],
            ["greedy", "me", "random", "greedy"],
            ["greedy", "random", "me", "greedy"],
            ["greedy", "random", "greedy", "me"],
        ]

    def test_a_bot_that_has_its_games_full_is_waited_for(self):
        script = [OWN, BUSY, BUSY, made("gam_1"), summaries(gam_1="finished"), ended("gam_1", [1, 2]), recorded("ok")]
        clock = Clock()
        with Stub(script) as stub:
            (one,) = practising(stub, clock).play(1, at_once=1)
        assert one.outcomes == {"ok": 1}
        assert clock.now == pytest.approx(0.6)

    def test_a_game_that_never_ends_is_not_waited_for_without_a_bound(self):
        clock = Clock()
        with Stub([OWN, made("gam_1"), *[summaries(gam_1="running")] * 20]) as stub:
            playing = practising(stub, clock).play(1, at_once=1, timeout_s=3)
            with pytest.raises(ArenaError, match="within 3 s; those that run: gam_1") as caught:
                next(playing)
        assert caught.value.code == "timeout"
        assert 3 < clock.now < 4

    def test_an_arena_that_is_away_for_a_while_does_not_end_it(self):
        away = (503, {"code": "store_away", "detail": "the store is away"})
        over = [summaries(gam_1="finished"), ended("gam_1", [1, 2])]
        script = [OWN, made("gam_1"), away, *over, away, *over, recorded("ok"), made("gam_2"), *[away] * 300]
        clock = Clock()
        with Stub(script) as stub:
            playing = practising(stub, clock).play(2, at_once=1)
            assert next(playing).game_id == "gam_1"
            with pytest.raises(ArenaError, match="the store is away"):
                next(playing)
        assert 60 < clock.now < 62

    def test_another_refusal_ends_it(self):
        refusal = (409, {"code": "bot_unavailable", "detail": "the bot is paused"})
        with Stub([OWN, refusal]) as stub, pytest.raises(ArenaError, match="the bot is paused"):
            next(practising(stub, Clock()).play(1, at_once=1))

    def test_a_game_that_was_called_off_has_no_result(self):
        called_off = (200, example("GameView", id="gam_1", state="cancelled", places=None, totals=None, ended_by=None,
                                   seats=[example("SeatPlaying")] * 2))  # fmt: skip
        no_record = (409, {"code": "never_began", "detail": "the game ended before it began"})
        with Stub([OWN, made("gam_1"), summaries(gam_1="cancelled"), called_off, no_record]) as stub:
            (one,) = practising(stub, Clock()).play(1, at_once=1)
        assert (one.state, one.place, one.won, one.outcomes) == ("cancelled", None, None, {})

    def test_a_ruleset_that_the_bot_does_not_play_is_told(self):
        with Stub([OWN]) as stub:
            assert "which lowball plays" not in (
                said := slagbot(stub, "practice", "--ruleset", "river", status=2).stderr
            )
        assert "expected a ruleset that lowball plays, got 'river'; it plays seven_up" in said

    def test_the_command_shows_games_as_they_end_and_what_comes_next(self):
        script = [
            OWN, made("gam_1"), summaries(gam_1="finished"), ended("gam_1", [1, 2]), recorded("ok", "late"),
            (200, listed("BotView", {"id": "house:random"}, {"id": "house:greedy"})),
        ]  # fmt: skip
        with Stub(script) as stub:
            said = slagbot(stub, "practice", "--games", "1", "--against", "house:greedy").stdout
        assert said.startswith("1/1  won      seat 0 against greedy  7:3  ok 1, late 1  gam_1\n")
        assert "lowball won 1.00 of 1 games" in said
        assert "late 1: slagbot logs lowball --outcome late" in said
        assert f"slagveld tournament enter lowball-first bot_1 house:greedy --arena {stub.url}" in said
        assert stub.got[1][3]["seats"] == [{"kind": "bot", "bot_id": "bot_1"}, {"kind": "house", "name": "greedy"}]

    def test_as_json_each_game_is_a_line(self):
        script = [OWN, made("gam_1"), summaries(gam_1="finished"), ended("gam_1", [2, 1]), recorded("ok")]
        with Stub(script) as stub:
            (told,) = map(json.loads, slagbot(stub, "practice", "--games", "1", "--json").stdout.splitlines())
        assert (told["game_id"], told["place"], told["outcomes"]) == ("gam_1", 2, {"ok": 1})

    def test_options_that_are_none_are_2(self):
        with Stub([]) as stub:
            assert "expected a JSON object" in slagbot(stub, "practice", "--options", "[]", status=2).stderr
