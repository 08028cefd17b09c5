"""Games shown as they are played, against an arena of prepared answers, and records step by step."""

from __future__ import annotations

import json
import sys

import pytest

from bot_sdk.games import record
from bot_sdk.games.registry import RULESETS
from bot_sdk.loading import load_player
from bot_sdk.local import Match, play
from tests.bot_sdk.commands.jobs import Terminal, started
from tests.bot_sdk.commands.running import slagbot
from tests.bot_sdk.specified import example
from tests.bot_sdk.stub import Stub

GAME = "gam_" + "a" * 26


@pytest.fixture(scope="module")
def played():
    table = [load_player(name, "river") for name in ("house:greedy", "house:random")] * 2
    (one,) = play(Match(RULESETS["river"], {"start_cards": 2}), table, games=1)
    return one


@pytest.fixture
def file(played, tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_bytes(record.encode(played.record) + b"\n")
    return path


def view(state, *, readable=True, names="abcd"):
    seats = [example("SeatPlaying", name=name) for name in names]
    return (200, example("GameView", id=GAME, ruleset="river", state=state, readable=readable, seats=seats))


def streamed(news, first, *, breaks=False):
    parts = [f"id: {first + at}\ndata: {json.dumps(one)}\n\n".encode() for at, one in enumerate(news)]
    return (200, (b"retry: 1000\n\n", *parts, *([None] if breaks else [])), {"Content-Type": "text/event-stream"})


class TestRecord:
    def test_every_decision_is_a_line_that_replay_can_be_given(self, file, played):
        shown = slagbot("watch", file).stdout
        for number, deal in enumerate(played.record.deals):
            for at, event in enumerate(deal.events):
                assert f"\n  {number}.{at:<3} " in shown
                assert event["action"] in shown
        assert "greedy (0) - random (1)" in shown
        assert shown.splitlines()[-1].startswith("the game is over, by play: 1. ")
        assert slagbot("watch", file, "--all").stdout == shown

    def test_programs_get_the_events_and_what_became_known(self, file, played):
        opening, *steps = map(json.loads, slagbot("watch", file, "--json").stdout.splitlines())
        assert opening["news"] + [news for step in steps for news in step["news"]] == played.game.news
        assert [step["action"] for step in steps] == [event.action for event in played.game.log]

    def test_what_strangers_wrote_does_not_reach_the_terminal_as_it_is(self, file):
        shown = json.loads(file.read_text())
        shown["seats"][0]["name"] = "evil\x1b[2J\x9b"
        shown["deals"][0]["events"][0]["note"] = "\x1b]0;title\x07"
        file.write_text(json.dumps(shown))
        told = slagbot("watch", file).stdout
        assert "\x1b" not in told
        assert "\x9b" not in told
        assert "evil�[2J�" in told

    def test_a_record_that_does_not_hold_is_2(self, file):
        file.write_text(file.read_text().replace('"bid:0"', '"bid:1"', 1))
        slagbot("watch", file, status=2)

    def test_what_is_neither_a_game_nor_a_file_is_2(self):
        told = "expected the id of a game, or a file of records, got 'nothing'"
        assert told in slagbot("watch", "nothing", status=2).output

    @pytest.mark.skipif(sys.platform == "win32", reason="a terminal is made by pty")
    def test_in_a_terminal_a_record_waits_for_keys(self, file):
        with Terminal() as terminal, started("watch", file, **terminal.ends) as process:
            assert "any key: the next decision" in terminal.read_until("leave")
            terminal.press(" ")
            terminal.read_until("  0.0 ")
            terminal.press("d")
            deal = terminal.read_until("deal 1 of 1 cards")
            assert " 0.1 " in deal
            assert " 1.0 " not in deal
            terminal.press("a")
            terminal.read_until("the game is over")
            assert process.wait(60) == 0

    @pytest.mark.skipif(sys.platform == "win32", reason="a terminal is made by pty")
    @pytest.mark.parametrize(("key", "status"), [("q", 0), ("\x03", 130)])
    def test_in_a_terminal_it_can_be_left(self, file, key, status):
        with Terminal() as terminal, started("watch", file, **terminal.ends) as process:
            terminal.press(key)
            assert process.wait(60) == status
            assert "Traceback" not in terminal.read_until("turned" if status == 0 else "stopped")


class TestLive:
    def test_a_game_is_shown_from_its_beginning_to_its_end(self, played):
        news = played.game.news
        with Stub([view("running"), streamed(news, 1), (204, b""), view("finished")]) as stub:
            ran = slagbot("watch", GAME, "--arena", stub.url)
        lines = ran.stdout.splitlines()
        assert len(lines) == len(news)
        assert lines[0] == f"deal 0 of 2 cards: a deals, {news[0]['upcard']} is turned"
        assert lines[-1].startswith("the game is over, by play: 1. ")
        assert f"{GAME} is finished" in ran.stderr

    @pytest.mark.parametrize("gone", [None, (503, {"code": "store_away", "detail": "the store is away"})])
    def test_it_goes_on_where_a_lost_connection_broke_it_off(self, played, gone, monkeypatch):
        monkeypatch.setattr("bot_sdk.following.PAUSE_S", 0.0)
        news = played.game.news
        script = [view("running"), streamed(news[:5], 1, breaks=True), *[gone] * 3, streamed(news[5:], 6), (204, b"")]
        with Stub([*script, view("finished")]) as stub:
            ran = slagbot("watch", GAME, "--arena", stub.url, "--json")
        assert [json.loads(line) for line in ran.stdout.splitlines()] == news
        told = [headers.get("Last-Event-ID") for _, path, headers, _ in stub.got if path.endswith("/stream")]
        assert told == [None, *["5"] * 4, str(len(news))]
        assert "the arena is away, trying again" in ran.stderr
        assert "the arena is back" in ran.stderr

    def test_who_sits_down_while_it_is_open_is_named(self, played):
        news = played.game.news
        script = [view("open", names=["open", "b", "c", "d"]), streamed(news[:2], 1), (204, b""), view("aborted")]
        script.insert(2, view("running", names=["ann", "b", "c", "d"]))
        with Stub(script) as stub:
            ran = slagbot("watch", GAME, "--arena", stub.url)
        assert "hasn't begun" in ran.stderr
        assert ran.stdout.startswith("deal 0 of 2 cards: ann deals")
        assert "is aborted" in ran.stderr

    def test_an_open_board_is_said_to_be_why_nothing_is_shown(self, played):
        script = [view("running", readable=False), streamed(played.game.news, 1), (204, b""), view("finished")]
        with Stub(script) as stub:
            ran = slagbot("watch", GAME, "--arena", stub.url)
        assert "is shown when all games of its board have ended" in ran.stderr

    def test_events_of_later_versions_are_shown_as_they_are(self):
        news = [{"event": "thunder", "seat": 1}]
        with Stub([view("running"), streamed(news, 1), (204, b""), view("finished")]) as stub:
            assert slagbot("watch", GAME, "--arena", stub.url).stdout == '{"event": "thunder", "seat": 1}\n'

    def test_a_game_that_is_not_there_is_2(self):
        with Stub([(404, {"code": "not_found", "detail": "there is no such game"})]) as stub:
            assert "no such game" in slagbot("watch", GAME, "--arena", stub.url, status=2).output
