"""The API against its own specification: schemathesis makes up requests, right and wrong, and reads the answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.config import SchemathesisConfig

from service.api import stream
from tests.attacks import schemathesis_hooks
from tests.attacks.conftest import OPEN
from tests.attacks.specified import operations
from tests.service.api.serving import serve

QUICK = settings(
    max_examples=2,
    derandomize=True,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
IN_ORDER = sorted(operations(), key=lambda each: (each.method == "DELETE", each.path == "/v1/accounts/me"))
"""What removes things comes when nobody needs them any more, and the account itself last."""
CASES = [(each.name, GenerationMode.POSITIVE) for each in IN_ORDER] + [
    (each.name, GenerationMode.NEGATIVE)
    for each in IN_ORDER
    if each.body or each.parameters or "parameters" in each.raw
]


def configured(world):
    """Tell schemathesis whose tokens to send, and which things there are."""
    tokens = {"account": world.tokens["owner"], "seat": world.tokens["seat"], "operator": world.tokens["admin"]}
    things = {f"path.{name}": thing for name, thing in world.things.items() if name != "token_id"}
    # what schemas can't say, such as which options a ruleset has, is refused by 422
    accepted = {"expected-statuses": ["2xx", 401, 403, 404, 409, 422]}
    return {
        "seed": 1,
        "cache": {"enabled": False},
        "auth": {"openapi": {scheme: {"bearer": token} for scheme, token in tokens.items()}},
        "parameters": things,
        "checks": {"positive_data_acceptance": accepted},
    }


@pytest.fixture(scope="module")
def specification(arena, builder):
    config = SchemathesisConfig.from_dict(configured(builder.world()))
    return schemathesis.openapi.from_wsgi("/openapi.json", arena, config=config)


@pytest.mark.parametrize(("name", "mode"), CASES)
def test_answers_are_as_specified(specification, monkeypatch, name, mode):
    monkeypatch.setattr(stream, "LIFE_S", 0.0)
    operation = specification.find_operation_by_id(name)

    @QUICK
    @given(operation.as_strategy(generation_mode=mode))
    def run(case):
        case.call_and_validate()

    run()


STORIES = "stateful"
"""The phase that makes its things itself, and goes by what it was answered."""


@pytest.mark.attack
@pytest.mark.parametrize("phases", ["examples,coverage,fuzzing", STORIES])
def test_the_deployed_api_is_as_specified(builder, redis_url, tmp_path, phases):
    """All checks over TCP: on examples, corners of each schema, requests made up, and stories of several."""
    config = configured(builder.world()) | ({"parameters": {}} if phases == STORIES else {})
    settings = tmp_path / "schemathesis.toml"
    settings.write_text(toml(config) + erased_alone(builder) + CARDS_WITH_LONG_NUMBERS, "utf-8")
    command = [str(Path(sys.executable).with_name("schemathesis")), "--config-file", str(settings), "--no-color", "run"]
    command += ["--checks", "all", "--phases", phases, "--max-examples", "40"]
    environment = os.environ | {"SCHEMATHESIS_HOOKS": schemathesis_hooks.__name__}
    environment |= {"PYTHONPATH": str(Path(__file__).parents[2])}
    with serve(redis_url, **OPEN) as (server, _, said):
        command += [f"{server}/openapi.json"]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not [line for line in said if b"ERROR" in line or b"Traceback" in line]


def erased_alone(builder):
    """Have who erases his account be somebody of whom nothing else is asked."""
    header = f'{{ Authorization = "Bearer {builder.account("gone")[1]}" }}'
    name = "DELETE /v1/accounts/me"
    return f'\n[[operations]]\ninclude-name = "{name}"\nheaders = {header}\n'


CARDS_WITH_LONG_NUMBERS = """
[[operations]]
include-name = "PUT /v1/bots/{bot_id}/card"
checks.positive_data_acceptance.expected-statuses = ["2xx", 400, 401, 403, 404, 409, 422]
"""
"""A card may hold what nobody knows yet, but no number of more than 19 digits, as no body may."""


def toml(values, path=""):
    """Write nested settings as TOML, of which JSON's strings and lists are a part."""
    lines = [f"{json.dumps(name)} = {json.dumps(value)}" for name, value in values.items() if not is_table(value)]
    tables = [(f"{path}.{name}".strip("."), value) for name, value in values.items() if is_table(value)]
    return "\n".join([*lines, *(f"[{name}]\n{toml(value, name)}" for name, value in tables)])


def is_table(value):
    return isinstance(value, dict)
