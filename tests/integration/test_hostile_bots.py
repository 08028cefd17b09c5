"""Whatever a bot does, its game goes on within the budget, its fault is named everywhere, and nobody else pays."""

from __future__ import annotations

import json
import socket
from dataclasses import dataclass

import pytest

from bot_sdk.client import Arena as Client
from bot_sdk.games.record import Record, read, verify
from service.store.entities import Game
from service.store.ledger import LedgerLine
from tests.integration.arena import Arena, wait_until
from tests.integration.hostile_bots import KINDS, HostileBot, Kind, answer
from tests.service.outbound.hostile import reply

BUDGET_MS = 300
SLACK_MS = 400  # what a busy machine may add to a deadline
LIMITS = {"budget_ms": BUDGET_MS, "first_budget_ms": BUDGET_MS}
MAX_FAULTS = 5
TABLES = {"seven_up": 2, "river": 4}
QUIET = {"SLAGVELD_LEASE_MS": "15000", "SLAGVELD_RENEW_MS": "5000"}


@dataclass(frozen=True)
class Played:
    """A game that a hostile bot has played at seat 1 against healthy ones."""

    kind: Kind
    bot: HostileBot
    game: Game
    record: Record
    ledger: list[LedgerLine]

    @property
    def events(self):
        """The hostile seat's decisions, in order."""
        events = [event for deal in self.record.deals for event in deal.events]
        return [event for event in events if event["seat"] == 1 and "action" in event]

    @property
    def asked(self):
        """Those of them that weren't made for a retired seat."""
        return [event for event in self.events if event["outcome"] != "retired"]


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Play all games side by side: each waits for its own bot only."""
    bots, ids = {}, {}
    folder = tmp_path_factory.mktemp("hostile") / "arena"
    with Arena(folder, bots=["house:greedy"] * 3, **QUIET) as arena:
        arena.start_worker()
        arena.start_api()
        try:
            for name, kind in KINDS.items():
                for ruleset, seats in TABLES.items():
                    bot = bots[name, ruleset] = HostileBot(kind.misbehave)
                    shown = arena.register(f"bot_{name}_{ruleset}".replace(" ", "_"), name, bot.url)
                    table = ["bot_0", shown.id, "bot_1", "bot_2"][:seats]
                    ids[name, ruleset] = (shown.id, arena.start_game(ruleset, table, LIMITS))
            games = [game_id for _, game_id in ids.values()]
            wait_until(
                lambda: all(game.state.is_end for game in arena.store.games.get_many(games)), 30, "all games to end"
            )
            yield {key: _played(arena, KINDS[key[0]], bots[key], *ids[key]) for key in ids}
        finally:
            for bot in bots.values():
                bot.close()


def _played(arena, kind, bot, bot_id, game_id):
    with Client(arena.api.address) as client:
        record = read(client.record(game_id))
    wait_until(lambda: arena.store.ledger.endings(bot_id, limit=1), 5, "a settled game")
    lines, _ = arena.store.ledger.lines(bot_id, limit=100)
    if kind.asks:
        wait_until(lambda: bot.ended(game_id) is not None, 5, "news of the end")
    return Played(kind, bot, arena.store.games.get(game_id), record, lines[::-1])


@pytest.fixture(params=[(name, ruleset) for name in KINDS for ruleset in TABLES], ids="-".join)
def one(played, request):
    return played[request.param]


def test_the_seat_retires_after_five_faults_by_name(one):
    verify(one.record)
    outcomes = [event["outcome"] for event in one.asked]
    assert outcomes == ["ok"] * one.kind.good + [one.kind.outcome] * MAX_FAULTS
    assert [seat.retired for seat in one.record.seats] == [seat == 1 for seat in range(len(one.record.seats))]


def test_the_game_ends_as_its_rules_say(one):
    assert one.record.status == "finished"
    if one.record.ruleset == "seven_up":
        assert one.record.ended_by == "retirement"
        assert one.record.places == [1, 2]
        assert one.events == one.asked
    else:
        assert one.record.ended_by == "play"
        assert one.record.places[1] == 4
        assert {event["outcome"] for event in one.events[len(one.asked) :]} == {"retired"}
        assert len(one.record.deals) == 15


def test_healthy_players_are_never_charged(one):
    events = [event for deal in one.record.deals for event in deal.events]
    assert {event["outcome"] for event in events if event["seat"] != 1 and "outcome" in event} == {"ok"}


def test_no_decision_takes_longer_than_its_budget(one):
    for event in one.asked:
        assert event["ms"] <= BUDGET_MS + SLACK_MS
        assert (event["ms"] >= BUDGET_MS) == (event["outcome"] == "late")
    assert one.game.ended_at - one.game.started_at <= MAX_FAULTS * (BUDGET_MS + SLACK_MS) + 10_000


def test_the_owner_finds_each_decision_in_the_ledger_and_why(one):
    assert [(line.action, line.outcome, line.ms) for line in one.ledger] == [
        (event["action"], event["outcome"], event["ms"]) for event in one.asked
    ]
    assert [line.decision_id for line in one.ledger] == [f"{one.game.id}.1.{n}" for n in range(len(one.asked))]
    for line in one.ledger[one.kind.good :]:
        assert one.kind.error in line.error
        assert line.status == one.kind.status
        assert (line.head or "").startswith(one.kind.head)


def test_the_bot_is_told_how_its_last_decision_went(one):
    kind, decisions = one.kind, one.bot.decisions
    expected = [name for n in range(len(one.asked)) for name in [n] * (1 if n < kind.good else kind.asks)]
    if not kind.asks:
        expected.append(kind.good)  # the one it died of
    assert [each["decision_id"] for each in decisions] == [f"{one.game.id}.1.{n}" for n in expected]
    assert one.bot.webhook_ids == [f"msg_{each['decision_id']}" for each in decisions]
    lasts = [None, *({"ms": event["ms"], "outcome": event["outcome"]} for event in one.asked)]
    assert [each["last"] for each in decisions] == [lasts[n] for n in expected]
    assert {each["budget_ms"] for each in decisions} == {BUDGET_MS}


def test_the_bot_is_told_how_its_game_ended(one):
    told = one.bot.ended(one.game.id)
    if not one.kind.asks:
        assert told is None
        return
    retired = len(one.events) - len(one.asked)
    assert told["outcomes"] == {one.kind.outcome: MAX_FAULTS} | ({"retired": retired} if retired else {})
    assert (told["state"], told["totals"], told["places"]) == ("finished", one.record.totals, one.record.places)


# --- in tournaments ---------------------------------------------------------------------------------------------------


@pytest.fixture
def dead_url():
    """An address where nobody listens: its port stays bound, so that nobody else gets it."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}/"


