from __future__ import annotations

import json
import time

import pytest

from bot_sdk import messages, signing
from bot_sdk.bots.greedy import greedy
from bot_sdk.events import Outcome
from bot_sdk.games import record
from bot_sdk.games.registry import RULESETS
from bot_sdk.hosting import serving
from bot_sdk.local import Match, in_process, play
from bot_sdk.positions import positions
from bot_sdk.remote import AtUrl, Remote, RemoteError, at_url
from bot_sdk.replies import BadReply
from tests.bot_sdk.strangers import always, answering, reply, request_of

SECRET = signing.make_secret(bytes(range(32)))
DECISION = positions("river", "play", 1, "remote")[0]
GOOD = messages.encode(messages.ActionReply(decision_id=DECISION.decision_id, action=DECISION.legal_actions[0]))


def asked(behave, budget_ms=1000):
    with answering(behave) as url:
        remote = Remote(url)
        try:
            return remote.post(messages.encode(DECISION), budget_ms, None)
        finally:
            remote.close()


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (reply(GOOD), Outcome.OK),
        (reply(GOOD, b"500 Oops"), Outcome.BAD_STATUS),
        (reply(b"", b"302 Found\r\nLocation: /"), Outcome.BAD_STATUS),
        (reply(GOOD, kind=b"text/html"), Outcome.BAD_REPLY),
        (reply(b"x" * 100_000), Outcome.BAD_REPLY),
        (b"SSH-2.0-OpenSSH_9\r\n\r\n", Outcome.BAD_REPLY),
        (reply(GOOD)[:-5], Outcome.BAD_REPLY),
        (b"", Outcome.UNREACHABLE),
    ],
)
def test_outcomes_have_the_arenas_names(answer, outcome):
    heard = asked(always(answer))
    assert heard.outcome is outcome
    assert (heard.error is None) == (outcome is Outcome.OK)


def test_nobody_there_is_unreachable():
    with answering(always(b"")) as url:
        pass
    heard = Remote(url).post(b"{}", 1000, None)
    assert (heard.outcome, heard.error) == (Outcome.UNREACHABLE, "no connection: Connection refused")


def test_a_host_that_does_not_exist_is_unreachable_in_one_short_sentence():
    heard = Remote("http://no-such-host.invalid/").post(b"{}", 5000, None)
    assert heard.outcome is Outcome.UNREACHABLE
    assert "HTTPConnectionPool" not in heard.error


def test_silence_is_late_and_shows_the_time_waited():
    heard = asked(lambda connection, _number: request_of(connection) + connection.recv(1), budget_ms=200)
    assert heard.outcome is Outcome.LATE
    assert 200 <= heard.ms < 1000


def test_a_dripping_body_is_late():
    def drip(connection, _number):
        request_of(connection)
        connection.sendall(reply(GOOD)[: -len(GOOD)])
        for byte in GOOD:
            time.sleep(0.05)
            connection.sendall(bytes([byte]))

    heard = asked(drip, budget_ms=300)
    assert heard.outcome is Outcome.LATE
    assert 300 <= heard.ms < 1000


def test_a_connection_that_ends_before_any_answer_is_tried_once_more():
    def second_time(connection, number):
        request_of(connection)
        if number:
            connection.sendall(reply(GOOD))

    assert asked(second_time).outcome is Outcome.OK


@pytest.mark.parametrize("url", ["ftp://x", "http://", "bot.py", ""])
def test_what_is_no_url_is_refused(url):
    with pytest.raises(RemoteError, match="expected a URL"):
        Remote(url)


def test_calls_are_signed_and_the_connection_is_kept():
    bot = greedy()
    bot.secret = SECRET
    with serving(bot) as server:
        remote = Remote(server.url)
        assert remote.post(messages.encode(DECISION), 1000, SECRET).outcome is Outcome.OK
        assert remote.post(messages.encode(DECISION), 1000, None).status == 401
        remote.close()


def test_a_bot_at_a_url_plays_as_it_does_in_process():
    def actions(player):
        match = Match(RULESETS["seven_up"])
        for played in play(match, [player, in_process(greedy())], games=2, seed="url"):
            record.verify(played.record)
            yield [(event.seat, event.action) for event in played.game.log]

    bot = greedy()
    bot.secret = SECRET
    with serving(bot) as server:
        over_http, plays = at_url(server.url, secret=SECRET)
        assert plays == ["seven_up", "river"]
        assert over_http.shown == record.SeatShown("greedy", "bot", None, "1")
        assert list(actions(over_http)) == list(actions(in_process(bot)))
        over_http.remote.close()


@pytest.mark.parametrize(
    "body",
    [b"[]", b'{"action":"play:2C"}', b'{"decision_id":"other.0.0","action":"play:2C"}', GOOD[:-1] + b',"note":7}'],
)
def test_a_reply_that_says_something_else_is_bad(body):
    with answering(always(reply(body))) as url:
        player = AtUrl(Remote(url), None, record.SeatShown("x", "bot"))
        assert player.ask(DECISION).outcome is Outcome.BAD_REPLY
        player.remote.close()


def test_a_url_without_a_card_is_refused():
    card = reply(json.dumps({"name": "x"}).encode())
    with answering(always(card)) as url, pytest.raises(BadReply, match="expected a bot card"):
        at_url(url, secret=None)
