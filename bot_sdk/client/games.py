"""The part of the client that is about games: making, watching and calling them off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Unpack

from bot_sdk.answers import GameMade, GameSummary, GameView
from bot_sdk.client.orders import GameOrder, SeatNew
from bot_sdk.client.part import Part
from bot_sdk.following import PATIENCE_S, Away, Following
from bot_sdk.transport import at, given


class Games(Part):
    """The operations on games, without those of their seats."""

    def create_game(self, ruleset: str, seats: Sequence[SeatNew], **more: Unpack[GameOrder]) -> GameMade:
        """Make a game: `options`, `start="manual"`, `budget_ms` … as the API has them; human seats bring tokens."""
        return self._session.create("/v1/games", {"ruleset": ruleset, "seats": list(seats), **more}, GameMade)

    def games(self, *, state: str | None = None, owner: str | None = None) -> Iterator[GameSummary]:
        """List games, newest first, those in a `state`, or those that the `owner` ``me`` made."""
        return self._session.pages("/v1/games", GameSummary, given(state=state, owner=owner))

    def game(self, game_id: str) -> GameView:
        """Show a game as a spectator sees it."""
        return self._session.get(at("/v1/games/{}", game_id), GameView)

    def set_game_state(self, game_id: str, state: str) -> GameView:
        """Start a game (``running``) or call it off (``cancelled``)."""
        return self._session.call("PUT", at("/v1/games/{}/state", game_id), {"state": state}, GameView)

    def events(self, game_id: str, *, after: int = 0) -> Iterator[dict[str, Any]]:
        """List what everybody may know of a game by now, in order, from `after` the event of that id."""
        return self._session.pages(at("/v1/games/{}/events", game_id), dict, {"after": after} if after else {})

    def follow_game(
        self,
        game_id: str,
        *,
        patience_s: float = PATIENCE_S,
        timeout_s: float | None = None,
        away: Away | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Give each event of a game as it happens, from the first to the last, as `events` lists them.

        The arena may be away for `patience_s`; `away` is told. After that, and after `timeout_s` in all, `ArenaError`
        is raised.
        """
        return Following(
            self._session,
            at("/v1/games/{}/stream", game_id),
            patience_s=patience_s,
            timeout_s=timeout_s,
            away=away,
            sleep=self._sleep,
            clock=self._clock,
        ).messages()

    def record(self, game_id: str) -> bytes:
        """Fetch the record of a game that has ended, as `bot_sdk.games.record.read` takes it."""
        return self._session.send("GET", at("/v1/games/{}/record", game_id)).content
