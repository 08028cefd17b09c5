"""Tournaments before and around their play: who may make, enter, start and stop them."""

from __future__ import annotations

from contextlib import suppress

import pytest
from msgspec.structs import replace

from bot_sdk.games.packs import root_commitment
from service.arena import tournaments as module
from service.arena.errors import ConflictError, ForbiddenError, InvalidError, NotFoundError
from service.store import due
from service.store.entities import BotState, TournamentState
from service.tournaments import formats
from tests.service.arena.conftest import ROOT_SECRET
from tests.service.bench import Background

OPEN, RUNNING = TournamentState.OPEN, TournamentState.RUNNING
PAUSED, CANCELLED = TournamentState.PAUSED, TournamentState.CANCELLED


@pytest.fixture
def tournament(tournaments, owner, mint, tournament_order):
    return tournaments.create(owner, tournament_order(), mint()).id


def code(refused):
    return refused.value.code


# --- making -----------------------------------------------------------------------------------------------------------


def test_new_tournament_is_open_and_commits_to_its_root(tournaments, owner, mint, tournament_order, clock):
    made = tournaments.create(owner, tournament_order(), mint())
    assert (made.state, made.owner, made.created_at, made.started_at) == (OPEN, "acc_1", clock.now, None)
    assert made.root == root_commitment(ROOT_SECRET, made.id)
    assert (made.table_size, made.seed, made.options["target"], made.options["pips"]) == (2, 7, 1, "face")


def test_retried_order_gives_the_same_tournament(tournaments, owner, mint, tournament_order, clock):
    first = tournaments.create(owner, tournament_order(), mint("again"))
    clock.forward(1_000)
    assert tournaments.create(owner, tournament_order(), mint("again")) == first


def test_key_of_another_order_makes_no_second_tournament(tournaments, owner, mint, tournament_order):
    tournaments.create(owner, tournament_order(), mint("again"))
    with pytest.raises(ConflictError) as refused:
        tournaments.create(owner, tournament_order(options={"target": 2}), mint("again"))
    assert code(refused) == "idempotency_key_reused"


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"ruleset": "whist"}, "ruleset", "among"),
        ({"options": {"target": 0}}, "options.target", ""),
        ({"options": {"trumps": 1}}, "options.trumps", ""),
        ({"table_size": 3}, "table_size", "2 seats"),
        ({"ruleset": "river", "options": {"start_cards": 7}, "table_size": 8}, "options.start_cards", "6"),
        ({"ruleset": "river", "options": {}, "table_size": 9}, "table_size", "4 to 8"),
    ],
)
def test_impossible_table_is_refused_by_its_field(tournaments, owner, mint, tournament_order, changes, field, words):
    with pytest.raises(InvalidError) as refused:
        tournaments.create(owner, tournament_order(**changes), mint())
    assert list(refused.value.errors) == [field]
    assert words in str(refused.value)


def test_account_has_a_quota_of_unfinished_tournaments(tournaments, owner, stranger, mint, tournament_order):
    made = [tournaments.create(owner, tournament_order(), mint()).id for _ in range(3)]
    with pytest.raises(ConflictError) as refused:
        tournaments.create(owner, tournament_order(), mint())
    assert code(refused) == "quota_tournaments"
    tournaments.create(stranger, tournament_order(), mint())
    tournaments.set_state(owner, made[0], CANCELLED)
    tournaments.create(owner, tournament_order(), mint())


def test_quota_counts_unfinished_ones_however_many_have_ended_since(tournaments, owner, mint, tournament_order, clock):
    """Three wait, three newer ones have been cancelled: the quota is used up all the same."""
    for _ in range(2):
        tournaments.create(owner, tournament_order(), mint())
        clock.forward(10)
    for _ in range(4):
        tournaments.set_state(owner, tournaments.create(owner, tournament_order(), mint()).id, CANCELLED)
        clock.forward(10)
    tournaments.create(owner, tournament_order(), mint())
    with pytest.raises(ConflictError) as refused:
        tournaments.create(owner, tournament_order(), mint())
    assert code(refused) == "quota_tournaments"


