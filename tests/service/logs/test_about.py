from __future__ import annotations

import threading

import pytest

from service.logs import about


@pytest.mark.parametrize("given", ["12345678", "a" * 64, "0f-" * 12, "6E0A1F7C-9B7E-4f7c-8c38-0b6f3a2f1c55"])
def test_a_request_keeps_the_id_that_it_came_with(given):
    assert about.name_request(given) == given


@pytest.mark.parametrize(
    "given",
    [None, "", "1234567", "a" * 65, "12345678\n", "a_b_c_d_e", "sst_abcdefgh", "héllo-wor", "١٢٣٤٥٦٧٨", "a b c d e f"],
)
def test_a_request_without_an_id_that_looks_right_gets_another_each_time(given):
    first, second = about.name_request(given), about.name_request(given)
    assert given not in {first, second}
    assert first != second
    assert about.name_request(first) == first


def test_what_one_thread_is_about_no_other_is():
    about.begin("a-request-1")
    found = []
    thread = threading.Thread(target=lambda: found.append(dict(about.ids())))
    thread.start()
    thread.join(10)
    assert found == [{}]
    about.begin(None)


@pytest.mark.parametrize(
    ("name", "field"),
    [("gam_1", "game_id"), ("trn_1", "tournament_id"), ("bot_1", "bot_id"), ("house:greedy", "bot_id")],
)
def test_an_id_says_itself_what_it_is_of(name, field):
    assert about.named(name) == {field: name}


@pytest.mark.parametrize("name", ["river", "chk_1", None, 3, ["gam_1"]])
def test_what_is_no_such_id_has_no_field(name):
    assert about.named(name) == {}
