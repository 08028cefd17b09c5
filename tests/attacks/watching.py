"""Games in a whole arena within one process, at every step of which everybody asks for everything.

What each reader was told is kept as raw bytes beside the number of events that the game had; `judging` says when it is
over, and its record tells who could know what, whether that was too much.
"""

from __future__ import annotations

import json
import logging
import random
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from bot_sdk.events import Outcome
from bot_sdk.games.packs import board_secret
from bot_sdk.results.values import Entry, GameState, Round, Slot
from service.api import stream
from service.store.entities import Tournament, TournamentState
from tests.attacks.receipts import BEFORE, NOTE, SPECTATOR, Log, Receipt
from tests.service.api.answers import ITS_OWN
from tests.service.api.conftest import Person, Seated
from tests.service.api.test_open_boards import paths
from tests.service.bench import NOW, Desk, Worker
from tests.service.fakes import FakeCalls

ADMIN = "operator-token-of-thirty-two-characters"
FAULTS = [Outcome.LATE, Outcome.UNREACHABLE, Outcome.BAD_STATUS, b"{]", b'{"action":"bid:99"}']
TRIED = ["play:QH", "discard:2C", "bid:99", "give", "play:XX"]


class Bots(FakeCalls):
    """Bots whose messages are kept, and before whose answers everybody looks around."""

    def __init__(self):
        super().__init__()
        self.game: Watched | None = None

    def submit(self, call, done):
        self.game.sent(call)
        super().submit(call, done)

    def notify(self, call):
        self.game.sent(call)
        super().notify(call)


class Arena:
    """An app and a worker on one store, with everybody who may read there."""

    def __init__(self, app, store, seed):
        self.app = app
        self.store = store
        self.rng = random.Random(seed)
        self.desk = Desk(store)
        self.calls = Bots()
        self.worker = Worker(store, self.calls)
        self.client = app.test_client()
        self.host, self.stranger = self.account("host"), self.account("stranger")
        self.owners: dict[str, Person] = {}

    def account(self, name):
        client = self.app.test_client()
        return Person(client, client.post("/v1/accounts", json={"name": name}).get_json())

    def bot(self) -> str:
        """Register another bot, of an owner of its own, and give its id."""
        number = len(self.owners)
        bot_id = "bot_" + "".join("abcdefgh"[number >> shift & 7] for shift in range(0, 78, 3))
        self.owners[bot_id] = self.account(f"owner {number}")
        more = {"version": "1", "activated_at": 1, "max_batch": 1 + number % 2}
        self.desk.bot(bot_id, account_id=self.owners[bot_id].id, **more)
        self.calls.bots[bot_id] = self._answer
        return bot_id

    def _answer(self, decision):
        return self.calls.game.answer(decision)

    def game(self, ruleset, kinds, options) -> Watched:
        """Have the host make a game with seats of these kinds, and watch it."""
        seats = []
        for number, kind in enumerate(kinds):
            who = {"human": {"name": f"p{number}"}, "house": {"name": "random"}, "bot": {}}[kind]
            seats.append({"kind": kind, **who, **({"bot_id": self.bot()} if kind == "bot" else {})})
        order = {"ruleset": ruleset, "options": options, "seats": seats, "max_faults": 4, "start": "manual"}
        made = self.host("POST", "/v1/games", json=order)
        assert made.status_code == 201, made.text
        return Watched(self, made.get_json())

    def tournament_game(self, ruleset, seats, options) -> Watched:
        """Lay a game of bots on a board of its own, which everybody may follow, and watch it."""
        number = len(self.owners)
        bots = [self.bot() for _ in range(seats)]
        tournament_id = "trn_" + bots[0].removeprefix("bot_")
        root_secret = self.rng.randbytes(32)
        tournament = Tournament(
            id=tournament_id, name="night", owner=self.host.id, ruleset=ruleset, options=options, deals="fresh",
            table_size=seats, seed=1, root="00", created_at=NOW + number, state=TournamentState.OPEN,
        )  # fmt: skip
        self.store.tournaments.create(tournament, secret=root_secret)
        for bot in bots:
            entry = Entry(bot_id=bot, name=bot, account_id=None, entered_at=NOW)
            self.store.tournaments.enter(tournament_id, entry, most=seats)
        self.store.tournaments.change(tournament_id, lambda it: replace(it, state=TournamentState.RUNNING))
        self.store.tournaments.put_round(tournament_id, 1, Round((tuple(bots),)))
        slot = Slot(tournament_id=tournament_id, round=1, table=1, board="1.1")
        self.store.tournaments.claim(tournament_id, slot)
        game_id = "gam_" + bots[0].removeprefix("bot_")
        secret, label = board_secret(root_secret, "1.1"), f"{tournament_id}/1.1"
        self.desk.game(*bots, id=game_id, options=options, secret=secret, slot=slot, label=label)
        return Watched(self, self.client.get(f"/v1/games/{game_id}").get_json(), root_secret)


