"""Playing in the browser: the form, and whole games by keyboard, by mouse and by touch."""

from __future__ import annotations

import pytest

from tests.web.browsing import WIDTHS, check_page, shots

IS_SEAT = "**/play/gam_*"


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dark", [False, True])
def test_form_can_be_used_by_everybody(open_page, width, dark):
    page = open_page("/play", width=width, dark=dark)
    page.get_by_text("Options of the rules").first.click()
    check_page(page)
    page.get_by_label("Up and Down the River").check()
    page.get_by_label("Seats", exact=True).select_option("8")
    check_page(page)
    if width == WIDTHS[0] and not dark:
        shots(page, "play")


def test_options_follow_the_number_of_seats(open_page):
    page = open_page("/play")
    page.get_by_label("Up and Down the River").check()
    cards = page.locator("#river-start_cards")
    assert (cards.get_attribute("max"), cards.input_value()) == ("12", "8")
    page.get_by_label("Seats", exact=True).select_option("8")
    page.wait_for_function("document.querySelector('#river-start_cards').max === '6'")
    assert cards.input_value() == "6"
    assert page.get_by_label("Seat 8").is_hidden() is False


def test_what_is_wrong_is_said_at_its_field(open_page):
    page = open_page("/play")
    page.faults.expect("422")
    page.get_by_role("button", name="Deal the cards").click()
    assert page.locator("#player-wrong").inner_text() == "A name is needed."
    page.get_by_label("Your name").fill("ann")
    page.locator("#seven_up-target").evaluate("field => { field.value = 51; }")
    page.get_by_role("button", name="Deal the cards").click()
    page.get_by_text("from 1 to at most 50").wait_for()
    assert page.evaluate("document.activeElement.id") == "seven_up-target"
    assert page.locator("#seven_up-target").get_attribute("aria-invalid") == "true"
