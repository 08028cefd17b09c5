"""What holds for every registered game, at every table and with every option value."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot_sdk.cards import NAMES, SUITS
from bot_sdk.events import Decided, Event
from bot_sdk.games.base import NOBODY, IllegalAction, State, drawn
from bot_sdk.games.game import Game
from bot_sdk.games.registry import ruleset
from tests.bot_sdk.tables import (
    Table,
    cards_shown,
    choose,
    fixed_order,
    play_game,
    play_out,
    random_event,
    renamed,
    renaming,
    snapshot,
    tables,
)

FAULTS = st.sampled_from([0.0, 0.1, 0.5])
JUNK: list[Any] = [
    "", "play", "play:", "play:10H", "PLAY:QH", "bid:13", "bid:-1", "bid:01", "stand ", "\0", None, 3, 10**5000,
    ["stand"], b"stand",
]  # fmt: skip


@given(tables(longest=12))
def test_every_unfinished_state_has_an_actor_and_every_actor_a_legal_action(table: Table) -> None:
    def check(state: State) -> None:
        actors = state.actors()
        assert bool(actors) != state.is_over
        assert actors == sorted(set(actors))
        assert [seat for seat in range(table.seats) if state.legal_actions(seat)] == actors

    play_out(table.state(), table.rng(), check)


@given(tables())
def test_legal_actions_come_in_the_fixed_order_without_doubles(table: Table) -> None:
    def check(state: State) -> None:
        for seat in state.actors():
            places = [fixed_order(action) for action in state.legal_actions(seat)]
            assert places == sorted(set(places))

    play_out(table.state(), table.rng(), check)


@given(tables(longest=12))
def test_masks_codes_and_texts_say_the_same_actions(table: Table) -> None:
    def check(state: State) -> None:
        for seat in range(table.seats):
            codes = [code for code in range(len(state.ACTIONS)) if state.mask(seat) >> code & 1]
            assert state.codes(seat) == codes
            assert state.legal_actions(seat) == [state.ACTIONS[code] for code in codes]
            assert [action for action in state.ACTIONS if state.is_legal(seat, action)] == state.legal_actions(seat)
            if codes:
                assert state.first_legal(seat) == state.ACTIONS[codes[0]]
        for stranger in (-1, table.seats):
            assert state.mask(stranger) == 0
        assert state.actor == (state.actors()[0] if state.actors() else NOBODY)
        assert state.legal == state.mask(state.actor)

    play_out(table.state(), table.rng(), check)


@given(tables(longest=3))
def test_steps_make_the_same_game_as_applied_texts(table: Table) -> None:
    stepped, applied, rng = table.state(), table.state(), table.rng()
    while stepped.actor != NOBODY:
        seat, code = stepped.actor, drawn(stepped.legal, rng.random)
        stepped.step(seat, code)
        applied.apply(seat, applied.ACTIONS[code])
    assert snapshot(stepped) == snapshot(applied)


@given(st.sets(st.integers(0, 107), min_size=1), st.floats(0, 1, exclude_max=True))
def test_a_code_is_drawn_by_its_place_in_the_mask(codes: set[int], at: float) -> None:
    mask = sum(1 << code for code in codes)
    assert drawn(mask, lambda: at) == sorted(codes)[int(at * len(codes))]


@given(tables())
def test_tricks_are_the_cards_played_cut_by_their_leaders(table: Table) -> None:
    def check(state: State) -> None:
        seen = state.observe(None)
        shown = [(trick.leader, [NAMES[card] for card in trick.cards], trick.winner) for trick in state.tricks]
        assert shown == [(trick["leader"], trick["cards"], trick["winner"]) for trick in seen["tricks"]]
        assert state.trick.winner is None
        assert seen["trick"] in (None, {"leader": state.trick.leader, "cards": [NAMES[c] for c in state.trick.cards]})

    play_out(table.state(), table.rng(), check)


@given(tables(longest=2))
def test_any_legal_action_is_accepted(table: Table) -> None:
    def check(state: State) -> None:
        for seat in state.actors():
            for action in state.legal_actions(seat):
                state.copy().apply(seat, action)

    play_out(table.state(), table.rng(), check)


@given(tables(longest=2))
@settings(max_examples=20)
def test_apply_refuses_anything_that_is_not_legal_and_changes_nothing(table: Table) -> None:
    rng = table.rng()

    def check(state: State) -> None:
        before = snapshot(state)
        for seat in range(table.seats):
            legal = set(state.legal_actions(seat))
            tried = rng.sample([action for action in state.ACTIONS if action not in legal], 12)
            for action in [*tried, *JUNK]:
                with pytest.raises(IllegalAction):
                    state.apply(seat, action)
        for stranger in (-1, table.seats):
            with pytest.raises(IllegalAction):
                state.apply(stranger, state.ACTIONS[0])
        assert snapshot(state) == before

    play_out(table.state(), rng, check)


@given(tables())
def test_the_cards_of_all_seats_together_are_the_top_of_the_pack(table: Table) -> None:
    def check(state: State) -> None:
        shown = {*cards_shown(state.observe(None))}
        for seat in range(table.seats):
            own = cards_shown(state.observe(seat))
            assert len(own) == len(set(own))
            shown |= set(own)
        pack = table.packs()(state.deal_number)
        assert shown == {NAMES[card] for card in pack[: len(shown)]}

    play_out(table.state(), table.rng(), check)


@given(tables())
def test_hands_are_disjoint_and_no_card_shows_twice(table: Table) -> None:
    def check(state: State) -> None:
        held = [card for seat in range(table.seats) for card in state.observe(seat)["hand"]]
        discarded = [card for seat in range(table.seats) for card in state.observe(seat).get("discards", [])]
        everything = [*held, *discarded, *cards_shown(state.observe(None))]
        assert len(everything) == len(set(everything))

    play_out(table.state(), table.rng(), check)


@given(tables())
def test_every_trick_has_one_winner_and_each_seat_one_card_in_it(table: Table) -> None:
    def check(state: State) -> None:
        seen = state.observe(None)
        for trick, after in zip(seen["tricks"], [*seen["tricks"][1:], seen["trick"]], strict=False):
            assert len(trick["cards"]) == table.seats
            assert trick["winner"] in range(table.seats)
            assert after is None or after["leader"] == trick["winner"]
        won = seen.get("tricks_won")
        assert won is None or won == [
            sum(trick["winner"] == seat for trick in seen["tricks"]) for seat in range(table.seats)
        ]

    play_out(table.state(), table.rng(), check)


@given(tables())
def test_totals_are_the_sum_of_the_points_of_the_deals(table: Table) -> None:
    state = play_out(table.state(), table.rng())
    running = [0] * table.seats
    for number, deal in enumerate(state.deals):
        running = [total + gained for total, gained in zip(running, deal.points, strict=True)]
        assert (deal.number, deal.totals) == (number, running)
    assert state.totals == running
    assert state.places == [1 + sum(other > own for other in running) for own in running]


@given(tables())
def test_observations_are_json_and_say_nothing_else_after_a_round_trip(table: Table) -> None:
    def check(state: State) -> None:
        for audience in (*range(table.seats), None):
            seen = state.observe(audience)
            assert json.loads(json.dumps(seen)) == seen

    play_out(table.state(), table.rng(), check)


@given(tables())
def test_a_spectator_sees_no_hand_no_discard_and_no_hidden_bid(table: Table) -> None:
    def check(state: State) -> None:
        seen = state.observe(None)
        assert (seen["hand"], seen.get("discards")) == (None, None)
        if state.is_sealed and "bids" in seen:
            assert seen["bids"] == [None] * table.seats

    play_out(table.state(), table.rng(), check)


class Heard:
    """A game as a list of moves, so that it can be played again on other packs."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.moves: list[tuple[int, int, str]] = []

    def again(self, deal: int, pack: Sequence[int], names: dict[str, str]) -> tuple[State, list[dict[str, Any]]]:
        """Play the moves with another pack in one deal, whose cards have these names there.

        Moves aren't checked: with other hidden cards some of them might not have been legal, and still nobody who
        can't see the cards may be shown a difference.
        """
        news: list[dict[str, Any]] = []
        own = self.table.packs()
        rules = ruleset(self.table.ruleset)
        state = rules.new(
            self.table.options, self.table.seats, lambda number: pack if number == deal else own(number), news.append
        )
        for number, seat, action in self.moves:
            state.step(seat, state.CODES[renamed(action, names) if number == deal else action])
        return state, news


