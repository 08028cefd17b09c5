"""Browser, arena, and pages that tell what went wrong in them."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from tests.integration.arena import Arena
from tests.web.browsing import Faults, launch


def pytest_collection_modifyitems(items):
    """All that asks for a browser is `web`."""
    for item in items:
        if Path(__file__).parent in item.path.parents and "browser" in item.fixturenames:
            item.add_marker(pytest.mark.web)


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        opened = launch(playwright)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def arena(tmp_path_factory):
    """Give a whole arena with two bots and a worker: `arena.api.address`, `arena.bot_ids`, `arena.store` …"""
    folder = tmp_path_factory.mktemp("web") / "arena"
    with Arena(folder, bots=["house:random", "house:greedy"], ids=["bot_" + letter * 26 for letter in "ab"]) as opened:
        opened.start_api()
        opened.start_worker()
        yield opened


@pytest.fixture
def open_page(browser, arena):
    """Open pages by their paths, each in a browser's profile of its own, and fail if anything goes wrong in them.

    `page.faults.expect(pattern)` lets something pass; `profile=page` opens another tab beside that page.
    """
    opened, contexts = [], []

    def begin(path, *, width=1440, height=900, dark=False, profile=None, wait="load", **more):
        if profile is None:
            context = browser.new_context(
                viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light", **more
            )
            contexts.append(context)
        else:
            context = profile.context
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.faults = Faults(page, arena.api.address)
        opened.append(page)
        page.goto(arena.api.address + path, wait_until=wait)
        return page

    yield begin
    for context in contexts:
        context.close()
    for page in opened:
        page.faults.check()
