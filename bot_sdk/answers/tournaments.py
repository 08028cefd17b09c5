"""What the arena says of tournaments: their settings and course."""

from __future__ import annotations

from typing import Any

from bot_sdk.answers.base import Answer
from bot_sdk.answers.games import LimitsShown


class SprtNew(Answer, frozen=True, kw_only=True):
    """The sequential test of a match: is the challenger stronger by `elo0` or by `elo1`."""

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05


class TournamentSummary(Answer, frozen=True, kw_only=True):
    """A tournament in a list: `state` is open, running, paused, finished or cancelled; times are Unix milliseconds."""

    id: str
    name: str
    owner: str | None
    state: str
    ruleset: str
    options: dict[str, Any]
    format: str
    deals: str
    table_size: int
    rounds: int | None
    challenger: str | None
    advance: int | None
    max_games: int | None
    sprt: SprtNew | None
    invited: list[str] | None
    entries_per_account: int | None
    seed: int
    limits: LimitsShown
    root: str
    reason: str | None
    created_at: int
    started_at: int | None
    ended_at: int | None


class Progress(Answer, frozen=True, kw_only=True):
    """How many games there are so far, are `planned` in all if that is known, have ended, and run."""

    games: int
    planned: int | None
    finished: int
    running: int
    seconds_left: int | None


class TestView(Answer, frozen=True, kw_only=True):
    """How the sequential test of a match stands; `verdict` is H0, H1 or None."""

    __test__ = False  # no test case, whatever test runners make of its name

    challenger: str
    opponent: str
    pairs: int
    llr: float
    lower: float
    upper: float
    verdict: str | None


class TournamentView(TournamentSummary, frozen=True, kw_only=True):
    """A tournament and how far it is; `secret` is shown once it has ended."""

    secret: str | None
    entries: int
    tables_per_board: int
    progress: Progress
    test: TestView | None


class PlanView(Answer, frozen=True, kw_only=True):
    """What a tournament would come to with the entries it has, and what that `assumes`."""

    can_start: bool
    why_not: str | None
    games: int | None
    games_per_entry: float | None
    rounds: int | None
    boards: int | None
    decisions: int | None
    seconds: int | None
    assumes: list[str]
    warnings: list[str]


class EntryView(Answer, frozen=True, kw_only=True):
    """A bot in a tournament; its entropy is for its owner to see until the start."""

    bot_id: str
    name: str
    account_id: str | None
    entropy: str | None
    entered_at: int
    withdrawn_at: int | None


class PlaceView(Answer, frozen=True, kw_only=True):
    """One game of a table: the bots by seat, and its result once it may be read."""

    leg: int
    bots: list[str]
    board: str
    game_id: str | None
    state: str | None
    totals: list[int] | None
    places: list[int] | None
    ended_by: str | None


class TableView(Answer, frozen=True, kw_only=True):
    """The entries seated together in a round, and their games."""

    table: int
    bots: list[str]
    games: list[PlaceView]


class RoundView(Answer, frozen=True, kw_only=True):
    """The tables of one round, and who sits it out."""

    round: int
    tables: list[TableView]
    byes: list[str]


class BoardView(Answer, frozen=True, kw_only=True):
    """A board: what it is committed to and, once it is closed, its secret; `games` are those made on it so far."""

    board: str
    round: int
    label: str
    commitment: str
    is_closed: bool
    secret: str | None
    games: list[str]
