"""The logs of API and worker, as their processes write them, hold no card, no secret, no token, and only lines of ours.

All of it is said at the level `debug`, libraries included, and nothing of it may have been in need of being covered.
"""

from __future__ import annotations

import contextlib
import json
import re
import socket

import requests

from bot_sdk.client import Arena as Client
from bot_sdk.client import ArenaError
from bot_sdk.games import record
from service.api.wire import REQUEST_ID
from service.logs import lines
from service.store import due, keys
from tests.attacks.knowledge import CARD, secrets_of
from tests.attacks.wire import told
from tests.integration.arena import PATIENT_LIMITS, SECRET, Arena, wait_until
from tests.integration.conftest import finish
from tests.integration.hostile_bots import answer
from tests.service.outbound.hostile import HostileServer, reply

LOGS = {"SLAGVELD_LOGS": "json", "SLAGVELD_LOG_LEVEL": "debug", "SLAGVELD_ADMIN_TOKEN": "operator-" * 5}
FORGED = '\r\n{"time":"now","level":"error","message":"forged"}\x1b[2K\u2028\u202eforged'
"""What would be a line of its own, and more, if it were written as it is."""
TOKEN = "sst_forged-but-it-could-be-one"
ALWAYS = {"time": str, "level": str, "logger": str, "process": str, "pid": int, "message": str}
OTHER = dict.fromkeys(lines.FIELDS, str) | {"status": int, "ms": float, "bytes": int, "error": str}
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def test_no_log_of_a_process_names_a_card_a_secret_or_a_token_and_each_line_is_ours(tmp_path):
    with Arena(tmp_path / "arena", bots=["house:random", "house:greedy"], **LOGS) as arena, chatterbox() as server:
        arena.start_api()
        arena.start_worker()
        arena.register("bot_gone", "gone", "http://127.0.0.1:9/secret-of-its-owner")
        arena.register("bot_chat", "chat", server.url)
        pairs = [("bot_0", "bot_1"), ("bot_gone", "bot_0"), ("bot_chat", "bot_1")]
        bots = [arena.start_game("seven_up", [*pair], PATIENT_LIMITS) for pair in pairs]
        with Client(arena.api.address) as client:
            made = [people_game(client, ruleset, seats) for ruleset, seats in (("seven_up", 2), ("river", 4))]
            ids = [*bots, *(game["id"] for game in made)]
            wait_until(lambda: all(arena.store.games.get(name).state.is_end for name in ids), 60, "games that end")
            records = [record.read(client.record(name)) for name in ids]
            damaged = damaged_game(arena, client)
        asked = ask_badly(arena.api.address, damaged)
        wait_until(lambda: b"can't be replayed" in arena.workers[0].log.read_bytes(), 30, "a worker that says so")
        arena.workers[0].terminate()
        logs = {log.name: log.read_bytes() for log in (tmp_path / "arena").glob("*.log") if log.name != "bots.log"}
        logs.pop("valkey.log", None)  # the store's own, on a disk of its own
        assert len(logs) == 2
        tokens = [seat["token"].encode() for game in made for seat in game["seats"] if seat["token"]]
        secret = [each.encode() for each in (TOKEN, SECRET, "secret-of-its-owner", LOGS["SLAGVELD_ADMIN_TOKEN"])]
        secret += [*tokens, *(form for each in records for form in secrets_in(each))]
        for name, said in logs.items():
            assert CARD.findall(said) == [], name
            assert [each for each in secret if each in said] == [], name
        everything = [line for said in logs.values() for line in read(said)]
    asked_of(everything, asked)
    assert {line.get("game_id") for line in everything if "can't be replayed" in line["message"]} == {damaged}
    assert [line for line in everything if "UserWarning" in line["message"]] == []


def read(said):
    """Give the lines of a log, each of which is a whole one of ours."""
    found = []
    for raw in said.decode().removesuffix("\n").split("\n"):
        assert raw.isascii(), raw
        assert raw.isprintable(), raw
        assert len(raw) <= lines.LONGEST
        line = json.loads(raw)
        assert {name: type(line[name]) for name in ALWAYS} == ALWAYS
        assert {name: type(value) for name, value in line.items() if name not in ALWAYS}.items() <= OTHER.items(), line
        assert TIME.fullmatch(line["time"])
        assert line["level"] in {"debug", "info", "warning", "error", "critical"}
        assert lines.COVERED not in raw, "what had to be covered should not have been said"
        found.append(line)
    return found


