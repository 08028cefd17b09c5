"""Records: built, written, read and verified; and refused wherever they don't hold (docs/record.md)."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot_sdk.events import Outcome, Retired, RetiredBecause
from bot_sdk.games import packs, record
from bot_sdk.games.game import Game
from bot_sdk.games.record import LimitsShown, Record, RecordError, SeatShown
from bot_sdk.games.registry import ruleset
from tests.bot_sdk.tables import Table, fallback_on, fault, ok, play_game, random_event, tables

SECRET = bytes(range(32))
LABEL = "gam_r"


def started(
    name: str,
    seats: int,
    *,
    max_faults: int = 5,
    forfeited: tuple[int, ...] = (),
    secret: bytes = SECRET,
    **options: Any,
) -> Game:
    made = packs.committed(secret, LABEL, ["e"] * seats)
    return Game(ruleset(name), options, seats, made, max_faults=max_faults, forfeited=forfeited)


def recorded(game: Game, status: record.Status | None = None, secret: bytes = SECRET) -> Record:
    kinds = ["bot", "human", "house"]
    players = [SeatShown(f"p{seat}", kinds[seat % 3], None, "1") for seat in range(game.seats)]
    return record.build(
        game,
        game_id="gam_r",
        status=status or ("void" if game.void else "finished"),
        limits=LimitsShown(1000, 5000, game.max_faults),
        seats=players,
        label=LABEL,
        secret=secret,
        entropy=["e"] * game.seats,
    )


def as_json(made: Record) -> dict[str, Any]:
    return json.loads(record.encode(made))


def verify(shown: dict[str, Any]) -> Game:
    return record.verify(record.read(json.dumps(shown)))


# The games whose records are tried


def finished_river() -> Record:
    return recorded(play_game(started("river", 4, start_cards=2, schedule="down"), random.Random(3), faults=0.1))


def retired_river() -> Record:
    return recorded(play_game(started("river", 4, start_cards=2, max_faults=2), random.Random(1), faults=0.4))


def fists_river() -> Record:
    game = started("river", 5, start_cards=1, bidding="simultaneous")
    return recorded(play_game(game, random.Random(2), faults=0.1))


def forfeited_river() -> Record:
    return recorded(fallback_on(started("river", 4, start_cards=1, forfeited=(2,))))


def aborted_river() -> Record:
    return recorded(fallback_on(started("river", 4, start_cards=2), until=lambda game: len(game.log) == 20), "aborted")


def void_river() -> Record:
    game = started("river", 4, start_cards=1)
    ok(game, 1, "bid:1")
    for seat in range(4):
        game.apply(Retired(seat, RetiredBecause.LEFT))
    return recorded(game)


def finished_seven_up() -> Record:
    """Play a game with a run and discards, and another deal after it."""
    game, rng = started("seven_up", 2, target=3), random.Random(2)
    ok(game, 1, "beg")
    return recorded(play_game(game, rng, faults=0.1))


def retired_seven_up() -> Record:
    game = started("seven_up", 2, max_faults=2)
    ok(game, 1, "stand")
    while not game.is_over:
        seat = game.owed()[0]
        if seat == 0:
            fault(game, seat)
        else:
            ok(game, seat, game.fallback(seat))
    return recorded(game)


def void_seven_up() -> Record:
    game = started("seven_up", 2, max_faults=1)
    fault(game, 1)
    return recorded(game)


def forfeited_seven_up() -> Record:
    return recorded(started("seven_up", 2, forfeited=(0,)))


def cancelled_seven_up() -> Record:
    return recorded(started("seven_up", 2), "cancelled")


RECORDS = [
    finished_river, retired_river, fists_river, forfeited_river, aborted_river, void_river,
    finished_seven_up, retired_seven_up, void_seven_up, forfeited_seven_up, cancelled_seven_up,
]  # fmt: skip
each_record = pytest.mark.parametrize("make", RECORDS, ids=lambda make: make.__name__)
ENDINGS = {
    "finished_river": ("finished", "play"), "retired_river": ("finished", "play"), "fists_river": ("finished", "play"),
    "forfeited_river": ("finished", "forfeit"), "aborted_river": ("aborted", None), "void_river": ("void", None),
    "finished_seven_up": ("finished", "play"), "retired_seven_up": ("finished", "retirement"),
    "void_seven_up": ("void", None), "forfeited_seven_up": ("finished", "forfeit"),
    "cancelled_seven_up": ("cancelled", None),
}  # fmt: skip


@each_record
def test_a_record_verifies_and_reads_back(make: Any) -> None:
    made = make()
    line = record.encode(made)
    assert b"\n" not in line
    assert record.read(line) == record.read(line.decode()) == made
    assert record.encode(record.read(line)) == line
    record.verify(record.read(line))
    assert (made.status, made.ended_by) == ENDINGS[make.__name__]
    assert (made.places is None) == (made.ended_by is None)


def test_the_records_tried_hold_what_they_are_named_for() -> None:
    assert any(seat.retired for seat in retired_river().seats)
    assert [seat.forfeited for seat in forfeited_river().seats] == [False, False, True, False]
    assert {event["outcome"] for event in events_of(finished_river())} - {"ok", "retired"}
    assert any(event.get("action", "").startswith("discard:") for event in events_of(finished_seven_up()))
    assert len(finished_seven_up().deals) > 1


def events_of(made: Record) -> list[dict[str, Any]]:
    return [event for deal in made.deals for event in deal.events if "action" in event]


@given(tables(longest=3), st.sampled_from([0.0, 0.2, 0.6]), st.integers(1, 6))
def test_every_game_has_a_record_that_verifies(table: Table, faults: float, max_faults: int) -> None:
    game = started(table.ruleset, table.seats, max_faults=max_faults, **table.options)
    made = recorded(play_game(game, table.rng(), faults=faults))
    again = record.verify(record.read(record.encode(made)))
    assert (again.log, again.news) == (game.log, game.news)


@given(tables(longest=2), st.sampled_from([0.0, 0.3]), st.integers(0, 40))
def test_a_game_stopped_anywhere_has_a_record_that_verifies(table: Table, faults: float, steps: int) -> None:
    game, rng = started(table.ruleset, table.seats, **table.options), table.rng()
    for _ in range(steps):
        if game.is_over:
            return
        game.apply(random_event(game, rng, faults))
    if not game.is_over:
        for status in ("aborted", "cancelled"):
            assert record.verify(record.read(record.encode(recorded(game, status)))).log == game.log


# What a record shows


def test_options_are_shown_resolved() -> None:
    assert list(finished_seven_up().options) == [
        "target", "first_dealer", "turned_jack", "gift", "void_play", "pips", "game_tie",
    ]  # fmt: skip


def test_events_stand_in_the_order_of_the_log_within_their_deal() -> None:
    game = play_game(started("seven_up", 2, target=3), random.Random(4))
    made = recorded(game)
    assert [(event["seat"], event["action"]) for event in events_of(made)] == [
        (event.seat, event.action) for event in game.log
    ]  # fmt: skip
    for deal in made.deals:
        plays = [event for event in deal.events if event["action"].startswith("play:")]
        assert len(plays) in (0, 12)


def test_a_retirement_stands_right_after_the_fault_that_caused_it_in_the_same_deal() -> None:
    shown = as_json(retired_river())
    places = [
        (deal["events"], at) for deal in shown["deals"] for at, event in enumerate(deal["events"]) if "event" in event
    ]
    assert places
    for events, at in places:
        assert events[at] == {"event": "retired", "seat": events[at - 1]["seat"], "reason": "faults"}
        assert events[at - 1]["outcome"] not in ("ok", "retired")


def before_the_last_card_of_deal_0() -> Game:
    game = started("river", 4, start_cards=2, max_faults=1)
    return fallback_on(game, until=lambda game: len(game.log) == 4 + 2 * 4 - 1)


def test_a_retirement_by_a_fault_that_ends_a_deal_belongs_to_that_deal() -> None:
    game = before_the_last_card_of_deal_0()
    fault(game, seat := game.owed()[0])
    made = recorded(game, "aborted")
    assert made.deals[0].events[-1] == {"event": "retired", "seat": seat, "reason": "faults"}
    assert made.deals[1].events == []
    record.verify(made)


def test_a_seat_that_leaves_between_deals_leaves_in_the_new_one() -> None:
    game = fallback_on(before_the_last_card_of_deal_0(), until=lambda game: game.state.deal_number == 1)
    game.apply(Retired(2, RetiredBecause.LEFT))
    made = recorded(game, "aborted")
    assert made.deals[1].events == [{"event": "retired", "seat": 2, "reason": "left"}]
    record.verify(made)


def test_points_are_the_net_change_of_each_deal() -> None:
    for make in RECORDS:
        running = [0] * len(make().seats)
        for deal in make().deals:
            running = [total + gained for total, gained in zip(running, deal.points, strict=True)]
            assert deal.totals == running
        assert make().totals == running


def test_a_deal_that_a_turned_jack_ended_at_once_has_no_events() -> None:
    secret = next(
        secret
        for secret in (bytes([n]) * 32 for n in range(256))
        if started("seven_up", 2, target=1, secret=secret).is_over
    )
    made = recorded(started("seven_up", 2, target=1, secret=secret), secret=secret)
    assert [(deal.events, deal.points, deal.void) for deal in made.deals] == [([], [1, 0], False)]
    assert (made.status, made.ended_by, made.places) == ("finished", "play", [1, 2])
    record.verify(made)


def test_records_of_a_whole_list_are_json_lines_though_notes_hold_line_separators() -> None:
    game = started("seven_up", 2, target=3)
    notes = "one\u2028two\u2029three\x85four\nfive"
    while not game.is_over:
        seat = game.owed()[0]
        game.apply(game.judged(seat, game.fallback(seat), ms=1.0, note=notes))
    line = record.encode(recorded(game))
    read = [record.read(each) for each in (line + b"\n" + line + b"\n").split(b"\n") if each]
    assert len(read) == 2
    assert {event["note"] for event in events_of(read[1])} == {notes}
    record.verify(read[1])


# What verify refuses

CANT_TELL = re.compile(
    r"game_id|seats\.\d+\.(name|kind|bot_id|version)|limits\.\w+|options\.\w+"
    r"|deals\.\d+\.events\.\d+\.(action|ms|note)"
)
"""Where one changed byte may leave another valid game: docs/record.md, *What verify can't tell*."""

