"""Nobody is told a card before he may know it: every answer is searched, byte by byte, at every step of games.

What a reader may know is worked out here from the state itself, not from what the API shows of it.
"""

from __future__ import annotations

import random
import re

import pytest

from bot_sdk.cards import NAMES, cards_in
from bot_sdk.games.registry import RULESETS

CARD = re.compile(rb"(?<![A-Za-z0-9])[2-9TJQKA][CDHS](?![A-Za-z0-9])")
MOST_STEPS = 90

SEVEN_UP = [
    {"target": 3},
    {"gift": True, "turned_jack": "final", "void_play": "free", "first_dealer": 1},
    {"pips": "classic", "game_tie": "non_dealer", "target": 5},
    {"gift": True, "void_play": "free", "target": 9},
]
RIVER = [
    (4, {"start_cards": 3}),
    (4, {"start_cards": 12, "schedule": "down", "bidding": "simultaneous", "miss": "zero", "first_dealer": 3}),
    (5, {"start_cards": 2, "bidding": "simultaneous", "schedule": "up_down"}),
    (8, {"start_cards": 4, "hook": "off"}),
    (6, {"start_cards": 1, "hook": "not_one"}),
]
TABLES = [*(("seven_up", 2, options) for options in SEVEN_UP), *(("river", *each) for each in RIVER)]


def test_every_option_value_is_looked_at():
    for name, rules in RULESETS.items():
        for option in rules.options_for(rules.min_seats):
            for value in getattr(option, "values", ()):
                asked = [options.get(option.name, option.default) for ruleset, _, options in TABLES if ruleset == name]
                assert value in asked, f"{name}: {option.name} = {value!r}"


@pytest.mark.parametrize(("ruleset", "seats", "options"), TABLES)
def test_no_answer_holds_a_card_its_reader_may_not_see(people, client, ruleset, seats, options):
    game, players = people(ruleset, seats, options=options)
    watcher = Watcher(client, game["id"], players)
    rng = random.Random(f"{ruleset} {options}")
    for _ in range(MOST_STEPS):
        table = watcher.table()
        watcher.look(table)
        owed = table.game.owed()
        if not owed:
            break
        watcher.step(table, rng.choice(owed), rng)
    else:
        for player in list(players.values())[:-1]:
            player("DELETE")
            watcher.look(watcher.table())
    assert watcher.steps > 10
    assert watcher.answers > 100
    if ruleset == "seven_up" or options.get("bidding") == "simultaneous":
        assert watcher.sealed > 0


class Watcher:
    """Asks for all there is as everybody there is, and searches the answers."""

    def __init__(self, client, game_id, players):
        self.client = client
        self.path = f"/v1/games/{game_id}"
        self.id = game_id
        self.players = players
        self.seen = 0
        self.answers = 0
        self.steps = 0
        self.sealed = 0
        self.public = set()

    def table(self):
        return self.client.application.extensions["slagveld"].games.table(self.id)[1]

    def look(self, table):
        """Read everything as a spectator and from each seat; let one seat after the other try what it may not."""
        public = shown_to_all(table.game.state)
        self.search(self.client.get(self.path), public)
        self.search(self.client.get("/v1/games"), set())
        kept = self.client.get(f"{self.path}/record")
        if not table.game.is_over:
            assert kept.status_code == 409
            self.search(kept, public)
        news = self.client.get(f"{self.path}/events?after={self.seen}")
        self.search(news, public | self.public)
        self.seen += len(news.get_json()["items"])
        self.public = public
        for seat, player in self.players.items():
            self.search(player("GET"), public | own(table.game, seat))
        self.trespass(table, self.steps % len(self.players), public)

    def trespass(self, table, seat, public):
        """Ask with the token of a seat for the game and for another's seat, and take actions that aren't allowed."""
        known = public | own(table.game, seat)
        player, other = self.players[seat], self.players[(seat + 1) % len(self.players)]
        token = {"Authorization": f"Bearer {player.token}"}
        self.search(self.client.get(self.path, headers=token), public)
        self.search(self.client.get(other.path, headers=token), public)
        for at in (seat, other.number):
            wrong = {"decision_id": f"{self.id}.{at}.{table.game.decisions[at]}", "action": "bid:99"}
            answer = self.client.post(f"{self.players[at].path}/actions", json=wrong, headers=token)
            assert answer.status_code in {403, 409, 422}
            self.search(answer, known if at == seat else public)

    def step(self, table, seat, rng):
        """Have a seat act. Nobody else learns of a sealed decision, not even that it was taken."""
        before = table.game.state
        legal = before.legal_actions(seat)
        action = next((each for each in ("beg", "run") if each in legal and rng.random() < 0.8), rng.choice(legal))
        is_last = len(before.actors()) == 1 and not (before.phase == "discard" and before.to_discard[seat] > 1)
        quiet = before.is_sealed and not is_last
        others = self.readings(seat) if quiet else None
        taken = self.players[seat].act(action, table.decision_id(seat))
        assert taken.status_code == 201, taken.text
        after = self.table()
        played = {action.removeprefix("play:").encode()} if action.startswith("play:") else set()
        known = shown_to_all(after.game.state) | own(after.game, seat)
        self.search(taken, known)
        if quiet:
            self.sealed += 1
            assert self.readings(seat) == others
            again = self.players[seat].act(action, table.decision_id(seat))
            self.search(again, known)
        self.public |= played
        self.steps += 1

    def readings(self, but):
        """Give all that everybody but one seat can read: bodies, and the headers that could tell something."""
        answers = [self.client.get(self.path), self.client.get(f"{self.path}/events"), self.client.get("/v1/games")]
        answers += [player("GET") for seat, player in self.players.items() if seat != but]
        return [(answer.status_code, answer.data, sorted(answer.headers)) for answer in answers]

    def search(self, answer, known):
        raw = str(answer.headers).encode() + answer.data
        hidden = set(CARD.findall(raw)) - known
        assert not hidden, f"{answer.request.method} {answer.request.path}: {sorted(hidden)} in {raw!r}"
        self.answers += 1


def shown_to_all(state):
    """Give the cards of the present deal that lie open, or were played."""
    upcards = state.upcards if hasattr(state, "upcards") else [state.upcard]
    played = [card for trick in [*state.tricks, state.trick] for card in trick.cards]
    return names([*upcards, *played])


def own(game, seat):
    """Give the cards of a seat's hand, those it has discarded, and the one in its latest action."""
    state, last = game.state, game.last[seat]
    discards = state.discards[seat] if hasattr(state, "discards") else 0
    acted = {last.action.split(":")[-1].encode()} if last else set()
    return names([*cards_in(state.hands[seat]), *cards_in(discards)]) | acted


def names(cards):
    return {NAMES[card].encode() for card in cards}


def test_the_search_finds_a_card_that_is_hidden(people, client):
    game, players = people("river", 4)
    watcher = Watcher(client, game["id"], players)
    play = watcher.table().game
    answer = players[0]("GET")
    with pytest.raises(AssertionError, match="in b"):
        watcher.search(answer, shown_to_all(play.state) | own(play, 1))
    watcher.search(answer, shown_to_all(play.state) | own(play, 0))
