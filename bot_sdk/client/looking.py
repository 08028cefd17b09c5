"""The part of the client that is about the arena itself: whether it is well, what is played there, who leads."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from bot_sdk.answers import Alarm, Health, Leaderboard, Readiness, RulesetView
from bot_sdk.client.part import Part
from bot_sdk.transport import PAGE, ArenaError, at, given, read


class Looking(Part):
    """The operations that show the arena."""

    def live(self) -> Health:
        """Show that a process answers, and its version."""
        return self._session.get("/health/live", Health)

    def readiness(self) -> Readiness:
        """Show whether the arena takes work and what needs attention; raises `ArenaError` at once if it doesn't."""
        return read(self._session.send("GET", "/health/ready", patient=False), Readiness)

    def ready(self) -> bool:
        """Whether the arena takes work."""
        try:
            self.readiness()
        except ArenaError:
            return False
        return True

    def alarms(self) -> list[Alarm]:
        """List what the operator should see to, each with its word and detail; raises ArenaError if it isn't ready."""
        return self.readiness().alarms

    def rulesets(self) -> Iterator[RulesetView]:
        """List the rulesets: seats, phases, options as JSON Schema."""
        return self._session.pages("/v1/rulesets", RulesetView)

    def ruleset(self, name: str, *, seats: int | None = None) -> RulesetView:
        """Show one ruleset; the limits of its options may hang on the number of seats."""
        return self._session.get(at("/v1/rulesets/{}", name), RulesetView, given(seats=seats))

    def leaderboard(self, ruleset: str, *, versions: str | None = None) -> Leaderboard:
        """Show a ruleset's ratings, best first, when they were computed and how; of `versions` the newest, or ``all``.

        It is read whole, page by page.
        """
        path, query = at("/v1/leaderboards/{}", ruleset), given(versions=versions, limit=PAGE)
        page = first = self._session.get(path, Leaderboard, query)
        items = list(first.items)
        while page.next_cursor is not None:
            page = self._session.get(path, Leaderboard, {**query, "cursor": page.next_cursor})
            items += page.items
        return msgspec.structs.replace(first, items=items, next_cursor=None)