# --- entering ---------------------------------------------------------------------------------------------------------


def test_owner_of_a_bot_enters_it_anywhere(tournaments, tournament, stranger, desk):
    desk.bot("bot_s", account_id="acc_2", availability="private")
    entry = tournaments.enter(stranger, tournament, "bot_s", "salt")
    assert (entry.bot_id, entry.account_id, entry.entropy) == ("bot_s", "acc_2", "salt")
    assert tournaments.entry(tournament, "bot_s") == entry


@pytest.mark.parametrize("availability", ["public", "tournaments"])
def test_owner_of_the_tournament_enters_the_bots_of_others(tournaments, tournament, owner, desk, availability):
    desk.bot("bot_s", account_id="acc_2", availability=availability)
    assert tournaments.enter(owner, tournament, "bot_s", None).account_id == "acc_2"


def test_private_bot_of_another_is_not_to_be_found(tournaments, tournament, owner, desk):
    desk.bot("bot_s", account_id="acc_2", availability="private")
    with pytest.raises(NotFoundError):
        tournaments.enter(owner, tournament, "bot_s", None)
    with pytest.raises(NotFoundError):
        tournaments.enter(owner, tournament, "bot_none", None)


def test_neither_owner_may_enter_nothing_but_the_operator_may(tournaments, tournament, account, operator, desk):
    desk.bot("bot_s", account_id="acc_2")
    with pytest.raises(ForbiddenError) as refused:
        tournaments.enter(account("acc_3"), tournament, "bot_s", None)
    assert code(refused) == "not_yours"
    assert tournaments.enter(operator, tournament, "bot_s", None).bot_id == "bot_s"


def test_house_bots_are_entered_by_the_tournaments_owner(tournaments, tournament, owner, stranger):
    with pytest.raises(ForbiddenError):
        tournaments.enter(stranger, tournament, "house:random", None)
    assert tournaments.enter(owner, tournament, "house:random", None).name == "random"
    with pytest.raises(NotFoundError):
        tournaments.enter(owner, tournament, "house:nobody", None)


@pytest.mark.parametrize("state", [BotState.PENDING, BotState.PAUSED, BotState.SUSPENDED, BotState.DISABLED])
def test_bot_that_is_not_active_cannot_enter(tournaments, tournament, owner, desk, state):
    desk.bot("bot_s", state=state)
    with pytest.raises(ConflictError) as refused:
        tournaments.enter(owner, tournament, "bot_s", None)
    assert code(refused) == "bot_unavailable"


def test_bot_that_does_not_play_the_game_cannot_enter(tournaments, tournament, owner, desk):
    desk.bot("bot_s", rulesets=["river"])
    with pytest.raises(ConflictError) as refused:
        tournaments.enter(owner, tournament, "bot_s", None)
    assert code(refused) == "bot_unavailable"


def test_entering_again_changes_the_entropy_only_if_some_is_brought(tournaments, tournament, owner, desk, clock):
    desk.bot("bot_s")
    first = tournaments.enter(owner, tournament, "bot_s", "one")
    clock.forward(1_000)
    assert tournaments.enter(owner, tournament, "bot_s", None) == first
    assert tournaments.enter(owner, tournament, "bot_s", "two").entropy == "two"
    assert len(tournaments.entries(tournament)) == 1


def test_entropy_for_a_bot_is_its_owners_alone_to_give(tournaments, tournament, owner, stranger, desk):
    desk.bot("bot_s", account_id="acc_2", availability="public")
    tournaments.enter(stranger, tournament, "bot_s", "salt")
    with pytest.raises(ForbiddenError):
        tournaments.enter(owner, tournament, "bot_s", "pepper")
    assert tournaments.enter(owner, tournament, "bot_s", None).entropy == "salt"
    assert tournaments.enter(owner, tournament, "house:greedy", "pepper").entropy == "pepper"


