from __future__ import annotations

import dataclasses
import inspect
import ipaddress

import pytest

from service.config import Settings, SettingsError

SECRETS = [field.metadata["variable"] for field in dataclasses.fields(Settings) if not field.repr]


def test_nothing_set_is_closed_and_complete():
    settings = Settings.from_env({})
    assert settings.accounts == "invite"
    assert settings.bot_networks == ()
    assert not settings.anonymous_games
    assert settings.admin_token is None


def test_every_setting_is_read_under_its_own_name_and_documented():
    fields = dataclasses.fields(Settings)
    variables = [field.metadata["variable"] for field in fields]
    assert len(set(variables)) == len(variables)
    assert all(name == "REDIS_URL" or name.startswith("SLAGVELD_") for name in variables)
    lines = [line.strip() for line in inspect.getsource(Settings).splitlines()]
    for field in fields:
        at = next(n for n, line in enumerate(lines) if line.startswith(f"{field.name}: "))
        assert lines[at + 1].startswith('"""'), field.name


@pytest.mark.parametrize(
    ("variable", "value", "field", "expected"),
    [
        ("REDIS_URL", "unix:///run/v.sock?db=2", "broker_url", "unix:///run/v.sock?db=3"),
        ("SLAGVELD_METRICS", "127.0.0.1:9100", "metrics", ("127.0.0.1", 9100)),
        ("SLAGVELD_METRICS", "[::1]:0", "metrics", ("::1", 0)),
        ("REDIS_URL", "redis://cache:6379", "broker_url", "redis://cache:6379/1"),
        ("REDIS_URL", "redis://cache:6379/0", "broker_url", "redis://cache:6379/1"),
        ("SLAGVELD_BROKER_URL", "redis://jobs:6379/0", "broker_url", "redis://jobs:6379/0"),
        ("SLAGVELD_BOT_NETWORKS", "10.1.0.0/16, ::1/128", "bot_networks",
         (ipaddress.ip_network("10.1.0.0/16"), ipaddress.ip_network("::1/128"))),
        ("SLAGVELD_KEY", "ab" * 32, "key", b"\xab" * 32),
        ("SLAGVELD_ANONYMOUS_GAMES", "Yes", "anonymous_games", True),
        ("SLAGVELD_PUBLIC_URL", "https://arena.example/", "public_url", "https://arena.example"),
        ("SLAGVELD_LEASE_MS", " 20000 ", "lease_ms", 20_000),
        ("SLAGVELD_CORS_ORIGINS", "https://a.example,http://b:8080", "cors_origins",
         ("https://a.example", "http://b:8080")),
        ("SLAGVELD_ADMIN_TOKEN", "", "admin_token", None),
    ],
)  # fmt: skip
def test_a_setting_is_parsed(variable, value, field, expected):
    assert getattr(Settings.from_env({variable: value}), field) == expected


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("REDIS_URL", "http://cache"),
        ("SLAGVELD_METRICS", "9100"),
        ("SLAGVELD_METRICS", "127.0.0.1:99999"),
        ("SLAGVELD_METRICS", "http://127.0.0.1:9100"),
        ("SLAGVELD_METRICS", "::1:9100"),
        ("REDIS_URL", "redis://"),
        ("REDIS_URL", "redis://cache:99999/0"),
        ("REDIS_URL", "redis://cache/zero"),
        ("SLAGVELD_BOT_NETWORKS", "localhost"),
        ("SLAGVELD_BOT_NETWORKS", "10.0.0.1/8"),
        ("SLAGVELD_BOT_NETWORKS", "0.0.0.0/0"),
        ("SLAGVELD_BOT_NETWORKS", "::/0"),
        ("SLAGVELD_BOT_NETWORKS", "169.254.0.0/16"),
        ("SLAGVELD_BOT_NETWORKS", "168.0.0.0/6"),
        ("SLAGVELD_BOT_NETWORKS", "fe80::/64"),
        ("SLAGVELD_KEY", "secret"),
        ("SLAGVELD_KEY", "ab" * 31),
        ("SLAGVELD_ADMIN_TOKEN", "short"),
        ("SLAGVELD_ADMIN_TOKEN", "with a blank in thirty-two characters"),
        ("SLAGVELD_FSYNC", "sometimes"),
        ("SLAGVELD_ACCOUNTS", "closed"),
        ("SLAGVELD_ANONYMOUS_GAMES", "maybe"),
        ("SLAGVELD_RATE_PER_TOKEN", "many"),
        ("SLAGVELD_RATE_PER_TOKEN", "0 per second"),
        ("SLAGVELD_PUBLIC_URL", "arena.example"),
        ("SLAGVELD_PROXIES", "-1"),
        ("SLAGVELD_PROXIES", "9" * 5000),
        ("SLAGVELD_CALLS", "0"),
        ("SLAGVELD_LEASE_MS", "15s"),
        ("SLAGVELD_RENEW_MS", "8000"),
        ("SLAGVELD_CORS_ORIGINS", "*"),
    ],
)
def test_nonsense_stops_the_start_with_a_sentence_that_names_the_variable(variable, value):
    with pytest.raises(SettingsError) as caught:
        Settings.from_env({variable: value})
    assert variable in str(caught.value)
    assert "\n" not in str(caught.value)


