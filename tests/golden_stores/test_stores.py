"""Stores that earlier releases of the arena have left behind, killed in the middle of everything: this one goes on.

Each was made by `make.py`, with the answers that its own API gave then. What stands there now may say more than it did
then, never less, but for what `CHANGED` names.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bot_sdk.games import record
from service.app import create_app
from service.config import Settings
from service.doctor.command import examined
from service.doctor.place import Patient
from service.jobs import BrokerQueue, open_broker
from service.launch.valkey import EmbeddedValkey
from service.services import open_services
from service.store import keys
from service.store.connection import connect
from service.store.form import FORM
from tests.golden_stores.dumping import get, load
from tests.golden_stores.make import SETTINGS
from tests.golden_stores.scene import ENDED, Hosts, steady
from tests.integration.arena import SHORT, Process, wait_until

HERE = Path(__file__).parent
STORES = sorted(path.name for path in HERE.iterdir() if (path / "store.jsonl.gz").exists())
ROUNDS = r"/v1/tournaments/\w+/rounds \.items\[\]\.tables\[\]"
MEANS = r"/v1/tournaments/\w+/standings \.items\[\]\.mean\.(low|high)"
CHANGED = {
    "1-first": {
        rf"{ROUNDS}\.(board|commitment|secret|game_id|state|totals|places)": "they moved to the legs of a table",
        r"/v1/tournaments\?limit=100 \.items\[\]\.tables_per_board": "only the view of a single tournament has it",
        r"/v1/tournaments/\w+/standings \.method\.interval": "the interval of a share of games is another",
        MEANS: "the same",
    }
}
"""What a release showed otherwise than later ones do, and why."""
OFFERED_SINCE = {405, 422}
"""What was answered then to what a release didn't offer."""
PAGE = 100
QUICKLY = [STORES[0], STORES[-1]]
SLOWLY = [pytest.param(name, marks=pytest.mark.soak) for name in STORES[1:-1]]
"""Those between the oldest and the newest are opened by `make soak` alone; test_shapes reads each value of theirs."""
UNWELL = {"1-first": {"board_open", "key_without_expiry"}}
"""What the doctor has to mend: boards of tournaments that ended when none was closed, ledgers that never ran out."""


class Golden:
    """One of the stores in a server of its own; bots are at `urls` by name."""

    def __init__(self, name: str, folder: Path, urls: dict[str, str]) -> None:
        self.name = name
        self._urls = urls
        self.valkey = EmbeddedValkey(folder)
        self.valkey.start()
        self.redis = connect(self.valkey.url)
        load(self.redis, get(HERE / name / "store.jsonl.gz").splitlines(), urls)
        self.environment = SETTINGS | SHORT | {"REDIS_URL": self.valkey.url}
        settings = Settings.from_env(self.environment)
        self.settings = settings
        self._services = open_services(settings, BrokerQueue(open_broker(settings)))
        self.client = create_app(self._services).test_client()
        told = json.loads(self._placed(get(HERE / name / "answers.json.gz")))
        self.tokens, self.then = told["tokens"], told["answers"]

    def _placed(self, text: str) -> str:
        for name, url in self._urls.items():
            text = text.replace(f"{{{name}}}", url)
        return text

    def ask(self, path: str, who: str = "", **body: object):
        headers = {"Authorization": f"Bearer {self.tokens[who]}"} if who else {}
        return self.client.open(path, method="POST" if body else "GET", json=body or None, headers=headers)

    def shown(self, path: str, who: str = ""):
        answer = self.ask(path, who)
        assert answer.status_code == 200, (path, answer.text)
        return answer.get_json()

    def unlike(self, answers) -> list[str]:
        """Tell what is shown otherwise than in these answers of then."""
        return [each for answer in answers for each in self._unlike(*answer)]

    def _unlike(self, path, who, status, body):
        now = self.ask(path, who)
        if status in OFFERED_SINCE:
            return []
        if now.status_code != status:
            return [f"{path} {status} before, now {now.status_code}: {now.text:.200}"]
        if isinstance(body, str):
            return [] if now.text == body else [f"{path} another text"]
        return [f"{path} {each}" for each in lacking(steady(now.get_json()), body)]

    def close(self) -> None:
        self._services.store.close()
        self.redis.close()
        self.valkey.close()


def lacking(now, then, at=""):
    """Tell where what is shown now doesn't say what was said then."""
    if isinstance(then, dict) and isinstance(now, dict):
        for name, value in then.items():
            yield from lacking(now[name], value, f"{at}.{name}") if name in now else [f"{at}.{name} is gone"]
    elif isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        for one, other in zip(now, then, strict=True):
            yield from lacking(one, other, f"{at}[]")
    elif now != then:
        yield f"{at} was {then!r:.80}, is {now!r:.80}"