def test_a_tournament_with_a_dead_bot_finishes_and_says_why(tmp_path, dead_url):
    with Arena(tmp_path / "arena", bots=["house:greedy"] * 3, **QUIET) as arena:
        healthy, limits = ["bot_0", "bot_1", "bot_2"], {"budget_ms": 5_000, "first_budget_ms": 5_000}
        for ruleset in TABLES:  # one each: what it does in one tournament suspends it for the other
            arena.register(f"bot_dead_{ruleset}", "dead", dead_url)
        names = {
            "seven_up": arena.launch("pairs", "seven_up", 2, 6, [*healthy, "bot_dead_seven_up"], limits),
            "river": arena.launch("tables", "river", 4, 1, [*healthy, "bot_dead_river"], limits),
        }
        arena.start_worker()
        arena.start_api()
        wait_until(lambda: all(map(arena.is_finished, names.values())), 30, "both tournaments to end")
        with Client(arena.api.address) as client:
            for ruleset, name in names.items():
                check_results(arena.store.tournaments.results(name), ruleset)
                check_standings(client.standings(name), f"bot_dead_{ruleset}")
                for line in client.records(name):
                    verify(read(line))


def check_results(results, ruleset):
    for result in results:
        dead = f"bot_dead_{ruleset}"
        seat = result.bots.index(dead) if dead in result.bots else None
        assert result.retired == [n == seat for n in range(len(result.bots))]
        assert result.forfeited == []
        for n, outcomes in enumerate(result.outcomes):
            faults = {name: times for name, times in outcomes.items() if name not in {"ok", "retired"}}
            assert faults == ({"unreachable": MAX_FAULTS} if n == seat else {})
        if seat is not None:
            assert result.ended_by == ("retirement" if ruleset == "seven_up" else "play")
            assert result.places[seat] == len(result.bots)


