"""Which games count for ratings, as far as that follows from the game itself."""

from __future__ import annotations

from bot_sdk.games.game import Game as Play
from bot_sdk.results.values import GameState
from service.store.entities import Game


def is_rated(meta: Game, state: GameState, game: Play, *, trusts_accounts: bool) -> bool:
    """Tell whether a tournament game counts for ratings.

    It has to be finished, by the default options for its table, between two at least that didn't forfeit, and no two
    of its seats may belong to one account, unless the operator trusts accounts. House bots belong to none.
    """
    defaults = game.ruleset.resolve({}, len(meta.seats))
    is_played = state is GameState.FINISHED and len(meta.seats) - len(game.forfeited) >= 2
    return is_played and meta.options == defaults and (trusts_accounts or not _share_an_account(meta))


def _share_an_account(meta: Game) -> bool:
    accounts = [seat.account_id for seat in meta.seats if seat.account_id]
    return len(set(accounts)) < len(accounts)
