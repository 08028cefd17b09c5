"""Games in a whole arena within one process, at every step of which everybody asks for everything.

What each reader was told is kept as raw bytes with the number of events there were, and judged when the game is over: only
then its record says who could know what.
"""

from __future__ import annotations

import json
import logging
import random
import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from bot_sdk.events import Outcome
from bot_sdk.games.packs import board_secret
from service.launch.logs import OneLine
from tests.attacks.knowledge import CARD, SPECTATOR, Knowledge, secrets_of, written
from tests.service.api.conftest import Person, Seated
from tests.service.bench import Desk, Worker
from tests.service.fakes import FakeCalls

ADMIN = "operator-token-of-thirty-two-characters"
NOTE = "sentinel-note-of-seat-{}"
UNSTEADY = {"Date"}
FAULTS = [Outcome.LATE, Outcome.UNREACHABLE, Outcome.BAD_STATUS, b"{]", b'{"action":"bid:99"}']


@dataclass(frozen=True)
class Receipt:
    """What an audience was told when a game had so many events.

    `allowed` names what of the knowledge there was then it may hold; `said` are cards that the reader named itself.
    """

    events: int
    audience: int | None
    name: tuple[Any, ...]
    raw: bytes
    allowed: str = "now"
    said: frozenset[bytes] = frozenset()


class Log(logging.Handler):
    """Keeps what API and worker log, as their processes write it."""

    def __init__(self):
        super().__init__(logging.DEBUG)
        self.setFormatter(OneLine())
        self.lines = []

    def emit(self, record):
        self.lines.append(self.format(record).encode())


class Bots(FakeCalls):
    """Bots that hand over what they are sent, and look around before they answer."""

    def __init__(self, arena):
        super().__init__()
        self._arena = arena

    def submit(self, call, done):
        self._arena.sent(call)
        super().submit(call, done)

    def notify(self, call):
        self._arena.sent(call)
        super().notify(call)


class Arena:
    """An app and a worker on one store, with everybody who may read there."""

    def __init__(self, app, store, seed):
        self.app = app
        self.store = store
        self.rng = random.Random(seed)
        self.desk = Desk(store)
        self.calls = Bots(self)
        self.worker = Worker(store, self.calls)
        self.client = app.test_client()
        self.people = {name: self._account(name) for name in ("host", "stranger")}
        self.owners: dict[str, Person] = {}
        self.game: Watched | None = None

    def _account(self, name):
        client = self.app.test_client()
        return Person(client, client.post("/v1/accounts", json={"name": name}).get_json())

    def bot(self, number: int) -> str:
        """Register the bot of that number, of an owner of its own, and give its id."""
        bot_id = "bot_" + "abcdefgh"[number] * 26
        if bot_id not in self.owners:
            self.owners[bot_id] = self._account(f"owner {number}")
            more = {"version": "1", "activated_at": 1, "max_batch": 1 + number % 2}
            self.desk.bot(bot_id, account_id=self.owners[bot_id].id, **more)
            self.calls.bots[bot_id] = lambda decision: self.game.answer(decision)
        return bot_id

    def sent(self, call):
        if self.game is not None:
            self.game.sent(call)

    def begin(self, ruleset, kinds, options) -> Watched:
        """Have the host make a game with seats of these kinds, and watch it."""
        seats = []
        for number, kind in enumerate(kinds):
            who = {"human": {"name": f"p{number}"}, "house": {"name": "random"}, "bot": {}}[kind]
            seats.append({"kind": kind, **who, **({"bot_id": self.bot(number)} if kind == "bot" else {})})
        order = {"ruleset": ruleset, "options": options, "seats": seats, "max_faults": 4}
        order |= {"start": "manual"}
        made = self.people["host"]("POST", "/v1/games", json=order)
        assert made.status_code == 201, made.text
        return Watched(self, made.get_json(), kinds)


