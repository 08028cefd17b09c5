"""The life of a game around its play: who may make one, join it, start it, cancel it."""

from __future__ import annotations

from collections import Counter

import pytest

from bot_sdk.games.packs import commitment
from bot_sdk.results.values import GameState
from service.arena.errors import ConflictError, ForbiddenError, InvalidError, NotFoundError
from service.arena.minting import token_hash
from service.store import due
from service.store.entities import BotState
from tests.service.arena.conftest import ANYBODY, OPEN_SEAT_MS, PACK_SECRET
from tests.service.bench import Background

RUNNING, CANCELLED = GameState.RUNNING, GameState.CANCELLED


def code(refused):
    return refused.value.code


# --- creation ---------------------------------------------------------------------------------------------------------


def test_game_without_open_seats_runs_at_once_and_commits_to_its_packs(games, owner, mint, order, queue, store):
    made = games.create(owner, order("human:ann", "house:greedy", limits={"budget_ms": 250}), mint())
    game = made.game
    assert (game.state, game.owner, game.label) == (RUNNING, "acc_1", game.id)
    assert game.commitment == commitment(PACK_SECRET, game.id)
    assert (game.limits.budget_ms, game.limits.max_faults) == (250, 5)
    assert game.started_at is not None
    assert list(made.tokens) == [0]
    assert store.games.tokens(game.id) == {0: token_hash(made.tokens[0])}
    assert queue.driven == [game.id]
    assert store.due.at(due.game(game.id)) <= store.due.now()


def test_game_of_bots_alone_is_driven_beside_others(games, owner, mint, order, queue, desk):
    desk.bot("bot_a")
    game = games.create(owner, order("bot_a", "house:random"), mint()).game
    assert (queue.driven, queue.shards) == ([], [[game.id]])


def test_bot_is_pinned_as_it_was_when_the_game_was_made(games, owner, mint, order, desk, store):
    desk.bot("bot_a", version="3", max_batch=4)
    game = games.create(owner, order("bot_a", "human:ann"), mint()).game
    store.bots.delete(store.bots.get("bot_a"))
    seat = games.get(game.id).seats[0]
    assert (seat.version, seat.url, seat.max_batch) == ("3", "http://127.0.0.1:9/bot_a", 4)


def test_house_bot_is_pinned_to_its_version(games, owner, mint, order, version):
    seat = games.create(owner, order("human:ann", "house:greedy"), mint()).game.seats[1]
    assert (seat.kind, seat.bot_id, seat.version) == ("house", "house:greedy", version)


@pytest.mark.parametrize(("who", "start"), [(("human:ann", "open:"), "auto"), (("human:ann", "human:bea"), "manual")])
def test_game_that_waits_is_due_when_it_expires(games, owner, mint, order, queue, store, clock, who, start):
    game = games.create(owner, order(*who, start=start), mint()).game
    assert (game.state, game.started_at, queue.driven) == (GameState.OPEN, None, [])
    assert store.due.at(due.game(game.id)) == clock.now + OPEN_SEAT_MS


def test_retried_creation_gives_the_same_game_and_tokens(games, owner, mint, order, clock, store):
    first = games.create(owner, order("human:ann", "human:bea"), mint("again"))
    clock.forward(1_000)
    second = games.create(owner, order("human:ann", "human:bea"), mint("again"))
    assert second == first
    assert len(set(first.tokens.values())) == 2
    assert store.unfinished.count("account:acc_1") == 1


@pytest.mark.parametrize(
    ("who", "changes"),
    [
        (("human:ann", "human:bea", "human:cas", "human:dan"), {}),
        (("human:ann", "human:bea"), {"options": {"target": 3}}),
        (("human:ann", "human:bea"), {"limits": {"budget_ms": 50}}),
        (("human:ann", "human:bea"), {"start": "manual"}),
    ],
)
def test_another_order_under_the_key_of_a_game_is_refused(games, owner, mint, order, who, changes):
    games.create(owner, order("human:ann", "human:bea"), mint("again"))
    with pytest.raises(ConflictError) as refused:
        games.create(owner, order(*who, **changes), mint("again"))
    assert code(refused) == "idempotency_key_reused"


