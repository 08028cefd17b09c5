"""The part of the client that is about tournaments: what an organiser does over the arena's HTTP API."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, Unpack

from bot_sdk.answers import (
    BoardView,
    Crosstable,
    EntryView,
    GameSummary,
    PlanView,
    RoundView,
    Standings,
    TournamentSummary,
    TournamentView,
)
from bot_sdk.client.finding import called, only, own
from bot_sdk.client.orders import TournamentChange, TournamentOrder
from bot_sdk.client.part import Part
from bot_sdk.following import PATIENCE_S, Away, Following
from bot_sdk.transport import at, given, lines

ENDS: Final = frozenset({"finished", "cancelled"})
"""The states of a tournament after which nothing happens."""
_TOURNAMENT: Final = re.compile(r"trn_[a-z2-7]{26}")


class Organising(Part):
    """The operations on tournaments."""

    # Before the start

    def create_tournament(self, name: str, ruleset: str, **more: Unpack[TournamentOrder]) -> TournamentView:
        """Make a tournament, open for entries; `more` holds any setting of the API, such as `format` or `rounds`."""
        return self._session.create("/v1/tournaments", {"name": name, "ruleset": ruleset, **more}, TournamentView)

    def tournaments(self, *, state: str | None = None, owner: str | None = None) -> Iterator[TournamentSummary]:
        """List tournaments, newest first, those in a `state`, or those that the `owner` ``me`` made."""
        return self._session.pages("/v1/tournaments", TournamentSummary, given(state=state, owner=owner))

    def tournament(self, tournament_id: str) -> TournamentView:
        """Show a tournament and its progress."""
        return self._session.get(at("/v1/tournaments/{}", tournament_id), TournamentView)

    def find_tournament(self, name: str) -> str:
        """Give the id of the tournament that has this name or id; those of the token's account go before others'.

        Raises `ArenaError` ``not_found`` or ``ambiguous``.
        """
        if _TOURNAMENT.fullmatch(name):
            return name
        found = called(name, own(self.tournaments(owner="me"))) or called(name, self.tournaments())
        return only(found, f"expected the id or the name of a tournament, got {name!r:.80}").id

    def change_tournament(self, tournament_id: str, **changes: Unpack[TournamentChange]) -> TournamentView:
        """Change a tournament's name or, until its start, what can be chosen of its format and entries."""
        return self._session.call("PATCH", at("/v1/tournaments/{}", tournament_id), {**changes}, TournamentView)

    def plan(self, tournament_id: str) -> PlanView:
        """Show what a tournament would come to with the entries it has: games, decisions, seconds."""
        return self._session.get(at("/v1/tournaments/{}/plan", tournament_id), PlanView)

    def set_tournament_state(self, tournament_id: str, state: str) -> TournamentView:
        """Start or go on with (``running``), pause or cancel a tournament, or let a ladder be ``finished``."""
        path = at("/v1/tournaments/{}/state", tournament_id)
        return self._session.call("PUT", path, {"state": state}, TournamentView)

    # Entries

    def enter(self, tournament_id: str, bot_id: str, *, entropy: str | None = None) -> EntryView:
        """Enter a bot, or change the entropy it brings."""
        path = at("/v1/tournaments/{}/entries/{}", tournament_id, bot_id)
        return self._session.call("PUT", path, given(entropy=entropy), EntryView)

    def entry(self, tournament_id: str, bot_id: str) -> EntryView:
        """Show the entry of a bot."""
        return self._session.get(at("/v1/tournaments/{}/entries/{}", tournament_id, bot_id), EntryView)

    def withdraw(self, tournament_id: str, bot_id: str) -> None:
        """Take a bot out: its running games go on, the others are forfeited."""
        self._session.remove(at("/v1/tournaments/{}/entries/{}", tournament_id, bot_id))

    def entries(self, tournament_id: str) -> Iterator[EntryView]:
        """List the entries, withdrawn ones too."""
        return self._session.pages(at("/v1/tournaments/{}/entries", tournament_id), EntryView)

    # What becomes of it

    def standings(self, tournament_id: str) -> Standings:
        """Show the standings, with intervals over boards, and how they are computed."""
        return self._session.get(at("/v1/tournaments/{}/standings", tournament_id), Standings)

    def crosstable(self, tournament_id: str) -> Crosstable:
        """Show what each entry made of its games against each other, in the order of the standings."""
        return self._session.get(at("/v1/tournaments/{}/crosstable", tournament_id), Crosstable)

    def rounds(self, tournament_id: str) -> Iterator[RoundView]:
        """List the rounds drawn so far and their tables."""
        return self._session.pages(at("/v1/tournaments/{}/rounds", tournament_id), RoundView)

    def boards(self, tournament_id: str) -> Iterator[BoardView]:
        """List the boards of the rounds drawn so far: commitments and, once closed, secrets."""
        return self._session.pages(at("/v1/tournaments/{}/boards", tournament_id), BoardView)

    def tournament_games(self, tournament_id: str, *, state: str | None = None) -> Iterator[GameSummary]:
        """List the games of a tournament, newest first, those in a `state`."""
        return self._session.pages(at("/v1/tournaments/{}/games", tournament_id), GameSummary, given(state=state))

    def follow_tournament(
        self,
        tournament_id: str,
        *,
        patience_s: float = PATIENCE_S,
        timeout_s: float | None = None,
        away: Away | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Give `state`, `reason` and progress of a tournament at every change, until it ends.

        The arena may be away for `patience_s`, for a restart say; `away` is told. After that, and after `timeout_s` in
        all, `ArenaError` is raised.
        """
        following = Following(
            self._session,
            at("/v1/tournaments/{}/stream", tournament_id),
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
        path = at("/v1/tournaments/{}/export", tournament_id)
        with self._session.stream(path, params={"format": format}) as response:
            yield from self._session.pieces(response)

    def records(self, tournament_id: str) -> Iterator[bytes]:
        """Stream the records of a tournament, a line each."""
        return (line for line in lines(self.export(tournament_id, "records")) if line)
