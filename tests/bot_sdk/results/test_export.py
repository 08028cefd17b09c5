"""Exports: what is written is read, what isn't an export is refused with its line, recomputing finds what is wrong."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bot_sdk.results.export import Export, Exported, ExportError, read, write
from bot_sdk.results.intervals import share_interval
from bot_sdk.results.rated import Rated
from bot_sdk.results.ratings import fit
from bot_sdk.results.recompute import StatisticsMissingError, differences
from bot_sdk.results.standings import standings
from bot_sdk.results.values import GameState
from tests.bot_sdk.results.made import drawn, entered, game, won

ROUNDS = drawn("ab cd / e", "ac eb / d", "ae db / c")


def tournament(**changes: Any) -> Exported:
    fields = {
        "id": "trn_1",
        "name": "Friday cup",
        "ruleset": "seven_up",
        "options": {"target": 7},
        "format": "swiss",
        "deals": "field",
        "table_size": 2,
        "rounds": 3,
        "seed": 1,
        "root": "ab" * 32,
        "state": "finished",
    }
    return Exported(**fields | changes)


def made_export() -> Export:
    entries, results = entered("abcde", withdrawn="b"), won(ROUNDS)
    rows = standings(entries, results, "seven_up", seed=1, format="swiss", rounds=ROUNDS)
    return Export(tournament(), entries, ROUNDS, results, rows)


def made_river_export() -> Export:
    entries, rounds = entered("abcd"), drawn("abcd", "abcd")
    results = [
        game("abcd", [40, 30, 20, 10], at=(1, 1, 0), board="1.1", exact_bids=[4, 3, 2, 1]),
        game("abcd", [5, 6, 7, 80], at=(2, 1, 0), board="2.1", exact_bids=[4, 3, 2, 1], forfeited="d"),
    ]
    results = [replace(result, is_rated=True) for result in results]
    rows = standings(entries, results, "river", seed=1, deals="fresh", rounds=rounds)
    terms = tournament(ruleset="river", format="round_robin", deals="fresh", table_size=4)
    rated = [
        Rated(
            f"trn_1/{result.slot.board}",
            tuple((bot, "1") for bot in "abcd"),
            tuple(result.places),
            tuple(result.forfeited),
        )
        for result in results
    ]
    return Export(terms, entries, rounds, results, rows, fit(rated))


EXPORT = made_export()
RIVER = made_river_export()
LINES = list(write(EXPORT))


def changed(kind: str, change: Callable[[dict[str, Any]], Any], *, at: int = 0) -> list[bytes]:
    """Write the export with a change in the given line of a kind."""
    lines = [json.loads(line) for line in LINES]
    change([line for line in lines if kind in line][at][kind])
    return [json.dumps(line).encode() for line in lines]


def without(kind: str) -> list[bytes]:
    """Write the export without the lines of a kind, and a head that owns up to it."""
    lines = [json.loads(line) for line in LINES]
    lines[0]["counts"][kind] = 0
    return [json.dumps(line).encode() for line in lines if kind not in line]


# Writing and reading


@pytest.mark.parametrize("made", [EXPORT, RIVER], ids=["seven_up", "river"])
def test_what_is_written_is_read(made):
    assert read(write(made)) == made


def test_every_line_is_one_thing_under_its_kind():
    lines = [json.loads(line) for line in LINES]
    assert lines[0]["export"] == 1
    assert lines[0]["tournament"]["name"] == "Friday cup"
    assert lines[0]["counts"] == {"entry": 5, "round": 3, "result": 6, "standing": 5, "rating": 0}
    assert [next(iter(line)) for line in lines[1:]] == ["entry"] * 5 + ["round"] * 3 + ["result"] * 6 + ["standing"] * 5
    assert all(len(line) == 1 for line in lines[1:])


def test_a_name_with_a_line_separator_stays_on_its_line():
    made = EXPORT
    made = Export(tournament(name="a\u2028b\nc"), made.entries, made.rounds, made.results, made.standings)
    lines = list(write(made))
    assert all(line.count(b"\n") == 1 for line in lines)
    assert read(lines) == made


def test_keys_and_kinds_that_came_later_are_ignored():
    lines = [json.loads(line) for line in LINES]
    for line in lines:
        line["later"] = 1
        next(iter(value for value in line.values() if isinstance(value, dict)))["later"] = {"x": [1]}
    lines.insert(3, {"weather": {"rain": True}})
    lines[0]["counts"]["weather"] = 1
    assert read(json.dumps(line).encode() for line in lines) == EXPORT


def test_blank_lines_are_no_lines():
    lines = LINES
    assert read([*lines[:2], b"\n", b"  \r\n", *lines[2:]]) == EXPORT


# What isn't an export


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], r"line 1: expected an object, got b'': "),
        ([b"nonsense"], r"line 1: expected an object, got b'nonsense': "),
        ([b'{"record":1}'], r"line 1: expected the head of an export of format 1, got b'{\"record\":1}'"),
        ([b'{"export":2}'], r"line 1: expected the head of an export of format 1"),
        ([b'{"export":1}'], r"line 1: expected a head, got .* missing required field `tournament`"),
        ([b"\xff"], r"line 1: expected an object"),
        ([b"[" * 100_000], r"line 1: expected an object"),
    ],
)
def test_a_file_without_a_head_is_refused(lines, message):
    with pytest.raises(ExportError, match=message):
        read(lines)


def on_result(**changes: Any) -> list[bytes]:
    return changed("result", lambda result: result.update(changes))


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (changed("tournament", lambda of: of.update(ruleset="whist")), "line 1: expected a ruleset among"),
        (changed("tournament", lambda of: of.update(table_size=4)), "line 1: expected 2 seats for seven_up, got 4"),
        (changed("result", lambda of: of.pop("totals")), "line 10: expected a result, .* missing .* `totals`"),
        (on_result(state="lost"), r"line 10: expected a result, .*'lost'"),
        (on_result(totals=[1, 2, 3]), "line 10: expected totals for 2 seats, got 3"),
        (on_result(places=None), "line 10: expected places in a finished game, got none"),
        (
            on_result(state="void", is_rated=True),
            "line 10: expected a finished game if it is rated",
        ),
        (on_result(forfeited=[2]), "line 10: expected 2 different bots and forfeits by seat"),
        (on_result(bots=["a", "a"]), "line 10: expected 2 different bots"),
        (on_result(totals=[7, 10**400]), "line 10: expected points, bids and deals up to"),
        (on_result(bots=["a", "c"]), "expected at table 1 of round 1 the entries drawn there, .* got .* in game gam_"),
        (changed("result", lambda of: of["slot"].update(table=7)), "expected at table 7 of round 1"),
        (changed("result", lambda of: of["slot"].update(leg=1)), "expected a leg from 0 to 0 .* got 1 in gam_"),
        (changed("result", lambda of: of["slot"].update(leg=-1)), "expected a leg from 0 to 0 .* got -1 in gam_"),
        (without("round"), "expected at table 1 of round 1"),
        (changed("entry", lambda of: of.update(bot_id="a"), at=1), "line 3: expected each entry once, got that of 'a'"),
        (
            changed("round", lambda of: of.update(number=1), at=1),
            "line 8: expected each round once, got that of 1",
        ),
        (
            changed("result", lambda of: of["slot"].update(table=2)),
            r"line 11: .* each result once, .*\(1, 2, 0\)",
        ),
        (LINES[:-1], "expected 5 lines of kind 'standing', as line 1 says, got 4: it isn't whole"),
        ([*LINES[:-1], LINES[-1][:40]], "line 20: expected an object"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_line(lines, message):
    with pytest.raises(ExportError, match=message):
        read(lines)


@given(st.binary(max_size=60), st.integers(0, len(LINES) - 1), st.integers(0, 200))
def test_whatever_stands_in_a_line_it_is_read_or_refused(noise, at, start):
    lines = [*LINES]
    lines[at] = lines[at][:start] + noise + lines[at][start + len(noise) :]
    with suppress(ExportError):  # refused in a sentence is as good as read
        differences(read(lines))


# Recomputing


@pytest.mark.parametrize("made", [EXPORT, RIVER], ids=["seven_up", "river"])
def test_what_follows_from_the_results_agrees(made):
    assert differences(read(write(made))) == []


def test_a_changed_column_is_named():
    lines = changed("standing", lambda of: of.update(points=9.0), at=1)
    assert [(each.bot_id, each.column, each.expected, each.got) for each in differences(read(lines))] == [
        ("c", "points", 2.0, 9.0)
    ]


def test_what_stands_inside_a_column_is_named_too():
    lines = changed("standing", lambda of: (of["mean"].update(low=None), of["tiebreaks"].update(wins=7)))
    assert [(each.bot_id, each.column, each.expected, each.got) for each in differences(read(lines))] == [
        ("a", "mean.low", share_interval([1, 1, 1]).low, None),
        ("a", "tiebreaks.wins", 3.0, 7.0),
    ]


def test_a_changed_result_changes_what_follows():
    lines = changed("result", lambda of: of.update(places=[2, 1]))
    columns = {(each.bot_id, each.column) for each in differences(read(lines))}
    assert {("a", "points"), ("b", "points"), ("a", "tiebreaks.buchholz")} <= columns


def test_the_last_digits_of_an_interval_may_differ_but_no_more():
    def nudged(by: float) -> list[bytes]:
        return changed("standing", lambda of: of["mean"].update(high=of["mean"]["high"] * (1 + by)), at=1)

    assert differences(read(nudged(1e-12))) == []
    assert [each.column for each in differences(read(nudged(1e-6)))] == ["mean.high"]


def test_missing_rows_and_rows_of_nobody_are_named():
    missing = differences(read(without("standing")))
    assert [(each.bot_id, each.column, each.got) for each in missing] == [(bot, "row", None) for bot in "acedb"]
    extra = changed("standing", lambda of: of.update(bot_id="z"), at=4)
    assert [(each.bot_id, each.column) for each in differences(read(extra))] == [("b", "row"), ("z", "row")]


def test_rows_in_another_order_are_named():
    lines = list(LINES)
    first = next(at for at, line in enumerate(lines) if line.startswith(b'{"standing"'))
    lines[first : first + 2] = reversed(lines[first : first + 2])
    assert [(each.bot_id, each.column, each.expected, each.got) for each in differences(read(lines))] == [
        ("a", "position", 1, 2),
        ("c", "position", 2, 1),
    ]


def on_rating(change: Callable[[dict[str, Any]], Any]) -> list[bytes]:
    lines = [json.loads(line) for line in write(RIVER)]
    change(lines[-1]["rating"])
    return [json.dumps(line).encode() for line in lines]


def test_a_changed_rating_is_named():
    found = differences(read(on_rating(lambda rating: rating.update(rating=1700.0, games=3))))
    last = RIVER.ratings[-1]
    assert [(each.kind, each.bot_id, each.version, each.column, each.expected, each.got) for each in found] == [
        ("rating", last.bot_id, "1", "rating", last.rating, 1700.0),
        ("rating", last.bot_id, "1", "games", last.games, 3),
    ]


def test_a_rating_belongs_to_a_version():
    found = differences(read(on_rating(lambda rating: rating.update(version="2"))))
    assert [(each.version, each.column, each.got is None) for each in found] == [
        ("1", "row", True),
        ("2", "row", False),
    ]


def test_only_rated_games_are_fitted():
    lines = [json.loads(line) for line in write(RIVER)]
    for line in lines:
        if "result" in line:
            line["result"]["is_rated"] = False
    found = differences(read(json.dumps(line).encode() for line in lines))
    assert {(each.kind, each.column, each.expected) for each in found} == {("rating", "row", None)}


def test_without_ratings_none_are_recomputed():
    unrated = Export(RIVER.tournament, RIVER.entries, RIVER.rounds, RIVER.results, RIVER.standings)
    assert differences(unrated) == []


def test_ratings_ask_for_what_they_are_computed_with(monkeypatch):
    monkeypatch.setitem(sys.modules, "numpy", None)
    monkeypatch.delitem(sys.modules, "bot_sdk.results.ratings", raising=False)
    assert differences(EXPORT) == []
    with pytest.raises(StatisticsMissingError, match=r"without numpy: pip install 'slagveld\[statistics\]'"):
        differences(RIVER)


def test_games_that_came_to_nothing_are_exported_too():
    made = EXPORT
    results = [*made.results[:-1], game("db", [0, 0], state=GameState.ABORTED, at=(3, 2, 0))]
    rows = standings(made.entries, results, "seven_up", seed=1, format="swiss", rounds=ROUNDS)
    again = read(write(Export(made.tournament, made.entries, ROUNDS, results, rows)))
    assert again.results[-1].state is GameState.ABORTED
    assert differences(again) == []