def test_creations_retried_side_by_side_give_one_game(games, owner, mint, order, store):
    threads = [
        Background(lambda: games.create(owner, order("human:ann", "human:bea"), mint("again"))) for _ in range(6)
    ]
    made = [thread.result() for thread in threads]
    assert all(each == made[0] for each in made)
    assert len(store.games.list_all(limit=10)[0]) == 1


@pytest.mark.parametrize(
    ("who", "options", "field"),
    [
        (("human:ann",) * 3, {}, "seats"),
        (("human:ann",) * 9, {}, "seats"),
        (("human:ann", "house:nobody"), {}, "seats.1.name"),
        (("human:ann", "bot_none"), {}, "seats.1.bot_id"),
        (("human:ann", "human:bea"), {"target": 51}, "options.target"),
        (("human:ann", "human:bea"), {"trumps": 1}, "options.trumps"),
        (("human:ann",) * 8, {"start_cards": 7}, "options.start_cards"),
    ],
)
def test_impossible_game_is_refused_by_its_field_and_not_made(games, owner, mint, order, store, who, options, field):
    with pytest.raises(InvalidError) as refused:
        games.create(owner, order(*who, options=options), mint())
    assert list(refused.value.errors) == [field]
    assert store.games.list_all(limit=10)[0] == []
    assert store.unfinished.count("account:acc_1") == 0


# --- who may use a bot ------------------------------------------------------------------------------------------------


def test_private_bot_plays_for_its_owner_only(games, owner, stranger, mint, order, desk):
    desk.bot("bot_p", availability="private")
    with pytest.raises(InvalidError) as refused:
        games.create(stranger, order("bot_p", "human:ann"), mint())
    assert code(refused) == "no_such_bot"
    assert games.create(owner, order("bot_p", "human:ann"), mint()).game.seats[0].bot_id == "bot_p"


def test_bot_for_tournaments_plays_no_other_games_but_its_owners(games, owner, stranger, mint, order, desk):
    desk.bot("bot_t", availability="tournaments")
    with pytest.raises(InvalidError) as refused:
        games.create(stranger, order("bot_t", "human:ann"), mint())
    assert code(refused) == "bot_unavailable"
    games.create(owner, order("bot_t", "human:ann"), mint())


@pytest.mark.parametrize(
    "changes",
    [{"state": state} for state in BotState if state is not BotState.ACTIVE] + [{"rulesets": ["river"]}],
)
def test_bot_that_cannot_play_is_refused(games, owner, mint, order, desk, changes):
    desk.bot("bot_a", **changes)
    with pytest.raises(InvalidError) as refused:
        games.create(owner, order("bot_a", "human:ann"), mint())
    assert code(refused) == "bot_unavailable"


def test_bot_takes_no_more_games_than_it_says(games, owner, stranger, mint, order, desk, worker, store):
    desk.bot("bot_a", max_games=2)
    made = [games.create(stranger, order("bot_a", "house:random"), mint()).game.id for _ in range(2)]
    with pytest.raises(ConflictError) as refused:
        games.create(owner, order("bot_a", "house:random"), mint())
    assert code(refused) == "bot_busy"
    assert store.unfinished.count("account:acc_1") == 0  # what was refused isn't counted
    worker.drive(made[0])
    games.create(owner, order("bot_a", "house:random"), mint())


# --- quotas -----------------------------------------------------------------------------------------------------------


def test_account_has_a_quota_of_unfinished_games(make_games, owner, stranger, mint, order, worker, store):
    games = make_games(max_open_games=2)
    made = [games.create(owner, order("house:greedy", "house:random"), mint("one" + str(n))) for n in range(2)]
    with pytest.raises(ConflictError) as refused:
        games.create(owner, order("house:greedy", "house:random"), mint())
    assert code(refused) == "quota_games"
    games.create(stranger, order("house:greedy", "house:random"), mint())
    assert games.create(owner, order("house:greedy", "house:random"), mint("one0")) == made[0]
    worker.drive(made[0].game.id)
    games.create(owner, order("house:greedy", "house:random"), mint())


