"""The answers of the arena's HTTP API as values, each named like its schema in ``openapi/service.yaml``.

Closed sets of words, such as the states of a game, are plain texts here: an arena that is newer than this SDK may have
a further one.
"""

from bot_sdk.answers.accounts import AccountMade, AccountSeen, AccountView, TokenMade, TokenView
from bot_sdk.answers.appearances import AppearanceView, StatisticsView, TimeClass
from bot_sdk.answers.arena import (
    Alarm,
    AuditLine,
    DeadLetter,
    Health,
    MaintenanceView,
    Readiness,
    RulesetView,
    SeatRange,
)
from bot_sdk.answers.base import Answer
from bot_sdk.answers.bots import (
    AnswersTaken,
    BotMade,
    BotView,
    CheckView,
    LedgerLine,
    PulledCall,
    SecretMade,
    Step,
    SuspensionView,
)
from bot_sdk.answers.games import (
    ActionTaken,
    EntropyView,
    EventList,
    GameMade,
    GameSummary,
    GameView,
    Joined,
    LastDecision,
    LimitsShown,
    SeatMade,
    SeatPlaying,
    SeatShown,
    SeatView,
)
from bot_sdk.answers.ratings import (
    Leaderboard,
    LineView,
    OpponentView,
    RankedView,
    RatingMethod,
    RatingsView,
    VersionView,
)
from bot_sdk.answers.standings import CellView, Crosstable, CrosstableRow, MeanView, Method, Standings, StandingView
from bot_sdk.answers.tournaments import (
    BoardView,
    EntryView,
    PlaceView,
    PlanView,
    Progress,
    RoundView,
    SprtNew,
    TableView,
    TestView,
    TournamentSummary,
    TournamentView,
)

__all__ = [
    "AccountMade", "AccountSeen", "AccountView", "ActionTaken", "Alarm", "Answer", "AnswersTaken", "AppearanceView",
    "AuditLine", "BoardView", "BotMade", "BotView", "CellView", "CheckView", "Crosstable", "CrosstableRow",
    "DeadLetter", "EntropyView", "EntryView", "EventList", "GameMade", "GameSummary", "GameView", "Health", "Joined",
    "LastDecision", "Leaderboard", "LedgerLine", "LimitsShown", "LineView", "MaintenanceView", "MeanView", "Method",
    "OpponentView", "PlaceView", "PlanView", "Progress", "PulledCall", "RankedView", "RatingMethod", "RatingsView",
    "Readiness", "RoundView", "RulesetView", "SeatMade", "SeatPlaying", "SeatRange", "SeatShown", "SeatView",
    "SecretMade", "SprtNew", "StandingView", "Standings", "StatisticsView", "Step", "SuspensionView", "TableView",
    "TestView", "TimeClass", "TokenMade", "TokenView", "TournamentSummary", "TournamentView", "VersionView",
]  # fmt: skip
