from __future__ import annotations

import pytest

from tests.web.browsing import WIDTHS, check_page, shots


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dark", [False, True])
def test_lobby_can_be_used_by_everybody(open_page, width, dark):
    page = open_page("/", width=width, dark=dark)
    check_page(page)


def test_lobby_looks(open_page):
    shots(open_page("/"), "lobby")