@pytest.mark.parametrize("who", ["anybody", "operator"])
def test_quota_of_those_without_an_account_counts_what_is_unfinished(make_games, request, mint, order, worker, who):
    games, caller = make_games(max_open_games=2), request.getfixturevalue(who)
    made = [games.create(caller, order("house:greedy", "house:random"), mint()).game.id for _ in range(2)]
    with pytest.raises(ConflictError) as refused:
        games.create(caller, order("house:greedy", "house:random"), mint())
    assert code(refused) == "quota_games"
    worker.drive(*made)
    games.create(caller, order("house:greedy", "house:random"), mint())


def test_anybody_may_play_people_and_house_bots_but_no_registered_ones(games, anybody, mint, order, desk):
    desk.bot("bot_a")
    assert games.create(anybody, order("human:ann", "house:greedy"), mint()).game.owner is None
    with pytest.raises(ForbiddenError) as refused:
        games.create(anybody, order("human:ann", "bot_a"), mint())
    assert code(refused) == "account_needed"


def test_arena_may_be_closed_to_those_without_an_account(make_games, anybody, mint, order):
    with pytest.raises(ForbiddenError) as refused:
        make_games(anonymous_games=False).create(anybody, order("human:ann", "house:greedy"), mint())
    assert code(refused) == "account_needed"


# --- joining and leaving before the start -----------------------------------------------------------------------------


@pytest.fixture
def waiting(games, owner, mint, order):
    """Make a game that waits for a second player."""
    return games.create(owner, order("human:ann", "open:"), mint()).game.id


def test_game_starts_when_its_last_seat_is_taken(games, waiting, mint, queue, store):
    token = games.join(ANYBODY, waiting, 1, "bea", mint())
    game = games.get(waiting)
    assert (game.state, game.seats[1].kind, game.seats[1].name) == (RUNNING, "human", "bea")
    assert store.games.tokens(waiting)[1] == token_hash(token)
    assert queue.driven == [waiting]
    assert store.due.at(due.game(waiting)) <= store.due.now()


def test_game_with_another_open_seat_goes_on_waiting(games, owner, mint, order, queue):
    game = games.create(owner, order("human:ann", "open:", "open:", "house:random"), mint()).game.id
    games.join(ANYBODY, game, 2, "bea", mint())
    assert (games.get(game).state, queue.driven) == (GameState.OPEN, [])
    games.join(ANYBODY, game, 1, "cid", mint())
    assert games.get(game).state is RUNNING


def test_retried_join_gives_the_same_token(games, waiting, mint):
    assert games.join(ANYBODY, waiting, 1, "bea", mint("again")) == games.join(
        ANYBODY, waiting, 1, "bea", mint("again")
    )


def test_seat_that_is_taken_or_not_there_is_refused(games, owner, waiting, mint, order):
    game = games.create(owner, order("human:ann", "open:", "open:", "open:"), mint()).game.id
    games.join(ANYBODY, game, 1, "bea", mint())
    for seat in (0, 1):
        with pytest.raises(ConflictError) as refused:
            games.join(ANYBODY, game, seat, "cid", mint())
        assert code(refused) == "seat_taken"
    with pytest.raises(NotFoundError):
        games.join(ANYBODY, game, 4, "cid", mint())
    games.join(ANYBODY, waiting, 1, "bea", mint())
    with pytest.raises(ConflictError) as refused:
        games.join(ANYBODY, waiting, 1, "cid", mint())
    assert code(refused) == "not_open"


