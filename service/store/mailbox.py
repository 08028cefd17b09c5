"""Keeps the mailboxes of bots that fetch their calls: a process of ours puts a call, the bot fetches and answers it.

`Mailboxes` is the bot's end of it, as the API serves it; `Office` the end of a process that calls bots. Nothing here is
kept for long: what nobody fetches or answers expires.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from service.store import keys
from service.store.errors import DamagedError
from service.store.lua import Scripts, call, source
from service.store.roundtrip import exchange, raised

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redis import Redis

    from service.store.lua import Args
    from service.store.roundtrip import Command

POLLED_MS: Final = 5_000
"""So long after its last poll a bot still counts as there."""
REMEMBERED_MS: Final = 4 * POLLED_MS
"""So long it is known when that was: for longer than it takes until nobody is known to answer polls."""
OPEN_MS: Final = 1_000
"""So long after somebody has last said that he answers polls nobody does any more."""
GRACE_MS: Final = 1_000
"""Within so long after a call's end whoever put it has taken it back, if he is alive and the clock wasn't set."""
SETTLE_MS: Final = 30_000
"""So much longer than a call may take it is kept, so that whoever put it can tell what became of it."""
ANSWERS_MS: Final = 60_000
"""So long answers wait for a process that may have died."""
MOST_HEARD: Final = 128
CLOSED: Final = -1
"""In the place of what became of a call: nobody answers polls, or nobody did for a while."""
DAMAGED: Final = 0
"""In the place of a time: what is kept there isn't a mailbox."""


class Given(NamedTuple):
    """A bot's answer to one call, as it was sent."""

    call_id: str
    status: int
    body: bytes


class Mailboxes:
    """The bots' end of all mailboxes."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._scripts = Scripts(redis)

    def keep_open(self) -> None:
        """Note that bots can poll now; who stops to do so for `OPEN_MS` says that they can't, unless others do."""
        self._scripts.run("mail_open", [keys.MAIL_OPEN], [OPEN_MS])

    def fetch(self, bot_id: str, most: int) -> list[bytes]:
        """Take up to so many calls, oldest first, that nobody else gets; the bot is there for another `POLLED_MS`."""
        return cast("list[bytes]", self._scripts.run("mail_fetch", *_fetching(bot_id, most)))

    def waiting(self, bot_id: str) -> int:
        """Tell how many calls wait; some may be too old to be fetched."""
        return self._redis.llen(keys.mail_waiting(bot_id))

    def answer(self, bot_id: str, answers: Sequence[Given]) -> list[bool]:
        """Send answers to who asked; for each, whether it was waited for. Of two to one call the first is taken.

        The bot is there for another `POLLED_MS`, though it answers nothing.
        """
        calls, ends = _calls(bot_id)
        polled = call("mail_fetch", *_fetching(bot_id, 0))
        streams: Command = ("HMGET", calls, *(f"to {each.call_id}" for each in answers))
        commands = [polled, streams] if answers else [polled]
        told = [raised(each) for each in exchange(self._redis, commands, [source("mail_fetch")])]
        asked = [(each, to.decode()) for each, to in zip(answers, told[-1], strict=True) if to] if answers else []
        sent = self._scripts.run_many(
            "mail_answer",
            [([calls, ends, to], [bot_id, each.call_id, each.status, each.body, ANSWERS_MS]) for each, to in asked],
        )
        taken = {id(each) for (each, _), is_taken in zip(asked, sent, strict=True) if is_taken == 1}
        return [id(each) in taken for each in answers]

    def put_card(self, bot_id: str, card: bytes) -> None:
        """Keep the card that a bot shows."""
        self._redis.set(keys.mail_card(bot_id), card)


class Heard(NamedTuple):
    """An answer that came in at `at_us`, by the store's clock."""

    bot_id: str
    call_id: str
    status: int
    body: bytes
    at_us: int


