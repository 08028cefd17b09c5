"""The page of the API's specification. Any inline style or script that Swagger UI needed would be refused, and told."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.web.browsing import WIDTHS, check_page, shots


@pytest.fixture
def docs(open_page):
    def begin(**how):
        page = open_page("/docs", wait="commit", **how)
        page.wait_for_selector(".opblock-tag", timeout=60_000)
        return page

    return begin


@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_can_be_read_by_everybody(docs, width):
    page = docs(width=width)
    check_page(page)
    if width == WIDTHS[0]:
        shots(page, "docs")


def test_an_operation_can_be_tried(docs):
    page = docs()
    page.click(".opblock-tag[data-tag='rulesets']")
    page.click("#operations-rulesets-listRulesets .opblock-summary-control")
    page.click("#operations-rulesets-listRulesets .try-out__btn")
    page.click("#operations-rulesets-listRulesets .execute")
    answer = page.locator("#operations-rulesets-listRulesets .live-responses-table .response")
    expect(answer.first).to_contain_text("200", timeout=30_000)
    expect(answer.first).to_contain_text("Up and Down the River")


def test_a_token_can_be_given(docs):
    page = docs()
    page.click(".btn.authorize")
    expect(page.locator(".dialog-ux")).to_contain_text("The token of an account")
    page.fill("#auth-bearer-value >> nth=0", "slg_something")
    page.click(".dialog-ux .auth-btn-wrapper .authorize >> nth=0")
    expect(page.locator(".dialog-ux")).to_contain_text("Authorized")