def test_of_many_who_join_one_seat_at_once_one_has_it(games, waiting, mint, store):
    def join(name):
        try:
            return name, games.join(ANYBODY, waiting, 1, name, mint(name))
        except ConflictError as refused:
            return refused.code, None

    threads = [Background(lambda name=f"guest {n}": join(name)) for n in range(8)]
    told = dict(thread.result() for thread in threads)
    (winner,) = [name for name, token in told.items() if token]
    assert set(told) - {winner} <= {"seat_taken", "not_open"}
    assert games.get(waiting).seats[1].name == winner
    assert store.games.tokens(waiting)[1] == token_hash(told[winner])


def test_seats_joined_at_once_are_all_filled_and_the_game_starts(games, owner, mint, order):
    game = games.create(owner, order(*["open:"] * 6), mint()).game.id
    threads = [
        Background(lambda seat=seat: games.join(ANYBODY, game, seat, f"p{seat}", mint(f"p{seat}"))) for seat in range(6)
    ]
    tokens = [thread.result() for thread in threads]
    assert len(set(tokens)) == 6
    assert games.get(game).state is RUNNING
    assert [seat.name for seat in games.get(game).seats] == [f"p{seat}" for seat in range(6)]


def test_who_stands_up_before_the_start_frees_the_seat_and_his_token_is_void(games, owner, mint, order, holder, store):
    game = games.create(owner, order("human:ann", "open:", "open:", "open:"), mint()).game.id
    games.join(ANYBODY, game, 1, "bea", mint())
    assert games.stand_up(holder(game, 1), game, 1)
    assert games.get(game).seats[1].kind == "open"
    assert list(store.games.tokens(game)) == [0]
    games.join(ANYBODY, game, 1, "cid", mint())
    with pytest.raises(ForbiddenError):
        games.stand_up(holder(game, 2), game, 1)


def test_who_leaves_twice_does_not_put_out_who_came_after(games, owner, mint, order, holder):
    game = games.create(owner, order("human:ann", "open:", "open:", "open:"), mint()).game.id
    games.join(ANYBODY, game, 1, "bea", mint())
    bea = holder(game, 1)
    assert games.stand_up(bea, game, 1)
    assert games.stand_up(bea, game, 1)
    games.join(ANYBODY, game, 1, "cid", mint())
    assert games.stand_up(bea, game, 1)
    assert games.get(game).seats[1].name == "cid"


# --- entropy ----------------------------------------------------------------------------------------------------------


def test_entropy_is_taken_until_a_manual_start(games, owner, mint, order, holder):
    game = games.create(owner, order("human:ann", "human:bea", start="manual"), mint()).game.id
    games.set_entropy(holder(game, 1), game, 1, "salt")
    games.set_entropy(holder(game, 1), game, 1, "pepper")
    assert games.get(game).entropy == ["", "pepper"]
    with pytest.raises(InvalidError):
        games.set_entropy(holder(game, 0), game, 0, "ä" * 129)
    games.set_state(owner, game, RUNNING)
    with pytest.raises(ConflictError) as refused:
        games.set_entropy(holder(game, 0), game, 0, "late")
    assert code(refused) == "not_open"
    assert games.get(game).entropy == ["", "pepper"]


def test_entropy_leaves_with_who_gave_it(games, owner, mint, order, holder):
    game = games.create(owner, order("human:ann", "human:bea", start="manual"), mint()).game.id
    bea = holder(game, 1)
    games.set_entropy(holder(game, 0), game, 0, "salt")
    games.set_entropy(bea, game, 1, "pepper")
    games.stand_up(bea, game, 1)
    assert games.get(game).entropy == ["salt", ""]
    games.join(ANYBODY, game, 1, "cid", mint())
    with pytest.raises(ConflictError):
        games.set_entropy(bea, game, 1, "late")
    assert games.get(game).entropy == ["salt", ""]