def without(found, known):
    """Leave out the differences that are known."""
    return [each for each in found if not any(re.match(one, each) for one in known)]


@pytest.fixture
def opened(tmp_path):
    """Open golden stores by name."""
    stores = []

    def open_store(name, urls=None):
        stores.append(Golden(name, tmp_path, urls or dict.fromkeys(("steady", "holding", "greedy_two"), "http://a.b")))
        return stores[-1]

    yield open_store
    for store in stores:
        store.close()


def test_there_are_stores_of_several_releases():
    assert len(STORES) >= 4
    assert CHANGED.keys() <= set(STORES)


@pytest.mark.parametrize("name", [*QUICKLY, *SLOWLY])
def test_all_is_shown_as_the_release_that_kept_it_showed_it(name, opened):
    golden = opened(name)
    found, known = golden.unlike(golden.then), CHANGED.get(name, {})
    assert without(found, known) == []
    assert [each for each in known if without(found, [each]) == found] == [], "a difference is none any more"
    assert [status for _, _, status, _ in golden.then].count(200) > 100


@pytest.mark.parametrize("name", [*QUICKLY, *SLOWLY])
def test_what_was_going_on_goes_on_to_its_end(name, opened, tmp_path):
    with Hosts(hold=False) as hosts:
        golden = opened(name, hosts.urls)
        games = {game["id"]: game for game in golden.shown("/v1/games?limit=100")["items"]}
        running = [game_id for game_id, game in games.items() if game["state"] == "running"]
        tournaments = golden.shown("/v1/tournaments?limit=100")["items"]
        on = [each["id"] for each in tournaments if each["state"] == "running"]
        assert {games[game_id]["ruleset"] for game_id in running} == {"seven_up", "river"}
        assert any("human" in [seat["kind"] for seat in games[each]["seats"]] for each in running)
        assert on
        worker = Process("worker", ["-m", "service.cli", "worker"], golden.environment, tmp_path / "worker.log")
        try:
            play_for_people(golden)
            for game_id in running:
                wait_until(
                    lambda g=game_id: state(golden, "games", g) in ENDED, 60, f"{game_id} ended: {worker.said()}"
                )
            for each in on:
                wait_until(lambda t=each: state(golden, "tournaments", t) == "finished", 60, f"{each} finished")
            assert {each.code for each in unwell(golden)} == UNWELL.get(name, set())
            assert unwell(golden, is_to_mend=True) == []
        finally:
            worker.close()
    check_played(golden, running)
    check_kept(golden, tournaments)


def unwell(golden, **how):
    """Tell what the doctor finds."""
    findings, _ = examined(Patient(golden.settings, is_still=False), 60.0, **how)
    return findings.found


def state(golden, kind, name):
    return golden.shown(f"/v1/{kind}/{name}")["state"]


def play_for_people(golden):
    """Play the first legal action wherever somebody sits at a table that goes on."""
    for seat in [each for each in golden.tokens if "/seats/" in each]:
        game = seat.partition("/")[0]
        while state(golden, "games", game) == "running":
            view = golden.shown(f"/v1/games/{seat}?wait_for=decision", seat)
            if view["decision_id"] is not None:
                action = {"decision_id": view["decision_id"], "action": view["legal_actions"][0]}
                assert golden.ask(f"/v1/games/{seat}/actions", seat, **action).status_code in {200, 201, 409}


def check_played(golden, games):
    """Check that these games were played by their rules from where they stood, and by those who sat there."""
    then = {path.split("/")[3]: body for path, _, _, body in golden.then if path.endswith("/events")}
    for game_id in games:
        answer = golden.ask(f"/v1/games/{game_id}/record")
        shown = record.read(answer.data)
        record.verify(shown)
        assert shown.status == "finished"
        events = golden.shown(f"/v1/games/{game_id}/events")["items"]
        known = then[game_id].get("items", [])  # none, where the board was open
        assert events[: len(known)] == known
        assert len(known) < len(events) or len(known) == PAGE


def check_kept(golden, tournaments):
    """Check that what had ended is as it was, and that the store is ours now."""
    ended = {each["id"] for each in tournaments if each["state"] in ENDED}
    games = golden.then[0][3]["items"]
    ended |= {game["id"] for game in games if game["state"] in ENDED and game.get("readable", True)}
    kept = [answer for answer in golden.then if answer[0].split("/")[3:4] and answer[0].split("/")[3] in ended]
    assert len(kept) > 50
    assert without(golden.unlike(kept), CHANGED.get(golden.name, {})) == []
    assert golden.redis.get(keys.FORM) == b"%d" % FORM
