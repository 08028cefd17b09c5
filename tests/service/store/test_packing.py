"""The packed form of a game: whatever can stand in a log comes back as it was, but for when it was committed."""

from __future__ import annotations

import random
import zlib
from pathlib import Path

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot_sdk.events import Decided, Event, Outcome, Retired, RetiredBecause, quantised
from bot_sdk.games.registry import RULESETS
from bot_sdk.results.values import GameState, Slot
from service.store import packed, packing
from service.store.entities import Game, Limits, Seat
from service.store.errors import DamagedError
from service.store.packing import PackingError
from tests.bot_sdk.tables import play_game, tables

SECRET = bytes(range(32))
GOLDEN = Path(__file__).parent / "golden"
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
ID = "gam_aaaaaaaaaaaaaaaaaaaaaaaaaa"
HASHES = st.binary(min_size=32, max_size=32).map(bytes.hex)
IDS = st.text("abcdefghijklmnopqrstuvwxyz234567", min_size=26, max_size=26)
TIMES = st.one_of(
    st.floats(0, 1e7).map(quantised),
    st.floats(0.05, 60).map(quantised),
    st.floats(allow_nan=False, allow_infinity=False),
)


def decisions(seats):
    actions = st.one_of(st.sampled_from(sorted(packing.ALPHABET)), TEXT)
    notes = st.one_of(st.none(), TEXT)
    return st.builds(Decided, st.integers(0, seats - 1), actions, st.sampled_from(Outcome), TIMES, notes)


def retirements(seats):
    return st.builds(Retired, st.integers(0, seats - 1), st.sampled_from(RetiredBecause))


logs = st.integers(2, 8).flatmap(
    lambda seats: st.tuples(
        st.just(seats), st.lists(st.one_of(decisions(seats), decisions(seats), retirements(seats)), max_size=60)
    )
)


@st.composite
def games(draw, seats):
    tournament = "trn_" + draw(IDS)
    slot = Slot(
        tournament_id=tournament, round=draw(st.integers(1, 99)), table=1, board="1.1", is_shared=draw(st.booleans())
    )
    kinds = st.sampled_from(["bot", "house", "human", "open"])
    optional = st.one_of(st.none(), TEXT)
    owners = st.one_of(st.none(), IDS.map("acc_".__add__))
    at = st.integers(0, 2**45)
    return Game(
        id="gam_" + draw(IDS),
        ruleset=draw(st.sampled_from(sorted(RULESETS))),
        options=draw(st.dictionaries(TEXT, st.one_of(st.integers(-(2**31), 2**31), TEXT, st.booleans()), max_size=6)),
        seats=[
            Seat(
                kind=draw(kinds),
                name=draw(TEXT),
                bot_id=draw(optional),
                version=draw(optional),
                account_id=draw(owners),
            )
            for _ in range(seats)
        ],
        limits=draw(st.builds(Limits, budget_ms=st.integers(50, 30_000), max_faults=st.integers(1, 100))),
        label=draw(st.one_of(st.just(f"{tournament}/1.1"), TEXT)),
        commitment=draw(st.one_of(HASHES, TEXT)),
        entropy=draw(st.lists(TEXT, max_size=80)),
        owner=draw(owners),
        forfeited=draw(st.lists(st.integers(0, seats - 1), unique=True)),
        slot=draw(st.one_of(st.none(), st.just(slot))),
        state=draw(st.sampled_from([state for state in GameState if state.is_end])),
        created_at=draw(at),
        started_at=draw(at),
        ended_at=draw(at),
    )


def game_of(seats, game_id=ID, **changes):
    values = {
        "ruleset": "river",
        "options": {},
        "seats": [Seat(kind="bot", name=f"bot {n}", bot_id=f"bot_{n}", version="1") for n in range(seats)],
        "label": game_id,
        "commitment": "00" * 32,
        "entropy": [""] * seats,
        "state": GameState.FINISHED,
        "created_at": 1_700_000_000_000,
        "started_at": 1_700_000_000_000,
        "ended_at": 1_700_000_060_000,
    }
    return Game(id=game_id, **(values | changes))


# --- events -----------------------------------------------------------------------------------------------------------


@given(logs)
def test_events_come_back_as_they_were(drawn):
    seats, events = drawn
    kept = packed.pack(game_of(seats), events, SECRET)
    assert packed.unpack(ID, kept.value, kept.notes) == (game_of(seats), events, SECRET)
    assert (kept.notes is None) == all(getattr(event, "note", None) is None for event in events)


@given(tables(), st.floats(0, 0.4), st.integers(0, 2**32))
def test_every_game_that_can_be_played_comes_back_as_it_was(table, faults, seed):
    rng = random.Random(seed)
    game = play_game(table.game(), rng, faults=faults)
    events = [
        msgspec.structs.replace(event, ms=quantised(rng.lognormvariate(3, 2))) if isinstance(event, Decided) else event
        for event in game.log
    ]
    kept = packed.pack(game_of(game.seats), events, SECRET)
    assert packed.unpack(ID, kept.value, kept.notes)[1] == events


def test_all_actions_of_all_games_take_little_room():
    assert {action for rules in RULESETS.values() for action in rules.state.ACTIONS} <= packing.ALPHABET


