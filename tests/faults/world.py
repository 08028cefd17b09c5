"""An app on a store of its own with something in it of every kind, and a request for every operation that writes."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from dramatiq import Message
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from service.app import create_app
from service.config import Settings
from service.jobs import CHECK_BOT, CHECKS, open_broker
from service.services import Services, open_services
from service.store.entities import PULL, Bot, BotState
from tests.service.fakes import HeldQueue

ADMIN = "the operator's token, of 32 letters or more".replace(" ", "-")
PATIENT = "100000 per second"
_LETTERS = str.maketrans("01234567", "abcdefgh")
WRITING = {"POST", "PUT", "PATCH", "DELETE"}
CARD = {"api": 1, "name": "new", "version": "1", "rulesets": ["river"]}
NEW_BOT = {"name": "new", "url": "http://127.0.0.1:50009/", "rulesets": ["river"], "availability": "public"}
TOURNAMENT = {"name": "night", "ruleset": "river", "format": "round_robin", "options": {"start_cards": 3}}
RUN = {"state": "running"}
DISABLE = {"state": "disabled", "reason": "it cheats"}


@dataclass(frozen=True)
class Request:
    """A request that must succeed, once its store is well."""

    method: str
    path: str
    json: dict[str, Any] | None = None
    token: str | None = None
    headers: dict[str, str] = field(default_factory=dict)


class World:
    """The app over the store at `url`, of two people, some bots, games and a tournament. Close it."""

    def __init__(self, url: str, **environment: str) -> None:
        self.queue = HeldQueue()
        defaults = {
            "REDIS_URL": url,
            "SLAGVELD_ACCOUNTS": "open",
            "SLAGVELD_ADMIN_TOKEN": ADMIN,
            "SLAGVELD_BOT_NETWORKS": "127.0.0.0/8",
            "SLAGVELD_RATE_PER_ADDRESS": PATIENT,
            "SLAGVELD_RATE_PER_TOKEN": PATIENT,
            "SLAGVELD_RATE_NEW_ACCOUNTS": PATIENT,
            "SLAGVELD_MAX_BOTS": "1000",
            "SLAGVELD_MAX_OPEN_GAMES": "1000",
            "SLAGVELD_MAX_TOURNAMENTS": "1000",
        }
        self.services: Services = open_services(Settings.from_env(defaults | environment), self.queue)
        self.app = create_app(self.services)
        self.store = self.services.store
        self.client: FlaskClient = self.app.test_client()
        account = self.made(Request("POST", "/v1/accounts", {"name": "ann"}))
        self.account_id, self.token = account["id"], account["token"]
        self._count = itertools.count()

    def close(self) -> None:
        self.services.close()

    def bot(self, url: str = "http://127.0.0.1:50009/") -> str:
        """Keep an active bot; give its id."""
        letters = f"{next(self._count):o}".translate(_LETTERS).rjust(26, "a")
        bot = Bot(
            id="bot_" + letters,
            account_id=self.account_id,
            name=f"bot {letters}",
            url=url,
            rulesets=["seven_up", "river"],
            state=BotState.ACTIVE,
            version="1",
            created_at=1,
            activated_at=1,
        )
        assert self.store.bots.create(bot, secret="whsec_" + "A" * 32)
        return bot.id

    def ask(self, request: Request) -> TestResponse:
        """Send a request."""
        headers = request.headers | ({"Authorization": f"Bearer {request.token}"} if request.token else {})
        return self.client.open(request.path, method=request.method, json=request.json, headers=headers)

    def made(self, request: Request) -> Any:
        """Send one that must succeed; give what it answers."""
        answer = self.ask(request)
        assert answer.status_code in {200, 201, 202, 204}, answer.text
        return answer.get_json(silent=True)

    # --- a request for every operation --------------------------------------------------------------------------------

    def mine(self, method: str, path: str, json: dict[str, Any] | None = None, **headers: str) -> Request:
        return Request(method, path, json, self.token, headers)

    def game(self, *kinds: str, start: str = "auto") -> tuple[str, list[str]]:
        """Make a game of people and open seats; give its path and its tokens."""
        seats = [{"kind": kind} | ({"name": "ann"} if kind == "human" else {}) for kind in kinds]
        game = self.made(self.mine("POST", "/v1/games", {"ruleset": "seven_up", "seats": seats, "start": start}))
        return f"/v1/games/{game['id']}", [seat["token"] for seat in game["seats"] if "token" in seat]

    def tournament(self) -> str:
        """Make a tournament that two bots have entered; give its path."""
        order = {"name": "night", "ruleset": "seven_up", "format": "round_robin"}
        path = "/v1/tournaments/" + self.made(self.mine("POST", "/v1/tournaments", order))["id"]
        self.entered = [self.bot(), self.bot()]
        for bot_id in self.entered:
            self.made(self.mine("PUT", f"{path}/entries/{bot_id}", {}))
        return path

    def action(self) -> Request:
        """Make a game, and the request for its first action."""
        path, tokens = self.game("human", "human")
        for number, token in enumerate(tokens):
            view = self.made(Request("GET", f"{path}/seats/{number}", token=token))
            if view["decision_id"] is not None:
                action = {"decision_id": view["decision_id"], "action": view["legal_actions"][0]}
                return Request("POST", f"{path}/seats/{number}/actions", action, token)
        raise AssertionError("nobody owes a decision")

    def requests(self) -> dict[str, Callable[[], Request]]:
        """Give by operation how to make a request for it that will succeed, on things of its own."""
        return {
            "create_account": lambda: Request("POST", "/v1/accounts", {"name": "bob"}),
            "create_token": lambda: self.mine("POST", "/v1/accounts/me/tokens", {"name": "second"}),
            "revoke_token": self._revocation,
            "create_bot": lambda: self.mine("POST", "/v1/bots", NEW_BOT),
            "change_bot": lambda: self.mine("PATCH", f"/v1/bots/{self.bot()}", {"name": "other"}),
            "delete_bot": lambda: self.mine("DELETE", f"/v1/bots/{self.bot()}"),
            "create_check": lambda: self.mine("POST", f"/v1/bots/{self.bot()}/checks"),
            "rotate_secret": lambda: self.mine("POST", f"/v1/bots/{self.bot()}/secret", {}),
            "put_card": lambda: self.mine("PUT", f"/v1/bots/{self.bot(PULL)}/card", {"card": CARD}),
            "post_actions": lambda: self.mine("POST", f"/v1/bots/{self.bot(PULL)}/actions", {"answers": []}),
            "create_game": self._creation,
            "set_game_state": lambda: self.mine("PUT", f"{self.game('human', 'human', start='manual')[0]}/state", RUN),
            "join_seat": lambda: Request("PUT", f"{self.game('human', 'open')[0]}/seats/1", {"name": "bob"}),
            "leave_seat": lambda: self._seated("DELETE", ""),
            "set_entropy": lambda: self._seated("PUT", "/entropy", {"entropy": "mine"}),
            "take_action": self.action,
            "create_tournament": lambda: self.mine("POST", "/v1/tournaments", TOURNAMENT),
            "change_tournament": lambda: self.mine("PATCH", self.tournament(), {"name": "day"}),
            "set_tournament_state": lambda: self.mine("PUT", f"{self.tournament()}/state", RUN),
            "enter_bot": lambda: self.mine("PUT", f"{self.tournament()}/entries/{self.bot()}", {}),
            "withdraw_bot": lambda: self.mine("DELETE", f"{self.tournament()}/entries/{self.entered[1]}"),
            "set_bot_state": lambda: Request("PUT", f"/v1/admin/bots/{self.bot()}/state", DISABLE, ADMIN),
            "set_account_state": lambda: Request(
                "PUT", f"/v1/admin/accounts/{self.account()['id']}/state", DISABLE, ADMIN
            ),
            "erase_me": lambda: Request("DELETE", "/v1/accounts/me", token=self.account()["token"]),
            "erase_account": lambda: Request("DELETE", f"/v1/admin/accounts/{self.account()['id']}", token=ADMIN),
            "set_maintenance": lambda: Request("PUT", "/v1/admin/maintenance", {"on": False}, ADMIN),
            "replay_dead_letter": lambda: self._to_letter("POST", "/replay"),
            "delete_dead_letter": lambda: self._to_letter("DELETE", ""),
        }

    def account(self) -> dict[str, Any]:
        """Make another account."""
        return self.made(Request("POST", "/v1/accounts", {"name": "eve"}))

    def _to_letter(self, method: str, what: str) -> Request:
        """Leave a job that was given up, as the broker does."""
        name, queue = str(uuid4()), f"dramatiq:{CHECKS}.XQ"
        message = Message(CHECKS, CHECK_BOT, ("chk_none",), {}, options={"redis_message_id": name})
        redis = open_broker(self.services.settings).client
        redis.zadd(queue, {name: time.time_ns() // 1_000_000})
        redis.hset(f"{queue}.msgs", name, message.encode())
        return Request(method, f"/v1/admin/dead-letters/{name}{what}", token=ADMIN)

    def _creation(self) -> Request:
        seats = [{"kind": "human", "name": "ann"}, {"kind": "bot", "bot_id": self.bot()}]
        return self.mine("POST", "/v1/games", {"ruleset": "seven_up", "seats": seats})

    def _revocation(self) -> Request:
        token = self.made(self.mine("POST", "/v1/accounts/me/tokens", {"name": "third"}))
        return self.mine("DELETE", f"/v1/accounts/me/tokens/{token['id']}")

    def _seated(self, method: str, what: str, json: dict[str, Any] | None = None) -> Request:
        path, tokens = self.game("human", "open", start="manual")
        return Request(method, f"{path}/seats/0{what}", json, tokens[0])

    def operations(self) -> set[str]:
        """Name every operation of the app that writes."""
        rules = self.app.url_map.iter_rules()
        return {rule.endpoint.partition(".")[2] for rule in rules if WRITING & (rule.methods or set())}
