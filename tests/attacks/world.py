"""A small arena in use: accounts, bots, games and a tournament of two people, and everybody's tokens."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import msgspec

from service.store.entities import BotState
from tests.attacks.specified import Operation, smallest

ADMIN = "operator-token-of-thirty-two-characters"
GARBAGE = "slt_" + "x" * 43
BOT = {"name": "lowball", "url": "http://127.0.0.1:9000/", "rulesets": ["seven_up", "river"]}
GAME = {"ruleset": "seven_up", "seats": [{"kind": "human", "name": "p0"}, {"kind": "human", "name": "p1"}]}
TOURNAMENT = {"name": "friday", "ruleset": "seven_up"}
HOUSE = "house:random"


@dataclass(frozen=True)
class World:
    """`tokens` are of all who ask, `things` of `ann` by the names they have in paths, `bodies` by operation."""

    tokens: dict[str, str | None]
    things: dict[str, str]
    bodies: dict[str, Any]

    def body(self, operation: Operation) -> Any:
        """Give a body that the operation takes."""
        if operation.body is None:
            return None
        return self.bodies.get(operation.name, smallest(operation.body))

    def filled(self, operation: Operation) -> str:
        """Give the operation's path to the things of `ann`."""
        things = self.things | {"name": "river" if "ruleset" in operation.path or "leader" in operation.path else "x"}
        if operation.name == "joinSeat":
            things |= {"game_id": things["open_game_id"]}
        if operation.name == "setEntropy":
            things |= {"game_id": things["manual_game_id"]}
        return operation.filled(things)


class Builder:
    """Makes worlds at an app."""

    def __init__(self, app):
        self.client = app.test_client()
        self.store = app.extensions["slagveld"].store
        self._names = itertools.count()

    def ask(self, method, path, token=None, **kwargs):
        headers = {**({"Authorization": f"Bearer {token}"} if token else {}), **kwargs.pop("headers", {})}
        return self.client.open(path, method=method, headers=headers, **kwargs)

    def make(self, method, path, token, body=None):
        answer = self.ask(method, path, token, json=body)
        assert answer.status_code in {200, 201, 202}, (path, answer.text)
        return answer.get_json()

    def account(self, name):
        made = self.make("POST", "/v1/accounts", None, {"name": f"{name} {next(self._names)}"})
        return made["id"], made["token"]

    def active_bot(self, token, **changes):
        made = self.make("POST", "/v1/bots", token, BOT | changes)["id"]
        active = {"state": BotState.ACTIVE, "activated_at": 1, "version": "1"}
        self.store.bots.change(made, lambda bot: msgspec.structs.replace(bot, **active))
        return made

    def world(self) -> World:
        (_, ann), (_, bob) = self.account("ann"), self.account("bob")
        revoked = self.make("POST", "/v1/accounts/me/tokens", ann, {"name": "lost"})
        assert self.ask("DELETE", f"/v1/accounts/me/tokens/{revoked['id']}", ann).status_code == 204
        powerless = self.make("POST", "/v1/accounts/me/tokens", ann, {"name": "eyes", "scopes": []})
        bot, tournament = self.active_bot(ann), self.make("POST", "/v1/tournaments", ann, TOURNAMENT)["id"]
        self.make("PUT", f"/v1/tournaments/{tournament}/entries/{bot}", ann, {})
        check = self.make("POST", f"/v1/bots/{bot}/checks", ann)["id"]
        check_of = self.store.bots.change_check
        check_of(check, lambda each: msgspec.structs.replace(each, state="failed", ended_at=1))
        game, other = (self.make("POST", "/v1/games", who, GAME) for who in (ann, bob))
        opened = self.make("POST", "/v1/games", ann, GAME | {"seats": [{"kind": "open"}] * 2})
        manual = self.make("POST", "/v1/games", ann, GAME | {"start": "manual"})
        decision = self.ask("GET", f"/v1/games/{game['id']}/seats/0", game["seats"][0]["token"]).get_json()
        seat = 0 if decision["decision_id"] else 1
        mine = self.ask("GET", f"/v1/games/{game['id']}/seats/{seat}", game["seats"][seat]["token"]).get_json()
        tokens = {
            "none": None,
            "garbage": GARBAGE,
            "revoked": revoked["token"],
            "seat": game["seats"][seat]["token"],
            "other seat": game["seats"][1 - seat]["token"],
            "spectator": other["seats"][seat]["token"],
            "seat before the start": manual["seats"][seat]["token"],
            "owner": ann,
            "owner without scopes": powerless["token"],
            "other account": bob,
            "admin": ADMIN,
        }
        things = {
            "bot_id": bot,
            "check_id": check,
            "token_id": powerless["id"],
            "game_id": game["id"],
            "open_game_id": opened["id"],
            "manual_game_id": manual["id"],
            "number": str(seat),
            "tournament_id": tournament,
        }
        bodies = {
            "createBot": BOT,
            "changeBot": {"name": "highball"},
            "rotateSecret": {},
            "putCard": {"card": {"api": 1, "name": "lowball", "version": "1", "rulesets": ["river"]}},
            "postActions": {"answers": [{"id": "msg_1", "status": 200, "body": "{}"}]},
            "createGame": GAME,
            "setGameState": {"state": "cancelled"},
            "setTournamentState": {"state": "cancelled"},
            "takeAction": {"decision_id": mine["decision_id"], "action": mine["legal_actions"][0]},
        }
        return World(tokens, things, bodies)
