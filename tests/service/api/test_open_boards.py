"""Nothing of an open board is readable: two games share one, and everybody reads everything there is to read.

Each evening is played twice, the second time with another pack in the place of the first: whatever depends on a card
then differs. All that anybody reads while the board is open has to be the same to the byte.
"""

from __future__ import annotations

import json
import re

import pytest
from msgspec.structs import replace

from bot_sdk.games.packs import board_secret
from bot_sdk.results.values import Entry, GameState, Round, Slot
from service.api import scoreboard, stream
from service.store.entities import Tournament, TournamentState
from tests.attacks.knowledge import CARD
from tests.service.api.answers import ITS_OWN, problem
from tests.service.api.conftest import Person
from tests.service.api.test_stream import messages
from tests.service.bench import NOW, Background, Desk, Worker
from tests.service.fakes import HOLD, FakeCalls, first_legal, standing, until

ADMIN = "operator-token-of-thirty-two-characters"
ROOT_SECRET = bytes(range(64, 96))
PACKS = (bytes(range(32)), bytes(range(32, 64)))
TOURNAMENT = "trn_" + "t" * 26
GAMES = ("gam_" + "a" * 26, "gam_" + "b" * 26)
BOTS = tuple("bot_" + letter * 26 for letter in "abcd")
HELD_AT = 4
"""The decision of the second game's last bot that the first readers find it at."""

PARTS = (
    *("/v1/games", "/v1/bots", "/v1/tournaments", "/v1/leaderboards"),
    *("/v1/rulesets", "/v1/accounts", "/v1/admin", "/health"),
)

FILLED = {
    "game_id": GAMES,
    "tournament_id": [TOURNAMENT],
    "bot_id": [*BOTS, "house:greedy"],
    "number": "01",
    "account_id": ["acc_" + "a" * 26],
    "check_id": ["chk_" + "a" * 26],
    "name": ["seven_up"],
}
"""What stands for each parameter of a path; one that isn't known here is a KeyError: say what it is."""
UNSTEADY = re.compile(rb"(?<![0-9])1[0-9]{12}(?![0-9])")
"""A time in Unix milliseconds."""


class Evening:
    """An arena on an empty store, in which two games on one board begin."""

    def __init__(self, app, store, pack):
        self.app = app
        self.store = store
        self.pack = pack
        self.desk = Desk(store)
        self.calls = FakeCalls()
        self.calls.bots |= {BOTS[0]: standing, BOTS[2]: standing, BOTS[3]: self._held()}
        self.worker = Worker(store, self.calls)
        self.readers = {"anybody": self._asking({}), "operator": self._asking({"Authorization": f"Bearer {ADMIN}"})}
        for name in ("stranger", "organiser", "ann", "bob"):
            client = app.test_client()
            key = {"Idempotency-Key": f"so that ids are the same: {name}".replace(" ", "-")}
            answer = client.post("/v1/accounts", json={"name": name}, headers=key)
            self.readers[name] = Person(client, answer.get_json())
        self._lay()
        self.run = Background(lambda: self.worker.drive(*GAMES, seconds=30.0))
        until(lambda: self.desk.state(GAMES[0]).is_end)
        self.calls.wait_until_held()

    def _asking(self, identity):
        client = self.app.test_client()

        def ask(method, path, headers=None, **more):
            return client.open(path, method=method, headers=identity | (headers or {}), **more)

        return ask

    def _held(self):
        """Make a bot that holds one of its decisions."""
        asked = iter(range(1000))
        return lambda decision: HOLD if next(asked) == HELD_AT else first_legal(decision)

    def _lay(self):
        """Make bots, tournament and games; the first bot is ann's, the others bob's."""
        for bot in BOTS:
            owner = self.readers["ann" if bot == BOTS[0] else "bob"]
            self.desk.bot(bot, account_id=owner.id, activated_at=NOW, version="1")
        options = {"target": 3}
        tournament = Tournament(
            id=TOURNAMENT,
            name="night",
            owner=self.readers["organiser"].id,
            ruleset="seven_up",
            options=options,
            deals="field",
            table_size=2,
            seed=1,
            root="00",
            created_at=NOW,
            state=TournamentState.OPEN,
        )
        tournaments = self.store.tournaments
        tournaments.create(tournament, secret=ROOT_SECRET)
        for bot in BOTS:
            tournaments.enter(TOURNAMENT, Entry(bot_id=bot, name=bot, account_id=None, entered_at=NOW), most=len(BOTS))
        tournaments.change(TOURNAMENT, _running)
        tournaments.put_round(TOURNAMENT, 1, Round((BOTS[:2], BOTS[2:])))
        for number, game_id in enumerate(GAMES, 1):
            slot = Slot(tournament_id=TOURNAMENT, round=1, table=number, board="1", is_shared=True)
            tournaments.claim(TOURNAMENT, slot)
            more = {"slot": slot, "label": f"{TOURNAMENT}/1", "commitment": "00" * 32}
            sitting = BOTS[:2] if number == 1 else BOTS[2:]
            self.desk.game(*sitting, id=game_id, options=options, secret=self.pack, **more)

    def finish(self):
        """Let the second game end, too."""
        self.calls.let_go()
        self.run.result()
        assert [self.desk.state(game_id) for game_id in GAMES] == [GameState.FINISHED] * 2

    def close(self):
        self.store.tournaments.close_board(TOURNAMENT, "1")
        self.worker.drive(*GAMES)

    def read(self, part):
        """Give all answers to everybody's readings of a part of the API, by reader and path."""
        at_once = {"Prefer": "wait=0"}
        return {
            (name, path): told(ask("GET", path, headers=at_once))
            for path in paths(self.app, part)
            for name, ask in self.readers.items()
        }

    def course(self):
        """Give how the games went, which nobody may know."""
        plays = [self.desk.table(game_id).game for game_id in GAMES]
        return [(play.state.totals, play.places, len(play.log), play.state.deal_number) for play in plays]