@dataclass
class Watched:
    """One game, and all that anybody was told of it."""

    arena: Arena
    made: dict[str, Any]
    root_secret: bytes | None = None
    receipts: list[Receipt] = field(default_factory=list)
    steps: int = 0
    seen: int = 0

    def __post_init__(self):
        self.id = self.made["id"]
        self.path = f"/v1/games/{self.id}"
        self.arena.calls.game = self
        self.tokens = [seat["token"] for seat in self.made["seats"] if "token" in seat]
        self.humans = {
            number: Seated(self.arena.client, self.id, number, seat["token"])
            for number, seat in enumerate(self.made["seats"])
            if "token" in seat
        }
        self.bots = {seat["bot_id"]: number for number, seat in enumerate(self.made["seats"]) if seat["kind"] == "bot"}
        self.secret = self.arena.store.games.secret(self.id)
        self.events = BEFORE
        self.swept_at = self.arena.rng.randint(1, 20)

    @property
    def is_over(self):
        return self.arena.store.games.get(self.id).state.is_end

    def _count(self):
        """See how many events there are; False if the game is over and may be known."""
        meta = self.arena.store.games.get(self.id)
        self.events = BEFORE if meta.state is GameState.OPEN else self.arena.store.games.length(self.id)
        return not meta.state.is_end

    # --- playing ------------------------------------------------------------------------------------------------------

    def play(self) -> dict[str, Any]:
        """Play to the end, looking around at every step; give the record."""
        log, root = Log(), logging.getLogger()
        level = root.level
        root.addHandler(log)
        root.setLevel(logging.INFO)
        try:
            self.look()
            if self.events == BEFORE:
                self.arena.host("PUT", f"{self.path}/state", json={"state": "running"})
            while not self.is_over:
                self._go_on()
        finally:
            root.setLevel(level)
            root.removeHandler(log)
        self.receipts += [Receipt(BEFORE, SPECTATOR, ("log", at), line) for at, line in enumerate(log.lines)]
        return self.arena.client.get(f"{self.path}/record").get_json()

    def _go_on(self):
        self.look()
        owing = {seat: view for seat, player in self.humans.items() if (view := player.view())["decision_id"]}
        if not owing or self.arena.rng.random() < 0.2:
            self.arena.worker.drive(self.id)
        elif self.arena.rng.random() < 0.01:
            assert self.humans[min(owing)]("DELETE").status_code == 204
        else:
            self._act(*self.arena.rng.choice(list(owing.items())))

    def _act(self, seat, view):
        """Act for a person: first what isn't legal, then what is, and that again."""
        player, legal = self.humans[seat], view["legal_actions"]
        for action in (
            self.arena.rng.choice(["play:QH", "discard:2C", "bid:99", "give", "play:XX"]),
            self._choice(legal),
        ):
            taken = player.act(action, view["decision_id"])
            assert taken.status_code == (201 if action in legal else 422), taken.text
            if not self._count():
                return
            self._keep(seat, ("act", self.steps, action), taken, said=action.encode())
            if action in legal:
                again = player.act(action, view["decision_id"])
                self._keep(seat, ("again", self.steps), again, said=action.encode())
                return

    def _choice(self, legal):
        return "beg" if "beg" in legal and self.arena.rng.random() < 0.7 else self.arena.rng.choice(legal)

    def answer(self, decision) -> Any:
        """Answer for a bot, once everybody has looked around."""
        self.look()
        if self.arena.rng.random() < 0.05:
            return self.arena.rng.choice(FAULTS)
        action = self._choice(decision["legal_actions"])
        single = {"decision_id": decision["decision_id"], "action": action, "note": NOTE}
        return json.dumps(single).encode() if self.arena.rng.random() < 0.5 else action

    def sent(self, call):
        """Keep what a bot is sent: a decision holds what it may know now, news no card at all."""
        seat, message = self.bots[call.endpoint.bot_id], json.loads(call.body)
        if self._count():
            raw = call.webhook_id.encode() + b"\n" + call.body
            allowed = "nothing" if message["type"] == "game_started" else "now"
            self.receipts.append(
                Receipt(self.events, seat, ("message", message["type"], len(self.receipts)), raw, allowed)
            )

    # --- looking ------------------------------------------------------------------------------------------------------

    def _keep(self, audience, name, answer, *, allowed="now", said=b""):
        """Keep an answer whole: status, headers and body; but for signs of life, whose number is the clock's."""
        headers = "\n".join(f"{key}: {value}" for key, value in sorted(answer.headers) if key not in ITS_OWN)
        body = answer.data.replace(b":\n\n", b"") if answer.content_type == stream.EVENT_STREAM else answer.data
        raw = f"{answer.status_code}\n{headers}\n\n".encode() + body
        self.receipts.append(Receipt(self.events, audience, name, raw, allowed, said))

    def look(self):
        """Read everything as everybody, unless the game is over."""
        if not self._count():
            return
        self.steps += 1
        self._as_everybody()
        for seat, player in self.humans.items():
            query = "?wait_for=decision" if self.steps % 2 else ""
            self._keep(seat, ("seat", query), player("GET", query, headers={"Prefer": "wait=0"}))
        for bot_id, seat in self.bots.items():
            ledger = self.arena.owners[bot_id]("GET", f"/v1/bots/{bot_id}/decisions?limit=100")
            assert ledger.status_code == 200
            self._keep(seat, ("ledger", self.steps), ledger, allowed="ever")
        self._trespass()
        if self.steps == self.swept_at:
            self._sweep()

    def _as_everybody(self):
        client = self.arena.client
        for path in (self.path, "/v1/games", f"{self.path}/record"):
            self._keep(SPECTATOR, ("anybody", path), client.get(path))
        after, resumed = f"{self.path}/events?after={self.seen}", {"Last-Event-ID": str(self.seen)}
        news = client.get(after)
        assert news.status_code == 200, news.text
        self._keep(SPECTATOR, ("events",), news, allowed="new")
        self._keep(SPECTATOR, ("stream",), client.get(f"{self.path}/stream", headers=resumed), allowed="new")
        self.seen += len(news.get_json()["items"])

    def _readers(self):
        """Give readers by their tokens, with what they are to this game."""
        owners = [(self.arena.owners[bot].token, seat) for bot, seat in self.bots.items()]
        people = [(player.token, seat) for seat, player in self.humans.items()]
        others = [ADMIN, self.arena.host.token, self.arena.stranger.token, "sst_" + "A" * 43, None]
        return [*owners, *people, *((token, SPECTATOR) for token in others)]

    def _trespass(self):
        """Ask with a token that is good, but not for this: one after the other."""
        readers = self._readers()
        token, audience = readers[self.steps % len(readers)]
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        seat = (self.steps // len(readers)) % len(self.made["seats"])
        if audience != seat:
            decision_id = f"{self.id}.{seat}.0"
            asked = f"{self.path}/seats/{seat}"
            self._keep(SPECTATOR, ("seat of another", token, seat), self.arena.client.get(asked, headers=headers))
            act = {"decision_id": decision_id, "action": "bid:99"}
            refused = self.arena.client.post(f"{asked}/actions", json=act, headers=headers)
            self._keep(
                audience, ("act for another", token, seat), refused, allowed="nothing", said=decision_id.encode()
            )

    def _sweep(self):
        """Read all that the specification has as everybody."""
        bots = list(self.bots) or ["house:random"]
        filled = {
            "game_id": [self.id], "tournament_id": [self.made["tournament_id"] or "trn_" + "a" * 26], "bot_id": bots,
            "number": "0", "check_id": ["chk_" + "a" * 26], "name": [self.made["ruleset"]],
            "account_id": ["acc_" + "a" * 26],
        }  # fmt: skip
        for path in paths(self.arena.app, "/v1", filled):
            for token, audience in self._readers():
                headers = {"Prefer": "wait=0"} | ({"Authorization": f"Bearer {token}"} if token else {})
                answer = self.arena.client.get(path, headers=headers)
                self._keep(audience, ("sweep", token, path), answer, allowed="ever")
