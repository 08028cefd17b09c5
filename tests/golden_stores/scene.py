"""Has everything happen in an arena that it keeps something of, by its HTTP API alone, and reads all that it shows.

So it drives the arena of any release. What one doesn't offer yet is left out, and noted.
"""

from __future__ import annotations

import functools
import itertools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Self

import requests

from bot_sdk import messages
from bot_sdk.bot import Bot
from bot_sdk.bots import HOUSE
from bot_sdk.hosting import Server
from bot_sdk.signing import make_secret

SECRET = make_secret(bytes(range(32)))
ADMIN = "operator-token-of-the-golden-stores-0123456789"
SETTLE_S = 60.0
HELD_AT = 2
"""Which of its own decisions in a game the bot that holds doesn't answer."""
WEEK_MS = 7 * 86_400_000
LONG = {"budget_ms": 30_000, "first_budget_ms": 30_000, "human_budget_ms": WEEK_MS}
ENDED = ("finished", "void", "aborted", "cancelled")
VOLATILE = frozenset({"seconds_left", "last_used_at"})
"""What may differ between two looks at one store."""


class Telling:
    """A house bot with something to say of each decision; with `hold` it falls silent in the middle of each game."""

    def __init__(self, bot: Bot, *, hold: bool) -> None:
        self._bot = bot
        self._hold = hold
        self._over = threading.Event()
        self.held = 0
        bot.secret, bot.max_batch = SECRET, 1
        self.secret, self.card = bot.secret, bot.card
        self.game_started, self.game_ended = bot.game_started, bot.game_ended

    def answer(self, message: messages.Decision) -> messages.ActionReply:
        if self._hold and message.decision_id.startswith("gam_") and int(message.decision_id.split(".")[2]) >= HELD_AT:
            self.held += 1
            self._over.wait()
        reply = self._bot.answer(message)
        return messages.ActionReply(decision_id=reply.decision_id, action=reply.action, note=f"{message.phase} ♠")

    def close(self) -> None:
        self._over.set()


class RefusedError(Exception):
    """The arena doesn't do that."""


