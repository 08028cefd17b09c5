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
            told = set(self._told())
            shown = self.ask(lambda client, name=name, sample=sample: _everything(client, name, sample))
            after = self._boards(name)
            if shown is not None and after is not None:
                _check(shown, told, after)
                self.covered += len(set(sample) & set(after.covered))

    def _boards(self, name: str) -> Boards | None:
        rounds = self.ask(lambda client: list(client.rounds(name)))
        if rounds is None:
            return None
        boards = Boards(rounds)
        boards.check_own()
        return boards


def _everything(client: Client, tournament_id: str, sample: list[str]) -> dict[str, Any]:
    """Read what may tell of a tournament's boards, and of some of its games; those first."""
    return {
        "views": [name for name in sample if not _is_covered(client.game(name))],
        "events": [name for name in sample if _gives(lambda name=name: list(client.events(name)))],
        "records": [name for name in sample if _gives(lambda name=name: client.record(name))],
        "standings": client.standings(tournament_id)["results"],
        "crosstable": client.crosstable(tournament_id)["results"],
        "export": b"".join(client.export(tournament_id, "jsonl")),
        "sheet": b"".join(client.export(tournament_id, "csv")),
        "boards": {each["board"] for each in client.boards(tournament_id) if each["is_closed"] or each["secret"]},
        "games": {
            game["id"] for game in client.tournament_games(tournament_id) if game["readable"] or game["ended_at"]
        },
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


def _check(shown: dict[str, Any], told: set[str], boards: Boards) -> None:
    exported = export.read(io.BytesIO(shown["export"]))
    assert recompute.differences(exported) == []
    assert {result.slot.board for result in exported.results} & boards.open == set()
    assert shown["boards"] & boards.open == set()
    covered = set(boards.covered)
    for what in ("games", "views", "events", "records"):
        assert covered & set(shown[what]) == set(), f"{what} tell of the open boards {boards.open}"
    assert not [name for name in covered if name.encode() in shown["sheet"]], "the sheet tells of open boards"
    assert covered & told == set(), f"bots were told of the open boards {boards.open}"
    assert max(shown["standings"], shown["crosstable"]) <= boards.results
