"""Every key and channel of the store, and what is under it. No other module spells one.

One hash tag per game and per tournament; no script touches two of them. What nobody but the arena may see
begins with `secret:`, so that one pattern in an access list covers it.
"""

from __future__ import annotations

SECRET = "secret:"  # noqa: S105 - a prefix of keys, no secret

# --- games --------------------------------------------------------------------------------------------------
DUE = "due"
"""Sorted set: names of what is to be looked at (`due.py` spells them) by the Redis ms at which each next is."""

CLOCK = "clock"
"""Value: how the store's clock has jumped, if it ever has."""

WORKERS = "workers"
"""Sorted set: worker processes by the ms at which each was last there: `<token>`, or `<token>:<what it takes on>` if
that isn't everything."""

SWEEPER = "sweeper"
"""Value: the token of the process that sweeps now; expires."""

RETENTION = "retention"
"""Value: the token of the process that lets ended games expire now; expires."""

ALARMS = "alarms"
"""Hash: a word -> what is wrong, and until when that counts."""

GAMES = "games"
"""Index of all games by creation."""


def game_meta(game_id: str) -> str:
    """Hash: `body` as created, `state`, `started_at`, `ended_at`, `stall`, `shown`, `seat:N`, `entropy:N`."""
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


def game_packed(game_id: str) -> str:
    """Value: all of a game that has ended and may be read, in the place of meta, log and secret (`packed.py`)."""
    return f"{{g:{game_id}}}:packed"


def game_notes(game_id: str) -> str:
    """Value: what bots noted in a game that is packed."""
    return f"{{g:{game_id}}}:notes"


def of_game(game_id: str) -> list[str]:
    """Give every key that is one game's alone."""
    own = (game_meta, game_log, game_lease, game_secret, game_tokens, game_packed, game_notes)
    return [each(game_id) for each in own]


def unfinished(owner: str) -> str:
    """Sorted set: unfinished games of `owner` (`bot:<id>`, `account:<id>`) by the time they were counted."""
    return f"unfinished:{owner}"


def account_games(account_id: str) -> str:
    """Index of the games an account created."""
    return f"account:{account_id}:games"


def tournament_games(tournament_id: str) -> str:
    """Index of the games of a tournament."""
    return f"{{t:{tournament_id}}}:games"


# --- accounts and bots --------------------------------------------------------------------------------------
ACCOUNTS = "accounts"
"""Index of all accounts by creation."""

BOTS = "bots"
"""Index of all bots by creation."""


def account(account_id: str) -> str:
    """Value: the account."""
    return f"account:{account_id}"


def erasure(account_id: str) -> str:
    """Value: how far the erasure of an account is; gone when it is done."""
    return f"erasure:{account_id}"


def account_bots(account_id: str) -> str:
    """Index of the bots an account owns."""
    return f"account:{account_id}:bots"


def account_tournaments(account_id: str) -> str:
    """Index of the tournaments an account created."""
    return f"account:{account_id}:tournaments"


def account_tokens(account_id: str) -> str:
    """Hash: token id -> SHA-256 of the token."""
    return f"{SECRET}account:{account_id}:tokens"


def token(digest: str) -> str:
    """Value: what the token with this SHA-256 allows."""
    return f"{SECRET}token:{digest}"


def bot(bot_id: str) -> str:
    """Value: the bot."""
    return f"bot:{bot_id}"


def bot_secrets(bot_id: str) -> str:
    """Value: the bot's current and previous signing secret."""
    return f"{SECRET}bot:{bot_id}"


def bot_ledger(bot_id: str) -> str:
    """Index of the bot's last decisions; the members carry them; expires."""
    return f"bot:{bot_id}:ledger"


def bot_endings(bot_id: str) -> str:
    """Index of how the bot's last games ended; the members carry it; expires."""
    return f"bot:{bot_id}:endings"


def bot_appearances(bot_id: str) -> str:
    """Index of the bot's last games that have ended and may be read by all; the members say how they went; expires."""
    return f"bot:{bot_id}:appearances"


def bot_checks(bot_id: str) -> str:
    """Index of the bot's checks."""
    return f"bot:{bot_id}:checks"


def check(check_id: str) -> str:
    """Value: the check."""
    return f"check:{check_id}"


def challenges(digest: str) -> str:
    """Sorted set: checks of the last day that count against one host or account, by their ms; expires."""
    return f"challenges:{digest}"


def check_lease(check_id: str) -> str:
    """Value: the token of the worker that runs the check; expires."""
    return f"check:{check_id}:lease"


# --- mailboxes of bots that fetch their calls ---------------------------------------------------------------
MAIL_OPEN = "mail:open"
"""Hash: `since`, the Redis ms since when some process answers polls, and `last`, when one said so last; expires."""


def mail_polled(bot_id: str) -> str:
    """Value: the Redis ms at which the bot has polled last; expires."""
    return f"mail:{bot_id}:polled"


def mail_waiting(bot_id: str) -> str:
    """List: ids of calls to the bot that nobody has fetched, oldest first; expires."""
    return f"mail:{bot_id}:waiting"


def mail_news(bot_id: str) -> str:
    """Channel: a message whenever a call was put into the bot's mailbox."""
    return f"mail:{bot_id}:news"


