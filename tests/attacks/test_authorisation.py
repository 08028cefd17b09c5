"""Who gets in where: every operation of the specification by everybody who may ask."""

from __future__ import annotations

import json
import re

import pytest

from service.web import assets
from service.web.pages import PAGES
from tests.attacks.specified import METHODS, Operation, objects, operations
from tests.attacks.world import BOT
from tests.service.api.answers import problem

ACCOUNTS = {"owner", "owner without scopes", "other account"}
SEATS = {"seat", "other seat", "spectator", "seat before the start"}
KINDS = {
    **dict.fromkeys(ACCOUNTS, "account"),
    **dict.fromkeys(SEATS, "seat"),
    "admin": "operator",
    "none": "",
}
"""Scheme of each asker's token; the rest of them have none that is any good."""

OWNERS = {
    "revokeToken": {"owner"},
    "changeBot": {"owner"},
    "deleteBot": {"owner"},
    "createCheck": {"owner"},
    "listChecks": {"owner", "owner without scopes"},
    "showCheck": {"owner", "owner without scopes"},
    "rotateSecret": {"owner"},
    "listDecisions": {"owner", "owner without scopes"},
    "putCard": {"owner"},
    "fetchCalls": {"owner"},
    "postActions": {"owner"},
    "setGameState": {"owner", "admin"},
    "showSeat": {"seat"},
    "leaveSeat": {"seat"},
    "setEntropy": {"seat before the start"},
    "takeAction": {"seat"},
    "changeTournament": {"owner", "admin"},
    "setTournamentState": {"owner", "admin"},
    "enterBot": {"owner", "admin"},
    "withdrawBot": {"owner", "admin"},
}
"""Whose a thing is: every operation that names one stands here unless it is for everybody or the operator alone."""

ANYBODYS = {"createAccount", "joinSeat"}
"""What an account's token has nothing to do with, although it may be sent."""

NOT_YET = {"showRecord": 409, "putCard": 409, "fetchCalls": 409, "postActions": 409}
"""What can't succeed on things as they are."""

SPECIFIED = [pytest.param(each, id=each.name) for each in operations()]
CHANGERS = [
    case
    for case in SPECIFIED
    if case.values[0].method != "GET" and "account" in case.values[0].kinds and case.values[0].name not in ANYBODYS
]
TAKERS = [case for case in SPECIFIED if case.values[0].body is not None]


def admitted(operation: Operation, scope: str | None) -> set[str]:
    """Give who may call an operation on the things of `ann`, from what the specification and the table above say."""
    if operation.name in OWNERS:
        return OWNERS[operation.name]
    if not operation.is_public and operation.parameters and operation.kinds != {"operator"}:
        pytest.fail(f"say in OWNERS who may call {operation.name}")
    welcome = {who for who, kind in KINDS.items() if kind in operation.kinds}
    if scope is not None:
        welcome -= {"owner without scopes"}
    return welcome - (SEATS if "game_id" not in operation.parameters else SEATS - seats_of(operation))


def seats_of(operation: Operation) -> set[str]:
    """Give the seats of the game that an operation of all is called for."""
    return set() if operation.name == "joinSeat" else {"seat", "other seat"}


@pytest.fixture(scope="module")
def scopes(arena):
    """Give the scope that each operation needs of an account's token, by its name."""
    found = {}
    for rule in arena.url_map.iter_rules():
        view = arena.view_functions[rule.endpoint]
        if audience := getattr(view, "audience", None):
            first, *rest = view.__name__.split("_")
            found[first + "".join(part.capitalize() for part in rest)] = audience.scope
    return found


@pytest.fixture
def kept(builder):
    """Give all that the store keeps, but for counts of requests, and what the audit log has of refused acts."""
    redis = builder.store._redis

    def look():
        names = sorted(name for name in redis.scan_iter(count=10_000) if not name.startswith((b"LIMIT", b"audit:")))
        with redis.pipeline(transaction=False) as pipe:
            for name in names:
                pipe.dump(name)
            return dict(zip(names, pipe.execute(), strict=True))

    return look


@pytest.mark.parametrize("operation", SPECIFIED)
def test_everybody_gets_where_he_belongs_and_nowhere_else(builder, shared, scopes, kept, operation):
    world = shared if operation.method == "GET" else builder.world()
    welcome = admitted(operation, scopes[operation.name])
    path, body = world.filled(operation), world.body(operation)
    before = kept()
    for who in sorted(world.tokens.keys() - welcome):
        answer = builder.ask(operation.method, path, world.tokens[who], json=body)
        refusals = {401} if who in {"none", "garbage", "revoked"} else {401, 403, 404}
        assert answer.status_code in refusals, (who, answer.status_code, answer.text)
        assert answer.content_type == "application/problem+json"
    assert kept() == before, "a refused call left a trace"
    seen = {}
    for who in sorted(welcome):
        answer = builder.ask(operation.method, path, world.tokens[who], json=body, headers={"Prefer": "wait=0"})
        seen[who] = answer.status_code
        answer.close()
    assert not {401, 403, 500, 503} & set(seen.values()), seen
    is_done = NOT_YET.get(operation.name, 200)
    assert any(is_done <= status < is_done + 100 for status in seen.values()) or welcome == {"admin"}, seen


