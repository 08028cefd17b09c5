"""The compose file, checked as far as that goes without an engine: what it names exists, and what must be closed is."""

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

from bot_sdk.bot import SECRET_VARIABLE, Bot
from service import cli as slagveld
from service.api.bodies import LARGER
from service.config import Settings
from tests.deployment import composefile
from tests.deployment.composefile import FILE, ROOT, UnknownError

COMPOSE = composefile.read()
SERVICES = COMPOSE["services"]
ONCE = [name for name, service in SERVICES.items() if service.get("restart") == "no"]
LASTING = [name for name in SERVICES if name not in ONCE]
OURS = [name for name, service in SERVICES.items() if service["image"] == "slagveld"]
PARTS = [name for name in OURS if SERVICES[name]["command"][0] == "slagveld"]
WORKERS = [name for name in PARTS if SERVICES[name]["command"][1] == "worker"]
BOTS = [name for name in OURS if SERVICES[name]["command"][0] == "gunicorn"]
STORES = ["valkey", "valkey-broker"]
VARIABLES = {each.metadata["variable"]: each for each in dataclasses.fields(Settings)}
GIVEN = {
    "ADMIN_TOKEN_FILE": "/a",
    "ARENA_KEY_FILE": "/b",
    "INVITE_CODE_FILE": "/c",
    "TLS_CERTIFICATE": "/d",
    "TLS_KEY": "/e",
}


def parsed(group, arguments):
    """Parse a command line as click does; raises what it raises for one that can't be."""
    command = group.commands[arguments[0]]
    return command.make_context(arguments[0], list(arguments[1:])).params


def mounts(name):
    """Give source and target of what a service has mounted."""
    return [tuple(volume.split(":")[:2]) for volume in SERVICES[name].get("volumes", [])]