def test_entropy_is_measured_in_bytes(tournaments, tournament, owner, desk):
    desk.bot("bot_s")
    assert tournaments.enter(owner, tournament, "bot_s", "x" * 256).entropy == "x" * 256
    with pytest.raises(InvalidError) as refused:
        tournaments.enter(owner, tournament, "bot_s", "ä" * 129)
    assert "258" in str(refused.value)
    assert tournaments.entry(tournament, "bot_s").entropy == "x" * 256


def test_tournament_is_full_at_its_most_entries(tournaments, tournament, owner, desk, monkeypatch):
    monkeypatch.setattr(module, "MAX_ENTRIES", 2)
    for bot in ("bot_a", "bot_b", "bot_c"):
        desk.bot(bot)
    for bot in ("bot_a", "bot_b", "bot_a"):
        tournaments.enter(owner, tournament, bot, None)
    with pytest.raises(ConflictError) as refused:
        tournaments.enter(owner, tournament, "bot_c", None)
    assert code(refused) == "full"


def test_nobody_enters_after_the_start(tournaments, start, owner, desk):
    tournament = start("bot_a", "bot_b")
    desk.bot("bot_late")
    for bot in ("bot_late", "bot_a"):
        with pytest.raises(ConflictError) as refused:
            tournaments.enter(owner, tournament, bot, "late entropy")
        assert code(refused) == "not_open"
    assert [entry.entropy for entry in tournaments.entries(tournament)] == ["", ""]


# --- withdrawing ------------------------------------------------------------------------------------------------------


def test_bot_withdrawn_before_the_start_is_gone(tournaments, tournament, owner, desk):
    desk.bot("bot_s")
    tournaments.enter(owner, tournament, "bot_s", None)
    tournaments.withdraw(owner, tournament, "bot_s")
    assert tournaments.entries(tournament) == []
    with pytest.raises(NotFoundError):
        tournaments.withdraw(owner, tournament, "bot_s")


def test_bot_withdrawn_after_the_start_stays_listed_since_when(tournaments, start, owner, clock):
    tournament, at = start("bot_a", "bot_b"), clock.now
    tournaments.withdraw(owner, tournament, "bot_a")
    clock.forward(5_000)
    tournaments.withdraw(owner, tournament, "bot_a")
    assert tournaments.entry(tournament, "bot_a").withdrawn_at == at


def test_who_may_withdraw_a_bot(tournaments, tournament, owner, stranger, account, operator, desk):
    desk.bot("bot_s", account_id="acc_2")
    for caller in (owner, stranger, operator):
        tournaments.enter(stranger, tournament, "bot_s", None)
        with pytest.raises(ForbiddenError):
            tournaments.withdraw(account("acc_3"), tournament, "bot_s")
        tournaments.withdraw(caller, tournament, "bot_s")


def test_nothing_is_withdrawn_from_what_has_ended(tournaments, start, owner):
    tournament = start("bot_a", "bot_b")
    tournaments.set_state(owner, tournament, CANCELLED)
    with pytest.raises(ConflictError) as refused:
        tournaments.withdraw(owner, tournament, "bot_a")
    assert code(refused) == "ended"


# --- starting and stopping --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bots", [(), ("house:random",)])
def test_start_with_too_few_entries_is_refused_and_changes_nothing(tournaments, tournament, owner, bots):
    for bot in bots:
        tournaments.enter(owner, tournament, bot, None)
    with pytest.raises(ConflictError) as refused:
        tournaments.set_state(owner, tournament, RUNNING)
    assert code(refused) == "cannot_start"
    assert f"at least 2 entries for tables of 2, got {len(bots)}" in str(refused.value)
    assert tournaments.get(tournament).state is OPEN


def test_start_of_too_many_games_is_refused(tournaments, start, monkeypatch):
    monkeypatch.setattr(formats, "MAX_GAMES", 5)
    with pytest.raises(ConflictError) as refused:
        start("bot_a", "bot_b", "bot_c", "bot_d")
    assert code(refused) == "cannot_start"