def asked_of(everything, asked):
    """Assert that each request has its line, by the name that its answer bore."""
    accesses = {line["request_id"]: line for line in everything if "status" in line}
    for name, (status, route) in asked.items():
        assert (accesses[name]["status"], accesses[name].get("route")) == (status, route)
    refused = [line for line in everything if line["message"].startswith("refused a request")]
    assert refused
    assert all(line["request_id"] not in accesses for line in refused)


def ask_badly(address, damaged):
    """Ask for what can't be had, with all that could do harm in a line; give what came of it by the answers' names."""
    game = "/v1/games/{game_id}"
    requested = [
        requests.get(f"{address}/v1/{TOKEN}", headers={"User-Agent": TOKEN, "Referer": TOKEN}, timeout=20),
        requests.get(f"{address}/v1/games?token={TOKEN}", timeout=20),
        requests.get(f"{address}/v1/rulesets", headers={"Authorization": f"Bearer {TOKEN}"}, timeout=20),
        requests.get(f"{address}/v1/rulesets", headers={REQUEST_ID: TOKEN}, timeout=20),
        requests.get(f"{address}/v1/%0a{{%22level%22:%22error%22}}%1b[2K", timeout=20),
        requests.post(f"{address}/v1/accounts", json={"name": FORGED, "invite_code": TOKEN}, timeout=20),
        requests.post(f"{address}/v1/games", data=b"\xff\n" + FORGED.encode(), timeout=20),
        requests.get(f"{address}/v1/games/{damaged}", timeout=20),
    ]
    routes = [None, "/v1/games", "/v1/rulesets", "/v1/rulesets", None, "/v1/accounts", "/v1/games", game]
    assert told(address, f"GET /{TOKEN} HTTP/1.1\r\nX: {TOKEN}\rQH\r\nHost\r\n\r\n".encode()).startswith(
        b"HTTP/1.1 400 "
    )
    return {each.headers[REQUEST_ID]: (each.status_code, route) for each, route in zip(requested, routes, strict=True)}


def damaged_game(arena, client):
    """Make a game whose log says what can't be, which its worker finds."""
    seats = [{"kind": "human", "name": "ann"}, {"kind": "house", "name": "random"}]
    made = client.create_game("seven_up", seats)
    arena.store.games._redis.rpush(keys.game_log(made["id"]), b'12 ["d", 0, "play:QH", "ok", 1.0]')
    arena.store.due.move({due.game(made["id"]): 0})
    return made["id"]


@contextlib.contextmanager
def chatterbox():
    """Serve a bot that plays well, and says all that could harm a log while it does; its news it answers badly."""

    def behave(connection: socket.socket, request) -> bool | None:
        message = json.loads(request.body)
        if message["type"] == "decision":
            chosen = json.loads(answer(message)) | {"note": f"QH {FORGED}"}
            connection.sendall(reply(json.dumps(chosen).encode()))
            return True
        connection.sendall(reply(FORGED.encode(), "X-Said: \x1b[2K QH", status=f"500 \x1b[2K QH {TOKEN}"))
        return True

    server = HostileServer(behave)
    try:
        yield server
    finally:
        server.close()


def people_game(client, ruleset, seats):
    """Play a game as a person against house bots, and try what isn't allowed."""
    house = [{"kind": "house", "name": "random"}] * (seats - 1)
    options = {"target": 2} if ruleset == "seven_up" else {"start_cards": 2, "bidding": "simultaneous"}
    made = client.create_game(ruleset, [{"kind": "human", "name": "ann"}, *house], options=options)
    token = made["seats"][0]["token"]
    for action in ("play:QH", "discard:2C", "play:??", FORGED):
        with contextlib.suppress(ArenaError):  # a refusal is what may be logged
            client.act(made["id"], 0, f"{made['id']}.0.0", action, token)
    finish(client, made)
    return made


def secrets_in(made):
    fairness = made.fairness
    return secrets_of(bytes.fromhex(fairness.secret), fairness.label, fairness.entropy, len(made.deals) + 1)
