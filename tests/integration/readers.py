"""Those who use the API while processes die: whatever they were shown or promised must still hold later."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import Any, Self

from bot_sdk.client import Arena as Client
from bot_sdk.client import ArenaError
from bot_sdk.games.record import Record
from tests.integration.arena import wait_until

LOOK_S = 20.0
"""How long readers may look until they are shown something: less than bots have, which are held back meanwhile."""


class Onlooker:
    """A thread that does `look` again and again while the block runs; what goes wrong in it comes out at its end."""

    def __init__(self, look: Callable[[], None], *, pause_s: float = 0.02) -> None:
        self._look = look
        self._pause_s = pause_s
        self._told = threading.Event()
        self._failed: BaseException | None = None
        self.turns = 0
        """How many looks it has ended."""
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        try:
            while not self._told.wait(self._pause_s):
                self._look()
                self.turns += 1
        except BaseException as error:  # noqa: BLE001 - raised again where the test can see it
            self._failed = error

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._told.set()
        self._thread.join(timeout=60)
        assert not self._thread.is_alive()
        if self._failed is not None:
            raise self._failed


class OverHttp:
    """Somebody whose API may be gone, or elsewhere, at each call; `address` tells where it is now."""

    def __init__(self, address: Callable[[], str | None]) -> None:
        self._address = address
        self.missed = 0
        """How many calls came to nothing, because the API was away or its store."""

    def ask(self, call: Callable[[Client], Any]) -> Any:
        """Give what the API answers, None if it is away, or its store is."""
        address = self._address()
        if address is None:
            self.missed += 1
            return None
        with Client(address, timeout_s=10) as client:
            try:
                return call(client)
            except ArenaError as error:
                if error.code == "unreachable" or error.status == 503:
                    self.missed += 1
                    return None
                raise


class ResultsSeen(OverHttp):
    """Reads rounds and progress of tournaments; a pairing or result it has seen must stand for ever as it was."""

    def __init__(self, address: Callable[[], str | None], tournament_ids: list[str]) -> None:
        super().__init__(address)
        self._ids = tournament_ids
        self._results: dict[str, dict[tuple[int, int, int], Any]] = {name: {} for name in tournament_ids}
        self._rounds: dict[str, dict[int, Any]] = {name: {} for name in tournament_ids}
        self.looks = 0

    def look(self) -> None:
        for name in self._ids:
            rounds = self.ask(lambda client, name=name: list(client.rounds(name)))
            shown = self.ask(lambda client, name=name: client.tournament(name))
            if rounds is not None and shown is not None:
                self._compare(name, rounds, shown["progress"])

    def _compare(self, name: str, rounds: list[Any], progress: dict[str, int]) -> None:
        drawn = {each["round"]: ([table["bots"] for table in each["tables"]], sorted(each["byes"])) for each in rounds}
        results = {
            (each["round"], table["table"], game["leg"]): game
            for each in rounds
            for table in each["tables"]
            for game in table["games"]
            if game["totals"] is not None
        }
        _keep(self._rounds[name], drawn, "rounds")
        _keep(self._results[name], results, "results")
        assert progress["finished"] >= len(results), f"{progress} after {len(results)} results"
        self.looks += 1


def look_once_more(*readers: ResultsSeen | Follower) -> None:
    """Wait until each has looked again at what it reads, as somebody who is not in a hurry."""
    before = [reader.looks for reader in readers]

    def have_looked() -> bool:
        return all(reader.looks > looks for reader, looks in zip(readers, before, strict=True))

    wait_until(have_looked, LOOK_S, "readers to be shown something")


def _keep(seen: dict[Any, Any], now: dict[Any, Any], what: str) -> None:
    lost = {each: value for each, value in seen.items() if now.get(each) != value}
    assert not lost, f"{what} that were shown have gone or changed: {lost}"
    seen |= now


class Person(OverHttp):
    """Plays one game against house bots; an action that was taken stays taken."""

    def __init__(self, address: Callable[[], str | None]) -> None:
        super().__init__(address)
        self.game_id = ""
        self._token = ""
        self.taken: list[str] = []
        """The actions answered 201 or 200, in order."""
        self.is_done = False

    def sit_down(self, client: Client, ruleset: str, seats: int, options: dict[str, Any]) -> None:
        houses = [{"kind": "house", "name": "greedy"}] * (seats - 1)
        table = [{"kind": "human", "name": "Ada"}, *houses]
        game = client.create_game(ruleset, table, options=options, human_budget_ms=600_000)
        self.game_id, self._token = game["id"], game["seats"][0]["token"]

    def move(self) -> None:
        """Look at the seat; if it owes a decision, take one, again until it is answered."""
        if self.is_done:
            return
        view = self.ask(lambda client: client.seat(self.game_id, 0, self._token, wait_s=1))
        if view is None:
            return
        self.is_done = view["state"] != "running"
        decision_id = view["decision_id"]
        if decision_id is None:
            return
        assert decision_id == f"{self.game_id}.0.{len(self.taken)}", f"{decision_id} is owed after {self.taken}"
        action = random.Random(decision_id).choice(view["legal_actions"])
        while not self.ask(lambda client: client.act(self.game_id, 0, decision_id, action, self._token)):
            pass
        self.taken.append(action)

    def check(self, shown: Record) -> None:
        """Compare the record with what was taken."""
        mine = [event for deal in shown.deals for event in deal.events if event["seat"] == 0]
        assert [event["action"] for event in mine] == self.taken
        assert {event["outcome"] for event in mine} == {"ok"}


class Follower(OverHttp):
    """Reads the public events of games; those it has seen must stand for ever, and be followed without a gap."""

    def __init__(self, address: Callable[[], str | None], game_ids: Callable[[], list[str]]) -> None:
        super().__init__(address)
        self._ids = game_ids
        self.seen: dict[str, list[Any]] = {}
        self._versions: dict[str, int] = {}
        self.looks = 0

    def look(self) -> None:
        for game_id in self._ids():
            shown = self.ask(lambda client, game_id=game_id: client.game(game_id))
            events = self.ask(lambda client, game_id=game_id: list(client.events(game_id)))
            if shown is not None and events is not None:
                self._compare(game_id, shown["version"], events)

    def _compare(self, game_id: str, version: int, events: list[Any]) -> None:
        """The events were read after the version, so there are as many at least, but for the stop from outside."""
        before = self.seen.get(game_id, [])
        assert [event["id"] for event in events] == list(range(1, len(events) + 1)), f"a gap in {game_id}"
        assert events[: len(before)] == before, f"events of {game_id} that were shown have gone or changed"
        assert version >= self._versions.get(game_id, 0), f"the version of {game_id} went back"
        assert len(before) <= version <= len(events) + 1, f"{len(before)}, then version {version}, then {len(events)}"
        self.seen[game_id], self._versions[game_id] = events, version
        self.looks += 1