class Office:
    """The end of one process that puts calls, under a `name` that no other has; two threads may use it.

    All it does may be done twice. It raises what redis-py raises while the store is away.
    """

    def __init__(self, redis: Redis, name: str, *, waiting: Redis | None = None) -> None:
        """Say who asks; `waiting` is the client by which he waits for answers, if that is another."""
        self._redis = redis
        self._waiting = waiting or redis
        self._scripts = Scripts(redis)
        self._answers = keys.mail_answers(name)
        self._read: list[bytes] = []

    def put(self, letters: Sequence[tuple[str, str, bytes, int]]) -> list[int | None]:
        """Put calls, all in one round trip: each by bot, id, what the bot is given, and the ms it has.

        Gives for each the microsecond of the store's clock at which it was there, None if its bot doesn't poll, though
        it could: else `CLOSED`. `DAMAGED` for one that the store refuses for good.
        """
        calls: list[tuple[list[str], Args]] = [
            (
                [keys.mail_polled(bot_id), keys.mail_waiting(bot_id), *_calls(bot_id), keys.MAIL_OPEN],
                [call_id, item, self._answers, budget_ms, SETTLE_MS, keys.mail_news(bot_id), POLLED_MS],
            )
            for bot_id, call_id, item, budget_ms in letters
        ]
        told = self._scripts.run_many("mail_put", calls)
        return [DAMAGED if isinstance(each, DamagedError) else each or None for each in told]

    def withdraw(self, letters: Sequence[tuple[str, str, int]]) -> list[bool | int | None]:
        """Take calls back at their deadline, each by bot, id and when it was there: whether it had been fetched.

        `CLOSED` if nobody answered polls for a while since then. None for one that nobody can take back: its answer is
        there, or it is lost.
        """
        calls = [
            (
                [*_calls(bot_id), keys.mail_waiting(bot_id), keys.MAIL_OPEN],
                [call_id, self._answers, put_us // 1000],
            )
            for bot_id, call_id, put_us in letters
        ]
        became: dict[Any, bool | int | None] = {0: None, 1: False, 2: True, CLOSED: CLOSED}
        return [became[told] for told in self._run("mail_withdraw", calls)]

    def recall(self, names: Sequence[tuple[str, str]]) -> list[bool]:
        """Take back those calls whose bots have ceased to poll before they fetched them; tell which these are."""
        calls = [
            (
                [*_calls(bot_id), keys.mail_waiting(bot_id), keys.MAIL_OPEN, keys.mail_polled(bot_id)],
                [call_id, self._answers, POLLED_MS],
            )
            for bot_id, call_id in names
        ]
        return [told == 1 for told in self._run("mail_withdraw", calls)]

    def hear(self, wait_ms: int) -> list[Heard]:
        """Wait for answers, at most so long; what is given once may be given again if the connection breaks."""
        commands: list[Command] = [("XDEL", self._answers, *self._read)] if self._read else []
        commands.append(("XREAD", "COUNT", MOST_HEARD, "BLOCK", wait_ms, "STREAMS", self._answers, "0"))
        entries = _entries(raised(exchange(self._waiting, commands)[-1]))
        self._read = [entry_id for entry_id, _ in entries]
        return [_heard(fields) for _, fields in entries]

    def card(self, bot_id: str) -> tuple[bytes | None, bool]:
        """Give the card that a bot has shown last, None if it never did, and whether the bot is there: it polls.

        One that has shown a card is there as well while it may have been kept from polling of late.
        """
        commands: list[Command] = [
            ("GET", keys.mail_card(bot_id)),
            ("EXISTS", keys.mail_polled(bot_id)),
            ("HMGET", keys.MAIL_OPEN, "since", "last"),
        ]
        card, polls, (since, last) = [raised(told) for told in exchange(self._redis, commands)]
        could = int(last or 0) - int(since or 0) >= POLLED_MS
        return card, bool(polls) or (card is not None and not could)

    def _run(self, script: str, calls: Sequence[tuple[list[str], list[Any]]]) -> list[Any]:
        told = self._scripts.run_many(script, calls)
        return [0 if isinstance(each, DamagedError) else each for each in told]


def _fetching(bot_id: str, most: int) -> tuple[list[str], Args]:
    """Give keys and arguments of the script that fetches: at most 0 calls if the bot only is to be marked as there."""
    names = [keys.mail_polled(bot_id), keys.mail_waiting(bot_id), *_calls(bot_id)]
    return names, [most, REMEMBERED_MS, GRACE_MS]


def _calls(bot_id: str) -> tuple[str, str]:
    return keys.mail_calls(bot_id), keys.mail_ends(bot_id)


def _entries(read: Any) -> list[tuple[bytes, list[bytes]]]:
    """Give the entries of the one stream that was read; nothing was read if the wait was in vain."""
    return [(entry[0], entry[1]) for entry in read[0][1]] if read else []


def _heard(fields: list[bytes]) -> Heard:
    told = dict(zip(fields[::2], fields[1::2], strict=True))
    return Heard(told[b"bot"].decode(), told[b"id"].decode(), int(told[b"status"]), told[b"body"], int(told[b"at"]))
