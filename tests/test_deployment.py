"""The image and the compose file, checked as far as that goes without an engine: what they name exists."""

from __future__ import annotations

import dataclasses
import importlib
import ipaddress
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import click
import pytest
import yaml

from bot_sdk import cli as slagbot
from bot_sdk import signing
from bot_sdk.bot import SECRET_VARIABLE, Bot
from service import cli as slagveld
from service.api.health import blp as health
from service.config import Settings

ROOT = Path(__file__).parents[1]
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES = COMPOSE["services"]
OURS = [name for name, service in SERVICES.items() if service["image"] == "slagveld"]
BOTS = [name for name in OURS if SERVICES[name]["command"][0] == "gunicorn"]
VARIABLES = {each.metadata["variable"] for each in dataclasses.fields(Settings)}


def environment_of(name):
    """Give a service's environment with the defaults that the file names."""
    given = SERVICES[name].get("environment", {})
    return {key: re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", value) for key, value in given.items()}


def parsed(group, arguments):
    """Parse a command line as click does; raises what it raises for one that can't be."""
    command = group.commands[arguments[0]]
    return command.make_context(arguments[0], list(arguments[1:])).params


@pytest.mark.parametrize("name", [name for name in OURS if name not in BOTS])
def test_command_is_one_of_ours(name):
    program, *arguments = SERVICES[name]["command"]
    assert program == "slagveld"
    parsed(slagveld.main, arguments)


def test_a_command_that_is_none_of_ours_would_be_seen():
    with pytest.raises(click.UsageError):
        parsed(slagveld.main, ["api", "--bind", "0.0.0.0"])


@pytest.mark.parametrize("name", BOTS)
def test_bot_is_an_example_served_by_gunicorn(name):
    *_, target = command = SERVICES[name]["command"]
    module, _, attribute = target.partition(":")
    bot = getattr(importlib.import_module(module), attribute)
    assert isinstance(bot, Bot)
    assert bot.name == name
    check = [sys.executable, "-m", "gunicorn", "--check-config", *command[1:]]
    assert subprocess.run(check, cwd=ROOT, timeout=60, check=False).returncode == 0


@pytest.mark.parametrize("name", OURS)
def test_environment_is_known(name):
    environment = environment_of(name)
    if name in BOTS:
        assert set(environment) == {SECRET_VARIABLE}
        signing.check_secret(environment[SECRET_VARIABLE])
    else:
        assert set(environment) <= VARIABLES
        settings = Settings.from_env(environment)
        store = urlsplit(settings.redis_url)
        assert store.hostname in SERVICES
        assert store.port == 6379


def test_api_and_worker_agree_on_their_settings():
    assert environment_of("api") == environment_of("worker")


def test_only_the_network_of_the_bots_is_open():
    bots = ipaddress.ip_network(COMPOSE["networks"]["bots"]["ipam"]["config"][0]["subnet"])
    assert Settings.from_env(environment_of("worker")).bot_networks == (bots,)
    assert SERVICES["valkey"]["networks"] == ["inside"]
    assert all(SERVICES[name]["networks"] == ["bots"] for name in BOTS)
    assert set(SERVICES["worker"]["networks"]) == {"inside", "bots"}


def probed(name):
    """Give port and path of a service's health check."""
    url = re.search(r"http://127\.0\.0\.1:(\d+)(/[^']*)", " ".join(SERVICES[name]["healthcheck"]["test"]))
    return int(url[1]), url[2]


def test_api_is_probed_and_published_where_it_listens():
    port, path = probed("api")
    assert port == parsed(slagveld.main, SERVICES["api"]["command"][1:])["port"]
    assert path in paths()
    assert SERVICES["api"]["ports"] == [f"127.0.0.1:{port}:{port}"]
    public = urlsplit(Settings.from_env(environment_of("api")).public_url)
    assert public.port == port


def paths():
    specification = yaml.safe_load((ROOT / "openapi" / "service.yaml").read_text())
    assert health.name == "health"
    return set(specification["paths"])


@pytest.mark.parametrize("name", BOTS)
def test_bot_is_probed_where_it_listens(name):
    bind = SERVICES[name]["command"][SERVICES[name]["command"].index("--bind") + 1]
    assert probed(name) == (int(bind.rpartition(":")[2]), "/")


def test_archive_is_on_a_volume_that_the_worker_may_write():
    archive = Settings.from_env(environment_of("worker")).archive
    assert SERVICES["worker"]["volumes"] == [f"archive:{archive}"]
    assert "archive" in COMPOSE["volumes"]
    user = dict(instructions())["USER"]
    assert any(
        word == "RUN" and f"install --directory --owner {user} {archive}" in rest for word, rest in instructions()
    )


def test_backup_of_the_head_can_be_run():
    text = (ROOT / "docker-compose.yml").read_text()
    (arguments,) = re.findall(r"docker compose exec worker slagveld (.+)", text)
    file = parsed(slagveld.main, arguments.split())["file"]
    assert str(file.parent) == Settings.from_env(environment_of("worker")).archive


def test_lines_that_register_the_examples_can_be_run():
    text = (ROOT / "docker-compose.yml").read_text()
    lines = re.findall(r"docker compose exec (\w+) slagbot (.+)", text)
    assert {name for name, _ in lines} == set(BOTS)
    for name, arguments in lines:
        given = parsed(slagbot.main, arguments.split())
        bind = SERVICES[name]["command"][SERVICES[name]["command"].index("--bind") + 1]
        assert given["bot"] == f"http://{name}:{bind.rpartition(':')[2]}"
        assert urlsplit(given["arena"]).hostname == "api"
        assert urlsplit(given["arena"]).port == probed("api")[0]


def test_every_dependency_and_network_is_there():
    for service in SERVICES.values():
        assert set(service.get("depends_on", {})) <= set(SERVICES)
        assert all("healthcheck" in SERVICES[each] for each in service.get("depends_on", {}))
        assert set(service["networks"]) <= set(COMPOSE["networks"])


def instructions():
    text = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    return [line.split(maxsplit=1) for line in text.splitlines() if line and not line.startswith("#")]


def test_image_runs_our_command_as_nobody_special():
    last = dict(instructions())
    program, *arguments = yaml.safe_load(last["CMD"])
    assert program == "slagveld"
    assert parsed(slagveld.main, arguments)["host"] == "0.0.0.0"
    assert last["USER"] not in {"root", "0"}
    assert any(word == "RUN" and "useradd" in rest and last["USER"] in rest for word, rest in instructions())


def test_image_copies_what_exists_and_is_not_ignored():
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    for word, rest in instructions():
        if word == "COPY" and not rest.startswith("--from"):
            for source in rest.split()[:-1]:
                assert (ROOT / source).exists()
                assert source in kept
