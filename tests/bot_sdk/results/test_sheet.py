"""The results as CSV, read back by Python's own reader."""

from __future__ import annotations

import csv

import pytest
from msgspec.structs import replace

from bot_sdk.results.sheet import COLUMNS, sheet
from bot_sdk.results.values import GameState
from tests.bot_sdk.results.made import entered, game


def rows(entries, results) -> list[dict[str, str]]:
    return list(csv.DictReader(sheet(entries, results)))


def test_each_seat_of_each_game_has_a_row():
    result = game(
        "ba",
        [7, 3],
        at=(2, 3, 1),
        board="2.3",
        outcomes=[{"ok": 30}, {"ok": 20, "late": 2}],
        ended_by="play",
        ended_at=99,
        is_rated=True,
    )
    found = rows(entered("ab"), [result])
    assert [(row["seat"], row["bot_id"], row["name"], row["version"], row["total"], row["place"]) for row in found] == [
        ("0", "b", "B", "1", "7", "1"),
        ("1", "a", "A", "1", "3", "2"),
    ]
    assert {(row["round"], row["table"], row["leg"], row["attempt"], row["board"]) for row in found} == {
        ("2", "3", "1", "0", "2.3")
    }
    assert [(row["ok"], row["late"], row["illegal"]) for row in found] == [("30", "0", "0"), ("20", "2", "0")]
    assert {(row["state"], row["ended_by"], row["deals"], row["ended_at"], row["is_rated"]) for row in found} == {
        ("finished", "play", "8", "99", "1")
    }


def test_the_first_line_names_the_columns():
    assert list(sheet([], [])) == [",".join(COLUMNS) + "\r\n"]
    assert len(set(COLUMNS)) == len(COLUMNS)


def test_what_there_is_not_is_empty():
    (first, _) = rows([], [game("ab", [0, 0], state=GameState.ABORTED, versions=[None, "1"])])
    assert (first["place"], first["name"], first["version"], first["ended_by"], first["exact_bids"]) == ("",) * 5


def test_river_has_bids_forfeits_and_retirements():
    found = rows(entered("abcd"), [game("abcd", [4, 3, 2, 1], exact_bids=[9, 0, 7, 6], retired="b", forfeited="c")])
    assert [(row["exact_bids"], row["is_retired"], row["is_forfeited"]) for row in found] == [
        ("9", "0", "0"),
        ("0", "1", "0"),
        ("7", "0", "1"),
        ("6", "0", "0"),
    ]


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", '=HYPERLINK("x","y")'])
def test_names_and_versions_are_no_formulas(name):
    entry = replace(entered("a")[0], name=name)
    (first, _) = rows([entry], [game("ab", [-3, 3], versions=[name, "1"])])
    assert first["name"] == first["version"] == f"'{name}"
    assert first["total"] == "-3"


def test_commas_quotes_and_line_breaks_stay_in_their_cell():
    entry = replace(entered("a")[0], name='a, "b"\nc')
    (first, _) = rows([entry], [game("ab", [7, 3])])
    assert first["name"] == 'a, "b"\nc'
