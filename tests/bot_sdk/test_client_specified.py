"""Holds the client to the specification: every operation, all that may be sent, every field of the answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest

from bot_sdk import answers
from bot_sdk.answers import Answer
from bot_sdk.client import Arena, ArenaError, orders
from bot_sdk.messages import BotCard
from tests.bot_sdk.specified import (
    FULL,
    LEAST,
    NULLS,
    document,
    example,
    is_at,
    operations,
    parameters,
    resolved,
)
from tests.bot_sdk.stub import Stub

ACC, BOT, CHK, GAM, TRN, DLQ = "acc_1", "bot_1", "chk_1", "gam_1", "trn_1", "dead"
LIMITS = {"budget_ms": 100, "first_budget_ms": 200, "human_budget_ms": 9_000, "max_faults": 3}
CHOICES = {"rounds": 3, "challenger": BOT, "advance": 1, "max_games": 9, "sprt": {"elo0": 0, "elo1": 20},
           "invited": [ACC], "entries_per_account": 2}  # fmt: skip

CALLS = {
    "live": lambda arena: arena.live(),
    "ready": lambda arena: arena.readiness(),
    "listRulesets": lambda arena: arena.rulesets(),
    "showRuleset": lambda arena: arena.ruleset("river", seats=5),
    "showLeaderboard": lambda arena: arena.leaderboard("river", versions="all"),
    "createAccount": lambda arena: arena.create_account("ann", invite_code="please"),
    "showMe": lambda arena: arena.me(),
    "eraseMe": lambda arena: arena.erase_me(),
    "listTokens": lambda arena: arena.tokens(),
    "createToken": lambda arena: arena.create_token("ci", ["bots"]),
    "revokeToken": lambda arena: arena.revoke_token("tok_1"),
    "createBot": lambda arena: arena.create_bot(
        "b", "http://b", ["river"], transport="push", availability="private", secret="s"
    ),
    "listBots": lambda arena: arena.bots(kind="bot", owner="me", ruleset="river", state="active"),
    "showBot": lambda arena: arena.bot(BOT),
    "changeBot": lambda arena: arena.change_bot(
        BOT, name="c", transport="push", url="http://c", rulesets=["river"], availability="public", state="paused"
    ),
    "putCard": lambda arena: arena.show_card(BOT, BotCard(name="b", version="1", rulesets=["river"])),
    "fetchCalls": lambda arena: arena.fetch_calls(BOT, limit=9, wait_s=5),
    "postActions": lambda arena: arena.answer_calls(BOT, [{"id": "msg_1", "status": 500, "body": "{}"}]),
    "deleteBot": lambda arena: arena.delete_bot(BOT),
    "createCheck": lambda arena: arena.start_check(BOT),
    "listChecks": lambda arena: arena.checks(BOT),
    "showCheck": lambda arena: arena.check(BOT, CHK),
    "rotateSecret": lambda arena: arena.rotate_secret(BOT, "whsec_x"),
    "listDecisions": lambda arena: arena.decisions(BOT),
    "listRatings": lambda arena: arena.ratings(BOT),
    "listBotStatistics": lambda arena: arena.bot_statistics(BOT),
    "listBotGames": lambda arena: arena.bot_games(BOT),
    "listOpponents": lambda arena: arena.opponents(BOT, ruleset="river"),
    "createGame": lambda arena: arena.create_game(
        "river", [{"kind": "open"}], options={"hook": "off"}, start="manual", **LIMITS
    ),
    "listGames": lambda arena: arena.games(state="running", owner="me"),
    "showGame": lambda arena: arena.game(GAM),
    "setGameState": lambda arena: arena.set_game_state(GAM, "cancelled"),
    "listEvents": lambda arena: arena.events(GAM, after=7),
    "streamGame": lambda arena: arena.follow_game(GAM),
    "showRecord": lambda arena: arena.record(GAM),
    "joinSeat": lambda arena: arena.join(GAM, 1, "bob"),
    "leaveSeat": lambda arena: arena.leave(GAM, 1, "sst_1"),
    "showSeat": lambda arena: arena.seat(GAM, 1, "sst_1", wait_s=5),
    "setEntropy": lambda arena: arena.set_entropy(GAM, 1, "luck", "sst_1"),
    "takeAction": lambda arena: arena.act(GAM, 1, "gam_1.1.0", "bid:1", "sst_1"),
    "createTournament": lambda arena: arena.create_tournament(
        "t", "river", options={"hook": "off"}, format="match", deals="rotate", table_size=4, seed=1, **CHOICES, **LIMITS
    ),
    "listTournaments": lambda arena: arena.tournaments(state="open", owner="me"),
    "showTournament": lambda arena: arena.tournament(TRN),
    "changeTournament": lambda arena: arena.change_tournament(TRN, name="u", **CHOICES),
    "setTournamentState": lambda arena: arena.set_tournament_state(TRN, "running"),
    "showTournamentPlan": lambda arena: arena.plan(TRN),
    "listEntries": lambda arena: arena.entries(TRN),
    "showEntry": lambda arena: arena.entry(TRN, BOT),
    "enterBot": lambda arena: arena.enter(TRN, BOT, entropy="luck"),
    "withdrawBot": lambda arena: arena.withdraw(TRN, BOT),
    "showStandings": lambda arena: arena.standings(TRN),
    "showCrosstable": lambda arena: arena.crosstable(TRN),
    "listRounds": lambda arena: arena.rounds(TRN),
    "listBoards": lambda arena: arena.boards(TRN),
    "listTournamentGames": lambda arena: arena.tournament_games(TRN, state="running"),
    "streamTournament": lambda arena: arena.follow_tournament(TRN),
    "exportTournament": lambda arena: arena.export(TRN, "jsonl"),
    "setBotState": lambda arena: arena.set_bot_state(BOT, "disabled", reason="rude"),
    "listAccounts": lambda arena: arena.accounts(state="active", name="ann"),
    "showAccount": lambda arena: arena.account(ACC),
    "eraseAccount": lambda arena: arena.erase_account(ACC),
    "setAccountState": lambda arena: arena.set_account_state(ACC, "disabled", reason="rude"),
    "showMaintenance": lambda arena: arena.maintenance(),
    "setMaintenance": lambda arena: arena.set_maintenance(on=True, reason="a new disk"),
    "listActs": lambda arena: arena.acts(of=ACC),
    "listDeadLetters": lambda arena: arena.dead_letters(),
    "replayDeadLetter": lambda arena: arena.replay_dead_letter(DLQ),
    "deleteDeadLetter": lambda arena: arena.delete_dead_letter(DLQ),
}
"""How the client is asked for each operation, with all that may be said."""
PAGING = {"limit", "cursor"}
EVENT = {"id": 1, "event": "bid", "state": "finished"}
STREAMED = b"id: 1\ndata: " + json.dumps(EVENT).encode() + b"\n\n"


def success(operation):
    """Give status, schema and media type of what an operation answers if all is well."""
    status = next(code for code in ("200", "201", "202", "204") if code in operation["responses"])
    content = operation["responses"][status].get("content", {})
    media = next(iter(content), None)
    return int(status), content[media]["schema"] if media else None, media


def prepared(operation, form=FULL):
    """Prepare the answers of a stub to an operation: what the schema has, in that form."""
    status, schema, media = success(operation)
    if schema is None:
        return None, [(status, b"")]
    if media == "text/event-stream":
        return None, [(status, (STREAMED,), {"Content-Type": media}), (204, b"")]
    if schema.get("type") == "array":
        made = [example(schema["items"]["$ref"].rpartition("/")[2], form)]
        return made, [(status, made)]
    if "$ref" not in schema:
        return None, [(status, b'{"a":1}\n')]
    made = example(schema["$ref"].rpartition("/")[2], form)
    if "next_cursor" in made:
        made["next_cursor"] = None
    return made, [(status, made)]


@pytest.fixture(scope="module")
def carried_out():
    """Give a function that asks for an operation of an arena with prepared answers: result, and what the arena got."""
    with Stub([]) as stub, Arena(stub.url, "account", sleep=lambda _s: None) as arena:

        def run(name, script):
            stub.script, stub.got = list(script), []
            result = CALLS[name](arena)
            return list(result) if isinstance(result, Iterator) else result, stub.got

        yield run


def test_every_operation_of_the_specification_has_a_method():
    assert set(CALLS) == set(operations())


@pytest.mark.parametrize("name", CALLS)
def test_a_method_sends_what_its_operation_reads(name, carried_out):
    method, path, operation = operations()[name]
    _, script = prepared(operation)
    _, got = carried_out(name, script)
    for sent_method, sent_path, headers, body in got:
        parts = urlsplit(sent_path)
        assert sent_method == method
        assert is_at(parts.path, path)
        assert set(parse_qs(parts.query)) - PAGING == parameters(operation, "query") - PAGING
        assert ("Idempotency-Key" in headers) == ("Idempotency-Key" in parameters(operation, "header"))
        schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
        assert set(body or {}) == (set(resolved(schema)["properties"]) if schema else set())


@pytest.mark.parametrize("form", [FULL, NULLS])
@pytest.mark.parametrize("name", CALLS)
def test_an_answer_has_every_field_of_its_schema(name, form, carried_out):
    _, _, operation = operations()[name]
    made, script = prepared(operation, form)
    result, _ = carried_out(name, script)
    if made is None:
        return
    told = made["items"] if isinstance(result, list) and "items" in made else made
    assert msgspec.to_builtins(result) == told


@pytest.mark.parametrize("name", CALLS)
def test_an_answer_with_no_more_fields_than_it_must_have_is_read(name, carried_out):
    _, _, operation = operations()[name]
    made, script = prepared(operation, LEAST)
    result, _ = carried_out(name, script)
    if made is not None:
        assert result


def test_answers_are_named_like_their_schemas():
    schemas = document()["components"]["schemas"]
    for name in set(answers.__all__) - {"Answer"}:
        assert set(getattr(answers, name).__struct_fields__) == set(schemas[name]["properties"]), name


@pytest.mark.parametrize("name", [name for name in CALLS if prepared(operations()[name][2])[0] is not None])
def test_what_lacks_a_field_is_no_answer_of_an_arena(name, carried_out):
    _, _, operation = operations()[name]
    made, [(status, _)] = prepared(operation)
    short = made["items"][0] if "items" in made else made
    if not isinstance(short, dict) or "event" in short or name == "listEvents":
        return
    del short[next(iter(short))]
    with pytest.raises(ArenaError) as caught:
        carried_out(name, [(status, made)])
    assert caught.value.code == "not_an_arena"


@pytest.mark.parametrize(
    ("order", "schema", "arguments"),
    [
        (orders.SeatNew, "SeatNew", set()),
        (orders.GameOrder, "GameNew", {"ruleset", "seats"}),
        (orders.BotChange, "BotChange", set()),
        (orders.Sprt, "SprtNew", set()),
        (orders.TournamentOrder, "TournamentNew", {"name", "ruleset"}),
        (orders.TournamentChange, "TournamentChange", set()),
    ],
)
def test_what_may_be_ordered_is_typed_whole(order, schema, arguments):
    assert set(order.__annotations__) | arguments == set(document()["components"]["schemas"][schema]["properties"])


def test_fields_that_a_newer_arena_adds_are_left_out(carried_out):
    made = example("AccountView", shoe_size=43)
    result, _ = carried_out("showMe", [(200, made)])
    assert msgspec.to_builtins(result) == example("AccountView")


def test_an_answer_reads_like_json_too(carried_out):
    made = example("BotView", state="paused")
    result, _ = carried_out("showBot", [(200, made)])
    assert isinstance(result, Answer)
    assert result.state == result["state"] == "paused"
    with pytest.raises(KeyError, match="copy"):
        result["copy"]
