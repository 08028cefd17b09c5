"""What a bot's server sends, good or bad, is shown to its owner, and to nobody else by anything."""

from __future__ import annotations

import json
import socket
from dataclasses import dataclass

import pytest
from msgspec.structs import replace

from bot_sdk.events import Outcome
from service.store.entities import Bot, BotState
from tests.attacks.at_once import call
from tests.integration.arena import SECRET, Arena, wait_until
from tests.integration.hostile_bots import answer
from tests.service.outbound.hostile import HostileServer, Request, reply

OPERATOR = "operator-" * 5
SETTINGS = {
    "SLAGVELD_ACCOUNTS": "open",
    "SLAGVELD_RATE_NEW_ACCOUNTS": "1000 per hour",
    "SLAGVELD_ADMIN_TOKEN": OPERATOR,
    "SLAGVELD_LEASE_MS": "15000",
    "SLAGVELD_RENEW_MS": "5000",
}
FOREIGN = "f0reign"
"""Stands in everything that the hostile bot sends."""


def says(text: str) -> bytes:
    return f"{FOREIGN} {text}".encode()


def _other_id(message):
    return reply(answer(message | {"decision_id": f"{FOREIGN}.0.0"}))


BAD = {
    "error": (lambda _: reply(says("error"), status=f"500 {FOREIGN}"), Outcome.BAD_STATUS),
    "type": (lambda _: reply(says("html"), kind=f"text/{FOREIGN}"), Outcome.BAD_REPLY),
    "coding": (lambda _: reply(says("coding"), f"content-encoding: {FOREIGN}"), Outcome.BAD_REPLY),
    "action": (lambda message: reply(answer(message, f"play:{FOREIGN}")), Outcome.ILLEGAL),
    "json": (lambda _: reply(b'{"action": ' + says("json") + b"}"), Outcome.BAD_REPLY),
    "id": (_other_id, Outcome.BAD_REPLY),
    "garbage": (lambda _: says("garbage") + b"\r\n\r\n", Outcome.BAD_REPLY),
}
LIMITS = {"max_faults": len(BAD) + 9}


class Chatterbox:
    """A bot that answers each decision of a game badly in the next way, and everything else with rubbish."""

    def __init__(self):
        self.server = HostileServer(self._behave)
        self.told = 0

    def _behave(self, connection: socket.socket, request: Request) -> bool | None:
        message = json.loads(request.body or b"{}")
        if message.get("type") == "decision":
            number = int(message["decision_id"].rpartition(".")[2])
            bad = list(BAD.values())[number][0] if number < len(BAD) else lambda each: reply(answer(each))
            connection.sendall(bad(message))
        elif message.get("type") == "game_started":
            connection.sendall(says("no http") + b"\r\n\r\n")
        elif message.get("type") == "game_ended":
            self.told += 1
            connection.sendall(reply(says("ended"), status=f"500 {FOREIGN}"))
        else:  # a check asks for the card
            connection.sendall(reply(json.dumps({"api": 1, "name": "x", "version": FOREIGN * 30}).encode()))
        return None


@dataclass(frozen=True)
class Told:
    """An arena in which the bot has told all it can, and who reads there."""

    arena: Arena
    tokens: dict[str, str | None]
    bot_id: str
    game: str
    tournament: str
    check: str

    def read(self, who, path):
        return call("GET", f"{self.arena.api.address}{path}", token=self.tokens[who])

    @property
    def paths(self):
        """Give all there is to read about the bot and its games."""
        bot, game, night = f"/v1/bots/{self.bot_id}", f"/v1/games/{self.game}", f"/v1/tournaments/{self.tournament}"
        return [
            *(bot + part for part in ("", "/decisions", "/checks", f"/checks/{self.check}", "/ratings", "/opponents")),
            *(bot + part for part in ("/statistics", "/games")),
            *(game + part for part in ("", "/events", "/record", "/seats/0", "/seats/1")),
            *(night + part for part in ("", "/entries", "/standings", "/crosstable", "/rounds", "/boards", "/games")),
            *("/v1/bots", "/v1/games", "/v1/tournaments", "/v1/leaderboards/seven_up"),
        ]


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    bot = Chatterbox()
    try:
        with Arena(tmp_path_factory.mktemp("foreign") / "arena", bots=["house:greedy"], **SETTINGS) as arena:
            arena.start_api()
            arena.start_worker()
            url = arena.api.address
            accounts = {name: call("POST", f"{url}/v1/accounts", {"name": name}).body for name in ("owner", "other")}
            tokens = {name: account["token"] for name, account in accounts.items()}
            bot_id = "bot_" + "a" * 26
            arena.store.bots.create(_registered(bot_id, accounts["owner"]["id"], bot.server.url), secret=SECRET)
            game = _played(url, tokens["owner"], bot_id)
            wait_until(lambda: bot.told == 1, 20, "news of the end")
            night = _tournament(url, tokens["owner"], bot_id)
            wait_until(lambda: bot.told == 2, 20, "news of another end")
            check = call("POST", f"{url}/v1/bots/{bot_id}/checks", token=tokens["owner"]).body["id"]
            wait_until(lambda: arena.store.bots.get_check(check).ended_at is not None, 20, "the end of a check")
            yield Told(arena, {**tokens, "operator": OPERATOR, "nobody": None}, bot_id, game, night, check)
    finally:
        bot.server.close()


