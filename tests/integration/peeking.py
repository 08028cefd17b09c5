"""Those who read whatever they can while tournaments run: nothing may be of a board whose last game hasn't ended."""

from __future__ import annotations

import io
import itertools
import random
from collections.abc import Callable, Iterable
from typing import Any

from bot_sdk.client import Arena as Client
from bot_sdk.client import ArenaError
from bot_sdk.results import export, recompute
from tests.integration.readers import OverHttp

HIDDEN = ("phase", "observation", "totals", "places", "ended_by", "ended_at")
SAMPLE = 5


class Boards:
    """Which games were played on which boards, and which boards were open when the rounds were read."""

    def __init__(self, rounds: list[Any]) -> None:
        self._games: dict[str, list[Any]] = {}
        for each in rounds:
            for game in itertools.chain.from_iterable(table["games"] for table in each["tables"]):
                self._games.setdefault(game["board"], []).append(game)
        self.results = sum(game["totals"] is not None for game in self._all())
        self.open = {
            board for board, games in self._games.items() if len(games) > 1 and not all(game["state"] for game in games)
        }

    def _all(self) -> Iterable[Any]:
        return itertools.chain.from_iterable(self._games.values())

    @property
    def covered(self) -> list[str]:
        """The games made on open boards."""
        return [game["game_id"] for board in sorted(self.open) for game in self._games[board] if game["game_id"]]

    def check_own(self) -> None:
        """Check that the rounds themselves show nothing of open boards."""
        for board in self.open:
            is_shown = any(game[name] is not None for game in self._games[board] for name in ("totals", "places"))
            assert not is_shown, f"rounds show results of the open board {board}: {self._games[board]}"


class Peeker(OverHttp):
    """Asks everything that might tell of an open board, and the rounds after it: what was told must be closed there.

    Some games on open boards it asks for one by one.

    `told` gives the games of whose end bots were told.
    """

    def __init__(
        self, address: Callable[[], str | None], tournament_ids: list[str], told: Callable[[], Iterable[str]]
    ) -> None:
        super().__init__(address)
        self._ids = tournament_ids
        self._told = told
        self._draw = random.Random(0)
        self.covered = 0
        """How many games on open boards it has looked at in vain."""

    def look(self) -> None:
        for name in self._ids:
            before = self._boards(name)
            if before is None:
                continue
            sample = self._draw.sample(before.covered, min(SAMPLE, len(before.covered)))
            told = {"told": set(self._told())}
            for look in (
                lambda client, sample=sample: _games(client, sample),
                lambda client, name=name: _all(client, name),
            ):
                told |= self.ask(look) or {}
            self.covered += len(sample) - len(told.get("views", sample))
            after = self._boards(name)
            if after is not None:
                _check(told, after)

    def _boards(self, name: str) -> Boards | None:
        rounds = self.ask(lambda client: list(client.rounds(name)))
        if rounds is None:
            return None
        boards = Boards(rounds)
        boards.check_own()
        return boards


def _games(client: Client, sample: list[str]) -> dict[str, Any]:
    """Try to read some games on open boards; give those that could be."""
    return {
        "views": [name for name in sample if not _is_covered(client.game(name))],
        "events": [name for name in sample if _gives(lambda name=name: list(client.events(name)))],
        "records": [name for name in sample if _gives(lambda name=name: client.record(name))],
    }


def _all(client: Client, tournament_id: str) -> dict[str, Any]:
    """Read what else may tell of a tournament's boards."""
    listed = client.tournament_games(tournament_id)
    return {
        "standings": client.standings(tournament_id)["results"],
        "crosstable": client.crosstable(tournament_id)["results"],
        "export": b"".join(client.export(tournament_id, "jsonl")),
        "sheet": b"".join(client.export(tournament_id, "csv")),
        "boards": {each["board"] for each in client.boards(tournament_id) if each["is_closed"] or each["secret"]},
        "games": {game["id"] for game in listed if game["readable"] or game["ended_at"]},
    }


def _is_covered(view: dict[str, Any]) -> bool:
    return not view["readable"] and all(view[name] is None for name in HIDDEN) and view["version"] == 0


def _gives(call: Callable[[], Any]) -> bool:
    try:
        call()
    except ArenaError as error:
        if error.code == "board_open":
            return False
        raise
    return True


def _check(told: dict[str, Any], boards: Boards) -> None:
    """Check that what was told, as far as the arena was there to tell it, is of no board that was open after that."""
    covered = set(boards.covered)
    for what in ("told", "views", "events", "records", "games"):
        assert covered & set(told.get(what, ())) == set(), f"{what} tell of the open boards {boards.open}"
    assert told.get("boards", set()) & boards.open == set(), f"secrets of the open boards {boards.open} are shown"
    if "export" in told:
        exported = export.read(io.BytesIO(told["export"]))
        assert {result.slot.board for result in exported.results} & boards.open == set(), "the export tells"
        assert recompute.differences(exported) == [], "the export says what doesn't follow from it"
        assert not [name for name in covered if name.encode() in told["sheet"]], "the sheet tells of open boards"
        counted = max(told["standings"], told["crosstable"])
        assert counted <= boards.results, f"standings count {counted} games, {boards.results} may be read"
