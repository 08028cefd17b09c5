"""What the file says becomes what holds here, and what isn't understood is never passed on as it is."""

from __future__ import annotations

import pytest
import yaml

from tests.deployment import nginx_conf, prometheus_yml
from tests.deployment.composefile import ROOT, UnknownError
from tests.deployment.translating import Ground, Place, program


@pytest.fixture(scope="module")
def place():
    ground = Ground(number=3)
    ground.settle("valkey", 1)
    ground.settle("api", 2)
    ground.settle("bot-a", 1, "172.28.5.16")
    return Place(ground, ground.names["api"][1], {"/data": "/here/data", "/tmp": "/here/tmp"})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("redis://valkey:6379/0", "redis://127.64.3.128:{6379}/0"),
        ("http://bot-a:8100", "http://127.64.3.16:{8100}"),
        ("cautious=http://api:8000", "cautious=http://127.64.3.129:{8000}"),
        ("open('http://127.0.0.1:9100/metrics', timeout=4)", "open('http://127.64.3.130:{9100}/metrics', timeout=4)"),
        ("0.0.0.0:8100", "127.64.3.130:{8100}"),
        ("0.0.0.0", "127.64.3.130"),
        ("valkey:6379", "127.64.3.128:{6379}"),
        ("172.28.5.16/28", "127.64.3.16/28"),
        ("/data", "/here/data"),
        ("/data/dump.rdb", "/here/data/dump.rdb"),
        ("/dev/null", "/dev/null"),
        ("http://127.64.3.129:12345", "http://127.64.3.129:12345"),
        ("bot_sdk.examples.cautious:bot", "bot_sdk.examples.cautious:bot"),
        ("1gb", "1gb"),
        ("daemon off;", "daemon off;"),
    ],
)  # fmt: skip
def test_text_is_translated(place, text, expected):
    ports = {f"{{{port}}}": str(ours) for port, ours in place.ground.ports.items()}
    for port, ours in ports.items():
        expected = expected.replace(port, ours)
    assert place.text(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "redis://cache:6379/0",
        "redis://valkey:6380/0",
        "http://10.0.0.1:8000",
        "0.0.0.0:81",
        "10.1.2.3",
        "172.28.5.0/16",
        "172.29.0.1",
        "elsewhere:8000",
        "/etc/passwd",
        "/database",
        "--dir=/var/lib",
    ],
)
def test_what_is_not_understood_is_refused(place, text):
    with pytest.raises(UnknownError):
        place.text(text)


def test_command_is_a_known_program_with_its_port_translated(place):
    assert place.command(["python", "--port", "8000"])[1:] == ["--port", str(place.ground.ports[8000])]
    with pytest.raises(UnknownError):
        place.command(["python", "--port", "8001"])
    with pytest.raises(UnknownError):
        program("redis-server")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("  listen 8080;", "  listen 127.64.3.130:{8080};"),
        ("listen 8443 ssl;", "listen 127.64.3.130:{8443} ssl;"),
        ("    listen 127.0.0.1:8081;", "    listen 127.64.3.130:{8081};"),
        ("resolver 127.0.0.11 valid=2s;", "resolver 127.64.3.11:{53} valid=2s;"),
        ("set $arena api:8000; # why", "set $arena api:{8000}; # why"),
        ("pid /tmp/nginx.pid;", "pid /here/tmp/nginx.pid;"),
        ("server_tokens off;", "server_tokens off;"),
        ('    431 \'"code":"headers_too_large"\';', '    431 \'"code":"headers_too_large"\';'),
        ("    on 'max-age=31536000';", "    on 'max-age=31536000';"),
        ("# listen 80;", "# listen 80;"),
    ],
)
def test_directive_of_nginx_is_translated(place, line, expected):
    for port, ours in place.ground.ports.items():
        expected = expected.replace(f"{{{port}}}", str(ours))
    assert nginx_conf.translated(line, place) == f"{expected}\n"


@pytest.mark.parametrize(
    "line",
    [
        "listen [::]:8080;",
        "listen 80;",
        "listen unix:/tmp/s;",
        "resolver 1.1.1.1;",
        "set $arena elsewhere:8000;",
        "set $other api:8000;",
        "proxy_pass http://api:8000;",
        "pid /run/nginx.pid;",
        "include /etc/nginx/conf.d/*.conf;",
        "access_log /var/log/nginx/access.log;",
        "root /srv;",
        "server_tokens off; listen 80;",
        "default '/var/log';",
        "default 1.1.1.1;",
        "{{",
    ],
)
def test_directive_that_is_not_understood_is_refused(place, line):
    with pytest.raises(UnknownError):
        nginx_conf.translated(line, place)


@pytest.mark.parametrize("name", ["nginx.conf", "listen.conf", "listen-tls.conf"])
def test_our_own_configuration_is_understood(place, name):
    folders = {"/tmp": "/here/tmp", "/run/secrets/tls_certificate": "/c", "/run/secrets/tls_key": "/k"}
    translated = nginx_conf.translated(
        (ROOT / "deploy" / name).read_text(), Place(place.ground, place.address, folders)
    )
    assert "8080" not in translated


def test_targets_of_prometheus_are_told_by_address(place):
    text = """
        global: {scrape_interval: 15s}
        scrape_configs:
          - job_name: part
            dns_sd_configs: [{names: [api, valkey], type: A, port: 9100, refresh_interval: 15s}]
    """
    read = yaml.safe_load(prometheus_yml.translated(text, place))
    targets = [f"127.64.3.{last}:{place.ground.ports[9100]}" for last in (129, 130, 128)]
    assert read["scrape_configs"] == [{"job_name": "part", "static_configs": [{"targets": targets}]}]


@pytest.mark.parametrize(
    "text",
    [
        "remote_write: [{url: 'http://elsewhere'}]\nscrape_configs: []",
        "scrape_configs: [{job_name: a, static_configs: [{targets: ['api:9100']}]}]",
        "scrape_configs: [{job_name: a, dns_sd_configs: [{names: [elsewhere], type: A, port: 9100}]}]",
        "scrape_configs: [{job_name: a, dns_sd_configs: [{names: [api], type: A, port: 9101}]}]",
        "scrape_configs: [{job_name: a, dns_sd_configs: [{names: [api], type: SRV, port: 9100}]}]",
    ],
)
def test_configuration_of_prometheus_that_is_not_understood_is_refused(place, text):
    with pytest.raises(UnknownError):
        prometheus_yml.translated(text, place)
