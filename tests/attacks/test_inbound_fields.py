"""Every field of every body, argument and header of the specification, with what has no place there."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import pytest

from service.api.bodies import LARGER, MAX_BYTES
from tests.attacks.specified import fields, operations, resolved
from tests.service.api.answers import problem

OPERATIONS = list(operations())
TAKERS = [each for each in OPERATIONS if each.body is not None]
ASKABLE = [(each, name) for each in OPERATIONS for name in each.query]
WITH_HEADERS = [each for each in OPERATIONS if each.headers]
FREE = {"entropy", "body", "id"}
"""Texts that are bytes for a shuffle, or for a worker, which judges them, and names of calls: anything goes here."""

ROOMY = {"postActions"}
"""What takes larger bodies than the rest."""

VALUES = {
    "null": [None],
    "array": [[], [["x"]]],
    "object": [{}],
    "boolean": [True],
    "number": [1.5],
    "integer": [0, -(2**63)],
    "string": ["", "1"],
}
UGLY = ["a\x00b", "\u202eevil", "a\u200fb", "a\u2028b", "x" * 10_000]
TOO_MUCH = ["x" * 100_000, 10**22, -(10**22)]
HALVES = [r'"\ud800"', r'"a\udfffb"', r'{"\ud800": 1}', "1e999", "NaN", "1" + "0" * 5_000, '"' + "\x00" + '"']
"""Texts of JSON that no writer writes."""


def kinds(schema):
    """Name the types of JSON that a schema takes."""
    schema = resolved(schema)
    if "anyOf" in schema:
        return {kind for each in schema["anyOf"] for kind in kinds(each)}
    named = schema.get("type", [])
    found = {named} if isinstance(named, str) else set(named)
    return found | ({"integer"} if "number" in found else set())


def put(body, path, value):
    """Give the body with another value at `path`, for which what is missing on the way is made."""
    copy = json.loads(json.dumps(body or {}))
    inner = copy
    for step, following in pairwise(path):
        fresh = [] if isinstance(following, int) else {}
        if isinstance(step, int):
            inner += [fresh] * (step + 1 - len(inner))
        elif inner.get(step) is None:
            inner[step] = fresh
        inner = inner[step]
    if isinstance(path[-1], int):
        inner[:] = [value]
    else:
        inner[path[-1]] = value
    return copy


def asker(operation, world):
    """Give a token that gets as far as the body."""
    if "account" in operation.kinds:
        return world.tokens["owner"]
    if "operator" in operation.kinds:
        return world.tokens["admin"]
    return world.tokens["seat before the start" if operation.name == "setEntropy" else "seat"]


@pytest.fixture
def send(builder, shared):
    """Send a body to an operation, as JSON or as it is."""

    def ask(operation, body, **kwargs):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        path, token = shared.filled(operation), asker(operation, shared)
        answer = builder.ask(operation.method, path, token, data=data, content_type="application/json", **kwargs)
        assert answer.status_code < 500, (operation.name, data[:200], answer.text)
        if answer.status_code >= 400:
            assert answer.content_type == "application/problem+json"
            assert len(answer.data) < 10_000, "an error is no echo"
        return answer

    return ask


@pytest.mark.parametrize("operation", TAKERS, ids=lambda each: each.name)
def test_a_field_takes_its_type_and_no_other(send, shared, operation):
    for path, schema in fields(operation.body):
        allowed = kinds(schema)
        wrong = [value for kind, values in VALUES.items() if kind not in allowed for value in values]
        if "number" in allowed:
            wrong = [value for value in wrong if isinstance(value, bool) or not isinstance(value, int)]
        for value in wrong:
            answer = send(operation, put(shared.body(operation), path, value))
            body = problem(answer, 422, "invalid")
            assert any(re.match(re.escape(".".join(map(str, path))), name) for name in body["errors"]), (path, value)


@pytest.mark.parametrize("operation", TAKERS, ids=lambda each: each.name)
def test_a_text_is_none_with_controls_in_it_or_of_any_length(send, shared, operation):
    for path, schema in fields(operation.body):
        if "string" in kinds(schema) and path[-1] not in FREE:
            for value in UGLY:
                answer = send(operation, put(shared.body(operation), path, value))
                assert answer.status_code in {404, 409, 422}, (path, value[:20], answer.text)


WITH_OPTIONS = [each for each in TAKERS if "options" in resolved(each.body)["properties"]]


@pytest.mark.parametrize("operation", WITH_OPTIONS, ids=lambda each: each.name)
def test_options_are_those_of_the_rules(send, shared, operation):
    for name in (*UGLY, "", "__proto__", "seats"):
        problem(send(operation, shared.body(operation) | {"options": {name: 1}}), 422, "invalid")
    for value in (*(value for values in VALUES.values() for value in values), *UGLY):
        problem(send(operation, shared.body(operation) | {"options": {"pips": value}}), 422, "invalid")


@pytest.mark.parametrize("operation", TAKERS, ids=lambda each: each.name)
def test_what_is_too_much_is_refused_before_anybody_looks(send, shared, operation):
    path, _ = next(fields(operation.body))
    for value in TOO_MUCH:
        answer = send(operation, put(shared.body(operation), path, value))
        too_much = {400, 413, 422} if operation.name in ROOMY else {400, 413}
        assert answer.status_code in too_much, (path, str(value)[:20], answer.text)
    for raw in HALVES:
        text = json.dumps(put(shared.body(operation), path, "@")).replace('"@"', raw)
        problem(send(operation, text.encode()), 400, "bad_json")


@pytest.mark.parametrize("operation", TAKERS, ids=lambda each: each.name)
def test_a_body_that_is_no_object_of_its_own_is_refused(send, shared, operation):
    valid = json.dumps(shared.body(operation)).encode()
    for body in (b"[]", b"null", b'"x"', b"1", b"true"):
        assert send(operation, body).status_code == 422
    name = next(iter(resolved(operation.body)["properties"]))
    for body in (b'{"a": 1', b"{}{}", valid + b"x", b"\xff", b"\x00", b"{'a': 1}", b"[" * 50_000):
        assert send(operation, body).status_code == 400
    problem(send(operation, f'{{"{name}": null, "{name}": null}}'.encode()), 400, "bad_json")
    problem(send(operation, f'{{"{name}": {{"a": 1, "a": 2}}}}'.encode()), 400, "bad_json")
    problem(send(operation, b"{" + b" " * max(MAX_BYTES, *LARGER.values()) + b"}"), 413, "body_too_large")


LIMITS = ["-1", "0", "101", str(10**22), "1e2", "", "٣", " 1", "+1", "1\x00"]
STRANGE = ["", "\x00", "[]", "-1", "x" * 3_000, "\u202e", "*", "é", "\ud800"]
UNFIT = ["", "\x00", "x" * 3_000, "\u202e"]
NAMES = {("listAccounts", "name")}
"""Arguments that may be any text that is a name; those are none."""


@pytest.mark.parametrize(("operation", "name"), ASKABLE, ids=lambda each: getattr(each, "name", each))
def test_an_argument_is_what_it_may_be_and_stands_once(builder, shared, operation, name):
    path, token = shared.filled(operation), asker(operation, shared)
    strange = UNFIT if (operation.name, name) in NAMES else STRANGE
    for value in LIMITS if name == "limit" else strange:
        query = f"{name}={quoted(value)}"
        answer = builder.ask(operation.method, f"{path}?{query}", token)
        problem(answer, 422, "invalid")
    problem(builder.ask(operation.method, f"{path}?{name}=1&{name}=1", token), 422, "invalid")


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: each.name)
def test_arguments_that_nobody_asked_for_are_refused(builder, shared, operation):
    path, token = shared.filled(operation), asker(operation, shared)
    for query in ("_method=DELETE", "limit[]=1", "%00", "a=" + "x" * 3_000):
        problem(builder.ask(operation.method, f"{path}?{query}", token, json={}), 422, "invalid")


@pytest.mark.parametrize("operation", WITH_HEADERS, ids=lambda each: each.name)
def test_a_header_may_hold_anything(builder, shared, operation):
    path, token, body = shared.filled(operation), asker(operation, shared), shared.body(operation)
    for name in operation.headers:
        for value in ("", "x" * 4_000, '"', "é", "wait=-1", f"wait={10**22}", "W/", ",,,"):
            answer = builder.ask(operation.method, path, token, json=body, headers={name: value, "Range": "bytes=0-"})
            assert answer.status_code < 500, (name, value, answer.text)
            answer.close()


def quoted(value):
    """Write a value into a query, half surrogates as the three bytes that they aren't."""
    return "".join(f"%{byte:02x}" for byte in value.encode("utf-8", "surrogatepass"))
