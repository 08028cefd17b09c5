from __future__ import annotations

import json

import pytest

from bot_sdk import messages, signing
from bot_sdk.bots.greedy import greedy
from bot_sdk.checking.caller import Caller
from bot_sdk.events import Outcome
from bot_sdk.games import record
from bot_sdk.games.registry import RULESETS
from bot_sdk.hosting import serving
from bot_sdk.local import Match, in_process, play
from bot_sdk.positions import positions
from bot_sdk.remote import AtUrl, at_url
from bot_sdk.replies import BadReply
from tests.bot_sdk.strangers import always, answering, reply

SECRET = signing.make_secret(bytes(range(32)))
DECISION = positions("river", "play", 1, "remote")[0]
GOOD = messages.encode(messages.ActionReply(decision_id=DECISION.decision_id, action=DECISION.legal_actions[0]))


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
        over_http.caller.close()


@pytest.mark.parametrize(
    "body",
    [b"[]", b'{"action":"play:2C"}', b'{"decision_id":"other.0.0","action":"play:2C"}', GOOD[:-1] + b',"note":7}'],
)
def test_a_reply_that_says_something_else_is_bad(body):
    with answering(always(reply(body))) as url:
        player = AtUrl(Caller(url), None, record.SeatShown("x", "bot"))
        assert player.ask(DECISION).outcome is Outcome.BAD_REPLY
        player.caller.close()


def test_a_url_without_a_card_is_refused():
    card = reply(json.dumps({"name": "x"}).encode())
    with answering(always(card)) as url, pytest.raises(BadReply, match="expected a bot card"):
        at_url(url, secret=None)
