"""What a tournament came to, in a form in which two runs can be compared."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from click.testing import CliRunner
from msgspec import json, to_builtins

from bot_sdk.cli import main as slagbot
from bot_sdk.client import Arena as Client
from bot_sdk.events import Decided
from bot_sdk.games import record
from bot_sdk.results.rated import Rated
from bot_sdk.results.standings import standings
from bot_sdk.results.values import GameState
from service.store import due
from service.store.leaderboard import Kept
from service.store.store import Store
from service.store.tournaments import place


def played(store: Store, tournament_id: str) -> dict[str, Any]:
    """Give all that must not depend on who died when: rounds, results and decisions without their times, standings."""
    tournament, entries = store.tournaments.get(tournament_id), store.tournaments.entries(tournament_id)
    rounds, results = store.tournaments.rounds(tournament_id), store.tournaments.results(tournament_id)
    course = {
        "seed": tournament.seed,
        "format": tournament.format,
        "deals": tournament.deals,
        "rounds": rounds,
    }
    return {
        "rounds": rounds,
        "results": decided(store, tournament_id),
        "closed": store.tournaments.closed(tournament_id),
        "standings": standings(entries, results, tournament.ruleset, **course),
        "reason": tournament.reason,
    }


def decided(store: Store, tournament_id: str) -> dict[str, Any]:
    """Give all results with their decisions, without times.

    Simultaneous decisions may be committed in any order, so they are listed seat by seat.
    """
    shown = {}
    for result in store.tournaments.results(tournament_id):
        value = to_builtins(result)
        del value["ended_at"]
        shown[place(result.slot)] = value | {"decisions": decisions(store, result.game_id)}
    return shown


def decisions(store: Store, game_id: str) -> list[list[tuple[str, str]]]:
    game, log, _ = store.games.load(game_id)
    by_seat: list[list[tuple[str, str]]] = [[] for _ in game.seats]
    for _, event in log:
        assert isinstance(event, Decided), f"{event} in {game_id}"
        by_seat[event.seat].append((event.action, event.outcome.value))
    return by_seat


def rated(store: Store, ruleset: str) -> list[Rated]:
    """Give what is kept for ratings, in order of the games' ids, without times."""
    return [json.decode(kept, type=Kept).game for kept in store.ratings.games(ruleset)]


def check_whole(store: Store, tournament_id: str, scheduled: int) -> None:
    """Check that each scheduled game was played exactly once."""
    results = store.tournaments.results(tournament_id)
    games, _ = store.games.list_for_tournament(tournament_id, limit=scheduled * 4)
    assert len({place(result.slot) for result in results}) == len(results) == scheduled
    made = {game.id: (game.state, game.slot) for game in games}
    assert made == {result.game_id: (GameState.FINISHED, result.slot) for result in results}
    assert len(games) == len(made), "some games are listed twice"
    assert {result.slot.attempt for result in results} == {0}


def check_records(store: Store, tournament_id: str, records: Iterable[bytes]) -> None:
    """Check that these are the records of a tournament's games, that each holds, and that the results are theirs."""
    verified = {}
    for line in records:
        shown = record.read(line)
        verified[shown.game_id] = record.verify(shown)
    results = {result.game_id: result for result in store.tournaments.results(tournament_id)}
    assert verified.keys() == results.keys()
    for game_id, game in verified.items():
        assert (game.state.totals, game.places) == (results[game_id].totals, results[game_id].places)


def check_recomputed(client: Client, tournament_id: str) -> None:
    """Check that `slagbot recompute` agrees with the export."""
    exported = b"".join(client.export(tournament_id, "jsonl"))
    told = CliRunner().invoke(slagbot, ["recompute", "-"], input=exported)
    assert told.exit_code == 0, told.output


def to_do(store: Store) -> list[str]:
    """Name what is due, but for fits of ratings: they may have to wait until a dead worker's is given up."""
    names = [name for name, _ in store.due.peek(store.due.now() + 10**9, 1_000)]
    return [name for name in names if not name.startswith(due.fit(""))]


def check_settled(store: Store, bot_ids: list[str]) -> None:
    """Check that nothing is left to do but fits: nothing is due, no game counts against a bot."""
    assert to_do(store) == []
    assert [store.unfinished.games(f"bot:{bot_id}") for bot_id in bot_ids] == [[]] * len(bot_ids)


def is_settled(store: Store, bot_ids: list[str]) -> bool:
    """Tell whether nothing is left to do, as `check_settled` has it."""
    return not to_do(store) and not any(store.unfinished.games(f"bot:{bot_id}") for bot_id in bot_ids)