OTHERS = {
    **dict.fromkeys("0123456789", "0123456789"),
    **dict.fromkeys("TJQKA", "23456789TJQKA"),
    **dict.fromkeys("CDHS", "CDHS"),
}


def leaves(shown: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """List every plain value with its path."""
    if isinstance(shown, dict | list):
        pairs = shown.items() if isinstance(shown, dict) else enumerate(shown)
        for key, value in pairs:
            yield from leaves(value, f"{path}.{key}" if path else str(key))
    else:
        yield path, shown


def changed_paths(one: dict[str, Any], other: dict[str, Any]) -> set[str]:
    first, second = dict(leaves(one)), dict(leaves(other))
    return {path for path in first.keys() | second.keys() if first.get(path) != second.get(path)}


def is_accepted(line: bytes) -> bool:
    try:
        record.verify(record.read(line))
    except RecordError:
        return False
    return True


def one_byte_changed(line: bytes, rng: random.Random, count: int) -> Iterator[bytes]:
    """Change each byte in turn: to another of its kind (digit, rank, suit, letter), and to anything; or to one of both.

    `count` says to how many.
    """
    for at, byte in enumerate(line):
        kind = OTHERS.get(chr(byte), "abcdefghijklmnopqrstuvwxyz")
        alike = rng.choice([ord(other) for other in kind if ord(other) != byte])
        anything = rng.choice([other for other in range(32, 127) if other not in (byte, alike)])
        for other in rng.sample((alike, anything), count):
            yield line[:at] + bytes([other]) + line[at + 1 :]


@each_record
def test_one_changed_byte_is_refused_but_where_verify_can_not_tell(make: Any) -> None:
    check_changed(make, 1)


@pytest.mark.soak
@each_record
def test_one_changed_byte_is_refused_whether_it_becomes_one_of_its_kind_or_anything(make: Any) -> None:
    check_changed(make, 2)


def check_changed(make: Any, count: int) -> None:
    line = record.encode(make())
    shown = json.loads(line)
    for changed in one_byte_changed(line, random.Random(5), count):
        if is_accepted(changed):
            paths = changed_paths(shown, json.loads(changed))
            assert [path for path in paths if not CANT_TELL.fullmatch(path)] == [], changed


def put(shown: dict[str, Any], path: str, value: Any) -> bytes:
    """Write a record with another value at a path; `shown` is as before."""
    *way, last = path.split(".")
    at: Any = shown
    for key in way:
        at = at[int(key)] if isinstance(at, list) else at[key]
    place = int(last) if isinstance(at, list) else last
    before, at[place] = at[place], value
    line = json.dumps(shown).encode()
    at[place] = before
    return line


def every_byte_changed(text: str) -> Iterator[str]:
    for at, letter in enumerate(text):
        for other in OTHERS.get(letter, "0123456789abcdef"):
            if other != letter:
                yield text[:at] + other + text[at + 1 :]


PROVEN = re.compile(
    r"fairness\.(secret|commitment|label|entropy\.\d+)|deals\.\d+\.(number|dealer|void|points\.\d+|totals\.\d+|deck\.\d+)"
    r"|totals\.\d+|places\.\d+|seats\.\d+\.(retired|forfeited)"
)


@each_record
def test_secret_deck_points_totals_and_places_are_refused_with_anything_else_in_their_place(make: Any) -> None:
    shown = as_json(make())
    tried = [(path, value) for path, value in leaves(shown) if PROVEN.fullmatch(path)]
    assert tried
    rng = random.Random(8)
    for path, value in tried:
        if isinstance(value, bool):
            others: list[Any] = [not value]
        elif isinstance(value, int):
            others = [value + 1, value - 1, value + 10]
        else:
            changes = list(every_byte_changed(value))
            others = [*rng.sample(changes, min(len(changes), 2)), value.swapcase(), value + " ", ""]
        for other in others:
            if other == value or (path.endswith("forfeited") and is_untouched(shown, path)):
                continue
            assert not is_accepted(put(shown, path, other)), (path, other)


def is_untouched(shown: dict[str, Any], path: str) -> bool:
    """Tell whether a seat of an unfinished game has no decision yet, so that it may as well have forfeited."""
    seat = int(path.split(".")[1])
    return shown["status"] in {"aborted", "cancelled"} and all(
        event["seat"] != seat for deal in shown["deals"] for event in deal["events"]
    )


@each_record
def test_every_byte_of_the_secret_is_proven(make: Any) -> None:
    shown = as_json(make())
    secret = shown["fairness"]["secret"]
    for at, digit in enumerate(secret):
        other = secret[:at] + "0123456789abcdef"[int(digit, 16) ^ 1] + secret[at + 1 :]
        assert not is_accepted(put(shown, "fairness.secret", other))


@each_record
def test_every_byte_of_an_outcome_is_read(make: Any) -> None:
    shown = as_json(make())
    for path, value in leaves(shown):
        if path.endswith(".outcome"):
            for at in range(len(value)):
                other = value[:at] + ("x" if value[at] != "x" else "y") + value[at + 1 :]
                assert not is_accepted(put(shown, path, other))


@each_record
def test_another_outcome_is_accepted_only_as_another_fault_or_a_first_action(make: Any) -> None:
    shown = as_json(make())
    for path, value in leaves(shown):
        if not path.endswith(".outcome"):
            continue
        for other in Outcome:
            if other != value and is_accepted(put(shown, path, other.value)):
                assert other.is_fault or other is Outcome.OK
                assert Outcome(value).is_fault or value == "ok"


@each_record
def test_another_action_is_accepted_only_if_it_was_chosen_and_was_legal(make: Any) -> None:
    made = make()
    shown = as_json(made)
    game = Game(
        ruleset(made.ruleset), made.options, len(made.seats), packs.committed(SECRET, LABEL, made.fairness.entropy),
        max_faults=made.limits.max_faults, forfeited=[n for n, seat in enumerate(made.seats) if seat.forfeited],
    )  # fmt: skip
    legal = []
    for event in record.verify(made).log:
        if not isinstance(event, Retired):
            legal.append(set(game.state.legal_actions(event.seat)))
            game.apply(event)
        elif game.retired[event.seat] is None:
            game.apply(event)
    values = dict(leaves(shown))
    paths = [path for path in values if path.endswith(".action")]
    for path, could in zip(paths, legal, strict=True):
        value, outcome = values[path], values[path.replace("action", "outcome")]
        for other in {*every_byte_changed(value), *could} - {value}:
            if is_accepted(put(shown, path, other)):
                assert other in could
                assert outcome == "ok"


@pytest.mark.parametrize("make", [make for make in RECORDS if make().status == "finished" and events_of(make())])
def test_a_missing_or_doubled_event_is_refused(make: Any) -> None:
    shown = as_json(make())
    for number, deal in enumerate(shown["deals"]):
        for at, event in enumerate(deal["events"]):
            for events in ([], [event, event]):
                twin = copy.deepcopy(shown)
                twin["deals"][number]["events"][at : at + 1] = events
                assert not is_accepted(json.dumps(twin).encode())


@pytest.mark.parametrize("make", RECORDS)
def test_events_in_another_order_are_refused_unless_either_could_come_first(make: Any) -> None:
    shown = as_json(make())
    for number, deal in enumerate(shown["deals"]):
        for at in range(len(deal["events"]) - 1):
            twin = copy.deepcopy(shown)
            events = twin["deals"][number]["events"]
            one, two = events[at : at + 2]
            if one == two:
                continue
            events[at : at + 2] = [two, one]
            if is_accepted(json.dumps(twin).encode()):
                kinds = {event.get("action", "left").split(":")[0] for event in (one, two)}
                assert kinds in ({"bid"}, {"discard"}) or "left" in kinds or one["seat"] == two["seat"], (one, two)


@each_record
def test_a_missing_an_added_and_a_moved_deal_are_refused(make: Any) -> None:
    shown = as_json(make())
    deals = shown["deals"]
    for changed in (deals[1:], deals[:-1], [*deals, deals[-1]], [*deals[1:], deals[0]] if len(deals) > 1 else []):
        assert not is_accepted(json.dumps({**shown, "deals": changed}).encode())


@each_record
def test_every_missing_and_every_unknown_field_is_refused(make: Any) -> None:
    shown = as_json(make())
    optional = {"bot_id", "version", "retired", "forfeited"}
    spots = [shown, shown["limits"], shown["seats"][0], shown["fairness"], shown["deals"][0], shown["options"]]
    spots += shown["deals"][0]["events"][:1]
    for spot in spots:
        for name in list(spot):
            value = spot.pop(name)
            if name not in optional:
                assert not is_accepted(json.dumps(shown).encode()), name
            spot[name] = value
        spot["colour"] = 1
        assert not is_accepted(json.dumps(shown).encode())
        del spot["colour"]
    assert is_accepted(json.dumps(shown).encode())


@each_record
def test_another_status_or_ending_is_refused(make: Any) -> None:
    shown = as_json(make())
    stopped = {"aborted", "cancelled"}
    for status in ("finished", "void", "aborted", "cancelled"):
        for ended_by in ("play", "retirement", "forfeit", None):
            same = status == shown["status"] or {status, shown["status"]} == stopped
            accepted = is_accepted(json.dumps({**shown, "status": status, "ended_by": ended_by}).encode())
            assert accepted == (same and ended_by == shown["ended_by"])


@pytest.mark.parametrize("ms", [3.14, 1049.0, -1.0])
def test_a_time_that_no_log_could_hold_is_refused(ms: float) -> None:
    with pytest.raises(RecordError, match="two significant digits"):
        record.verify(record.read(put(as_json(finished_river()), "deals.0.events.0.ms", ms)))


def test_a_refusal_says_where_and_what_was_expected() -> None:
    shown = as_json(finished_river())
    right = shown["deals"][0]["points"][1]
    wrong = json.loads(put(shown, "deals.0.points.1", right + 1))
    with pytest.raises(RecordError, match=rf"^expected record.deals\[0\].points\[1\] to be {right}, got {right + 1}$"):
        verify(wrong)


# What read refuses


@pytest.mark.parametrize(
    "line",
    ["", "null", "[]", "{}", "NaN", '{"record":2}', "\ufeff{}", b"\xff\xfe", '{"options":' + '{"a":' * 100_000],
    ids=["empty", "null", "list", "object", "nan", "format 2", "bom", "no utf-8", "deep"],
)
def test_what_is_no_record_is_refused(line: bytes | str) -> None:
    with pytest.raises(RecordError, match="expected a record of format 1"):
        record.read(line)


def test_options_nested_too_deep_are_refused() -> None:
    line = record.encode(cancelled_seven_up()).replace(b'"target":7', b'"target":' + b"[" * 100_000 + b"]" * 100_000)
    with pytest.raises(RecordError, match="expected a record of format 1"):
        record.read(line)


anything = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(RECORDS), st.integers(0, 10**6), anything)
def test_anything_in_place_of_a_value_is_refused_by_a_record_error_or_holds(make: Any, at: int, value: Any) -> None:
    shown = as_json(make())
    paths = [path for path, _ in leaves(shown)]
    is_accepted(put(shown, paths[at % len(paths)], value))


def test_building_takes_retired_and_forfeited_from_the_game() -> None:
    game = started("river", 4, start_cards=1, forfeited=(1,))
    game.apply(Retired(0, RetiredBecause.LEFT))
    fallback_on(game)
    lied = [SeatShown(f"p{seat}", "human", retired=True, forfeited=True) for seat in range(4)]
    made = record.build(
        game, game_id="g", status="finished", limits=LimitsShown(1, 1, 5), seats=lied, label=LABEL, secret=SECRET,
        entropy=["e"] * 4,
    )  # fmt: skip
    assert [(seat.retired, seat.forfeited) for seat in made.seats] == [
        (True, False), (False, True), (False, False), (False, False),
    ]  # fmt: skip
    record.verify(made)


def test_a_record_is_one_struct_that_msgspec_can_describe() -> None:
    assert msgspec.json.schema(Record)["$defs"]["Record"]["additionalProperties"] is False