def mail_calls(bot_id: str) -> str:
    """Hash: `item <id>`, what the bot is given, until it is fetched, and `to <id>`, where the answer goes; expires.

    Secret: it shows hands.
    """
    return f"{SECRET}mail:{bot_id}:calls"


def mail_ends(bot_id: str) -> str:
    """Sorted set: ids of calls that aren't answered by the Redis ms until which they may be; expires."""
    return f"mail:{bot_id}:ends"


def mail_card(bot_id: str) -> str:
    """Value: the card that the bot sent when it connected last."""
    return f"mail:{bot_id}:card"


def mail_answers(name: str) -> str:
    """Stream: what bots answered to the calls of one process; expires."""
    return f"mail:answers:{name}"


# --- tournaments --------------------------------------------------------------------------------------------
TOURNAMENTS = "tournaments"
"""Index of all tournaments by creation."""


def tournament(tournament_id: str) -> str:
    """Value: the tournament."""
    return f"{{t:{tournament_id}}}:meta"


def tournament_rev(tournament_id: str) -> str:
    """Value: the number of changes of anything of the tournament."""
    return f"{{t:{tournament_id}}}:rev"


def tournament_entries(tournament_id: str) -> str:
    """Hash: bot id -> entry."""
    return f"{{t:{tournament_id}}}:entries"


def tournament_rounds(tournament_id: str) -> str:
    """Hash: number of a round -> its tables, written once."""
    return f"{{t:{tournament_id}}}:rounds"


def tournament_started(tournament_id: str) -> str:
    """Hash: `round.table.leg` -> the attempt that was started last."""
    return f"{{t:{tournament_id}}}:started"


def tournament_results(tournament_id: str) -> str:
    """Hash: `round.table.leg` -> result, written once."""
    return f"{{t:{tournament_id}}}:results"


def tournament_closed(tournament_id: str) -> str:
    """Hash: board -> letters of the call that closed it; nothing of another shared board is shown."""
    return f"{{t:{tournament_id}}}:closed"


def tournament_secret(tournament_id: str) -> str:
    """Value: the root of the secrets of all its boards (docs/deals.md)."""
    return f"{SECRET}{{t:{tournament_id}}}:root"


def tournament_ratings(tournament_id: str) -> str:
    """Value: the ratings of its entries by its own games, once it has ended."""
    return f"{{t:{tournament_id}}}:ratings"


def tournament_archived(tournament_id: str) -> str:
    """Value: there once all of an old tournament is in the archive, so that it may be taken down; expires."""
    return f"{{t:{tournament_id}}}:archived"


def tournament_news(tournament_id: str) -> str:
    """Channel: a message whenever the tournament changed."""
    return f"{{t:{tournament_id}}}:news"


def of_tournament(tournament_id: str) -> list[str]:
    """Give every key that is one tournament's alone."""
    return [
        each(tournament_id)
        for each in (
            tournament,
            tournament_rev,
            tournament_entries,
            tournament_rounds,
            tournament_started,
            tournament_results,
            tournament_closed,
            tournament_secret,
            tournament_ratings,
            tournament_archived,
            tournament_games,
        )
    ]


# --- ratings ------------------------------------------------------------------------------------------------
def rated(ruleset: str) -> str:
    """Hash: game id -> when it ended and all that ratings need of it; written once, kept for ever."""
    return f"{{r:{ruleset}}}:rated"


def rated_names(ruleset: str) -> str:
    """Hash: bot id -> the name under which it was entered last."""
    return f"{{r:{ruleset}}}:names"


def leaderboard(ruleset: str) -> str:
    """Hash: `number` of the last fit, `results` that it is made from, `body`."""
    return f"{{r:{ruleset}}}:leaderboard"


def rating_history(ruleset: str) -> str:
    """Hash: bot id -> its ratings by the fits so far."""
    return f"{{r:{ruleset}}}:history"


def rating_opponents(ruleset: str) -> str:
    """Hash: bot id -> what its games against each other bot say."""
    return f"{{r:{ruleset}}}:opponents"


def rating_lease(ruleset: str) -> str:
    """Value: the token of who computes the ratings, or whose fit broke; expires."""
    return f"{{r:{ruleset}}}:lease"


def rating_pause(ruleset: str) -> str:
    """Value: there while no fit is to be asked for; expires."""
    return f"{{r:{ruleset}}}:pause"


# --- the arena ----------------------------------------------------------------------------------------------
def audit(kind: str) -> str:
    """Index of the lines of an audit log: `operator` or `accounts`."""
    return f"audit:{kind}"


def audit_lines(kind: str) -> str:
    """Hash: id of a line -> line."""
    return f"audit:{kind}:lines"


FORM = "form"
"""Value: the number of the form that all of this has (`form.py`)."""

MAINTENANCE = "maintenance"
"""Value: why no new games begin and since when; not there while they do."""

ARENA_KEY = f"{SECRET}arena"
"""Value: the key that tokens and made secrets are derived with."""


def idempotent(digest: str) -> str:
    """Hash: `fingerprint`, `token`, at last `answer`; expires. Secret: an answer may hold a token."""
    return f"{SECRET}idempotent:{digest}"


def rate(name: str) -> str:
    """Value: how many requests were counted under a limit; expires."""
    return f"LIMITS:{name}"
