"""The part of the client that is about bots: registering, checking and pausing them, and how they do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, Unpack

from bot_sdk.answers import (
    AppearanceView,
    BotMade,
    BotView,
    CheckView,
    LedgerLine,
    OpponentView,
    RatingsView,
    SecretMade,
    StatisticsView,
)
from bot_sdk.client.finding import called, only, own
from bot_sdk.client.orders import BotChange
from bot_sdk.client.part import Part
from bot_sdk.transport import ArenaError, at, given

_CHECK_PAUSE_S: Final = 0.2
_ID: Final = re.compile(r"bot_[a-z2-7]{26}|house:[a-z0-9_-]+")


class Bots(Part):
    """The operations on bots."""

    def create_bot(
        self,
        name: str,
        url: str | None,
        rulesets: Sequence[str],
        *,
        transport: str | None = None,
        availability: str = "public",
        secret: str | None = None,
    ) -> BotMade:
        """Register a bot; it is pending until a check passes. `secret` is in the answer if the arena made it.

        One with the `transport` ``pull`` has no URL.
        """
        order = given(url=url, transport=transport, availability=availability, secret=secret)
        return self._session.create("/v1/bots", {"name": name, "rulesets": list(rulesets), **order}, BotMade)

    def bots(
        self,
        *,
        kind: str | None = None,
        owner: str | None = None,
        ruleset: str | None = None,
        state: str | None = None,
    ) -> Iterator[BotView]:
        """List bots, newest first: those of the `owner` ``me``, or the arena's own of the `kind` ``house``."""
        return self._session.pages("/v1/bots", BotView, given(kind=kind, owner=owner, ruleset=ruleset, state=state))

    def bot(self, bot_id: str) -> BotView:
        """Show a bot."""
        return self._session.get(at("/v1/bots/{}", bot_id), BotView)

    def find_bot(self, name: str) -> str:
        """Give the id of the bot that has this id, or this name among the bots of the token's account.

        Raises `ArenaError` ``not_found`` or ``ambiguous``.
        """
        if _ID.fullmatch(name):
            return name
        wanted = f"expected the id of a bot, house:NAME or the name of a bot of your own, got {name!r:.80}"
        return only(called(name, own(self.bots(owner="me"))), wanted).id

    def own_bot(self, name: str | None = None) -> BotView:
        """Show the bot of the token's account that has this name or id; without one the only bot there is.

        Raises `ArenaError` ``not_found`` or ``ambiguous``, and says which there are.
        """
        there = list(own(self.bots(owner="me")))
        found = there if name is None else [bot for bot in there if name in {bot.id, bot.name}]
        listed = ", ".join(f"{bot.name} ({bot.id})" for bot in there[:10]) or "none"
        asked = "" if name is None else f", got {name!r:.80}"
        return only(found, f"expected the name or id of a bot of your own{asked}; there is {listed}")

    def change_bot(self, bot_id: str, **changes: Unpack[BotChange]) -> BotView:
        """Change a bot's `name`, `url` or `transport`, `rulesets`, `availability`, or its `state`."""
        return self._session.call("PATCH", at("/v1/bots/{}", bot_id), {**changes}, BotView)

    def delete_bot(self, bot_id: str) -> None:
        """Forget a bot."""
        self._session.remove(at("/v1/bots/{}", bot_id))

    def rotate_secret(self, bot_id: str, secret: str | None = None) -> SecretMade:
        """Give a bot a new secret; the old one is valid for 24 hours more."""
        return self._session.create(at("/v1/bots/{}/secret", bot_id), given(secret=secret), SecretMade)

    def decisions(self, bot_id: str) -> Iterator[LedgerLine]:
        """List the bot's latest decisions, newest first: outcome, time, error, head of its answer."""
        return self._session.pages(at("/v1/bots/{}/decisions", bot_id), LedgerLine)

    def start_check(self, bot_id: str) -> CheckView:
        """Have a bot challenged and checked by a worker."""
        return self._session.create(at("/v1/bots/{}/checks", bot_id), {}, CheckView)

    def checks(self, bot_id: str) -> Iterator[CheckView]:
        """List the bot's latest checks, newest first; those `asked_by` the arena look after a suspended bot."""
        return self._session.pages(at("/v1/bots/{}/checks", bot_id), CheckView)

    def check(self, bot_id: str, check_id: str) -> CheckView:
        """Show how far a check is."""
        return self._session.get(at("/v1/bots/{}/checks/{}", bot_id, check_id), CheckView)

    def wait_for_check(self, bot_id: str, check_id: str, *, timeout_s: float = 120.0) -> CheckView:
        """Wait until a check has ended and show it; raises `ArenaError` ``timeout`` if it takes longer."""
        until = self._clock() + timeout_s
        while (shown := self.check(bot_id, check_id)).state in {"queued", "running"}:
            if self._clock() > until:
                raise ArenaError(0, "timeout", f"expected check {check_id} to end within {timeout_s:g} s")
            self._sleep(_CHECK_PAUSE_S)
        return shown

    def ratings(self, bot_id: str) -> Iterator[RatingsView]:
        """List a bot's ratings by ruleset: each of its versions, and the history."""
        return self._session.pages(at("/v1/bots/{}/ratings", bot_id), RatingsView)

    def opponents(self, bot_id: str, *, ruleset: str | None = None) -> Iterator[OpponentView]:
        """List whom a bot met in rated games and what came of it."""
        return self._session.pages(at("/v1/bots/{}/opponents", bot_id), OpponentView, given(ruleset=ruleset))

    def bot_statistics(self, bot_id: str) -> Iterator[StatisticsView]:
        """List what a bot's last games say by ruleset: how its decisions came about, and how long they took."""
        return self._session.pages(at("/v1/bots/{}/statistics", bot_id), StatisticsView)

    def bot_games(self, bot_id: str) -> Iterator[AppearanceView]:
        """List a bot's last games that everybody may read, newest first, and how it did in them."""
        return self._session.pages(at("/v1/bots/{}/games", bot_id), AppearanceView)