def test_an_operation_without_an_owner_is_noticed():
    forgotten = Operation("/v1/bots/{bot_id}", "PUT", "swapBot", frozenset({"account"}), {})
    with pytest.raises(pytest.fail.Exception, match="swapBot"):
        admitted(forgotten, None)


@pytest.mark.parametrize("operation", CHANGERS)
def test_what_changes_things_needs_a_scope_of_an_accounts_token(builder, shared, scopes, operation):
    assert scopes[operation.name] is not None
    answer = builder.ask(
        operation.method, shared.filled(operation), shared.tokens["owner without scopes"], json=shared.body(operation)
    )
    problem(answer, 403, "scope_needed")


PRIVATE = [case for case in SPECIFIED if case.values[0].path.startswith("/v1/bots/{bot_id}")]


@pytest.mark.parametrize("operation", PRIVATE)
def test_a_private_bot_isnt_there_for_others(builder, shared, operation):
    bot = builder.active_bot(shared.tokens["owner"], availability="private")
    path = operation.filled(shared.things | {"bot_id": bot})
    for who in ("none", "other account"):
        answer = builder.ask(operation.method, path, shared.tokens[who], json=shared.body(operation))
        assert answer.status_code == (401 if who == "none" and not operation.is_public else 404)


def test_no_list_shows_a_private_bot(builder, shared):
    bot = builder.active_bot(shared.tokens["owner"], availability="private")
    for who, token in shared.tokens.items():
        answer = builder.ask("GET", "/v1/bots?limit=100", token)
        assert (bot in answer.text) == (who in {"owner", "owner without scopes", "admin"}), who


NOBODYS = (
    "rating", "owner", "account_id", "state", "id", "created_at", "activated_at", "ended_at", "token", "token_id",
    "scopes", "is_operator", "kind", "version", "max_games", "places", "totals", "results", "secret", "root",
    "commitment", "label", "retired", "entropy", "seed", "reason", "__class__", "constructor",
)  # fmt: skip
"""What clients would like to set; where a schema knows a name it is theirs to give."""


@pytest.mark.parametrize("operation", TAKERS)
def test_nobody_assigns_what_isnt_his_to_give(builder, shared, kept, operation):
    who = next(iter(sorted(admitted(operation, None) - {"none"})))
    path, token = shared.filled(operation), shared.tokens[who]
    before = kept()
    for where, known in objects(operation.body):
        names = set(NOBODYS) - known
        if body := with_extras(shared.body(operation), where, names):
            answer = builder.ask(operation.method, path, token, json=body)
            errors = problem(answer, 422, "invalid")["errors"]
            assert {".".join(map(str, (*where, name))) for name in names} <= set(errors)
    assert kept() == before


def with_extras(body, where, names):
    """Give the body with further fields in the object at `where`, None if there is no such object in it."""
    copy = json.loads(json.dumps(body))
    inner = copy
    for step in where:
        try:
            inner = inner[step]
        except (KeyError, IndexError, TypeError):
            return None
    inner |= dict.fromkeys(names, 9_999)
    return copy


def test_what_the_arena_decides_it_decides(builder, shared):
    """What could be smuggled in beside valid fields is as the arena made it."""
    ann = shared.tokens["owner"]
    me = builder.ask("GET", "/v1/accounts/me", ann).get_json()["id"]
    bot = builder.make("POST", "/v1/bots", ann, BOT)
    assert (bot["state"], bot["account_id"], bot["activated_at"], bot["max_games"]) == ("pending", me, None, 8)
    answer = builder.ask("PATCH", f"/v1/bots/{bot['id']}", ann, json={"state": "active"})
    problem(answer, 409, "check_needed")


def test_everything_served_is_in_the_specification_or_a_page_to_read(arena):
    """What isn't specified would be tested by none of these; pages are the same for everybody, and change nothing."""
    specified = {(each.path, each.method) for each in operations()}
    pages = {each.name for each in PAGES} | {assets.files.name}
    others = {
        (rule.rule, method, rule.endpoint.split(".")[0])
        for rule in arena.url_map.iter_rules()
        for method in rule.methods & {each.upper() for each in METHODS}
        if (re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule), method) not in specified
    }
    assert ("/", "GET", "lobby") in others
    assert [each for each in others if each[0].startswith("/v1") or each[1] != "GET" or each[2] not in pages] == []