def shown_to(state: State, audience: int | None) -> list[Any]:
    legal = [] if audience is None else state.legal_actions(audience)
    return [state.observe(audience), state.turn(audience), legal, state.phase, state.totals, state.deal_number]


@given(tables(longest=2))
@settings(max_examples=25)
def test_nothing_shown_changes_when_unseen_cards_are_swapped(table: Table) -> None:
    rng = table.rng()
    news: list[dict[str, Any]] = []
    state = ruleset(table.ruleset).new(table.options, table.seats, table.packs(), news.append)
    heard = Heard(table)
    swapped = 0
    while True:
        for audience in (*range(table.seats), None):
            unseen = sorted(set(NAMES) - set(cards_shown(state.observe(audience))))
            mixed = rng.sample(unseen, len(unseen))
            names = dict(zip(NAMES, NAMES, strict=True)) | dict(zip(unseen, mixed, strict=True))
            pack = [NAMES.index(names[NAMES[card]]) for card in table.packs()(state.deal_number)]
            other, other_news = heard.again(state.deal_number, pack, names)
            assert shown_to(other, audience) == shown_to(state, audience)
            assert other_news == news
            swapped += unseen != mixed
        actors = state.actors()
        if not actors:
            break
        seat = rng.choice(actors)
        action = choose(rng, state.legal_actions(seat))
        heard.moves.append((state.deal_number, seat, action))
        state.apply(seat, action)
    assert swapped


