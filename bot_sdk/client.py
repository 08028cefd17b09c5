"""`Arena`: a client of the arena's HTTP API, one method an operation, JSON in and out.

Every call has a deadline. Calls are tried again when the connection breaks: those that create carry an
``Idempotency-Key``, so the arena answers a repeat with what it made the first time. Refusals become `ArenaError` with
the problem's stable `code`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Self

from bot_sdk.following import Away, Following
from bot_sdk.tournaments import PATIENCE_S, Organising
from bot_sdk.transport import TIMEOUT_S, ArenaError, Json, Transport, given

__all__ = ["Arena", "ArenaError"]

_CHECK_PAUSE_S: Final = 0.2


class Arena(Organising):
    """The arena at a URL, as the account of a token sees it, or as anybody without one.

    What it does with tournaments is inherited.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout_s: float = TIMEOUT_S,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Aim at an arena such as ``http://127.0.0.1:8000``; nothing is sent yet."""
        self._session = Transport(url, token, timeout_s=timeout_s)
        self._sleep = sleep
        self._clock = clock

    @property
    def token(self) -> str | None:
        """The token that calls are made with; None for nobody's."""
        return self._session.token

    @token.setter
    def token(self, value: str | None) -> None:
        self._session.token = value

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # The arena itself

    def ready(self) -> bool:
        """Whether the arena takes work."""
        try:
            return self._session.send("GET", "/health/ready").ok
        except ArenaError:
            return False

    def alarms(self) -> list[Json]:
        """List what the operator should see to, each with its word and detail; raises ArenaError if it isn't ready."""
        return list(self._session.get("/health/ready")["alarms"])

    def rulesets(self) -> list[Json]:
        """List the rulesets: seats, phases, options as JSON Schema."""
        return list(self._session.pages("/v1/rulesets"))

    def ruleset(self, name: str) -> Json:
        """Show one ruleset."""
        return self._session.get(f"/v1/rulesets/{name}")

    def leaderboard(self, ruleset: str, **filters: str) -> Json:
        """Show a ruleset's ratings, best first, when they were computed and how: `versions="all"`."""
        return self._session.whole(f"/v1/leaderboards/{ruleset}", filters)

    # Accounts

    def create_account(self, name: str, *, invite_code: str | None = None) -> Json:
        """Make an account; its `token` is shown this once. This client doesn't take it up by itself."""
        return self._session.create("/v1/accounts", given(name=name, invite_code=invite_code))

    def me(self) -> Json:
        """Show the account of the token."""
        return self._session.get("/v1/accounts/me")

    def tokens(self) -> Iterator[Json]:
        """List the account's tokens, without the tokens."""
        return self._session.pages("/v1/accounts/me/tokens")

    def create_token(self, name: str = "token", scopes: Sequence[str] | None = None) -> Json:
        """Make a further token."""
        return self._session.create("/v1/accounts/me/tokens", given(name=name, scopes=scopes))

    def revoke_token(self, token_id: str) -> None:
        """Revoke a token at once."""
        self._session.call("DELETE", f"/v1/accounts/me/tokens/{token_id}")

    # Bots

    def create_bot(
        self,
        name: str,
        url: str,
        rulesets: Sequence[str],
        *,
        availability: str = "public",
        secret: str | None = None,
    ) -> Json:
        """Register a bot; it is pending until a check passes. `secret` is in the answer if the arena made it."""
        body = given(name=name, url=url, rulesets=list(rulesets), availability=availability, secret=secret)
        return self._session.create("/v1/bots", body)

    def bots(self, **filters: str) -> Iterator[Json]:
        """List bots, newest first: `owner="me"`, `kind="house"`, `ruleset=`, `state=`."""
        return self._session.pages("/v1/bots", filters)

    def bot(self, bot_id: str) -> Json:
        """Show a bot."""
        return self._session.get(f"/v1/bots/{bot_id}")

    def change_bot(self, bot_id: str, **changes: Any) -> Json:
        """Change a bot's `name`, `url`, `rulesets`, `availability`, or its `state` to ``active`` or ``paused``."""
        return self._session.call("PATCH", f"/v1/bots/{bot_id}", changes)

    def delete_bot(self, bot_id: str) -> None:
        """Forget a bot."""
        self._session.call("DELETE", f"/v1/bots/{bot_id}")

    def rotate_secret(self, bot_id: str, secret: str | None = None) -> Json:
        """Give a bot a new secret; the old one is valid for 24 hours more."""
        return self._session.create(f"/v1/bots/{bot_id}/secret", given(secret=secret))

    def decisions(self, bot_id: str) -> Iterator[Json]:
        """List the bot's latest decisions, newest first: outcome, time, error, head of its answer."""
        return self._session.pages(f"/v1/bots/{bot_id}/decisions")

    def start_check(self, bot_id: str) -> Json:
        """Have a bot challenged and checked by a worker."""
        return self._session.create(f"/v1/bots/{bot_id}/checks", {})

    def checks(self, bot_id: str) -> Iterator[Json]:
        """List the bot's latest checks, newest first; those `asked_by` the arena look after a suspended bot."""
        return self._session.pages(f"/v1/bots/{bot_id}/checks")

    def check(self, bot_id: str, check_id: str) -> Json:
        """Show how far a check is."""
        return self._session.get(f"/v1/bots/{bot_id}/checks/{check_id}")

    def wait_for_check(self, bot_id: str, check_id: str, *, timeout_s: float = 120.0) -> Json:
        """Wait until a check has ended and show it; raises `ArenaError` ``timeout`` if it takes longer."""
        until = self._clock() + timeout_s
        while (shown := self.check(bot_id, check_id))["state"] in {"queued", "running"}:
            if self._clock() > until:
                raise ArenaError(0, "timeout", f"expected check {check_id} to end within {timeout_s:g} s")
            self._sleep(_CHECK_PAUSE_S)
        return shown

    def ratings(self, bot_id: str) -> Iterator[Json]:
        """List a bot's ratings by ruleset: each of its versions, and the history."""
        return self._session.pages(f"/v1/bots/{bot_id}/ratings")

    def opponents(self, bot_id: str, **filters: str) -> Iterator[Json]:
        """List whom a bot met in rated games and what came of it: `ruleset=`."""
        return self._session.pages(f"/v1/bots/{bot_id}/opponents", filters)

    # Games

    def create_game(self, ruleset: str, seats: Sequence[Json], **more: Any) -> Json:
        """Make a game: `options`, `start="manual"`, `budget_ms` … as the API has them; human seats bring tokens."""
        return self._session.create("/v1/games", {"ruleset": ruleset, "seats": list(seats), **more})

    def games(self, **filters: str) -> Iterator[Json]:
        """List games, newest first."""
        return self._session.pages("/v1/games", filters)

    def game(self, game_id: str) -> Json:
        """Show a game as a spectator sees it."""
        return self._session.get(f"/v1/games/{game_id}")

    def set_game_state(self, game_id: str, state: str) -> Json:
        """Start a game (``running``) or call it off (``cancelled``)."""
        return self._session.call("PUT", f"/v1/games/{game_id}/state", {"state": state})

    def join(self, game_id: str, seat: int, name: str) -> Json:
        """Take an open seat; the answer holds its token."""
        return self._session.create(f"/v1/games/{game_id}/seats/{seat}", {"name": name}, method="PUT")

    def leave(self, game_id: str, seat: int, token: str) -> None:
        """Leave a seat: once the game runs, it retires."""
        self._session.call("DELETE", f"/v1/games/{game_id}/seats/{seat}", token=token)

    def set_entropy(self, game_id: str, seat: int, entropy: str, token: str) -> Json:
        """Add to the shuffle until a manual start."""
        path = f"/v1/games/{game_id}/seats/{seat}/entropy"
        return self._session.call("PUT", path, {"entropy": entropy}, token=token)

    def seat(self, game_id: str, seat: int, token: str, *, wait_s: float = 0) -> Json:
        """Show a seat to who sits there: observation, phase, `decision_id`, `legal_actions`, deadline.

        With `wait_s` (at most 60) it waits until the seat owes a decision or the game is over for it.
        """
        params = {"wait_for": "decision"} if wait_s else {}
        headers = {"Prefer": f"wait={wait_s:g}"} if wait_s else {}
        path = f"/v1/games/{game_id}/seats/{seat}"
        return self._session.read(
            self._session.send("GET", path, params=params, headers=headers, token=token, more_s=wait_s)
        )

    def act(self, game_id: str, seat: int, decision_id: str, action: str, token: str) -> Json:
        """Take an action; the same again gets the same answer."""
        body = {"decision_id": decision_id, "action": action}
        return self._session.call("POST", f"/v1/games/{game_id}/seats/{seat}/actions", body, token=token)

    def events(self, game_id: str) -> Iterator[Json]:
        """List what everybody may know of a game, in order."""
        return self._session.pages(f"/v1/games/{game_id}/events")

    def follow_game(
        self,
        game_id: str,
        *,
        patience_s: float = PATIENCE_S,
        timeout_s: float | None = None,
        away: Away | None = None,
    ) -> Iterator[Json]:
        """Give each event of a game as it happens, from the first to the last, as `events` lists them.

        The arena may be away for `patience_s`; `away` is told. After that, and after `timeout_s` in all, `ArenaError`
        is raised.
        """
        return Following(
            self._session,
            f"/v1/games/{game_id}/stream",
            patience_s=patience_s,
            timeout_s=timeout_s,
            away=away,
            sleep=self._sleep,
            clock=self._clock,
        ).messages()

    def record(self, game_id: str) -> bytes:
        """Fetch the record of a game that has ended, as `bot_sdk.games.record.read` takes it."""
        return self._session.send("GET", f"/v1/games/{game_id}/record").content