def _running(tournament):
    return replace(tournament, state=TournamentState.RUNNING, started_at=NOW)


def told(answer):
    """Give an answer whole, but for times, and the signs of life of a silent stream, whose number is the clock's."""
    headers = sorted((name, value) for name, value in answer.headers if name not in ITS_OWN)
    body = answer.data.replace(b":\n\n", b"") if answer.content_type == stream.EVENT_STREAM else answer.data
    return answer.status_code, UNSTEADY.sub(b"T", str(headers).encode()), UNSTEADY.sub(b"T", body)


def paths(app, part, filled=FILLED):
    """List all paths that the specification can be read by, with each value of an argument that has a few."""
    found = []
    for path, item in app.test_client().get("/openapi.json").get_json()["paths"].items():
        if "get" not in item or not path.startswith(part):
            continue
        operation = item["get"]
        arguments = [""]
        for parameter in operation.get("parameters", ()):
            if parameter.get("in") == "query":
                arguments += [f"?{parameter['name']}={value}" for value in parameter["schema"].get("enum", ())]
        for full in fillings(path, filled):
            found += [full + each for each in arguments]
    assert found
    return found


def fillings(path, filled):
    name = re.search(r"\{([a-z_]+)\}", path)
    if name is None:
        return [path]
    return [full for value in filled[name[1]] for full in fillings(path.replace(name[0], value, 1), filled)]


@pytest.fixture
def evening(make_app, redis, store, monkeypatch):
    monkeypatch.setattr(stream, "HEARTBEAT_S", 0.01)
    monkeypatch.setattr(stream, "LIFE_S", 0.0)
    monkeypatch.setattr(scoreboard, "PROGRESS_PAUSE_S", 0.0)

    def begin(pack):
        redis.flushall()
        return Evening(make_app(SLAGVELD_KEY="5a" * 32, SLAGVELD_ADMIN_TOKEN=ADMIN), store, pack)

    return begin


def is_own_ledger(reader, path):
    """Tell whether this reads decisions as the owner of the bot that took them."""
    bot = path.split("/")[3] if path.startswith("/v1/bots/") and path.endswith("/decisions") else None
    return bot in BOTS and reader == ("ann" if bot == BOTS[0] else "bob")


def check_hidden(readings):
    secrets = [*PACKS, ROOT_SECRET, board_secret(ROOT_SECRET, "1")]
    for at, (_, headers, body) in readings.items():
        if not is_own_ledger(*at):
            assert not CARD.findall(headers + body), (at, body)
            assert not [secret for secret in secrets if secret.hex().encode() in headers + body], (at, body)


@pytest.mark.parametrize("part", PARTS)
def test_nobody_reads_anything_of_an_open_board(evening, part):
    courses, readings = [], []
    for pack in PACKS:
        night = evening(pack)
        courses.append([night.course()])
        readings.append([night.read(part)])
        night.finish()
        courses[-1].append(night.course())
        readings[-1].append(night.read(part))
        assert {message["type"] for _, message in night.calls.told} == {"game_started"}
    assert all(one != other for one, other in zip(*courses, strict=True))
    for one, other in zip(*readings, strict=True):
        check_hidden(one)
        check_hidden(other)
        differing = [at for at in one if one[at] != other[at] and not is_own_ledger(*at)]
        assert differing == []