@dataclass
class Watched:
    """One game, and all that anybody was told of it."""

    arena: Arena
    made: dict[str, Any]
    kinds: list[str]
    receipts: list[Receipt] = field(default_factory=list)
    steps: int = 0
    seen: int = 0

    def __post_init__(self):
        self.id = self.made["id"]
        self.path = f"/v1/games/{self.id}"
        self.arena.game = self
        self.tokens = [seat.get("token") for seat in self.made["seats"]]
        self.humans = {
            number: Seated(self.arena.client, self.id, number, token)
            for number, token in enumerate(self.tokens)
            if token is not None
        }
        self.bots = {seat["bot_id"]: number for number, seat in enumerate(self.made["seats"]) if seat["kind"] == "bot"}
        self.secret = self.arena.store.games.secret(self.id)

    @property
    def events(self):
        return self.arena.store.games.length(self.id)

    @property
    def is_over(self):
        return self.arena.store.games.get(self.id).state.is_end

    # --- playing ------------------------------------------------------------------------------------------------------

    def play(self) -> dict[str, Any]:
        """Play to the end, looking around at every step; give the record."""
        log = Log()
        logging.getLogger().addHandler(log)
        try:
            self.look()
            started = self.arena.people["host"]("PUT", f"{self.path}/state", json={"state": "running"})
            self.keep(SPECTATOR, "start", started)
            while not self.is_over:
                self.look()
                self._go_on()
        finally:
            logging.getLogger().removeHandler(log)
        self.receipts += [Receipt(0, SPECTATOR, ("log",), line, "nothing") for line in log.lines]
        return self.arena.client.get(f"{self.path}/record").get_json()

    def _go_on(self):
        owing = [seat for seat, player in self.humans.items() if player.view()["decision_id"]]
        if not owing or self.arena.rng.random() < 0.2:
            self.arena.worker.drive(self.id)
        if owing and not self.is_over:
            self._act(self.arena.rng.choice(owing))

    def _act(self, seat):
        player, rng = self.humans[seat], self.arena.rng
        view = player.view()
        if view["decision_id"] is None:
            return
        if rng.random() < 0.01:
            self.keep(seat, "leave", player("DELETE"))
            return
        self._try(seat, view)
        legal = view["legal_actions"]
        action = "beg" if "beg" in legal and rng.random() < 0.7 else rng.choice(legal)
        taken = player.act(action, view["decision_id"])
        assert taken.status_code == 201, taken.text
        if not self.is_over:
            self.keep(seat, "act", taken, said=cards_in(action))
            self.keep(seat, "again", player.act(action, view["decision_id"]), said=cards_in(action))

    def _try(self, seat, view):
        """Try an action that isn't legal."""
        action = self.arena.rng.choice(["play:QH", "discard:2C", "bid:99", "give", "play:XX"])
        if action not in view["legal_actions"]:
            refused = self.humans[seat].act(action, view["decision_id"])
            assert refused.status_code == 422, refused.text
            self.keep(seat, "illegal", refused, said=cards_in(action))

    def answer(self, decision) -> Any:
        """Answer for a bot, once everybody has looked around."""
        self.look()
        rng, legal = self.arena.rng, decision["legal_actions"]
        if rng.random() < 0.05:
            return rng.choice(FAULTS)
        action = "beg" if "beg" in legal and rng.random() < 0.7 else rng.choice(legal)
        return action

    def sent(self, call):
        """Keep what a bot is sent: a decision holds what it may know now, news no card at all."""
        seat, message = self.bots[call.endpoint.bot_id], json.loads(call.body)
        raw = call.webhook_id.encode() + b"\n" + call.body
        if message["type"] != "game_ended":
            allowed = "nothing" if message["type"] == "game_started" else "now"
            self.receipts.append(Receipt(self.events, seat, ("message", message["type"], self.events), raw, allowed))

    # --- looking ------------------------------------------------------------------------------------------------------

    def keep(self, audience, name, answer, *, allowed="now", said=frozenset()):
        """Keep an answer whole: status, headers and body."""
        headers = "\n".join(f"{key}: {value}" for key, value in sorted(answer.headers) if key not in UNSTEADY)
        raw = f"{answer.status_code}\n{headers}\n\n".encode() + answer.data
        named = name if isinstance(name, tuple) else (name, self.events, self.steps)
        self.receipts.append(Receipt(self.events, audience, named, raw, allowed, said))

    def look(self):
        """Read everything as everybody, unless it is over and may be known."""
        if self.is_over:
            return
        self.steps += 1
        self._as_everybody()
        for seat, player in self.humans.items():
            for query in ("", "?wait_for=decision"):
                answer = player("GET", query, headers={"Prefer": "wait=0"})
                self.keep(seat, ("seat", seat, query), answer)
        for bot_id, seat in self.bots.items():
            owner = self.arena.owners[bot_id]
            ledger = owner("GET", f"/v1/bots/{bot_id}/decisions?limit=100")
            assert ledger.status_code == 200
            self.keep(seat, "ledger", ledger, allowed="ever")
            self.keep(SPECTATOR, ("owner", bot_id), owner("GET", self.path))
        self._trespass()

    def _as_everybody(self):
        ask, client = self._as(None), self.arena.client
        for path in (self.path, "/v1/games", f"{self.path}/record"):
            self.keep(SPECTATOR, ("anybody", path), ask(path))
        news = client.get(f"{self.path}/events?after={self.seen}")
        if news.status_code == 200:
            self.keep(SPECTATOR, "events", news, allowed="fresh")
            stream = client.get(f"{self.path}/stream", headers={"Last-Event-ID": str(self.seen)})
            self.keep(SPECTATOR, "stream", stream, allowed="fresh")
            self.seen += len(news.get_json()["items"])
            silent = client.get(f"{self.path}/stream", headers={"Last-Event-ID": str(self.seen)})
            self.keep(SPECTATOR, ("stream", self.seen), silent, allowed="nothing")

    def _as(self, token):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return lambda path: self.arena.client.get(path, headers=headers)

    def _trespass(self):
        """Ask with tokens that are good, but not for this."""
        others = [self.arena.people["host"].token, self.arena.people["stranger"].token, ADMIN, "sst_" + "A" * 43]
        seat = self.steps % len(self.kinds)
        paths = [self.path, f"{self.path}/seats/{seat}"]
        paths += [f"/v1/bots/{bot_id}/decisions" for bot_id in self.bots]
        for at, token in enumerate(others):
            for path in paths:
                self.keep(SPECTATOR, ("other", at, path), self._as(token)(path))
        for own, player in self.humans.items():
            if own != seat:
                self.keep(SPECTATOR, ("neighbour", own, seat), self._as(player.token)(f"{self.path}/seats/{seat}"))
            wrong = {"decision_id": f"{self.id}.{seat}.0", "action": "bid:99"}
            if own != seat:
                refused = player("POST", "/actions", json=wrong)
                self.keep(own, ("wrong", own, seat), refused, allowed="nothing")


