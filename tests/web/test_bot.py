"""Bots and leaderboards in a browser: charts that say what their tables say, by day and by night, at any width."""

from __future__ import annotations

import re

import pytest

from tests.integration.arena import Arena
from tests.service.bench import NOW
from tests.web.browsing import WIDTHS, check_page, shots, wait_for
from tests.web.career import BOTS, HERO, NEVER, full

PAGES = {
    "bot": f"/bots/{HERO}",
    "bot-markup": f"/bots/{BOTS[1]}",
    "bot-long": f"/bots/{BOTS[3]}",
    "bot-empty": f"/bots/{NEVER}",
    "bot-house": "/bots/house:greedy",
    "leaderboard": "/leaderboards/river",
    "lobby-leaders": "/",
    "leaderboard-versions": "/leaderboards/seven_up?versions=all",
}
PIXELS = """
canvas => {
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
  copy.drawImage(canvas, 0, 0);
  const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
  const seen = new Set();
  for (let at = 0; at < data.length; at += 4) if (data[at + 3] > 250) seen.add(data.slice(at, at + 3).join());
  return [...seen];
}
"""
"""The colours that are drawn."""


@pytest.fixture(scope="module")
def led(tmp_path_factory):
    """Give an arena with a past, and who can go on with it. It has no worker: whatever is shown stays."""
    with Arena(tmp_path_factory.mktemp("web") / "arena", bots=[]) as opened:
        career = full(opened.store)
        opened.start_api()
        yield opened, career


@pytest.fixture(scope="module")
def arena(led):
    return led[0]


def colour(page, name):
    """Give a colour of the page as it is drawn."""
    value = page.evaluate(f"getComputedStyle(document.body).getPropertyValue('--{name}').trim()")
    return ",".join(str(int(value[at : at + 2], 16)) for at in (1, 3, 5))


def drawn(page, figure):
    return page.locator(f"#{figure} canvas").evaluate(PIXELS)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", PAGES)
def test_page_can_be_used_by_everybody(open_page, name, width, dark):
    page = open_page(PAGES[name], width=width, dark=dark)
    if name == "bot":
        page.locator("canvas").nth(3).wait_for()
        for each in page.locator("summary").all():
            each.click()
    check_page(page)


@pytest.mark.parametrize("name", PAGES)
def test_page_looks(open_page, name):
    page = open_page(PAGES[name])
    if name.startswith("bot") and name != "bot-empty":
        page.locator("canvas").first.wait_for()
    shots(page, name)


def test_charts_are_drawn_in_the_colours_of_the_page_also_when_these_change(open_page):
    page = open_page(PAGES["bot"])
    page.locator("canvas").nth(3).wait_for()
    by_day = {colour(page, name) for name in ("accent", "accent-soft")}
    assert by_day <= set(drawn(page, "history-river"))
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("!matchMedia('(prefers-color-scheme: light)').matches")
    by_night = {colour(page, name) for name in ("accent", "accent-soft")}
    assert by_night <= set(drawn(page, "history-river"))
    assert not by_day & set(drawn(page, "history-river"))
    assert colour(page, "accent") in drawn(page, "times-river")
    assert page.locator("#history-river canvas").count() == 1


def test_charts_follow_the_width_of_the_window(open_page):
    page = open_page(PAGES["bot"], width=690)
    chart = page.locator("#times-seven_up canvas")
    before = chart.bounding_box()["width"]
    page.set_viewport_size({"width": 420, "height": 800})
    width = "document.querySelector('#times-seven_up canvas').getBoundingClientRect().width"
    wait_for(page, f"0 < {width} && {width} < {before}")
    check_page(page)


def test_what_is_pointed_at_is_told_as_the_table_has_it(open_page):
    page = open_page(PAGES["bot"])
    figure = page.locator("#times-seven_up")
    figure.locator(".u-over").hover()
    told = figure.locator(".readout").inner_text()
    found = re.fullmatch(r"(.*) to (.*): (\d+) decisions, (.*)", told)
    figure.locator("summary").click()
    row = figure.locator("tbody tr", has=page.locator(f"th:text-is('{found[1]}')"))
    assert row.locator("td").all_inner_texts() == list(found.groups()[1:])


def test_what_a_bot_does_is_shown_without_a_reload(open_page, led):
    career, bot_id = led[1], "bot_" + "y" * 26
    career.desk.bot(bot_id, name="new here", activated_at=NOW)
    page = open_page(f"/bots/{bot_id}")
    module = page.locator("script[src*=refresh]").get_attribute("src")
    refresh = f"import('{module}').then((it) => it.refresh())"
    assert page.locator("figure").count() == 0
    for games in (1, 2):
        career.play(bot_id, "house:greedy")
        page.evaluate(refresh)
        page.get_by_text(f"in its last {games} game").wait_for()
        page.locator("#times-seven_up canvas").wait_for()
        assert colour(page, "accent") in drawn(page, "times-seven_up")
    check_page(page)


def test_leaderboard_leads_to_a_bot_and_its_games_by_keyboard(open_page):
    page = open_page(PAGES["leaderboard"])
    page.locator(f"th a[href='/bots/{HERO}']").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/bots/{HERO}")
    page.locator("a[rel=next]").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**games=**")
    assert page.locator("a", has_text="Newest").is_visible()