def test_started_tournament_is_due_at_once_and_starting_again_is_no_error(tournaments, start, owner, clock, store):
    tournament, at = start("bot_a", "bot_b"), clock.now
    assert store.due.at(due.tournament(tournament)) <= store.due.now()
    clock.forward(5_000)
    assert tournaments.set_state(owner, tournament, RUNNING).started_at == at


def test_tournament_paused_and_gone_on_with_keeps_its_start(tournaments, start, owner, clock):
    tournament, at = start("bot_a", "bot_b"), clock.now
    clock.forward(5_000)
    assert tournaments.set_state(owner, tournament, PAUSED).state is PAUSED
    assert tournaments.set_state(owner, tournament, RUNNING).started_at == at


def test_cancelled_tournament_stays_so(tournaments, start, owner, clock):
    tournament = start("bot_a", "bot_b")
    assert tournaments.set_state(owner, tournament, CANCELLED).ended_at == clock.now
    assert tournaments.set_state(owner, tournament, CANCELLED).state is CANCELLED
    for state in (RUNNING, PAUSED):
        with pytest.raises(ConflictError) as refused:
            tournaments.set_state(owner, tournament, state)
        assert code(refused) == "bad_move"


@pytest.mark.parametrize("state", [TournamentState.RUNNING, TournamentState.CANCELLED])
def test_orders_to_a_tournament_that_has_ended_do_not_make_it_due(tournaments, start, owner, store, state):
    """Its root secret is shown as long as it isn't due."""
    tournament = start("bot_a", "bot_b")
    tournaments.set_state(owner, tournament, TournamentState.CANCELLED)
    store.tournaments.settle(tournament)
    with suppress(ConflictError):  # one of the states can be asked for again
        tournaments.set_state(owner, tournament, state)
    assert store.due.at(due.tournament(tournament)) is None


def test_finishing_what_has_finished_is_no_error(tournaments, start, owner, store):
    tournament = start("bot_a", "bot_b")
    store.tournaments.change(tournament, lambda old: replace(old, state=TournamentState.FINISHED))
    assert tournaments.set_state(owner, tournament, TournamentState.FINISHED).state is TournamentState.FINISHED


def test_tournament_that_has_not_started_cannot_be_paused(tournaments, tournament, owner):
    with pytest.raises(ConflictError) as refused:
        tournaments.set_state(owner, tournament, PAUSED)
    assert code(refused) == "bad_move"


def test_only_its_owner_and_the_operator_steer_a_tournament(tournaments, tournament, stranger, operator, anybody):
    for caller in (stranger, anybody):
        with pytest.raises(ForbiddenError):
            tournaments.set_state(caller, tournament, CANCELLED)
        with pytest.raises(ForbiddenError):
            tournaments.change(caller, tournament, {"name": "mine"})
    assert tournaments.change(operator, tournament, {"name": "theirs"}).name == "theirs"
    assert tournaments.set_state(operator, tournament, CANCELLED).state is CANCELLED


def test_rounds_are_fixed_by_the_start_but_not_the_name(tournaments, start, owner):
    tournament = start("bot_a", "bot_b")
    with pytest.raises(ConflictError):
        tournaments.change(owner, tournament, {"rounds": 4})
    assert tournaments.change(owner, tournament, {"name": "day"}).name == "day"


def test_entries_that_race_the_start_are_in_or_refused(tournaments, tournament, owner, desk):
    """Whoever was told that the bot is entered plays; nobody else does."""
    bots = [f"bot_{number}" for number in range(12)]
    for bot in bots:
        desk.bot(bot)
    for bot in bots[:2]:
        tournaments.enter(owner, tournament, bot, None)

    def enter(bot):
        try:
            return tournaments.enter(owner, tournament, bot, None).bot_id
        except ConflictError:
            return None

    threads = [Background(lambda bot=bot: enter(bot)) for bot in bots[2:]]
    tournaments.set_state(owner, tournament, RUNNING)
    entered = {thread.result() for thread in threads} - {None}
    assert {entry.bot_id for entry in tournaments.entries(tournament)} == entered | set(bots[:2])
