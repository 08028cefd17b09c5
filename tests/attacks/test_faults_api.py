"""The API killed with SIGKILL at each step of a request: whoever asks again gets the answer he would have got."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest
import requests

from service.store import keys
from tests.faults.behind import Behind, script
from tests.faults.proxy import Proxy
from tests.faults.traps import DOWN, UP
from tests.integration.arena import wait_until

ORDER = {
    "ruleset": "seven_up",
    "seats": [{"kind": "human", "name": "ann"}, {"kind": "human", "name": "bea"}],
    "start": "auto",
}


class Front:
    """An API that can die, and somebody who asks it from behind a proxy."""

    def __init__(self, behind: Behind, proxy: Proxy) -> None:
        self.behind = behind
        self.proxy = proxy
        self.store = behind.arena.store
        self._pool = ThreadPoolExecutor(4)

    def start(self) -> None:
        self.behind.arena.start_api()
        self._point()

    def restart(self) -> None:
        self.behind.restart("api")
        self._point()

    def _point(self) -> None:
        parts = urlsplit(self.behind.arena.api.address)
        self.proxy.upstream = (parts.hostname, parts.port)

    def ask(self, method, path, json=None, **headers):
        return requests.request(
            method, self.proxy.http_url(path), json=json, headers={"Connection": "close"} | headers, timeout=20
        )

    def asking(self, *args, **headers):
        """Ask in a thread of its own."""
        return self._pool.submit(self.ask, *args, **headers)

    def dies(self, trap, *args, **headers):
        """Ask, and have the API die once the trap has caught what follows; nobody gets an answer."""
        asked = self.asking(*args, **headers)
        trap.wait()
        self.restart()
        trap.cut()
        with pytest.raises(requests.ConnectionError):
            asked.result(timeout=20)

    def games(self):
        return [game["id"] for game in self.ask("GET", "/v1/games").json()["items"]]

    def seat(self, game):
        """Give the path and token of a seat that owes a decision, and the decision."""
        for number, seat in enumerate(game["seats"]):
            path, token = f"/v1/games/{game['id']}/seats/{number}", {"Authorization": f"Bearer {seat['token']}"}
            view = self.ask("GET", path, **token).json()
            if view["decision_id"] is not None:
                action = {"decision_id": view["decision_id"], "action": view["legal_actions"][0]}
                return f"{path}/actions", token, action
        raise AssertionError(f"nobody owes a decision in {game}")


@pytest.fixture(scope="module")
def front(tmp_path_factory):
    folder = tmp_path_factory.mktemp("front") / "arena"
    with Behind(folder) as behind, Proxy(("127.0.0.1", 1)) as proxy:
        made = Front(behind, proxy)
        made.start()
        yield made


def long(*cases):
    return [pytest.param(*case, marks=pytest.mark.attack) for case in cases]


# --- an action --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "way", "status"),
    [
        ("after the commit", None, 200),
        *long(("before the commit", UP, 201), ("before the answer", DOWN, 200)),
    ],
)
def test_action_asked_for_again_is_taken_once(front, step, way, status):
    game = front.ask("POST", "/v1/games", ORDER).json()
    path, token, action = front.seat(game)
    trap = {
        "before the commit": lambda: front.behind.to_store.catch(UP, script("commit")),
        "after the commit": lambda: front.behind.to_store.catch_reply(script("commit")),
        "before the answer": lambda: front.proxy.catch_reply(action["decision_id"].encode()),
    }[step]()
    front.dies(trap, "POST", path, action, **token)
    length = front.store.games.length(game["id"])
    assert length == (0 if way == UP else 1)
    again = front.ask("POST", path, action, **token)
    assert again.status_code == status, again.text
    assert front.store.games.length(game["id"]) == 1
    third = front.ask("POST", path, action, **token)
    assert (third.status_code, third.json()) == (200, again.json())
    other = front.ask("POST", path, action | {"action": "beg" if action["action"] != "beg" else "stand"}, **token)
    assert other.status_code == 409


# --- a creation -------------------------------------------------------------------------------------------------------


@pytest.mark.attack
@pytest.mark.parametrize("step", ["before it is kept", "after it is kept", "before the answer"])
def test_creation_asked_for_again_under_its_key_makes_one_game(front, step):
    before = front.games()
    headers = {"Idempotency-Key": f"a key for what dies {step}".replace(" ", "-")}
    trap = {
        "before it is kept": lambda: front.behind.to_store.catch(UP, script("create_game")),
        "after it is kept": lambda: front.behind.to_store.catch_reply(script("create_game")),
        "before the answer": lambda: front.proxy.catch_reply(headers["Idempotency-Key"].encode()),
    }[step]()
    front.dies(trap, "POST", "/v1/games", ORDER, **headers)
    if step != "before the answer":
        in_flight = front.ask("POST", "/v1/games", ORDER, **headers)
        assert (in_flight.status_code, in_flight.json()["code"]) == (409, "in_flight")
        let_half_a_minute_pass(front)
    again = front.ask("POST", "/v1/games", ORDER, **headers)
    assert again.status_code == 201, again.text
    assert front.ask("POST", "/v1/games", ORDER, **headers).json() == again.json()
    assert set(front.games()) - set(before) == {again.json()["id"]}
    assert len(front.games()) == len(before) + 1
    path, token, action = front.seat(again.json())
    assert front.ask("POST", path, action, **token).status_code == 201, "its tokens are good"


def let_half_a_minute_pass(front):
    """Let what is in flight count as dead, without waiting."""
    redis = front.store._redis
    for name in redis.scan_iter(f"{keys.idempotent('')}*"):
        if not redis.hexists(name, "answer"):
            assert 0 < redis.pttl(name) <= 30_000
            redis.pexpire(name, 1)
    wait_until(
        lambda: not [n for n in redis.scan_iter(f"{keys.idempotent('')}*") if not redis.hexists(n, "answer")], 5, ""
    )


# --- the network between ----------------------------------------------------------------------------------------------


def test_answer_cut_in_the_middle_is_asked_for_again(front):
    game = front.ask("POST", "/v1/games", ORDER).json()
    path, token, action = front.seat(game)
    front.proxy.set(DOWN, cut_after=5)
    with pytest.raises(requests.ConnectionError):
        front.ask("POST", path, action, **token)
    front.proxy.heal()
    assert front.ask("POST", path, action, **token).status_code == 200
    assert front.store.games.length(game["id"]) == 1


def test_request_cut_in_the_middle_does_nothing(front):
    game = front.ask("POST", "/v1/games", ORDER).json()
    path, token, action = front.seat(game)
    front.proxy.set(UP, cut_after=180)
    with pytest.raises(requests.ConnectionError):
        front.ask("POST", path, action, **token)
    front.proxy.heal()
    assert front.store.games.length(game["id"]) == 0
    assert front.ask("POST", path, action, **token).status_code == 201
