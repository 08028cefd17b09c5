"""Bots that leave, are sent away, die or dawdle amid a tournament: it ends, says what happened, and blames no other."""

from __future__ import annotations

import itertools
import socket
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bot_sdk.client import Arena as Client
from bot_sdk.results.values import Result, Round
from service.arena.minting import Mint
from service.store.entities import Tournament
from tests.integration.arena import PATIENT_LIMITS, Arena, Bots, wait_until
from tests.integration.hostile_bots import HostileBot, Message, answer
from tests.integration.played import check_recomputed, check_records
from tests.service.outbound.hostile import reply

OPERATOR = "operator-" * 5
SETTINGS = {"SLAGVELD_ADMIN_TOKEN": OPERATOR, "SLAGVELD_LEASE_MS": "15000", "SLAGVELD_RENEW_MS": "5000"}
HEALTHY = ["house:greedy", "house:random"] * 2
SHORT_RIVER = {"start_cards": 4}
SLOW_BUDGET_MS = 500
SLOW_LIMITS = {"budget_ms": SLOW_BUDGET_MS, "first_budget_ms": SLOW_BUDGET_MS}
SLOWNESS = (0.5, 1.0, 1.1, 1.1)
"""How much of its budget the slow bot takes, decision after decision of a game: it may get away with all of it."""
AHEAD = 40
"""So many more decisions are answered at most between two looks at whether it is time for something to happen."""
FORMATS = {
    "round_robin": {"deals": "field"},
    "swiss": {"format": "swiss", "deals": "field"},
    "knockout": {"format": "knockout", "deals": "field"},
}
END_S = 90.0


@dataclass
class Event:
    """A tournament in which something happens at its moment; then all there is to see of it once it has ended."""

    id: str
    entries: list[str]
    is_time: Callable[[], bool] = lambda: True
    strike: Callable[[Event], None] = lambda _event: None
    struck: list[str] = field(default_factory=list)
    """Whom it hit."""
    tournament: Tournament | None = None
    rounds: dict[int, Round] = field(default_factory=dict)
    results: list[Result] = field(default_factory=list)
    standings: dict[str, Any] = field(default_factory=dict)

    @property
    def reason(self) -> str:
        return self.tournament.reason

    def name(self, bot_id: str) -> str:
        return next(row["name"] for row in self.standings["items"] if row["bot_id"] == bot_id)

    def row(self, bot_id: str) -> dict[str, Any]:
        return next(row for row in self.standings["items"] if row["bot_id"] == bot_id)

    def counted(self, bot_id: str) -> tuple[int, int]:
        """Count the games that a bot forfeited, and those it was retired from."""
        seats = [(result, result.bots.index(bot_id)) for result in self.results if bot_id in result.bots]
        return sum(seat in each.forfeited for each, seat in seats), sum(each.retired[seat] for each, seat in seats)