def test_entropy_is_not_taken_of_others_nor_for_a_game_that_starts_by_itself(games, owner, mint, order, holder):
    game = games.create(owner, order("human:ann", "open:"), mint()).game.id
    with pytest.raises(ConflictError):
        games.set_entropy(holder(game, 0), game, 0, "salt")
    with pytest.raises(ForbiddenError):
        games.set_entropy(holder(game, 0), game, 1, "salt")
    with pytest.raises(ForbiddenError):
        games.set_entropy(holder("gam_other", 0), game, 0, "salt")
    with pytest.raises(ForbiddenError):
        games.set_entropy(owner, game, 0, "salt")


# --- start and cancellation -------------------------------------------------------------------------------------------


def test_manual_game_starts_when_told_and_starting_again_is_no_error(games, owner, mint, order, queue):
    game = games.create(owner, order("human:ann", "human:bea", start="manual"), mint()).game.id
    assert queue.driven == []
    assert games.set_state(owner, game, RUNNING).state is RUNNING
    assert games.set_state(owner, game, RUNNING).state is RUNNING
    assert set(queue.driven) == {game}


def test_game_with_an_open_seat_or_at_its_end_cannot_start(games, owner, waiting):
    with pytest.raises(ConflictError) as refused:
        games.set_state(owner, waiting, RUNNING)
    assert code(refused) == "cannot_start"
    games.set_state(owner, waiting, CANCELLED)
    with pytest.raises(ConflictError) as refused:
        games.set_state(owner, waiting, RUNNING)
    assert code(refused) == "cannot_start"


@pytest.mark.parametrize("who", [("human:ann", "open:"), ("human:ann", "house:greedy"), ("bot_a", "house:greedy")])
def test_cancelled_game_is_settled_by_a_worker(games, owner, mint, order, queue, worker, store, desk, who):
    desk.bot("bot_a")
    game = games.create(owner, order(*who), mint()).game.id
    assert games.set_state(owner, game, CANCELLED).state is CANCELLED
    assert games.set_state(owner, game, CANCELLED).state is CANCELLED
    assert game in queue.driven
    worker.drive(game)
    assert (store.due.count(), store.unfinished.count("account:acc_1")) == (0, 0)


def test_finished_game_cannot_be_cancelled(games, owner, mint, order, worker):
    game = games.create(owner, order("house:random", "house:greedy"), mint()).game.id
    worker.drive(game)
    with pytest.raises(ConflictError) as refused:
        games.set_state(owner, game, CANCELLED)
    assert code(refused) == "ended"


def test_who_may_cancel(games, owner, stranger, operator, mint, order, holder):
    def make(*who):
        return games.create(owner, order(*who), mint()).game.id

    alone, together, waits = make("human:ann", "house:random"), make("human:ann", "human:bea"), make("human:a", "open:")
    for game in (alone, together, waits):
        for caller in (stranger, holder("gam_other", 0)):
            with pytest.raises(ForbiddenError):
                games.set_state(caller, game, CANCELLED)
    with pytest.raises(ForbiddenError):
        games.set_state(holder(together, 0), together, CANCELLED)
    assert games.set_state(holder(alone, 0), alone, CANCELLED).state is CANCELLED
    assert games.set_state(holder(waits, 0), waits, CANCELLED).state is CANCELLED
    assert games.set_state(operator, together, CANCELLED).state is CANCELLED


def test_game_that_is_not_there_is_not_found(games, owner, mint):
    for use in (
        lambda: games.get("gam_none"),
        lambda: games.standing("gam_none"),
        lambda: games.join(ANYBODY, "gam_none", 0, "ann", mint()),
        lambda: games.set_state(owner, "gam_none", RUNNING),
    ):
        with pytest.raises(NotFoundError):
            use()


def test_lists_show_all_games_or_ones_own(games, owner, stranger, mint, order, clock):
    for caller in (owner, stranger, owner):
        games.create(caller, order("human:ann", "human:bea"), mint())
        clock.forward(10)
    everything, _ = games.list_all(owner, limit=10, cursor=None, state=None)
    mine, _ = games.list_all(owner, limit=10, cursor=None, state=RUNNING, mine=True)
    assert (len(everything), len(mine)) == (3, 2)
    assert Counter(each["state"] for each in everything) == {"running": 3}
