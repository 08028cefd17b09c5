"""Requests made for sending are the messages of the contract, byte for byte."""

from __future__ import annotations

from hypothesis import given

from bot_sdk import messages
from bot_sdk.games.game import Game
from bot_sdk.sending import Sender, SentDecisions
from tests.bot_sdk.tables import Table, random_event, tables


def info_of(game: Game) -> messages.GameInfo:
    names = [f'"{seat}" \u2028' for seat in range(game.seats)]
    return messages.GameInfo("gam_1", game.ruleset.name, game.state.options, names)


@given(tables(longest=3))
def test_a_request_is_the_message_that_a_decision_makes_at_every_point_of_a_game(table: Table) -> None:
    game, rng = table.game(), table.rng()
    info = info_of(game)
    sender = Sender(game, info)
    while not game.is_over:
        for seat in game.owed():
            sent = sender.decision(seat, 1000)
            assert messages.encode(sent) == messages.encode(messages.decision_of(game, info, seat, 1000))
        game.apply(random_event(game, rng, 0.1))


@given(tables(longest=2))
def test_a_request_of_several_is_the_message_that_their_decisions_make(table: Table) -> None:
    games = [table.game(), table.game()]
    for _ in range(6):
        games[1].apply(random_event(games[1], table.rng(), 0.0))
        if games[1].is_over:
            return
    infos = [info_of(game) for game in games]
    asked = [(game, info, game.owed()[0]) for game, info in zip(games, infos, strict=True)]
    sent = SentDecisions(
        budget_ms=700, decisions=[Sender(game, info).decision(seat, 700) for game, info, seat in asked]
    )
    made = messages.Decisions(
        budget_ms=700, decisions=[messages.decision_of(game, info, seat, 700) for game, info, seat in asked]
    )
    assert messages.encode(sent) == messages.encode(made)


def test_a_sender_may_begin_anywhere_in_a_game() -> None:
    game, rng = Table("river", {"start_cards": 3}, 4, 1).game(), Table("river", {}, 4, 1).rng()
    info = info_of(game)
    for _ in range(12):
        game.apply(random_event(game, rng, 0.0))
    seat = game.owed()[0]
    made = messages.decision_of(game, info, seat, 50)
    assert made.observation["tricks"]
    assert messages.encode(Sender(game, info).decision(seat, 50)) == messages.encode(made)


def test_a_sender_that_is_asked_seldom_shows_the_tricks_of_the_deal_that_is_on() -> None:
    game, rng = Table("river", {"start_cards": 3}, 4, 1).game(), Table("river", {}, 4, 1).rng()
    info = info_of(game)
    sender = Sender(game, info)
    asked = []
    while len(asked) < 2:
        seat, made = game.owed()[0], game.state.observe(None)
        if (made["deal"], len(made["tricks"])) == (len(asked), 1):
            asked.append(made["tricks"])
            expected = messages.decision_of(game, info, seat, 50)
            assert messages.encode(sender.decision(seat, 50)) == messages.encode(expected)
        game.apply(random_event(game, rng, 0.0))
    assert asked[0] != asked[1]