class Evening:
    """All tournaments, side by side in one arena; every one has bots of its own, most of one game at a time."""

    def __init__(self, arena: Arena, client: Client, doomed: Bots, slow: list[str]) -> None:
        self._arena = arena
        self._client = client
        self._doomed = doomed
        self._slow = slow
        """The addresses of the slow bot and of those it meets."""
        self.events: dict[tuple[str, str], Event] = {}

    def _cast(self, name: str, urls: list[str], count: int, *, max_games: int = 1) -> list[str]:
        """Register so many bots at these URLs in turn."""
        names = [f"{name} {number}" for number in range(count)]
        ids = [Mint(bytes(32), each.encode()).id("bot_") for each in names]
        for bot_id, each, url in zip(ids, names, itertools.cycle(urls), strict=False):
            self._arena.register(bot_id, each, url, max_games=max_games)
        return ids

    def _launch(self, what: str, form: str, entries: list[str], rounds: int | None, **more: Any) -> Event:
        order = {"ruleset": "seven_up", "size": 2, "limits": PATIENT_LIMITS, **more, **FORMATS[form]}
        rounds = None if form == "knockout" else rounds
        tournament_id = self._arena.launch(f"{what} {form}", rounds=rounds, entries=entries, **order)
        event = self.events[what, form] = Event(tournament_id, entries)
        event.is_time = lambda: self._arena.store.tournaments.closed(tournament_id) != set()
        return event

    def launch(self) -> None:
        healthy, doomed = self._arena.bots.urls, self._doomed.urls
        for form in FORMATS:
            rounds = {"round_robin": None, "swiss": 4}.get(form)
            event = self._launch("leader", form, self._cast(f"leader {form}", healthy, 6), rounds)
            event.strike = self._withdraw_leader
            entries = self._cast(f"all {form}", healthy, 8 if form == "knockout" else 6)
            event = self._launch("all", form, entries, rounds)
            event.strike = self._withdraw_all
            river = self._cast(f"river {form}", healthy, 4)
            event = self._launch("disabled", form, river, 3, ruleset="river", size=4, options=SHORT_RIVER)
            event.is_time, event.strike = self._after_some_decisions(event), self._disable
            self._launch("down", form, self._cast(f"down {form}", doomed, 8 if form == "knockout" else 4), rounds)
            slow = self._cast(f"slow {form}", self._slow, 4, max_games=3)
            self._launch("slow", form, slow, rounds and 2, limits=SLOW_LIMITS).struck = slow[:1]
        slow = self._cast("slow river", self._slow, 4)
        river = {"ruleset": "river", "size": 4, "options": SHORT_RIVER, "limits": SLOW_LIMITS}
        self._launch("slow river", "round_robin", slow, 1, **river).struck = slow[:1]

    def _after_some_decisions(self, event: Event) -> Callable[[], bool]:
        def is_time() -> bool:
            games, _ = self._arena.store.games.list_for_tournament(event.id, limit=100)
            return any(self._arena.store.games.length(game.id) >= 10 for game in games)

        return is_time

    def _withdraw_leader(self, event: Event) -> None:
        leader = self._client.standings(event.id)["items"][0]["bot_id"]
        self._client.withdraw(event.id, leader)
        event.struck.append(leader)

    def _withdraw_all(self, event: Event) -> None:
        """Let everybody go in a pause: it would end before the last of them has left."""
        self._client.set_tournament_state(event.id, "paused")
        for bot_id in event.entries:
            self._client.withdraw(event.id, bot_id)
            event.struck.append(bot_id)
        self._client.set_tournament_state(event.id, "running")

    def _disable(self, event: Event) -> None:
        self._client.set_bot_state(event.entries[1], "disabled", reason="a secret of the operator's")
        event.struck.append(event.entries[1])

    def _kill_the_doomed(self) -> bool:
        """Kill the bots of all tournaments of theirs at once, when each of these has begun."""
        events = [event for (what, _), event in self.events.items() if what == "down"]
        if not all(self._after_some_decisions(event)() for event in events):
            return False
        self._doomed.kill()
        for event in events:
            event.struck += event.entries
        return True

    def play(self) -> None:
        """Let everything happen at its moment, and wait for the end of all."""
        waiting, is_down = [event for event in self.events.values() if not event.struck], False

        def is_over() -> bool:
            nonlocal is_down
            for bots in (self._arena.bots, self._doomed):
                bots.gate.shut(after=bots.journal.count() + AHEAD)
            is_down = is_down or self._kill_the_doomed()
            for event in [each for each in waiting if each.is_time()]:
                waiting.remove(event)
                event.strike(event)
            return is_down and not waiting and all(self._arena.is_finished(each.id) for each in self.events.values())

        wait_until(is_over, END_S, "the end of all tournaments", every_s=0.03)

    def look(self) -> None:
        """See what came of each, and that its export and records hold."""
        store = self._arena.store.tournaments
        for event in self.events.values():
            event.tournament, event.rounds = store.get(event.id), store.rounds(event.id)
            event.results, event.standings = store.results(event.id), self._client.standings(event.id)
            check_recomputed(self._client, event.id)
            check_records(self._arena.store, event.id, self._client.records(event.id))


def dawdle(_bot: HostileBot, connection: socket.socket, message: Message) -> bool:
    number = int(message["decision_id"].rpartition(".")[2])
    time.sleep(SLOWNESS[number % len(SLOWNESS)] * message["budget_ms"] / 1000)
    connection.sendall(reply(answer(message)))
    return True


@pytest.fixture(scope="module")
def evening(tmp_path_factory):
    folder, slow = tmp_path_factory.mktemp("bad"), HostileBot(dawdle)
    doomed, prompt = hosted(folder / "doomed", think_ms=10), hosted(folder / "prompt", think_ms=0)
    try:
        with Arena(folder / "arena", bots=HEALTHY, think_ms=10, **SETTINGS) as arena:
            arena.start_api()
            with Client(arena.api.address, OPERATOR) as client:
                evening = Evening(arena, client, doomed, [slow.url, *prompt.urls[:3]])
                evening.launch()
                arena.start_worker()
                evening.play()
                evening.look()
            yield evening.events
    finally:
        for each in (doomed, prompt, slow):
            each.close()


def hosted(folder: Path, *, think_ms: float) -> Bots:
    """Host healthy bots in a process beside those of the arena."""
    folder.mkdir()
    return Bots(folder, HEALTHY, 1, think_ms)