def cards_in(action):
    return frozenset(CARD.findall(action.encode()))


# --- judging ----------------------------------------------------------------------------------------------------------


class Judge:
    """Says what in the receipts of a game nobody could have known then."""

    def __init__(self, game: Watched, record):
        self.knowledge = Knowledge(record).moments
        self.game = game
        fairness = record["fairness"]
        deals = len(record["deals"]) + 1
        self.secrets = secrets_of(game.secret, fairness["label"], fairness["entropy"], deals)

    def check(self):
        for at, receipt in enumerate(self.game.receipts):
            hidden = set(CARD.findall(receipt.raw)) - self._allowed(at, receipt) - receipt.said
            assert not hidden, f"{sorted(hidden)} told to {receipt.audience} after {receipt.events} events: {receipt}"
            told = [secret for secret in self.secrets if secret in receipt.raw]
            assert not told, f"a secret is told: {receipt}"
            self._check_names(receipt)
        self._check_equal()

    def _allowed(self, at, receipt):
        now = self.knowledge[receipt.events]
        if receipt.allowed == "nothing":
            return set()
        if receipt.allowed == "ever":
            return set(now.ever[receipt.audience])
        if receipt.allowed == "fresh":
            before = [each.events for each in self.game.receipts[:at] if each.name[0] == receipt.name[0]]
            since = before[-1] + 1 if before else 0
            return set().union(*(moment.fresh for moment in self.knowledge[since : receipt.events + 1]))
        return now.of(receipt.audience)

    def _check_names(self, receipt):
        """No token of a seat, no decision of another seat, no remark of a bot."""
        tokens = [token for token in self.game.tokens if token and token.encode() in receipt.raw]
        assert not tokens, f"a token is told: {receipt}"
        named = re.findall(rb"gam_[a-z2-7]{26}\.([0-9])\.[0-9]+", receipt.raw)
        others = {int(seat) for seat in named} - {receipt.audience}
        assert not others, f"decisions of seats {others} are named: {receipt}"

    def _check_equal(self):
        """Whoever could learn nothing in between is told the same, to the byte: tags, versions and sizes included."""
        same = defaultdict(set)
        for receipt in self.game.receipts:
            if receipt.allowed in {"now", "nothing"} and receipt.name != ("log",):
                since = self.knowledge[receipt.events].told[receipt.audience]
                same[receipt.audience, receipt.name, since].add(receipt.raw)
        differing = {name: raws for name, raws in same.items() if len(raws) > 1}
        assert not differing, f"told more than there was to tell: {differing}"


__all__ = ["ADMIN", "Arena", "Judge", "Receipt", "Watched", "board_secret", "written"]
