"""Running a bot's check in a worker: challenge, then conformance; a pass stores its card and activates it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import msgspec
from msgspec.structs import replace

from bot_sdk import check as conformance
from bot_sdk.messages import BotCard
from service.outbound.calls import Calls
from service.outbound.values import Answer, Call, Endpoint
from service.store.entities import Bot, BotState, Check
from service.store.errors import NotFoundError
from service.store.store import Store


class Checks:
    """Runs checks. `challenge` gives fresh random text."""

    def __init__(self, store: Store, calls: Calls, *, clock: Callable[[], int], challenge: Callable[[], str]) -> None:
        """Keep what they work with."""
        self._store = store
        self._calls = calls
        self._clock = clock
        self._challenge = challenge

    def run(self, check_id: str) -> None:
        """Run a check that waits, and keep its outcome; one that ran before is left as it is."""
        bots = self._store.bots
        check = bots.get_check(check_id)
        bot = bots.get(check.bot_id) if check else None
        if check is None or bot is None or check.ended_at is not None:
            return
        secret = bots.secrets(bot.id, self._clock())[0]
        line = Line(self._calls, bot.id, check.url)
        steps: list[dict[str, Any]] = []
        for step in conformance.run(
            line, bot_id=bot.id, secret=secret, challenge=self._challenge(), claimed=bot.rulesets
        ):
            steps.append(msgspec.to_builtins(step))
            bots.change_check(check_id, lambda old: replace(old, state="running", steps=steps))
        passed = bool(steps) and all(step["ok"] for step in steps)
        ended_at = self._clock()
        if passed:
            card = line.card()
            with suppress(NotFoundError):  # deleted meanwhile
                bots.change(bot.id, lambda old: activated(old, check, card, ended_at, checked=bot.rulesets))
        state = "passed" if passed else "failed"
        bots.change_check(check_id, lambda old: replace(old, state=state, steps=steps, ended_at=ended_at))


class Line:
    """Carries a check's requests to a bot through `outbound`, and remembers the card it gave."""

    def __init__(self, calls: Calls, bot_id: str, url: str) -> None:
        """Say whom to reach."""
        self._calls = calls
        self._bot_id = bot_id
        self._url = url
        self._number = 0
        self._card = b""

    def get_card(self, budget_ms: int) -> Answer:
        """GET the bot's URL."""
        answer = self._calls.get_card(self._url, budget_ms)
        self._card = answer.body or b""
        return answer

    def card(self) -> BotCard:
        """Read the card that the check found good."""
        return msgspec.json.decode(self._card, type=BotCard)

    def post(self, body: bytes, budget_ms: int, secret: str | None, *, decisions: int = 1) -> Answer:
        """POST a message, signed with `secret` if there is one."""
        self._number += 1
        name = hashlib.sha256(body).hexdigest()[:26]
        endpoint = Endpoint(self._bot_id, self._url, (secret,) if secret else ())
        return self._calls.ask(Call(self._number, endpoint, body, budget_ms, f"msg_check.{name}", decisions))


def activated(bot: Bot, check: Check, card: BotCard, now: int, *, checked: Sequence[str]) -> Bot:
    """Give the bot as a passed check leaves it: active at the URL that was checked, with what its card says.

    A bot that the operator has disabled, whose URL has changed since, or that claims more than the rulesets `checked`
    by now, is left as it is.
    """
    if bot.state is BotState.DISABLED or check.url not in {bot.url, bot.new_url}:
        return bot
    if not set(bot.rulesets) <= set(checked):
        return bot
    return replace(
        bot,
        url=check.url,
        new_url=None if bot.new_url == check.url else bot.new_url,
        state=BotState.ACTIVE,
        reason=None,
        version=card.version,
        max_batch=card.max_batch,
        max_games=card.max_games,
        activated_at=now,
    )