def test_secrets_are_not_told_by_the_error():
    with pytest.raises(SettingsError) as caught:
        Settings.from_env({"SLAGVELD_KEY": "hunter2"})
    assert "hunter2" not in str(caught.value)


def test_secrets_are_not_told_by_the_settings():
    settings = Settings.from_env({"SLAGVELD_ADMIN_TOKEN": "x" * 40, "REDIS_URL": "redis://:hunter2@cache/0"})
    assert "xxxx" not in repr(settings)
    assert "hunter2" not in repr(settings)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("REDIS_URL", "redis://:hunter2@cache:6379/0"),
        ("SLAGVELD_BROKER_URL", "redis://:hunter2@jobs:6379/0"),
        ("SLAGVELD_KEY", "ab" * 32),
        ("SLAGVELD_ADMIN_TOKEN", "x" * 40),
        ("SLAGVELD_INVITE_CODE", "opensesame"),
    ],
)
def test_a_secret_may_stand_in_a_file(tmp_path, variable, value):
    assert variable in SECRETS
    (tmp_path / "secret").write_text(f"{value}\nmore\n")
    by_file = Settings.from_env({f"{variable}_FILE": str(tmp_path / "secret"), variable: " "})
    assert by_file == Settings.from_env({variable: value})
    assert by_file != Settings.from_env({})


def test_what_is_no_secret_stands_in_no_file(tmp_path):
    (tmp_path / "proxies").write_text("2\n")
    assert Settings.from_env({"SLAGVELD_PROXIES_FILE": str(tmp_path / "proxies")}).proxies == 0


@pytest.mark.parametrize("variable", SECRETS)
def test_a_file_that_gives_no_secret_stops_the_start(tmp_path, variable):
    (tmp_path / "empty").write_text("\nhunter2\n")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    for name in ("nowhere", "empty", "bytes", "."):
        with pytest.raises(SettingsError, match=f"{variable}_FILE, got '.*'") as caught:
            Settings.from_env({f"{variable}_FILE": str(tmp_path / name)})
        assert "hunter2" not in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("variable", SECRETS)
def test_a_secret_is_given_once(tmp_path, variable):
    (tmp_path / "secret").write_text("hunter2")
    with pytest.raises(SettingsError, match=f"expected {variable} or {variable}_FILE, got both") as caught:
        Settings.from_env({variable: "hunter2", f"{variable}_FILE": str(tmp_path / "secret")})
    assert "hunter2" not in str(caught.value)


def test_nonsense_in_a_file_is_told_without_what_it_is(tmp_path):
    (tmp_path / "secret").write_text("hunter2\n")
    with pytest.raises(SettingsError, match="set SLAGVELD_KEY right") as caught:
        Settings.from_env({"SLAGVELD_KEY_FILE": str(tmp_path / "secret")})
    assert "hunter2" not in str(caught.value)