@pytest.mark.parametrize("seat", [-1, 4])
def test_seat_that_is_not_at_the_table_cannot_be_packed(seat):
    with pytest.raises(PackingError, match="expected seats from 0 to 3"):
        packed.pack(game_of(4), [Decided(seat, "bid:0")], SECRET)


# --- the game ---------------------------------------------------------------------------------------------------------


@given(st.integers(2, 8).flatmap(games), st.one_of(st.none(), TEXT))
def test_game_comes_back_as_it_was_but_for_what_was_needed_to_call_its_bots(game, shown):
    called = [msgspec.structs.replace(seat, url="https://bots.example/", max_batch=64) for seat in game.seats]
    kept = packed.pack(msgspec.structs.replace(game, seats=called), [], SECRET, shown=shown)
    assert packed.game_of(game.id, kept.value) == game
    assert packed.unpack(game.id, kept.value, kept.notes) == (game, [], SECRET)
    assert packed.shown_by(game.id, kept.value) == shown
    assert b"bots.example" not in zlib.decompressobj(-12, packed._TYPICAL).decompress(kept.value[5:])


NOTED = [Decided(0, "bid:1", note="héllo 🂡"), Decided(1, "bid:0", note="mine"), Retired(1, RetiredBecause.LEFT)]


def test_notes_of_some_seats_can_be_taken_out():
    kept = packed.pack(game_of(2), NOTED, SECRET, shown="word")
    fewer = packed.without_notes(ID, kept.value, kept.notes, {0})
    assert [event.note for event in packed.unpack(ID, fewer.value, fewer.notes)[1][:2]] == [None, "mine"]
    none = packed.without_notes(ID, fewer.value, fewer.notes, {1})
    assert none.notes is None
    assert [event.note for event in packed.unpack(ID, none.value, None)[1][:2]] == [None, None]
    assert packed.shown_by(ID, none.value) == "word"


def test_seats_can_be_renamed_and_all_else_stays():
    kept = packed.pack(game_of(2), NOTED, SECRET, shown="word")
    seats = [msgspec.structs.replace(seat, name="erased") for seat in game_of(2).seats]
    renamed = msgspec.structs.replace(game_of(2), seats=seats)
    value = packed.with_game(kept.value, renamed)
    assert packed.unpack(ID, value, kept.notes) == (renamed, NOTED, SECRET)
    assert packed.shown_by(ID, value) == "word"


# --- damage -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def kept():
    return packed.pack(game_of(2), NOTED, SECRET)


def test_no_changed_byte_passes_for_a_game(kept):
    for at in range(len(kept.value)):
        for bit in range(8):
            value = bytearray(kept.value)
            value[at] ^= 1 << bit
            with pytest.raises(DamagedError):
                packed.unpack(ID, bytes(value), kept.notes)


def test_nothing_cut_short_or_made_longer_passes_for_a_game(kept):
    for value in (*(kept.value[:end] for end in range(len(kept.value))), kept.value + b"\0"):
        with pytest.raises(DamagedError):
            packed.game_of(ID, value)


def test_game_under_the_key_of_another_is_damaged(kept):
    with pytest.raises(DamagedError, match="damaged or of another game"):
        packed.game_of(ID[:-1] + "b", kept.value)


def test_notes_that_are_gone_or_changed_are_missed(kept):
    for notes in (None, b"", kept.notes[:-1], kept.notes + b"\0"):
        with pytest.raises(DamagedError, match="expected the notes"):
            packed.unpack(ID, kept.value, notes)


@given(
    order=st.binary(max_size=9),
    number=st.binary(max_size=9),
    seats=st.binary(max_size=9),
    times=st.binary(max_size=9),
    spelled=st.lists(TEXT, max_size=2).map(tuple),
)
@example(order=bytes([0]), number=b"\xff", seats=b"", times=b"\0", spelled=())
@example(order=bytes([16, 255]), number=b"", seats=b"", times=b"\0" * 17, spelled=())
def test_streams_that_do_not_fit_each_other_are_told_of(order, number, seats, times, spelled):
    """Whatever stands there gives events that pack the same again, or an error that says so."""
    streams = packing.Packed(order, number, seats, (0, 1, 2, 3), bytes(len(times)), times, spelled)
    try:
        events = packing.unpack(streams, 4)
    except PackingError:
        return
    assert packing.unpack(packing.pack(events, 4), 4) == events


def test_form_that_is_yet_to_come_is_named(kept):
    with pytest.raises(DamagedError, match="expected a game packed in form 1, got b'\\\\x02'"):
        packed.game_of(ID, b"\2" + kept.value[1:])


# --- what was packed before -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["packed-1-river", "packed-1-seven_up"])
def test_game_packed_in_an_earlier_form_is_read_for_ever(name):
    """These files were written once and never change; another form gets files of its own."""
    golden = msgspec.json.decode((GOLDEN / f"{name}.json").read_bytes())
    game = msgspec.convert(golden["game"], Game)
    value, notes = bytes.fromhex(golden["value"]), bytes.fromhex(golden["notes"])
    expected = msgspec.convert(golden["events"], list[Event])
    assert packed.unpack(game.id, value, notes) == (game, expected, SECRET)
    assert packed.shown_by(game.id, value) == golden["shown"]