class Scene:
    """An arena at `url`; `bots` are where its bots listen, by name. `lacks` lists what it was asked in vain."""

    def __init__(self, url: str, bots: dict[str, str]) -> None:
        self._url = url
        self._bots = bots
        self._session = requests.Session()
        self._keys = map("a-golden-store-{}".format, itertools.count())
        self.tokens = {"operator": ADMIN}
        self.ids: dict[str, str] = {}
        self.lacks: list[str] = []

    # --- asking -------------------------------------------------------------------------------------------------------

    def ask(self, method: str, path: str, body: Any = None, who: str = "alice") -> Any:
        """Send a request and give the JSON of the answer."""
        headers = {"Authorization": f"Bearer {self.tokens[who]}"} if who in self.tokens else {}
        if method == "POST":
            headers["Idempotency-Key"] = next(self._keys)
        answer = self._session.request(method, self._url + path, json=body, headers=headers, timeout=30)
        if not answer.ok:
            raise RefusedError(f"{method} {path} {answer.status_code}: {answer.text:.300}")
        return answer.json() if answer.content else None

    def tried(self, what: str, *asked: Any, **more: Any) -> Any:
        """Ask for what an earlier release may not have."""
        try:
            return self.ask(*asked, **more)
        except RefusedError as refused:
            self.lacks.append(f"{what}: {refused}")
            return None

    def wait(self, is_so: Callable[[], Any], what: str) -> None:
        ends = time.monotonic() + SETTLE_S
        while not is_so():
            assert time.monotonic() < ends, f"expected {what}"
            time.sleep(0.05)

    # --- what happens -------------------------------------------------------------------------------------------------

    def play(self) -> None:
        """Let all of it happen; what is to be found in the middle comes last, since it doesn't stay so for long."""
        self._accounts()
        self._bot("steady", "alice")
        self._bot("holding", "bob")
        self._bot("greedy_two", "bob")
        self._ended_games()
        self._ended_tournaments()
        self._oversight()
        self._people()
        self._standing()

    def _accounts(self) -> None:
        for name in ("alice", "bob", "mallory", "leaver"):
            made = self.ask("POST", "/v1/accounts", {"name": name}, who="")
            self.tokens[name], self.ids[name] = made["token"], made["id"]
        self.ask("POST", "/v1/accounts/me/tokens", {"name": "reads", "scopes": ["bots"]})
        gone = self.ask("POST", "/v1/accounts/me/tokens", {"name": "gone", "scopes": ["games"]})
        self.ask("DELETE", f"/v1/accounts/me/tokens/{gone['id']}")

    def _bot(self, name: str, owner: str) -> None:
        order = {"name": name, "url": self._bots[name], "rulesets": ["seven_up", "river"], "secret": SECRET}
        bot = self.ids[name] = self.ask("POST", "/v1/bots", order, who=owner)["id"]
        self.ask("POST", f"/v1/bots/{bot}/checks", who=owner)
        self.wait(lambda: self.ask("GET", f"/v1/bots/{bot}", who=owner)["state"] == "active", f"{name} to be active")

    def _game(self, ruleset: str, *seats: str, who: str = "alice", **more: Any) -> dict[str, Any]:
        options = {"target": 3} if ruleset == "seven_up" else {"start_cards": 3}
        shown = [self._seat(each) for each in seats]
        order = {"ruleset": ruleset, "seats": shown, "options": options} | LONG | more
        made = self.ask("POST", "/v1/games", order, who=who)
        for number, seat in enumerate(made["seats"]):
            if seat.get("token"):
                self.tokens[f"{made['id']}/seats/{number}"] = seat["token"]
        return made

    def _seat(self, name: str) -> dict[str, str]:
        kind, _, rest = name.partition(":")
        if kind == "house":
            return {"kind": "house", "name": rest}
        seats = {"human": {"kind": "human", "name": "Ada"}, "open": {"kind": "open"}}
        return seats.get(name) or {"kind": "bot", "bot_id": self.ids[name]}

    def _await_end(self, game_id: str) -> None:
        self.wait(lambda: self.ask("GET", f"/v1/games/{game_id}")["state"] in ENDED, f"game {game_id} to end")

    def _ended_games(self) -> None:
        games = [
            self._game("seven_up", "house:greedy", "house:random"),
            self._game("river", *["house:greedy", "house:random"] * 2),
            self._game("seven_up", "steady", "house:greedy"),
            self._game("river", "steady", *["house:random"] * 4),
        ]
        left = self._game("seven_up", "human", "house:greedy")
        self.ask("DELETE", f"/v1/games/{left['id']}/seats/0", who=f"{left['id']}/seats/0")
        stopped = self._game("river", "human", *["house:greedy"] * 3)
        self.ask("PUT", f"/v1/games/{stopped['id']}/state", {"state": "cancelled"})
        for game in (*games, left, stopped):
            self._await_end(game["id"])

    def _tournament(
        self, name: str, ruleset: str, entries: list[str], who: str = "alice", state: str = "running", **more: Any
    ) -> str | None:
        options = {"target": 2} if ruleset == "seven_up" else {"start_cards": 2}
        options = more.pop("options", options)
        order = {"name": name, "ruleset": ruleset, "options": options, "seed": 7} | LONG | more
        try:
            made = self.ask("POST", "/v1/tournaments", order, who=who)["id"]
        except RefusedError as refused:
            self.lacks.append(f"tournament {name}: {refused}")
            return None
        for entry in entries:
            is_house = entry.startswith("house:")
            asks = "alice" if is_house or entry == "steady" else "bob"
            body = {} if is_house else {"entropy": f"entropy of {entry}"}
            self.ask("PUT", f"/v1/tournaments/{made}/entries/{self.ids.get(entry, entry)}", body, who=asks)
        if state != "open":
            self.ask("PUT", f"/v1/tournaments/{made}/state", {"state": "running"}, who=who)
        self.ids[name] = made
        return made

    def _ended_tournaments(self) -> None:
        two = ["steady", "greedy_two", "house:greedy", "house:random"]
        five = [*two, "house:counter"] if self._knows("house:counter") else two
        challenger = self.ids["steady"]
        sprt = {"elo0": 0, "elo1": 400}
        made = [
            self._tournament("robin fresh", "seven_up", two, deals="fresh", options={}),
            self._tournament("robin field", "seven_up", two, deals="field"),
            self._tournament("robin rotate", "river", two, deals="rotate", table_size=4, rounds=1),
            self._tournament("robin river", "river", five, deals="field", table_size=4, rounds=2, options={}),
            self._tournament("gauntlet", "seven_up", two, format="gauntlet", challenger=challenger),
            self._tournament("swiss", "seven_up", five, format="swiss", rounds=3),
            self._tournament("knockout", "seven_up", two, format="knockout"),
            self._tournament("ladder", "seven_up", two, format="ladder", max_games=4),
            self._tournament("match", "seven_up", two[:2], format="match", rounds=4),
            self._tournament(
                "test", "seven_up", ["steady", "house:random"],
                format="match", deals="rotate", rounds=6, challenger=challenger, sprt=sprt,
            ),
        ]  # fmt: skip
        for each in filter(None, made):
            self.wait(
                lambda it=each: self.ask("GET", f"/v1/tournaments/{it}")["state"] == "finished", f"{each} finished"
            )

    def _knows(self, house: str) -> bool:
        return any(bot["id"] == house for bot in self.ask("GET", "/v1/bots?limit=100")["items"])

    def _oversight(self) -> None:
        ask = functools.partial(self.tried, who="operator")
        self.ask("POST", f"/v1/bots/{self.ids['greedy_two']}/secret", {}, who="bob")
        ask("maintenance", "PUT", "/v1/admin/maintenance", {"on": True, "reason": "a new disk"})
        ask("maintenance", "PUT", "/v1/admin/maintenance", {"on": False})
        ask(
            "accounts",
            "PUT",
            f"/v1/admin/accounts/{self.ids['mallory']}/state",
            {"state": "disabled", "reason": "rude"},
        )
        ask("erasure", "DELETE", f"/v1/admin/accounts/{self.ids['leaver']}")
        for ruleset in ("seven_up", "river"):
            with suppress(RefusedError):  # early releases had no leaderboards
                self.ask("GET", f"/v1/leaderboards/{ruleset}")
                self.wait(lambda r=ruleset: self.ask("GET", f"/v1/leaderboards/{r}")["items"], f"ratings of {ruleset}")

    def _people(self) -> None:
        """Let people sit at tables: amid a trick of either game, and where nobody has begun."""
        for seats in (("seven_up", "human", "house:greedy"), ("river", "human", *["house:greedy"] * 3)):
            made = self._game(*seats)
            self._play_into_a_trick(f"{made['id']}/seats/0")
        self._game("seven_up", "human", "open")
        joined = f"{self._game('seven_up', 'open', 'open')['id']}/seats/0"
        self.tokens[joined] = self.ask("PUT", f"/v1/games/{joined}", {"name": "Eve"}, who="")["token"]
        waits = self._game("river", "human", *["house:greedy"] * 4, start="manual")
        seat = f"{waits['id']}/seats/0"
        self.ask("PUT", f"/v1/games/{seat}/entropy", {"entropy": "ada's"}, who=seat)

    def _play_into_a_trick(self, seat: str) -> None:
        def view() -> dict[str, Any]:
            return self.ask("GET", f"/v1/games/{seat}?wait_for=decision", who=seat)

        shown = view()
        while not ((shown["observation"]["trick"] or {}).get("cards") and len(shown["observation"]["hand"]) > 1):
            assert shown["state"] == "running"
            action = {"decision_id": shown["decision_id"], "action": shown["legal_actions"][0]}
            self.ask("POST", f"/v1/games/{seat}/actions", action, who=seat)
            shown = view()

    def _standing(self) -> None:
        """Begin what will be found in the middle, since a bot of theirs holds."""
        two = ["steady", "holding", "house:greedy", "house:random"]
        self._tournament("open", "river", two, state="open", table_size=4, invited=[self.ids["bob"], self.ids["alice"]])
        self._tournament("running field", "river", [*two, "greedy_two"], deals="field", table_size=4, rounds=5)
        self._tournament("running fresh", "seven_up", two, deals="fresh", options={})
        self._tournament("running swiss", "seven_up", two, format="swiss", rounds=2)
        for name, state in (("paused", "paused"), ("cancelled", "cancelled")):
            made = self._tournament(name, "seven_up", two, deals="fresh")
            self.ask("PUT", f"/v1/tournaments/{made}/state", {"state": state})
        ladder = self._tournament("ladder without end", "seven_up", two[:2], format="ladder")
        if ladder:
            self.ask("PUT", f"/v1/tournaments/{ladder}/state", {"state": "paused"})
        self.tried("shared bots", "PATCH", f"/v1/bots/{self.ids['holding']}", {"availability": "public"}, who="bob")
        self._game("seven_up", "steady", "house:greedy")
        for seats in (("seven_up", "holding", "house:greedy"), ("river", "holding", *["house:random"] * 3)):
            self._game(*seats, who="bob")

    # --- what is shown ------------------------------------------------------------------------------------------------

    def look(self, url: str) -> list[list[Any]]:
        """Read everything there is at `url`, where nothing moves: path, who asked, status, body."""
        self._url = url
        return [shown for path, who in self._paths() if (shown := self._shown(path, who)) is not None]

    def _shown(self, path: str, who: str) -> list[Any] | None:
        headers = {"Authorization": f"Bearer {self.tokens[who]}"} if who else {}
        answer = self._session.get(self._url + path, headers=headers, timeout=30)
        is_json = "json" in answer.headers["Content-Type"] and "jsonl" not in answer.headers["Content-Type"]
        if answer.status_code == 404:
            return None
        return [path, who, answer.status_code, steady(answer.json()) if is_json else answer.text]

    def _paths(self) -> Iterator[tuple[str, str]]:
        games = self._all("/v1/games")
        yield from ((f"/v1/{name}", "") for name in ("games?limit=100", "bots?limit=100", "tournaments?limit=100"))
        for game in games:
            yield from ((f"/v1/games/{game}{part}", "") for part in ("", "/events", "/record"))
        yield from ((f"/v1/games/{seat}", seat) for seat in self.tokens if "/seats/" in seat)
        for name in ("steady", "holding", "greedy_two"):
            bot, owner = self.ids[name], "alice" if name == "steady" else "bob"
            yield f"/v1/bots/{bot}", owner
            yield from ((f"/v1/bots/{bot}/{part}", owner) for part in ("checks", "decisions?limit=100"))
            yield from ((f"/v1/bots/{bot}/{part}", "") for part in ("ratings", "opponents", "statistics", "games"))
        parts = ("", "/entries", "/standings", "/crosstable", "/rounds", "/boards", "/games?limit=100")
        exports = tuple(f"/export?format={kind}" for kind in ("csv", "jsonl", "records"))
        for tournament in self._all("/v1/tournaments"):
            yield from ((f"/v1/tournaments/{tournament}{part}", "") for part in parts + exports)
        yield from ((f"/v1/leaderboards/{ruleset}", "") for ruleset in ("seven_up", "river"))
        yield from (("/v1/accounts/me", who) for who in ("alice", "bob"))
        yield "/v1/accounts/me/tokens", "alice"
        yield from (
            (f"/v1/admin/{part}", "operator") for part in ("accounts", "maintenance", "audit", "audit?log=accounts")
        )

    def _all(self, path: str) -> list[str]:
        found, cursor = [], ""
        while cursor is not None:
            page = self.ask("GET", f"{path}?limit=100{cursor and f'&cursor={cursor}'}", who="")
            found += [each["id"] for each in page["items"]]
            cursor = page["next_cursor"]
        return found


def steady(value: Any) -> Any:
    """Leave out of an answer what depends on when it was asked for."""
    if isinstance(value, dict):
        return {name: steady(each) for name, each in value.items() if name not in VOLATILE}
    return [steady(each) for each in value] if isinstance(value, list) else value


class Hosts:
    """The bots of the scene, each at a URL of its own; use it in a `with`."""

    def __init__(self, *, hold: bool) -> None:
        self._bots = {
            name: Telling(HOUSE["house:greedy"](), hold=hold and name == "holding")
            for name in ("steady", "holding", "greedy_two")
        }
        self._servers = {name: Server(bot) for name, bot in self._bots.items()}
        self.urls = {name: server.url for name, server in self._servers.items()}

    def __enter__(self) -> Self:
        for server in self._servers.values():
            threading.Thread(target=server.serve_forever, daemon=True).start()
        return self

    def await_silence(self) -> None:
        """Return once the bot that holds has been asked all that it will be."""
        held = 0
        while held == 0 or held != self._bots["holding"].held:
            held = self._bots["holding"].held
            time.sleep(1.5)

    def __exit__(self, *_: object) -> None:
        for bot in self._bots.values():
            bot.close()
        for server in self._servers.values():
            server.shutdown()
            server.server_close()
