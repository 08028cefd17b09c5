"""The part of the client that is about sitting at a table, for people and programs that play by this API."""

from __future__ import annotations

from math import ceil

from bot_sdk.answers import ActionTaken, EntropyView, Joined, SeatView
from bot_sdk.client.part import Part
from bot_sdk.transport import at, read


class Seats(Part):
    """The operations on seats; all but `join` are for the seat's own token."""

    def join(self, game_id: str, seat: int, name: str) -> Joined:
        """Take an open seat; the answer holds its token."""
        return self._session.create(at("/v1/games/{}/seats/{}", game_id, seat), {"name": name}, Joined, method="PUT")

    def leave(self, game_id: str, seat: int, token: str) -> None:
        """Leave a seat: once the game runs, it retires."""
        self._session.remove(at("/v1/games/{}/seats/{}", game_id, seat), token=token)

    def set_entropy(self, game_id: str, seat: int, entropy: str, token: str) -> EntropyView:
        """Add to the shuffle until a manual start."""
        path = at("/v1/games/{}/seats/{}/entropy", game_id, seat)
        return self._session.call("PUT", path, {"entropy": entropy}, EntropyView, token=token)

    def seat(self, game_id: str, seat: int, token: str, *, wait_s: float = 0) -> SeatView:
        """Show a seat to who sits there: observation, phase, `decision_id`, `legal_actions`, deadline.

        With `wait_s` (at most 60, rounded up to whole seconds) it waits until the seat owes a decision or the game is
        over for it.
        """
        params = {"wait_for": "decision"} if wait_s else {}
        headers = {"Prefer": f"wait={ceil(wait_s)}"} if wait_s else {}
        path = at("/v1/games/{}/seats/{}", game_id, seat)
        got = self._session.send("GET", path, params=params, headers=headers, token=token, more_s=wait_s)
        return read(got, SeatView)

    def act(self, game_id: str, seat: int, decision_id: str, action: str, token: str) -> ActionTaken:
        """Take an action; the same again gets the same answer. One that isn't legal is refused.

        The `members` of that `ArenaError` hold `legal_actions`.
        """
        body = {"decision_id": decision_id, "action": action}
        path = at("/v1/games/{}/seats/{}/actions", game_id, seat)
        return self._session.call("POST", path, body, ActionTaken, token=token)
