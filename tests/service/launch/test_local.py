from __future__ import annotations

import ipaddress

from limits import parse_many

from service.config import Settings
from service.launch import local


def test_defaults_make_an_arena_for_this_machine():
    settings = Settings.from_env(local.unset({}))
    assert settings.bot_networks == (ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1"))
    assert settings.accounts == "open"
    assert settings.anonymous_games
    assert settings.max_open_games >= 100


def test_defaults_are_rates_that_no_local_user_meets():
    settings = Settings.from_env(local.unset({}))
    for rates in (settings.rate_per_address, settings.rate_per_token):
        assert all(rate.amount / rate.get_expiry() >= 100 for rate in parse_many(rates))


def test_what_is_set_stays_and_what_is_empty_counts_as_unset():
    chosen = local.unset({"SLAGVELD_ACCOUNTS": "invite", "SLAGVELD_BOT_NETWORKS": " "})
    assert "SLAGVELD_ACCOUNTS" not in chosen
    assert chosen["SLAGVELD_BOT_NETWORKS"] == "127.0.0.0/8,::1/128"


def test_every_default_is_said():
    told = local.told(local.DEFAULTS)
    assert len(told) == len(local.DEFAULTS)
    assert all(name in line for name, line in zip(local.DEFAULTS, told, strict=True))