@pytest.fixture(params=FORMATS)
def form(request):
    return request.param


def check_healthy(event: Event) -> None:
    """Check that nobody but those whom it hit is blamed for anything."""
    for result in event.results:
        for bot_id, outcomes, is_retired in zip(result.bots, result.outcomes, result.retired, strict=True):
            if bot_id not in event.struck:
                assert outcomes.keys() <= {"ok"}
                assert not is_retired
    for bot_id in set(event.entries) - set(event.struck):
        assert event.name(bot_id) not in event.reason
        assert event.counted(bot_id) == (0, 0)


def seated(event: Event, number: int) -> set[str]:
    return {bot_id for table in event.rounds[number].tables for bot_id in table}


def games(count: int) -> str:
    return "1 game" if count == 1 else f"{count} games"


def test_leader_who_withdraws_is_named_and_everybody_else_plays_on(evening, form):
    event = evening["leader", form]
    leader, row = event.struck[0], event.row(event.struck[0])
    assert event.reason.startswith(f"all its {len(event.results)} games are over; {event.name(leader)} withdrew")
    assert row["is_withdrawn"]
    check_healthy(event)
    forfeited, retired = event.counted(leader)
    assert (row["forfeits"], retired) == (forfeited, 0)
    if form == "round_robin":
        assert len(event.results) == 15
        assert forfeited >= 1
        assert event.reason.endswith(f"withdrew and forfeited {games(forfeited)}")
    else:
        assert leader not in set().union(*(seated(event, number) for number in event.rounds if number > 2))
    if form == "knockout":
        assert event.standings["items"][0]["bot_id"] != leader


def test_tournament_that_everybody_leaves_ends_and_says_so(evening, form):
    event = evening["all", form]
    assert all(f"{event.name(bot_id)} withdrew" in event.reason for bot_id in event.entries)
    assert all(row["is_withdrawn"] for row in event.standings["items"])
    if form == "round_robin":
        unplayed = sum(len(result.forfeited) == 2 for result in event.results)
        assert unplayed >= 1
        assert event.reason.startswith("all its 15 games are over; ")
        assert event.reason.endswith(f"; {games(unplayed)} not played since everybody at the table forfeited")
    else:
        assert event.reason.startswith(f"ended early: 0 of {len(event.entries)} entries were left after round ")


def test_bot_disabled_amid_a_river_game_is_retired_from_it_and_forfeits_what_follows(evening, form):
    event = evening["disabled", form]
    check_healthy(event)
    bot_id = event.struck[0]
    played = 1 if form == "knockout" else 3
    first, *later = event.results
    assert len(event.results) == played
    assert first.places[first.bots.index(bot_id)] == 4
    assert all(result.forfeited == [result.bots.index(bot_id)] for result in later)
    assert event.counted(bot_id) == (len(later), 1)
    assert {row["games"] for row in event.standings["items"]} <= {played, 1}
    forfeits = f"forfeited {games(len(later))} and " if later else ""
    assert event.reason.endswith(f"; {event.name(bot_id)} (disabled by the operator) {forfeits}was retired from 1 game")
    assert "secret" not in event.reason


def test_tournament_whose_bots_all_die_at_once_ends_and_says_that_nobody_answered(evening, form):
    event = evening["down", form]
    void = sum(result.state == "void" for result in event.results)
    assert void >= 1
    assert event.reason.startswith(f"all its {len(event.results)} games are over; ")
    assert f"{games(void)} came to nothing since no bot at the table answered" in event.reason
    assert "unreachable)" in event.reason
    blamed = Counter(name for result in event.results for outcomes in result.outcomes for name in outcomes)
    assert blamed.keys() == {"ok", "unreachable"}


@pytest.mark.parametrize("key", [*(("slow", form) for form in FORMATS), ("slow river", "round_robin")], ids="-".join)
def test_bot_that_answers_at_its_deadline_is_retired_for_being_late_and_nobody_else_pays(evening, key):
    event = evening[key]
    slow = event.struck[0]
    check_healthy(event)
    forfeited, retired = event.counted(slow)
    assert forfeited == 0
    assert retired >= 1
    outcomes = event.row(slow)["outcomes"]
    assert outcomes.keys() <= {"ok", "late", "retired"}
    assert outcomes["ok"] > 0
    assert outcomes["late"] >= 5 * retired
    name = f"{event.name(slow)} (suspended)" if retired > 2 else event.name(slow)
    assert f"; {name} was retired from {games(retired)} after faults ({5 * retired} late)" in event.reason
