"""What bots do that fetch their calls: they say what they are, fetch, and answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

import msgspec

from bot_sdk.messages import MAX_BATCH, MAX_REPLY_BYTES, MAX_REPLY_BYTES_PER_DECISION, BotCard
from service.arena.errors import ConflictError, invalid
from service.store import keys
from service.store.entities import PULL, Bot, BotState
from service.store.mailbox import Given, Mailboxes

if TYPE_CHECKING:
    from service.arena.bots import Bots
    from service.arena.caller import Caller
    from service.store.watch import Watch

LOOK_S: Final = 2.0
"""How often one who waits is looked at: while he is there the bot counts as there, and no longer."""
LONGEST: Final = MAX_REPLY_BYTES + MAX_BATCH * MAX_REPLY_BYTES_PER_DECISION
"""No answer may have more bytes; so many and one more tell that it has."""


class Pulling:
    """The use cases of bots that fetch their calls.

    Each raises ForbiddenError or NotFoundError unless the bot is the caller's own, and ConflictError for one that is
    called at its URL, or that the operator has disabled.
    """

    def __init__(self, bots: Bots, mailboxes: Mailboxes, watch: Watch) -> None:
        """Keep what they work with."""
        self._bots = bots
        self._mailboxes = mailboxes
        self._watch = watch

    def show_card(self, caller: Caller, bot_id: str, card: Mapping[str, Any]) -> None:
        """Keep the card of a bot for its checks; raises InvalidError unless it is one."""
        self._owned(caller, bot_id)
        try:
            msgspec.convert(card, BotCard)
        except (msgspec.ValidationError, ValueError) as error:
            raise invalid("card", f"expected a bot card: {error}", code="bad_card") from None
        self._mailboxes.put_card(bot_id, msgspec.json.encode(card))

    def fetch(
        self,
        caller: Caller,
        bot_id: str,
        *,
        most: int,
        seconds: float,
        has_left: Callable[[], bool],
        again: Callable[[], Caller | None],
    ) -> list[bytes]:
        """Give up to `most` calls, as JSON, that nobody else is given; wait for one, at most so many seconds.

        `has_left` tells whether the caller is gone: then nothing is taken for him. Nor is it after a wait, if `again`
        doesn't know him any more, or the bot isn't his.
        """
        self._owned(caller, bot_id)
        ends = monotonic() + seconds
        while not has_left():
            found = self._mailboxes.fetch(bot_id, most)
            left = ends - monotonic()
            if found or left <= 0 or self._watch.is_closed:
                return found
            news, wait_s = keys.mail_news(bot_id), min(left, LOOK_S)
            self._watch.follow(news, self._mailboxes.waiting, bot_id, bool, wait_s)
            known = again()
            if known is None:
                break
            self._owned(known, bot_id)
        return []

    def answer(self, caller: Caller, bot_id: str, answers: Sequence[Given]) -> list[str]:
        """Take a bot's answers; gives the ids of the calls to which they were waited for."""
        self._owned(caller, bot_id)
        taken = self._mailboxes.answer(bot_id, [each._replace(body=each.body[: LONGEST + 1]) for each in answers])
        return [each.call_id for each, is_taken in zip(answers, taken, strict=True) if is_taken]

    def _owned(self, caller: Caller, bot_id: str) -> Bot:
        bot = self._bots.owned(caller, bot_id)
        if PULL not in {bot.url, bot.new_url} and not self._bots.is_busy(bot_id):  # games go on as they began
            raise ConflictError("the bot is called at its URL: its transport is push", code="not_pull")
        if bot.state is BotState.DISABLED:
            raise ConflictError("the operator has disabled this bot", code="bot_disabled")
        return bot
