"""What an organiser does over the arena's HTTP API: the part of `client.Arena` that is about tournaments."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from bot_sdk.following import Away, Following
from bot_sdk.transport import ArenaError, Json, Transport, given, lines

ENDS: Final = frozenset({"finished", "cancelled"})
"""The states of a tournament after which nothing happens."""
PATIENCE_S: Final = 60.0
"""How long an arena may be away before following a tournament is given up."""
_TOURNAMENT: Final = re.compile(r"trn_[a-z2-7]{26}")
_BOT: Final = re.compile(r"bot_[a-z2-7]{26}|house:[a-z0-9_-]+")


class Organising:
    """The operations on tournaments; `Arena` is made with a session, a pause and a clock."""

    _session: Transport
    _sleep: Callable[[float], None]
    _clock: Callable[[], float]

    # Before the start

    def create_tournament(self, name: str, ruleset: str, **more: Any) -> Json:
        """Make a tournament, open for entries; `more` holds any setting of the API, such as `format` or `rounds`."""
        return self._session.create("/v1/tournaments", {"name": name, "ruleset": ruleset, **more})

    def tournaments(self, **filters: str) -> Iterator[Json]:
        """List tournaments, newest first: `state=`, `owner="me"`."""
        return self._session.pages("/v1/tournaments", filters)

    def tournament(self, tournament_id: str) -> Json:
        """Show a tournament and its progress."""
        return self._session.get(f"/v1/tournaments/{tournament_id}")

    def find_tournament(self, name: str) -> str:
        """Give the id of the tournament that has this name or id; those of the token's account go before others'.

        Raises `ArenaError` ``not_found`` or ``ambiguous``.
        """
        if _TOURNAMENT.fullmatch(name):
            return name
        found = _called(name, self._mine("/v1/tournaments")) or _called(name, self.tournaments())
        return _only(found, f"expected the id or the name of a tournament, got {name!r:.80}")

    def find_bot(self, name: str) -> str:
        """Give the id of the bot that has this id, or this name among the bots of the token's account.

        Raises `ArenaError` ``not_found`` or ``ambiguous``.
        """
        if _BOT.fullmatch(name):
            return name
        wanted = f"expected the id of a bot, house:NAME or the name of a bot of your own, got {name!r:.80}"
        return _only(_called(name, self._mine("/v1/bots")), wanted)

    def _mine(self, path: str) -> Iterator[Json]:
        """List what the token's account has; nobody and the operator have nothing."""
        try:
            yield from self._session.pages(path, {"owner": "me"})
        except ArenaError as error:
            if error.code != "account_needed":
                raise

    def change_tournament(self, tournament_id: str, **changes: Any) -> Json:
        """Change a tournament's name or, until its start, what can be chosen of its format and entries."""
        return self._session.call("PATCH", f"/v1/tournaments/{tournament_id}", changes)

    def plan(self, tournament_id: str) -> Json:
        """Show what a tournament would come to with the entries it has: games, decisions, seconds."""
        return self._session.get(f"/v1/tournaments/{tournament_id}/plan")

    def set_tournament_state(self, tournament_id: str, state: str) -> Json:
        """Start or go on with (``running``), pause or cancel a tournament, or let a ladder be ``finished``."""
        return self._session.call("PUT", f"/v1/tournaments/{tournament_id}/state", {"state": state})

    # Entries

    def enter(self, tournament_id: str, bot_id: str, *, entropy: str | None = None) -> Json:
        """Enter a bot, or change the entropy it brings."""
        path = f"/v1/tournaments/{tournament_id}/entries/{bot_id}"
        return self._session.create(path, given(entropy=entropy), method="PUT")

    def withdraw(self, tournament_id: str, bot_id: str) -> None:
        """Take a bot out: its running games go on, the others are forfeited."""
        self._session.call("DELETE", f"/v1/tournaments/{tournament_id}/entries/{bot_id}")

    def entries(self, tournament_id: str) -> Iterator[Json]:
        """List the entries, withdrawn ones too."""
        return self._session.pages(f"/v1/tournaments/{tournament_id}/entries")

    # What becomes of it

    def standings(self, tournament_id: str) -> Json:
        """Show the standings, with intervals over boards, and how they are computed."""
        return self._session.get(f"/v1/tournaments/{tournament_id}/standings")

    def crosstable(self, tournament_id: str) -> Json:
        """Show what each entry made of its games against each other, in the order of the standings."""
        return self._session.get(f"/v1/tournaments/{tournament_id}/crosstable")

    def rounds(self, tournament_id: str) -> Iterator[Json]:
        """List the rounds drawn so far and their tables."""
        return self._session.pages(f"/v1/tournaments/{tournament_id}/rounds")

    def boards(self, tournament_id: str) -> Iterator[Json]:
        """List the boards of the rounds drawn so far: commitments and, once closed, secrets."""
        return self._session.pages(f"/v1/tournaments/{tournament_id}/boards")

    def tournament_games(self, tournament_id: str, **filters: str) -> Iterator[Json]:
        """List the games of a tournament, newest first: `state=`."""
        return self._session.pages(f"/v1/tournaments/{tournament_id}/games", filters)

    def follow_tournament(
        self,
        tournament_id: str,
        *,
        patience_s: float = PATIENCE_S,
        timeout_s: float | None = None,
        away: Away | None = None,
    ) -> Iterator[Json]:
        """Give `state`, `reason` and progress of a tournament at every change, until it ends.

        The arena may be away for `patience_s`, for a restart say; `away` is told. After that, and after `timeout_s` in
        all, `ArenaError` is raised.
        """
        following = Following(
            self._session,
            f"/v1/tournaments/{tournament_id}/stream",
            patience_s=patience_s,
            timeout_s=timeout_s,
            away=away,
            sleep=self._sleep,
            clock=self._clock,
        )
        for message in following.messages():
            yield message
            if message["state"] in ENDS:
                return

    def export(self, tournament_id: str, format: str) -> Iterator[bytes]:  # noqa: A002 - the API's word
        """Stream the results (``csv``, ``jsonl``) or records (``records``) of a tournament, in pieces as they come.

        Raises `ArenaError` also in the middle, if the answer breaks off: what came until then isn't the whole.
        """
        path = f"/v1/tournaments/{tournament_id}/export"
        with self._session.send("GET", path, params={"format": format}, stream=True) as response:
            yield from self._session.pieces(response)

    def records(self, tournament_id: str) -> Iterator[bytes]:
        """Stream the records of a tournament, a line each."""
        return (line for line in lines(self.export(tournament_id, "records")) if line)


def _called(name: str, shown: Iterator[Json]) -> list[str]:
    return [each["id"] for each in shown if each["name"] == name]


def _only(found: Sequence[str], wanted: str) -> str:
    if not found:
        raise ArenaError(0, "not_found", wanted)
    if len(found) > 1:
        raise ArenaError(0, "ambiguous", f"{wanted}, the name of {len(found)}: give an id, {' or '.join(found[:5])}")
    return found[0]