def check_standings(shown, dead_id):
    *healthy, dead = shown["items"]
    assert shown["is_final"]
    assert (dead["bot_id"], dead["wins"]) == (dead_id, 0)
    assert dead["outcomes"]["unreachable"] == MAX_FAULTS * dead["games"]
    assert dead["outcomes"].keys() <= {"unreachable", "retired"}
    assert [row["outcomes"].keys() for row in healthy] == [{"ok"}] * 3


# --- batches ----------------------------------------------------------------------------------------------------------

PARTS = ("good", "missing", "doubled", "illegal", "strange")


def part_of(message):
    """Say how this bot plays a game: always alike, by its id."""
    return PARTS[sum(message["game"]["id"].encode()) % len(PARTS)]


def items(message):
    """Answer one decision of a batch as its game is played."""
    good = json.loads(answer(message))
    others = {
        "good": [good],
        "missing": [],
        "doubled": [good, good],
        "illegal": [good | {"action": "fold"}],
        "strange": [good | {"action": ["play"]}],
    }
    return others[part_of(message)]


def answers_in_part(_bot, connection, message):
    """Answer a batch in part; single decisions well."""
    if message["type"] == "decision":
        connection.sendall(reply(answer(message)))
        return True
    unknown = {"decision_id": "gam_other.0.0", "action": "fold"}
    actions = [unknown, *(item for each in message["decisions"] for item in items(each)), "no item"]
    connection.sendall(reply(json.dumps({"actions": actions}).encode()))
    return True


NAMED = {"missing": "late", "doubled": "bad_reply", "illegal": "illegal", "strange": "bad_reply"}


def test_a_batch_answered_in_part_costs_only_the_decisions_it_fails(tmp_path):
    bot = HostileBot(answers_in_part)
    try:
        with Arena(tmp_path / "arena", bots=["house:greedy"], batch=64, **QUIET) as arena:
            arena.register("bot_part", "part", bot.url, max_batch=16)
            limits = {"budget_ms": 10_000, "first_budget_ms": 10_000}
            name = arena.launch("pairs", "seven_up", 2, 40, ["bot_0", "bot_part"], limits)
            arena.start_worker()
            wait_until(lambda: arena.is_finished(name), 30, "the tournament to end")
            results = arena.store.tournaments.results(name)
    finally:
        bot.close()
    batches = [each["decisions"] for each in bot.decisions if each["type"] == "decisions"]
    assert max(map(len, batches)) > len(PARTS)
    assert max(map(len, batches)) <= 16
    check_each_game_alone(results, {each["game"]["id"]: each for batch in batches for each in batch})


def check_each_game_alone(results, batched):
    seen = set()
    for result in results:
        seat = result.bots.index("bot_part")
        assert result.outcomes[1 - seat].keys() <= {"ok"}
        part = part_of(batched[result.game_id]) if result.game_id in batched else "good"
        faults = {outcome: times for outcome, times in result.outcomes[seat].items() if outcome != "ok"}
        assert faults.keys() <= {NAMED.get(part)}
        assert result.retired[seat] == (sum(faults.values()) == MAX_FAULTS)
        seen.add(part if faults or part == "good" else None)
    assert seen - {None} == set(PARTS)