def test_file_is_what_the_schema_allows():
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(FILE)]
    ran = subprocess.run(check, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stdout


def test_what_schema_does_not_allow_would_be_seen(tmp_path):
    (tmp_path / "docker-compose.yml").write_text(FILE.read_text().replace("read_only: true", "readonly: true"))
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    ran = subprocess.run(
        [*check, str(tmp_path / "docker-compose.yml")], capture_output=True, text=True, timeout=60, check=False
    )
    assert "readonly" in ran.stdout
    assert ran.returncode == 1


@pytest.mark.parametrize("text", ["$NAME", "${NAME}", "${NAME-x}", "${NAME:?x}"])
def test_variable_that_is_not_understood_would_be_seen(text):
    with pytest.raises(UnknownError):
        composefile._filled([text], {})


# --- confinement ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SERVICES)
def test_service_is_confined(name):
    service = SERVICES[name]
    user, _, group = service["user"].partition(":")
    assert int(user) > 0
    assert int(group) > 0
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "cap_add" not in service
    assert "privileged" not in service
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["logging"]["options"]["max-size"]


@pytest.mark.parametrize("name", SERVICES)
def test_service_has_limits(name):
    limits = SERVICES[name]["deploy"]["resources"]["limits"]
    assert set(limits) == {"cpus", "memory", "pids"}
    assert float(limits["cpus"]) <= 1  # an engine refuses more than the machine has


def bytes_of(text):
    return int(text.rstrip("MGmgb")) * {"m": 2**20, "g": 2**30}[text.lower().rstrip("b")[-1]]


@pytest.mark.parametrize("name", STORES)
def test_store_has_room_to_copy_what_changes_while_it_rewrites_its_log(name):
    command = SERVICES[name]["command"]
    most = bytes_of(command[command.index("--maxmemory") + 1])
    memory = bytes_of(SERVICES[name]["deploy"]["resources"]["limits"]["memory"])
    assert most * 2 <= memory
    for option, value in {"--appendonly": "yes", "--maxmemory-policy": "noeviction", "--dir": "/data"}.items():
        assert command[command.index(option) + 1] == value
    assert [target for _, target in mounts(name)] == ["/data"]


@pytest.mark.parametrize("name", SERVICES)
def test_image_is_pinned_to_a_version(name):
    image = SERVICES[name]["image"]
    assert image == "slagveld" or re.fullmatch(r"[a-z/]+:v?\d+\.\d+\.\d+(-[a-z.0-9]+)?", image)


@pytest.mark.parametrize("name", LASTING)
def test_service_that_lasts_is_probed_and_started_again(name):
    assert SERVICES[name]["restart"] == "unless-stopped"
    assert SERVICES[name]["healthcheck"]["test"][0] == "CMD"


def test_nothing_is_published_but_on_loopback_unless_somebody_says_so():
    published = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
    assert published == {
        "proxy": ["127.0.0.1:8000:8080", "127.0.0.1:8443:8443"],
        "prometheus": ["127.0.0.1:9090:9090"],
    }


# --- networks ---------------------------------------------------------------------------------------------------------


def networks(name):
    return set(SERVICES[name].get("networks", []))


def shared(one, other):
    return networks(one) & networks(other)


def test_only_what_calls_strangers_or_is_published_gets_out():
    internal = {name for name, network in COMPOSE["networks"].items() if (network or {}).get("internal")}
    out = {name for name in SERVICES if networks(name) - internal}
    assert out == {"proxy", "prometheus", *WORKERS}
    assert SERVICES["make-secrets"]["network_mode"] == "none"


@pytest.mark.parametrize("bot", BOTS)
def test_bot_reaches_neither_stores_nor_api(bot):
    assert networks(bot) == {"bots"}
    for closed in (*STORES, "api", "proxy", "prometheus"):
        assert not shared(bot, closed)
    for worker in WORKERS:
        assert shared(bot, worker) == {"bots"}


@pytest.mark.parametrize("store", STORES)
def test_store_is_reached_by_what_needs_it_alone(store):
    assert networks(store) == {"inside"}
    reaching = {name for name in SERVICES if shared(name, store)} - set(STORES)
    assert reaching == {*PARTS, "prometheus"}


def test_nothing_but_bots_has_an_address_that_the_arena_may_call():
    (pool,) = COMPOSE["networks"]["bots"]["ipam"]["config"]
    subnet, others = ipaddress.ip_network(pool["subnet"]), ipaddress.ip_network(pool["ip_range"])
    for name in WORKERS:
        (opened,) = Settings.from_env(SERVICES[name]["environment"]).bot_networks
        assert opened.subnet_of(subnet)
        assert not opened.overlaps(others)
        assert ipaddress.ip_address(pool["gateway"]) not in opened
        assert ipaddress.ip_address(pool["gateway"]) in subnet
    fixed = {name: ipaddress.ip_address(SERVICES[name]["networks"]["bots"]["ipv4_address"]) for name in BOTS}
    assert len(set(fixed.values())) == len(BOTS)
    assert all(address in opened for address in fixed.values())
    assert all(isinstance(SERVICES[name].get("networks", []), list) for name in SERVICES if name not in BOTS)


def test_every_dependency_network_volume_and_secret_is_there():
    for name, service in SERVICES.items():
        for other, how in service.get("depends_on", {}).items():
            assert ("healthcheck" in SERVICES[other]) is (how["condition"] == "service_healthy")
            assert (other in ONCE) is (how["condition"] == "service_completed_successfully")
        assert networks(name) <= set(COMPOSE["networks"])
        assert set(service.get("secrets", [])) <= set(COMPOSE["secrets"])
        for source, _ in mounts(name):
            assert (ROOT / source).is_file() if source.startswith(".") else source in COMPOSE["volumes"], source


# --- commands and settings --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PARTS)
def test_command_is_one_of_ours(name):
    parsed(slagveld.main, SERVICES[name]["command"][1:])


def test_a_command_that_is_none_of_ours_would_be_seen():
    with pytest.raises(click.UsageError):
        parsed(slagveld.main, ["api", "--bind", "0.0.0.0"])


def test_every_queue_has_a_worker():
    assert {SERVICES[name]["command"][-1] for name in WORKERS} == {"interactive", "tournament"}
    assert SERVICES["api"]["deploy"]["replicas"] == SERVICES["worker-tournament"]["deploy"]["replicas"] == 2


@pytest.mark.parametrize("name", BOTS)
def test_bot_is_an_example_served_by_gunicorn(name):
    *_, target = command = SERVICES[name]["command"]
    module, _, attribute = target.partition(":")
    bot = getattr(importlib.import_module(module), attribute)
    assert isinstance(bot, Bot)
    assert f"bot-{bot.name}" == name
    check = [sys.executable, "-m", "gunicorn", "--check-config", *command[1:]]
    assert subprocess.run(check, cwd=ROOT, timeout=60, check=False).returncode == 0
    assert set(SERVICES[name]["environment"]) == {f"{SECRET_VARIABLE}_FILE"}
    assert SERVICES[name]["environment"][f"{SECRET_VARIABLE}_FILE"] == f"/secrets/{bot.name}"
    assert bot.name in SERVICES["make-secrets"]["command"]
    assert f"{bot.name}=http://{name}:8100" in SERVICES["examples"]["command"]


@pytest.mark.parametrize("name", PARTS)
def test_environment_is_known(name):
    files = {f"{variable}_FILE" for variable, field in VARIABLES.items() if not field.repr}
    environment = SERVICES[name]["environment"]
    assert set(environment) <= set(VARIABLES) | files
    settings = Settings.from_env(environment)
    assert urlsplit(settings.redis_url).netloc == "valkey:6379"
    assert urlsplit(settings.broker_url).netloc == "valkey-broker:6379"
    assert settings.proxies == 1
    for store in STORES:
        assert SERVICES[name]["depends_on"][store] == {"condition": "service_healthy"}


def test_parts_agree_on_their_settings_but_for_secrets_and_the_archive():
    def plain(name):
        environment = SERVICES[name]["environment"].items()
        return {key: value for key, value in environment if not key.endswith("_FILE") and key != "SLAGVELD_ARCHIVE"}

    assert all(plain(name) == plain("api") for name in PARTS)


@pytest.mark.parametrize("name", SERVICES)
def test_secret_that_is_given_is_read_where_it_is_mounted_and_one_that_is_not_is_none(name):
    def files(compose):
        environment = compose["services"][name].get("environment", {})
        return {value for key, value in environment.items() if key.endswith("_FILE") and "/secrets/" not in value[:9]}

    given = composefile.read(GIVEN)
    assert files(COMPOSE) <= {""}
    mounted = {f"/run/secrets/{secret}" for secret in SERVICES[name].get("secrets", []) if name != "proxy"}
    assert files(given) == mounted
    sources = {secret["file"] for secret in given["secrets"].values()}
    assert sources == set(GIVEN.values())
    assert {secret["file"] for secret in COMPOSE["secrets"].values()} == {"./deploy/none"}


def test_secrets_of_the_operator_are_with_the_api_alone():
    holders = {name for name, service in SERVICES.items() if "admin_token" in service.get("secrets", [])}
    assert holders == {"api"}


# --- what is probed, published and kept where it is -------------------------------------------------------------------


def probed(name):
    """Give port and path of a service's health check."""
    url = re.search(r"http://127\.0\.0\.1:(\d+)(/[^']*)", " ".join(SERVICES[name]["healthcheck"]["test"]))
    return int(url[1]), url[2]


def test_api_is_probed_where_it_listens():
    assert probed("api") == (parsed(slagveld.main, SERVICES["api"]["command"][1:])["port"], "/health/ready")


@pytest.mark.parametrize("name", WORKERS)
def test_worker_is_probed_by_its_metrics(name):
    assert f"0.0.0.0:{probed(name)[0]}" == SERVICES[name]["environment"]["SLAGVELD_METRICS"]


def test_prometheus_reads_every_part_where_its_metrics_are():
    read = yaml.safe_load((ROOT / "deploy" / "prometheus.yml").read_text())
    found = [each for job in read["scrape_configs"] for each in job["dns_sd_configs"]]
    assert {name for each in found for name in each["names"]} == set(PARTS)
    assert {f"0.0.0.0:{each['port']}" for each in found} == {SERVICES["api"]["environment"]["SLAGVELD_METRICS"]}
    assert {target for _, target in mounts("prometheus")} > {f"/etc/prometheus/{name}" for name in read["rule_files"]}
    assert f"--config.file={mounts('prometheus')[0][1]}" in SERVICES["prometheus"]["command"]


@pytest.mark.parametrize("name", BOTS)
def test_bot_is_probed_where_it_listens(name):
    bind = SERVICES[name]["command"][SERVICES[name]["command"].index("--bind") + 1]
    assert probed(name) == (int(bind.rpartition(":")[2]), "/")


def test_proxy_listens_where_it_is_published_and_probed():
    plain, tls = ((ROOT / "deploy" / name).read_text() for name in ("listen.conf", "listen-tls.conf"))
    ports = [port.rpartition(":")[2] for port in SERVICES["proxy"]["ports"]]
    assert re.findall(r"^listen (\d+)", plain, re.MULTILINE) == ports[:1]
    assert re.findall(r"^listen (\d+)", tls, re.MULTILINE) == ports
    port, path = probed("proxy")
    assert f"listen 127.0.0.1:{port};" in (ROOT / "deploy" / "nginx.conf").read_text()
    assert path == "/health/live"
    assert (
        Settings.from_env(SERVICES["api"]["environment"]).public_url == f"http://{SERVICES['proxy']['ports'][0][:14]}"
    )


def test_one_address_cannot_fill_what_the_proxy_keeps_in_files():
    """What waits for a slow client lies in memory: all of one address fits, or others would be cut off."""
    text = (ROOT / "deploy" / "nginx.conf").read_text()
    under_way, body, answer = (
        int(re.search(pattern, text)[1])
        for pattern in (r"limit_conn clients (\d+);", r"client_max_body_size (\d+)m;", r"max_temp_file_size (\d+)m;")
    )
    (room,) = re.findall(r"/tmp:size=(\d+)m", " ".join(SERVICES["proxy"]["tmpfs"]))
    assert under_way * max(body, answer) < int(room)
    assert SERVICES["proxy"]["deploy"]["resources"]["limits"]["memory"] == "1G"
    assert int(room) < 1024 * 0.75
    assert body * 1024 * 1024 == max(LARGER.values())


def test_certificate_decides_how_the_proxy_listens():
    def listening(compose):
        return [volume for volume in compose["services"]["proxy"]["volumes"] if "listen" in volume]

    assert listening(COMPOSE) == ["./deploy/listen.conf:/etc/nginx/listen.conf:ro"]
    assert listening(composefile.read(GIVEN)) == ["./deploy/listen-tls.conf:/etc/nginx/listen.conf:ro"]


@pytest.mark.parametrize("name", WORKERS)
def test_archive_is_on_a_volume_of_the_worker(name):
    archive = Settings.from_env(SERVICES[name]["environment"]).archive
    assert mounts(name) == [("archive", archive)]


def test_folders_that_a_new_volume_takes_its_owner_from_are_in_the_image():
    made = re.search(
        r"install --directory --owner slagveld --group slagveld --mode 0700 (.+)", (ROOT / "Dockerfile").read_text()
    )
    targets = {target for name in OURS for source, target in mounts(name) if not source.startswith(".")}
    assert set(made[1].split()) == targets


def test_nothing_writes_elsewhere_than_to_volumes_and_tmp():
    for name in OURS:
        assert SERVICES[name]["tmpfs"][0].startswith("/tmp:")
        assert all(Path(target).parts[1] in {"archive", "secrets", "organiser", "deploy"} for _, target in mounts(name))


def test_commands_of_the_head_can_be_run():
    text = FILE.read_text()
    ((service, arguments),) = re.findall(r"docker compose exec (\S+) slagveld (.+)", text)
    file = parsed(slagveld.main, arguments.split())["file"]
    assert (str(file.parent),) == tuple(target for source, target in mounts(service) if source == "archive")
    assert f"docker compose cp {service}:{file} ." in text
    assert re.findall(r"--scale (\S+)=\d", text) == ["worker-tournament"]
    assert re.findall(r"--profile (\S+)", text) == SERVICES["prometheus"]["profiles"]


def test_head_names_every_variable():
    text = FILE.read_text()
    head, _, body = text.partition("\nname: slagveld\n")
    known = set(re.findall(r"\$\{([A-Z_]+)", body))
    assert set(re.findall(r"\b[A-Z][A-Z_]+\b", head)) - {"TLS"} == known
    pages = (ROOT / "docs" / "operations.md").read_text().partition("\n## Containers\n")[2]
    assert set(re.findall(r"^([A-Z_]+)=", pages, re.MULTILINE)) == known
