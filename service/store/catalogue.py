"""What may be said of a key by its name alone: which kind it is of, whose it is, and whether it runs out.

It spells no key: the patterns are made of what `keys` gives. For those who look at the store as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum
from functools import cache
from typing import Final, NamedTuple

from service.store import keys

MINUTE: Final = 60
DAY: Final = 24 * 3600
QUARTER: Final = 90 * DAY


class Thing(Enum):
    """What keys belong to; the value gives those of its keys of which one is there as long as it is."""

    GAME = (keys.game_meta, keys.game_packed)
    TOURNAMENT = (keys.tournament,)
    ACCOUNT = (keys.account,)
    BOT = (keys.bot,)
    CHECK = (keys.check,)


class Kind(NamedTuple):
    """One kind of key: `make` gives it of an id, or is it; `holds` is the type of its value as Redis names it.

    `lasts_s`: after how many seconds it is gone at the latest unless it is renewed; 0 if it stays until it is taken
    away, None if it may do either. `lists`: what it is an index of.
    """

    make: Callable[[str], str] | str
    holds: str
    owner: Thing | None = None
    lasts_s: int | None = 0
    lists: Thing | None = None


class Named(NamedTuple):
    """A key of a known kind, and whose it is: an id, '' if there is only one such key."""

    kind: Kind
    ident: str


KINDS: Final = (
    # --- one of each
    Kind(keys.FORM, "string"),
    Kind(keys.DUE, "zset"),
    Kind(keys.CLOCK, "string"),
    Kind(keys.WORKERS, "zset"),
    Kind(keys.SWEEPER, "string", lasts_s=10 * MINUTE),
    Kind(keys.RETENTION, "string", lasts_s=10 * MINUTE),
    Kind(keys.ALARMS, "hash"),
    Kind(keys.GAMES, "zset", lists=Thing.GAME),
    Kind(keys.ACCOUNTS, "zset", lists=Thing.ACCOUNT),
    Kind(keys.BOTS, "zset", lists=Thing.BOT),
    Kind(keys.TOURNAMENTS, "zset", lists=Thing.TOURNAMENT),
    Kind(keys.MAIL_OPEN, "hash", lasts_s=10 * MINUTE),
    Kind(keys.MAINTENANCE, "string"),
    Kind(keys.ARENA_KEY, "string"),
    # --- games
    Kind(keys.game_meta, "hash", Thing.GAME),
    Kind(keys.game_log, "list", Thing.GAME),
    Kind(keys.game_lease, "string", lasts_s=10 * MINUTE),
    Kind(keys.game_secret, "string", Thing.GAME),
    Kind(keys.game_tokens, "hash", Thing.GAME),
    Kind(keys.game_packed, "string", Thing.GAME),
    Kind(keys.game_notes, "string", Thing.GAME),
    Kind(keys.unfinished, "zset", lasts_s=None),
    Kind(keys.account_games, "zset", Thing.ACCOUNT, lists=Thing.GAME),
    Kind(keys.tournament_games, "zset", Thing.TOURNAMENT, lists=Thing.GAME),
    # --- accounts and bots
    Kind(keys.account, "string", Thing.ACCOUNT),
    Kind(keys.erasure, "string", Thing.ACCOUNT),
    Kind(keys.account_bots, "zset", Thing.ACCOUNT, lists=Thing.BOT),
    Kind(keys.account_tournaments, "zset", Thing.ACCOUNT, lists=Thing.TOURNAMENT),
    Kind(keys.account_tokens, "hash", Thing.ACCOUNT),
    Kind(keys.token, "string"),
    Kind(keys.bot, "string", Thing.BOT),
    Kind(keys.bot_secrets, "string", Thing.BOT),
    Kind(keys.bot_ledger, "zset", lasts_s=QUARTER),
    Kind(keys.bot_endings, "zset", lasts_s=QUARTER),
    Kind(keys.bot_appearances, "zset", lasts_s=QUARTER),
    Kind(keys.bot_checks, "zset", Thing.BOT, lists=Thing.CHECK),
    Kind(keys.check, "string", Thing.CHECK),
    Kind(keys.check_lease, "string", lasts_s=10 * MINUTE),
    Kind(keys.challenges, "zset", lasts_s=DAY),
    # --- mailboxes
    Kind(keys.mail_polled, "string", lasts_s=10 * MINUTE),
    Kind(keys.mail_waiting, "list", lasts_s=10 * MINUTE),
    Kind(keys.mail_calls, "hash", lasts_s=10 * MINUTE),
    Kind(keys.mail_ends, "zset", lasts_s=10 * MINUTE),
    Kind(keys.mail_card, "string", Thing.BOT),
    Kind(keys.mail_answers, "stream", lasts_s=10 * MINUTE),
    # --- tournaments
    Kind(keys.tournament, "string", Thing.TOURNAMENT),
    Kind(keys.tournament_rev, "string", Thing.TOURNAMENT),
    Kind(keys.tournament_entries, "hash", Thing.TOURNAMENT),
    Kind(keys.tournament_rounds, "hash", Thing.TOURNAMENT),
    Kind(keys.tournament_started, "hash", Thing.TOURNAMENT),
    Kind(keys.tournament_results, "hash", Thing.TOURNAMENT),
    Kind(keys.tournament_closed, "hash", Thing.TOURNAMENT),
    Kind(keys.tournament_secret, "string", Thing.TOURNAMENT),
    Kind(keys.tournament_ratings, "string", Thing.TOURNAMENT),
    Kind(keys.tournament_archived, "string", lasts_s=7 * DAY),
    # --- ratings
    Kind(keys.rated, "hash"),
    Kind(keys.rated_names, "hash"),
    Kind(keys.leaderboard, "hash"),
    Kind(keys.rating_history, "hash"),
    Kind(keys.rating_opponents, "hash"),
    Kind(keys.rating_lease, "string", lasts_s=10 * MINUTE),
    Kind(keys.rating_pause, "string", lasts_s=10 * MINUTE),
    # --- the arena
    Kind(keys.audit, "zset"),
    Kind(keys.audit_lines, "hash"),
    Kind(keys.idempotent, "hash", lasts_s=DAY),
    Kind(keys.rate, "string", lasts_s=DAY),
)
"""Every kind of key there is."""

_MARK: Final = "\0"
_ID: Final = r"(?:house:)?[^:{}]+"
"""What stands in a key for an id: only those of house bots have a colon."""
_FREE: Final = (keys.unfinished, keys.rate)
"""Keys whose names end in a text of any kind."""


def named(key: bytes) -> Named | None:
    """Tell what a key is by its name; None for one that the arena doesn't write."""
    try:
        text = key.decode()
    except UnicodeDecodeError:
        return None
    found = _pattern().fullmatch(text)
    if found is None or found.lastgroup is None:
        return None
    kind = KINDS[int(found.lastgroup[1:])]
    if isinstance(kind.make, str):
        return Named(kind, "")
    before, _, after = kind.make(_MARK).partition(_MARK)
    return Named(kind, text[len(before) : len(text) - len(after)])


@cache
def _pattern() -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<k{number}>{_spelled(kind)})" for number, kind in enumerate(KINDS)), re.DOTALL)


def _spelled(kind: Kind) -> str:
    if isinstance(kind.make, str):
        return re.escape(kind.make)
    before, _, after = map(re.escape, kind.make(_MARK).partition(_MARK))
    return before + (".+" if kind.make in _FREE else _ID) + after
