from __future__ import annotations

import html
import re

import pytest

from bot_sdk.games.registry import RULESETS
from service.api.tournaments import TournamentNew
from service.tournaments.formats import FORMATS

PATH = "/tournaments/new"


@pytest.fixture
def text(client):
    answer = client.get(PATH)
    assert answer.status_code == 200
    return html.unescape(answer.text)


def names(text):
    form = text[text.index('<form id="tournament"') :]
    return set(re.findall(r'<(?:input|select|textarea) [^>]*\bname="([^"]+)"', form))


def test_form_has_a_control_for_every_setting_of_a_tournament(text):
    schema = TournamentNew()
    nested = {f"sprt.{name}" for name in schema.fields["sprt"].schema.fields}
    options = {f"options.{name}" for rules in RULESETS.values() for name in rules.options_schema()["properties"]}
    assert names(text) == (set(schema.fields) - {"options"}) | nested | options


def test_every_control_says_its_limits(text):
    for said in (
        "1 to 64 characters",
        "1 to 1,000. Left blank",
        "0 to 9,007,199,254,740,991",
        "50 to 30,000. Left blank: 1,000",
    ):
        assert said in text
    assert "-1,000 to 1,000" in text
    assert "0.0001 to 0.5. Left blank: 0.05" in text


def test_formats_say_what_they_take(text):
    for name, each in FORMATS.items():
        (control,) = re.findall(rf'<input type="radio" name="format" value="{name}"[^>]*>', text)
        assert f'data-deals="{" ".join(each.deals)}"' in control
        assert f'data-settings="{" ".join(sorted(each.settings))}"' in control


def test_options_have_the_bounds_of_each_table(text):
    for size in RULESETS["river"].options_schema(4), RULESETS["river"].options_schema(8):
        most = size["properties"]["start_cards"]["maximum"]
        assert f"1 to {most}. Left blank: {size['properties']['start_cards']['default']}." in text


def test_every_label_belongs_to_a_control_and_ids_are_unique(text):
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'<label for="([^"]+)"', text)) <= set(ids)
    described = {each for said in re.findall(r'aria-describedby="([^"]+)"', text) for each in said.split()}
    assert described <= set(ids)


@pytest.mark.parametrize(
    ("environment", "asks_for_a_code", "makes_accounts"),
    [
        ({"SLAGVELD_ACCOUNTS": "open"}, False, True),
        ({"SLAGVELD_ACCOUNTS": "invite", "SLAGVELD_INVITE_CODE": "let-me-in-please"}, True, True),
        ({"SLAGVELD_ACCOUNTS": "invite"}, False, False),
    ],
)
def test_accounts_are_offered_as_they_can_be_had(make_app, environment, asks_for_a_code, makes_accounts):
    text = make_app(**environment).test_client().get(PATH).text
    assert ('name="invite_code"' in text) is asks_for_a_code
    assert ('id="join"' in text) is makes_accounts
    assert "let-me-in" not in text


def test_form_is_told_to_need_a_script_and_how_to_do_without(text):
    assert re.search(r"<noscript>.*slagveld tournament create", text)
