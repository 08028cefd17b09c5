"""Every key and channel of the store, and what is under it. No other module spells one.

One hash tag per game and per tournament; no script touches two of them. What nobody but the arena may see
begins with `secret:`, so that one pattern in an access list covers it.
"""

from __future__ import annotations

SECRET = "secret:"  # noqa: S105 - a prefix of keys, no secret

# --- games --------------------------------------------------------------------------------------------------
DUE = "due"
"""Sorted set: `game:<id>` or `tournament:<id>` by the millisecond at which it next needs attention."""

SWEEPER = "sweeper"
"""Value: the token of the process that sweeps now; expires."""

GAMES = "games"
"""Index of all games by creation."""


def game_meta(game_id: str) -> str:
    """Hash: `body` as created, `state`, `started_at`, `ended_at`, `rev`, `stall`, `seat:N`, `entropy:N`."""
    return f"{{g:{game_id}}}:meta"


def game_log(game_id: str) -> str:
    """List: one `<redis ms> <event>` per event."""
    return f"{{g:{game_id}}}:log"


def game_lease(game_id: str) -> str:
    """Value: the token of the worker that drives the game; expires."""
    return f"{{g:{game_id}}}:lease"


def game_news(game_id: str) -> str:
    """Channel: a message whenever the game changed."""
    return f"{{g:{game_id}}}:news"


def game_secret(game_id: str) -> str:
    """Value: the 32 bytes that fix the packs (docs/deals.md)."""
    return f"{SECRET}{{g:{game_id}}}:pack"


def game_tokens(game_id: str) -> str:
    """Hash: seat -> SHA-256 of the token of the human who holds it."""
    return f"{SECRET}{{g:{game_id}}}:tokens"


def unfinished(owner: str) -> str:
    """Sorted set: unfinished games of `owner` (`bot:<id>`, `account:<id>`) by the time they were counted."""
    return f"unfinished:{owner}"


def account_games(account_id: str) -> str:
    """Index of the games an account created."""
    return f"account:{account_id}:games"


def tournament_games(tournament_id: str) -> str:
    """Index of the games of a tournament."""
    return f"{{t:{tournament_id}}}:games"
