"""Running a bot's check in a worker: challenge, then conformance; a pass stores its card and activates it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from bot_sdk import check as conformance
from bot_sdk.events import Outcome
from bot_sdk.messages import BotCard
from service.arena.recovery import activated, checked, swept
from service.metrics.meters import Meters, silent
from service.outbound.calls import Calls
from service.outbound.values import Answer, Call
from service.referee.roster import endpoint_of
from service.referee.suspending import GONE
from service.store import due
from service.store.entities import AskedBy, Bot, Check, Transport, transport_of
from service.store.errors import NotFoundError
from service.store.store import Store

NOT_SUSPENDED: Final = conformance.Step("suspended", ok=False, detail="not suspended any more: not asked", ms=0.0)


class OurFaultError(Exception):
    """A check that came to nothing by no fault of the bot's."""


class Checks:
    """Runs checks. `challenge` gives fresh random text."""

    def __init__(
        self,
        store: Store,
        calls: Calls,
        *,
        clock: Callable[[], int],
        challenge: Callable[[], str],
        meters: Meters | None = None,
    ) -> None:
        """Keep what they work with."""
        self._ended = (meters or silent()).checks
        self._store = store
        self._calls = calls
        self._clock = clock
        self._challenge = challenge

    def run(self, check_id: str) -> None:
        """Run a check that waits, and keep its outcome; one that ran before is left as it is.

        Raises OurFaultError if the arena itself broke on the way: then it says nothing, and is to be run again.
        """
        bots = self._store.bots
        check = bots.get_check(check_id)
        bot = bots.get(check.bot_id) if check else None
        if check is None or bot is None or check.ended_at is not None:
            return
        if check.asked_by is AskedBy.ARENA and swept(bot) is None:
            self._end(check, "failed", [msgspec.to_builtins(NOT_SUSPENDED)])
            return
        secret = bots.secrets(bot.id, self._clock())[0]
        line = Line(self._calls, bot.id, check.url)
        steps: list[dict[str, Any]] = []
        for step in conformance.run(
            line, bot_id=bot.id, secret=secret, challenge=self._challenge(), claimed=bot.rulesets
        ):
            steps.append(msgspec.to_builtins(step))
            if not self._note(check_id, steps):
                return
        if line.is_our_fault:
            self._ended.add(Outcome.OUR_FAULT.value)
            raise OurFaultError(f"check {check_id} of {bot.id} came to nothing by our own fault")
        passed = bool(steps) and all(step["ok"] for step in steps)
        with suppress(NotFoundError):  # deleted meanwhile
            bots.change(bot.id, self._edit(check, bot, line, passed=passed))
        self._end(check, "passed" if passed else "failed", steps)

    def _note(self, check_id: str, steps: list[dict[str, Any]]) -> bool:
        """Show how far the check is; False if it is gone, since its bot was deleted."""
        try:
            self._store.bots.change_check(check_id, lambda old: replace(old, state="running", steps=steps))
        except NotFoundError:
            return False
        return True

    def _edit(self, check: Check, bot: Bot, line: Line, *, passed: bool) -> Callable[[Bot], Bot]:
        """Say what the end of a check makes of the bot, which was `bot` when it began."""
        now, rulesets, card = self._clock(), bot.rulesets, line.card() if passed else None
        if check.asked_by is AskedBy.ARENA:
            return lambda old: checked(old, check, card, now, rulesets=rulesets, is_gone=line.is_gone)
        if card is None:
            return lambda old: old
        return lambda old: activated(old, check, card, now, checked=rulesets)

    def _end(self, check: Check, state: str, steps: list[dict[str, Any]]) -> None:
        self._ended.add(state)
        now = self._clock()
        with suppress(NotFoundError):  # many a later one has pushed it out
            self._store.bots.change_check(check.id, lambda old: replace(old, state=state, steps=steps, ended_at=now))
        if check.asked_by is AskedBy.ARENA:
            self._store.due.move({due.health(check.bot_id): self._store.due.now()})  # to be told when the next one is


class Line:
    """Carries a check's requests to a bot through `outbound`, and remembers the card it gave."""

    def __init__(self, calls: Calls, bot_id: str, url: str) -> None:
        """Say whom to reach."""
        self._calls = calls
        self._bot_id = bot_id
        self._url = url
        self._number = 0
        self._card = b""
        self.is_gone = False
        """Whether any answer was 410: the bot asks not to be called."""
        self.is_our_fault = False
        """Whether any call failed by our own fault."""

    def get_card(self, budget_ms: int) -> Answer:
        """GET the bot's URL; one that has none has sent its card when it connected."""
        is_pull = transport_of(self._url) is Transport.PULL
        calls = self._calls
        answer = self._noted(calls.get_posted_card(self._bot_id) if is_pull else calls.get_card(self._url, budget_ms))
        self._card = answer.body or b""
        return answer

    def card(self) -> BotCard:
        """Read the card that the check found good."""
        return msgspec.json.decode(self._card, type=BotCard)

    def post(self, body: bytes, budget_ms: int, secret: str | None, *, decisions: int = 1, age_s: int = 0) -> Answer:
        """POST a message, signed with `secret` if there is one, as if that had been done `age_s` seconds ago."""
        self._number += 1
        name = hashlib.sha256(body).hexdigest()[:26]
        endpoint = endpoint_of(self._bot_id, self._url, (secret,) if secret else ())
        call = Call(self._number, endpoint, body, budget_ms, f"msg_check.{self._number}.{name}", decisions, age_s)
        return self._noted(self._calls.ask(call))

    def _noted(self, answer: Answer) -> Answer:
        self.is_gone |= answer.status == GONE
        self.is_our_fault |= answer.outcome is Outcome.OUR_FAULT
        return answer