def in_other_suits(seen: Any, names: dict[str, str], suits: dict[str, str]) -> Any:
    """Rename the cards and suits of an observation; hands are sorted anew."""
    if isinstance(seen, dict):
        mapped = {key: in_other_suits(value, names, suits) for key, value in seen.items()}
        for key in mapped.keys() & {"hand", "discards"}:
            mapped[key] = mapped[key] and sorted(mapped[key], key=NAMES.index)
        return mapped
    if isinstance(seen, list):
        return [in_other_suits(value, names, suits) for value in seen]
    return names.get(seen) or suits.get(seen) or seen if isinstance(seen, str) else seen


@given(tables(), st.permutations(range(4)))
def test_renaming_the_suits_gives_the_same_game_with_renamed_cards(table: Table, order: list[int]) -> None:
    names = renaming([order[card // 13] * 13 + card % 13 for card in range(52)])
    suits = {suit: SUITS[order[at]] for at, suit in enumerate(SUITS)}
    packs = table.packs()
    state = table.state()
    other = ruleset(table.ruleset).new(
        table.options, table.seats, lambda number: [NAMES.index(names[NAMES[card]]) for card in packs(number)]
    )
    rng = table.rng()
    while True:
        assert other.actors() == state.actors()
        assert other.totals == state.totals
        for audience in (*range(table.seats), None):
            assert other.observe(audience) == in_other_suits(state.observe(audience), names, suits)
        for seat in state.actors():
            legal = [renamed(action, names) for action in state.legal_actions(seat)]
            assert other.legal_actions(seat) == sorted(legal, key=fixed_order)
        if state.is_over:
            break
        seat = rng.choice(state.actors())
        action = choose(rng, state.legal_actions(seat))
        state.apply(seat, action)
        other.apply(seat, renamed(action, names))
    assert other.places == state.places


@given(tables(longest=2), st.integers(0, 10**6))
def test_the_order_of_simultaneous_actions_does_not_matter(table: Table, seed: int) -> None:
    def finished(begun: State, order: random.Random) -> str:
        """Give the state when all hidden actions are in, each seat choosing by dice of its own."""
        state, deal = begun.copy(), begun.deal_number
        dice = [random.Random(f"{seed} {seat}") for seat in range(table.seats)]
        while state.is_sealed and state.deal_number == deal:
            seat = order.choice(state.actors())
            state.apply(seat, dice[seat].choice(state.legal_actions(seat)))
        return snapshot(state)

    def check(state: State) -> None:
        if state.is_sealed:
            assert len({finished(state, random.Random(order)) for order in range(4)}) == 1

    play_out(table.state(), table.rng(), check)


@given(tables(longest=2))
@settings(max_examples=25)
def test_a_copy_is_independent_and_plays_on_alike(table: Table) -> None:
    state, rng = table.state(), table.rng()
    while not state.is_over:
        twin, before = state.copy(), snapshot(state)
        assert snapshot(twin) == before
        seed = rng.random()
        play_out(twin, random.Random(seed))
        assert snapshot(state) == before
        third = state.copy()
        assert snapshot(play_out(third, random.Random(seed))) == snapshot(twin)
        seat = rng.choice(state.actors())
        state.apply(seat, choose(rng, state.legal_actions(seat)))
        assert snapshot(twin) == snapshot(third)


def test_a_copy_tells_nobody() -> None:
    for name, seats in (("seven_up", 2), ("river", 4)):
        game = Table(name, {}, seats, 1).game()
        told = len(game.news)
        play_out(game.state.copy(), random.Random(1))
        assert len(game.news) == told


@given(tables(), FAULTS)
def test_replaying_the_log_gives_the_game(table: Table, faults: float) -> None:
    game = play_game(table.game(max_faults=3), table.rng(), faults=faults)
    again = table.game(max_faults=3)
    again.replay(game.log)
    assert snapshot(again) == snapshot(game)
    assert again.news == game.news


@given(tables(longest=2), FAULTS)
@settings(max_examples=15)
def test_replaying_what_is_logged_so_far_gives_the_game_so_far(table: Table, faults: float) -> None:
    def check(game: Game) -> None:
        again = table.game()
        again.replay(game.log)
        assert snapshot(again) == snapshot(game)

    play_game(table.game(), table.rng(), faults=faults, seen=check)


@given(tables(), FAULTS)
def test_the_log_comes_back_from_json_and_msgpack(table: Table, faults: float) -> None:
    log = play_game(table.game(), table.rng(), faults=faults).log
    assert msgspec.json.decode(msgspec.json.encode(log), type=list[Event]) == log
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(log), type=list[Event]) == log


def revealed(game: Game) -> list[str]:
    """List the logged actions that everybody may know, in the order in which the table learnt them."""
    public, hidden = [], {}
    again = Game(game.ruleset, game.state.options, game.seats, game.state.packs, max_faults=game.max_faults)
    for event in game.log:
        sealed = again.state.is_sealed
        if isinstance(event, Decided):
            if sealed:
                hidden[event.seat] = event
            else:
                public.append((event.seat, event.action))
            again.apply(event)
        elif again.retired[event.seat] is None:
            again.apply(event)
        if hidden and not again.state.is_sealed:
            bids = [hidden[seat] for seat in sorted(hidden)]
            public += [(bid.seat, bid.action) for bid in bids if bid.action.startswith("bid:")]
            hidden = {}
    return public


@given(tables(longest=3), FAULTS)
def test_public_news_hold_the_public_actions_and_upcards_and_no_other_card(table: Table, faults: float) -> None:
    game = play_game(table.game(), table.rng(), faults=faults)
    actions = [(item["seat"], item["action"]) for item in game.news if item["event"] == "action"]
    assert actions == revealed(game)
    for item in game.news:
        named = set(re.findall(r"\b[2-9TJQKA][CDHS]\b", json.dumps(item)))
        allowed = {item["upcard"]} if "upcard" in item else set()
        allowed |= {item["action"].removeprefix("play:")} if item["event"] == "action" else set()
        assert named <= allowed
        assert "discard:" not in json.dumps(item)


@given(tables(longest=3), FAULTS)
def test_hidden_actions_make_no_news_until_the_last_is_in(table: Table, faults: float) -> None:
    game, rng = table.game(), table.rng()
    while not game.is_over:
        sealed, deal, told = game.state.is_sealed, game.state.deal_number, len(game.news)
        game.apply(random_event(game, rng, faults))
        if sealed and game.state.is_sealed and game.state.deal_number == deal:
            assert all(item["event"] in {"retired", "ended"} for item in game.news[told:])


@given(tables(longest=3), FAULTS)
def test_a_version_never_falls_and_a_hidden_action_moves_only_its_own_seats(table: Table, faults: float) -> None:
    game, rng = table.game(), table.rng()
    audiences = (*range(table.seats), None)
    while not game.is_over:
        before = {audience: game.version(audience) for audience in audiences}
        shown = {audience: shown_to(game.state, audience) for audience in audiences}
        sealed, deal, told = game.state.is_sealed, game.state.deal_number, len(game.news)
        seat = random_event(game, rng, faults)
        game.apply(seat)
        after = {audience: game.version(audience) for audience in audiences}
        assert all(after[audience] >= before[audience] for audience in audiences)
        assert after[seat.seat] > before[seat.seat]
        if sealed and len(game.news) == told:
            assert game.state.deal_number == deal
            assert {audience for audience in audiences if after[audience] != before[audience]} == {seat.seat}
        for audience in audiences:
            if shown_to(game.state, audience) != shown[audience]:
                assert after[audience] > before[audience]