def test_every_part_of_the_api_is_read(app):
    assert [path for path in paths(app, "/") if not path.startswith(PARTS)] == []


def test_closed_board_is_readable_by_everybody_and_bots_are_told(evening):
    """What the readers above look for is there to be found, once it may be."""
    night = evening(PACKS[0])
    night.finish()
    before = night.read("/v1/games") | night.read("/v1/tournaments")
    night.close()
    after = night.read("/v1/games") | night.read("/v1/tournaments")
    for reader in night.readers:
        for game_id in GAMES:
            for path in ("", "/events", "/stream", "/record"):
                at = (reader, f"/v1/games/{game_id}{path}")
                assert before[at] != after[at]
                assert after[at][0] == 200
                assert CARD.findall(after[at][2])
            assert PACKS[0].hex().encode() in after[reader, f"/v1/games/{game_id}/record"][2]
        for path in ("standings", "crosstable", "rounds", "boards", "games", "export", "export?format=csv"):
            at = (reader, f"/v1/tournaments/{TOURNAMENT}/{path}")
            assert before[at] != after[at], path
    ended = [(bot, message["game"]["id"]) for bot, message in night.calls.told if message["type"] == "game_ended"]
    assert sorted(ended) == [(bot, GAMES[at // 2]) for at, bot in enumerate(BOTS)]


def test_ledger_of_an_open_board_holds_a_bots_own_decisions_and_is_its_owners(evening):
    night = evening(PACKS[0])
    night.finish()
    for bot in BOTS:
        at = BOTS.index(bot)
        for reader, ask in night.readers.items():
            answer = ask("GET", f"/v1/bots/{bot}/decisions?limit=100")
            if is_own_ledger(reader, answer.request.path):
                ids = {line["decision_id"].rpartition(".")[0] for line in answer.get_json()["items"]}
                assert ids == {f"{GAMES[at // 2]}.{at % 2}"}
            else:
                assert answer.status_code in {401, 403}


def test_events_and_record_of_an_open_board_say_what_is_waited_for(evening):
    night = evening(PACKS[0])
    ask = night.readers["anybody"]
    for game_id in GAMES:
        for path in ("events", "events?after=3", "record"):
            refused = problem(ask("GET", f"/v1/games/{game_id}/{path}"), 409, "board_open")
            assert "when the last of them has ended" in refused["detail"]
    night.finish()


def test_stream_of_an_open_board_is_silent_and_begins_when_that_is_closed(evening, monkeypatch):
    night = evening(PACKS[0])
    night.finish()
    path = f"/v1/games/{GAMES[0]}/stream"
    silent = night.app.test_client().get(path, headers={"Last-Event-ID": "2"})
    assert silent.status_code == 200  # not 204: there is more to come
    assert messages(silent.data) == []
    monkeypatch.setattr(stream, "HEARTBEAT_S", 15.0)
    monkeypatch.setattr(stream, "LIFE_S", 30.0)
    parts = night.app.test_client().get(path).response
    assert next(parts).startswith(b"retry")
    waiting = Background(lambda: b"".join(parts))
    until(lambda: night.app.extensions["slagveld"].store.watch._channels)
    night.close()
    streamed = messages(waiting.result(30.0))
    assert [number for number, _ in streamed] == list(range(1, len(streamed) + 1))
    assert streamed[-1][1]["event"] == "ended"


def test_operator_who_stops_a_game_on_an_open_board_learns_nothing_of_it(evening):
    night = evening(PACKS[0])
    operator = night.readers["operator"]
    ended = operator("PUT", f"/v1/games/{GAMES[0]}/state", json={"state": "cancelled"})
    assert not CARD.findall(ended.data)
    problem(ended, 409, "ended")
    stopped = operator("PUT", f"/v1/games/{GAMES[1]}/state", json={"state": "cancelled"})
    shown = stopped.get_json()
    assert (shown["state"], shown["readable"], shown["observation"], shown["totals"]) == (
        "cancelled", False, None, None,
    )  # fmt: skip
    assert json.dumps(shown) == json.dumps(operator("GET", f"/v1/games/{GAMES[1]}").get_json())
    night.calls.let_go()
    night.run.result()
