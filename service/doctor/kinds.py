"""What may be found: how bad each is, whether it heals by itself, and what to run otherwise.

The operator finds it as a table in docs/operations.md.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple


class Severity(StrEnum):
    """An error loses something or keeps something from going on, a warning will or may, a note is good to know."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Advice(NamedTuple):
    """What is said of a finding: `what` is wrong, how it `heals` by itself if it does, what to `run` otherwise.

    In `run` stand `{doctor}`, `{worker}`, `{restore}` and `{client}` for commands that work on the store in question
    (`place.Patient`), and `{first}` for the first thing that was found.
    """

    severity: Severity
    what: str
    heals: str | None = None
    run: str | None = None


_ERROR, _WARNING, _NOTE = Severity
_MEND: Final = "{doctor} --mend"
_OLD_BACKUP: Final = "{restore}, if there is one from before: nothing else has it"
_OPERATOR: Final = '-H "Authorization: Bearer $SLAGVELD_ADMIN_TOKEN"'
_DROP: Final = _OLD_BACKUP + "; or let it go: {doctor} --drop {first}"

ADVICE: Final = {
    # --- the store as a whole
    "store_refuses_writes": Advice(
        _ERROR, "the store takes no writes", None,
        "see what it says; free memory or disk, or point REDIS_URL at the primary: all goes on by itself then",
    ),
    "store_old": Advice(_ERROR, "the store is older than 7.0", None, "upgrade the server: slagveld backup first"),
    "store_evicts": Advice(
        _ERROR, "the store may throw keys away when memory is short", None,
        "{client} CONFIG SET maxmemory-policy noeviction, and in its configuration file",
    ),
    "keys_evicted": Advice(
        _ERROR, "the store has thrown keys away since it was started", None,
        "set maxmemory-policy noeviction; what is missing is found below, and only a backup has it",
    ),
    "no_log": Advice(
        _WARNING, "the store writes no append-only file: a crash loses all since its last snapshot", None,
        "{client} CONFIG SET appendonly yes, and in its configuration file",
    ),
    "not_saved": Advice(
        _ERROR, "the store couldn't write to its disk the last time it tried", "once its disk takes it",
        "free the disk, or mend its permissions",
    ),
    "memory_low": Advice(
        _WARNING, "the store uses more than 80% of the memory it may have", None,
        "give it more, set SLAGVELD_ARCHIVE where there is none, or lower SLAGVELD_KEEP_DAYS",
    ),
    "arena_key_missing": Advice(
        _WARNING, "there are accounts, but no arena key is kept, and none is given here", None,
        "set SLAGVELD_KEY here as for API and workers; if they have none, it is lost: " + _OLD_BACKUP,
    ),
    # --- who works on it
    "no_worker": Advice(
        _ERROR, "no worker is there, or none for some of the work: games stand still", None, "{worker}"
    ),
    "overdue": Advice(
        _WARNING, "what should have been attended to minutes ago (a lease ran out, a deadline is over)",
        "as soon as a worker is there, by the sweeper", "{worker}",
    ),
    "clock_apart": Advice(
        _WARNING, "the clocks of this machine and of the store are more than 5 s apart", None,
        "timedatectl set-ntp true, on both",
    ),
    "clock_back": Advice(
        _WARNING, "the store's clock was set back: a worker was there at a time yet to come",
        "by the first worker that looks: all that is due is looked at anew",
    ),
    "alarm": Advice(
        _WARNING, "a worker has raised an alarm", "once its cause is gone", "see docs/operations.md, Alarms"
    ),
    "maintenance": Advice(
        _NOTE, "maintenance is on: no new games begin", None,
        f"curl -X PUT $ARENA/v1/admin/maintenance {_OPERATOR} -H 'Content-Type: application/json' "
        """-d '{"on":false}'""",
    ),
    # --- the queue
    "queue_away": Advice(
        _ERROR, "the queue between API and workers can't be asked: no game is sent to a worker", None,
        "start the server that SLAGVELD_BROKER_URL names",
    ),
    "dead_letters": Advice(
        _WARNING, "jobs were given up (they are kept for a week)", None,
        f"curl $ARENA/v1/admin/dead-letters {_OPERATOR}; then POST …/ID/replay or DELETE …/ID for each",
    ),
    # --- what is due
    "due_of_nothing": Advice(
        _NOTE, "what is to be looked at and doesn't exist", "the sweeper drops it within a minute of its time"
    ),
    "due_unknown": Advice(_WARNING, "what is to be looked at and of no kind that this release knows", None, _MEND),
    "due_far": Advice(_WARNING, "what is to be looked at only after more than eight days", None, _MEND),
    # --- games
    "game_damaged": Advice(
        _ERROR, "games that can't be read; a tournament under way plays its own again", None, _DROP
    ),
    "game_not_due": Advice(_ERROR, "games that aren't over, and that nobody would ever look at again", None, _MEND),
    "game_secret_missing": Advice(
        _ERROR, "games under way whose pack secret is gone",
        "whoever drives one aborts it; its tournament plays it again on another board",
    ),
    "log_torn": Advice(
        _ERROR, "games under way whose log can't be followed",
        "whoever drives one aborts it; its tournament plays it again on another board",
    ),
    "log_short": Advice(
        _ERROR, "games under way whose log is shorter than it was",
        "whoever drives one goes on from where the log ends, and asks again what was lost",
    ),
    "rules_unknown": Advice(
        _ERROR, "games under way of rules that this release doesn't know: nobody plays them here", None,
        "{worker}, of the release that began them (docs/upgrades.md)",
    ),
    "game_tried": Advice(
        _NOTE, "games of which a move was tried in vain more than once",
        "the next try moves it on, or the third aborts it; its tournament plays it again",
    ),
    "record_lost": Advice(
        _ERROR, "games that have ended, and whose log doesn't come to that end or can't be followed", None, _DROP
    ),
    "pack_damaged": Advice(_ERROR, "packed games that are damaged: their records can't be read", None, _DROP),
    "game_without_tournament": Advice(
        _WARNING, "games of tournaments that don't exist",
        "they are played to their end, and leave the store for the archive when they are old",
    ),
    # --- tournaments
    "tournament_damaged": Advice(_ERROR, "tournaments that can't be read", None, _DROP),
    "tournament_not_due": Advice(
        _ERROR, "tournaments under way that nobody would ever look at again", None, _MEND
    ),
    "tournament_secret_missing": Advice(
        _ERROR, "tournaments whose secret, from which all packs follow, is gone", None, _OLD_BACKUP
    ),
    "result_without_game": Advice(
        _ERROR, "results of games that aren't there: they count, but their records can't be shown", None, _OLD_BACKUP
    ),
    "game_missing": Advice(
        _WARNING, "games of tournaments under way that were started and aren't there",
        "their tournament makes them anew when it is looked at",
    ),
    "board_open": Advice(
        _ERROR, "boards that are still closed to readers though all games on them have ended", None, _MEND
    ),
    # --- bots and accounts
    "bot_damaged": Advice(_ERROR, "bots that can't be read", None, _DROP),
    "bot_secret_missing": Advice(
        _ERROR, "bots whose signing secret is gone: they can't be called", None,
        'its owner registers it anew, after: curl -X DELETE $ARENA/v1/bots/{first} -H "Authorization: Bearer $TOKEN"',
    ),
    "bot_refused": Advice(
        _WARNING, "bots whose URL is refused by these settings: every call of theirs is `unreachable`", None,
        "open their network for API and workers by SLAGVELD_BOT_NETWORKS, or have their owners move them",
    ),
    "bots_suspended": Advice(
        _NOTE, "bots that are suspended", "the arena checks each for a week; two good checks bring it back"
    ),
    "bot_not_due": Advice(_WARNING, "suspended bots that nobody would ever check", None, _MEND),
    "check_not_due": Advice(_WARNING, "checks of bots that nobody would ever run", None, _MEND),
    "erasure_not_due": Advice(_ERROR, "erasures of accounts that nobody would ever finish", None, _MEND),
    # --- keys, lists, counters
    "parts_left": Advice(
        _ERROR, "what is left of things whose own key is gone; a tournament under way goes on with its own game", None,
        _DROP,
    ),
    "key_unknown": Advice(
        _WARNING, "keys that no part of the arena writes", None,
        "if nothing of yours does either: {client} UNLINK KEY; if something does, give it a database of its own",
    ),
    "key_orphaned": Advice(_WARNING, "lists and cards of what doesn't exist any more", None, _MEND),
    "check_orphaned": Advice(_WARNING, "checks of bots that don't exist any more", None, _MEND),
    "key_damaged": Advice(_ERROR, "keys in which something can't be read", None, _OLD_BACKUP),
    "key_of_wrong_type": Advice(_ERROR, "keys that hold another type than they should", None, _OLD_BACKUP),
    "key_without_expiry": Advice(_WARNING, "keys that should run out, and don't", None, _MEND),
    "key_that_expires": Advice(_ERROR, "keys that will run out, and shouldn't", None, _MEND),
    "list_names_missing": Advice(
        _NOTE, "places in lists of what doesn't exist, since its creation broke off; readers pass over them",
        "retention takes those of games and tournaments away when they are old", _MEND,
    ),
    "counter_stale": Advice(
        _NOTE, "games counted as unfinished that have ended or never were",
        "they are dropped as soon as somebody needs the room", _MEND,
    ),
    "counter_missing": Advice(_NOTE, "games under way that aren't counted against a limit", "at their end"),
    # --- the look itself
    "not_all_seen": Advice(
        _WARNING, "the time was up before all keys were looked at", None, "{doctor} --seconds 3600"
    ),
}  # fmt: skip
"""By code, in the order in which they are told."""