def _registered(bot_id, account_id, url):
    return Bot(
        id=bot_id,
        account_id=account_id,
        name="chatterbox",
        url=url,
        rulesets=["seven_up"],
        state=BotState.ACTIVE,
        version="1",
        created_at=1,
        activated_at=1,
    )


def _played(url, token, bot_id):
    seats = [{"kind": "house", "name": "greedy"}, {"kind": "bot", "bot_id": bot_id}]
    made = call("POST", f"{url}/v1/games", {"ruleset": "seven_up", "seats": seats, **LIMITS}, token)
    assert made.status == 201, made
    path = f"{url}/v1/games/{made.body['id']}"
    wait_until(lambda: call("GET", path).body["state"] == "finished", 30, "the end of a game")
    return made.body["id"]


def _tournament(url, token, bot_id):
    order = {"name": "night", "ruleset": "seven_up", "format": "match", "rounds": 1, **LIMITS}
    made = call("POST", f"{url}/v1/tournaments", order, token)
    assert made.status == 201, made
    path = f"{url}/v1/tournaments/{made.body['id']}"
    for entry in (bot_id, "house:random"):
        assert call("PUT", f"{path}/entries/{entry}", {}, token).status in {200, 201}
    assert call("PUT", f"{path}/state", {"state": "running"}, token).status == 200
    wait_until(lambda: call("GET", path).body["state"] == "finished", 30, "the end of a tournament")
    return made.body["id"]


def test_the_owner_sees_all_of_it(told):
    lines = told.read("owner", f"/v1/bots/{told.bot_id}/decisions?limit=100").body["items"]
    first = {line["decision_id"]: line for line in lines if line["game_id"] == told.game}
    for number, (name, (_, outcome)) in enumerate(BAD.items()):
        line = first[f"{told.game}.1.{number}"]
        assert line["outcome"] == outcome, name
        assert FOREIGN in line["head"], name
    steps = told.read("owner", f"/v1/bots/{told.bot_id}/checks/{told.check}").body["steps"]
    assert [step["ok"] for step in steps] == [False]


@pytest.mark.parametrize("who", ["other", "operator", "nobody"])
def test_nobody_else_sees_any_of_it(told, who):
    shown = {path: told.read(who, path) for path in told.paths}
    assert [path for path, each in shown.items() if FOREIGN in json.dumps([each.body, dict(each.headers)])] == []
    private = [path for path in told.paths if "/decisions" in path or "/checks" in path]
    assert {shown[path].status for path in private} <= {401, 403}
    readable = [path for path, each in shown.items() if each.status == 200]
    assert len(readable) > len(told.paths) // 2, {path: each.status for path, each in shown.items()}


def test_owner_and_operator_see_it_in_nothing_that_others_may_read_too(told):
    """What is public says the same to everybody: an outcome by its name, and the fallback that was played."""
    for path in told.paths:
        if told.read("nobody", path).status == 200:
            assert FOREIGN not in json.dumps(told.read("owner", path).body), path


PUBLIC = ("games/{0}/stream", "games/{0}/record", "games/{0}/events?limit=100")
EXPORTS = tuple(f"tournaments/{{1}}/export?format={form}" for form in ("csv", "jsonl", "records"))


@pytest.mark.parametrize("path", [*PUBLIC, *EXPORTS])
def test_what_is_told_of_its_games_holds_none_of_it(told, path):
    with socket.create_connection(told.arena.api.address.removeprefix("http://").split(":"), timeout=20) as line:
        line.sendall(f"GET /v1/{path.format(told.game, told.tournament)} HTTP/1.0\r\nHost: x\r\n\r\n".encode())
        raw = b""
        while b'"event":"ended"' not in raw and (data := line.recv(65_536)):
            raw += data
    assert b"bad_reply" in raw
    assert FOREIGN.encode() not in raw


def test_refusals_hold_none_of_it(told):
    """Neither for who wants to seat it, nor for who changes it into what can't be."""
    url, bot = told.arena.api.address, told.bot_id
    told.arena.store.bots.change(bot, lambda old: replace(old, state=BotState.PAUSED))
    seats = [{"kind": "bot", "bot_id": bot}, {"kind": "house", "name": "random"}]
    refused = [
        call("POST", f"{url}/v1/games", {"ruleset": "seven_up", "seats": seats}, told.tokens["other"]),
        call("PATCH", f"{url}/v1/bots/{bot}", {"state": "active"}, told.tokens["other"]),
        call("POST", f"{url}/v1/bots/{bot}/checks", None, told.tokens["other"]),
        call("PUT", f"{url}/v1/admin/bots/{bot}/state", {"state": "pending"}, OPERATOR),
    ]
    assert {each.status for each in refused} <= {403, 409, 422}
    assert all(FOREIGN not in json.dumps(each.body) for each in refused)


def test_logs_hold_none_of_it_but_tell_that_news_failed(told):
    logs = {path.name: path.read_text(errors="replace") for path in told.arena._folder.glob("*.log")}
    said = "".join(text for name, text in logs.items() if name.startswith("worker"))
    assert f"news to {told.bot_id}: bad_status" in said
    assert f"news to {told.bot_id}: bad_reply" in said
    assert [name for name, text in logs.items() if FOREIGN in text] == []
