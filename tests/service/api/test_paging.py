from __future__ import annotations

import pytest

from service.api.paging import page
from service.store.errors import BadCursorError
from tests.service.api.answers import problem


@pytest.mark.parametrize("length", [0, 1, 5, 6, 7])
@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_pages_hold_each_item_once_in_order(length, limit):
    items, found, cursor = list(range(length)), [], None
    while True:
        cut = page(items, {"limit": limit, "cursor": cursor})
        found += cut["items"]
        cursor = cut["next_cursor"]
        if cursor is None:
            break
        assert len(cut["items"]) == limit
    assert found == items


def test_a_cursor_of_another_list():
    with pytest.raises(BadCursorError):
        page([], {"limit": 1, "cursor": "MDAx"})


def test_every_list_comes_in_pages(client, person):
    asking = person()
    asking("POST", "/v1/accounts/me/tokens", json={"name": "second"})
    for path in ("/v1/rulesets", "/v1/accounts/me/tokens", "/v1/bots?kind=house"):
        more = "&" if "?" in path else "?"
        whole = asking("GET", f"{path}{more}limit=100").get_json()
        assert len(whole["items"]) > 1
        assert whole["next_cursor"] is None
        found, cursor = [], ""
        while cursor is not None:
            part = asking("GET", f"{path}{more}limit=1{cursor and '&cursor='}{cursor}").get_json()
            found += part["items"]
            assert len(part["items"]) == 1
            cursor = part["next_cursor"]
        assert found == whole["items"]
        problem(asking("GET", f"{path}{more}cursor=MDAx"), 422, "invalid")
