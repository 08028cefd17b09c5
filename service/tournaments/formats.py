"""The formats of tournaments: which settings each takes, whether it can start, and what it draws next.

The next rounds are a function of entries, settings, seed and the results so far. Who writes them down, and when
their games begin, is for others to say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from bot_sdk.results.attendance import legs_of
from bot_sdk.results.values import Entry
from service.store.entities import Tournament
from service.tournaments import drawing
from service.tournaments.boards import FIELD, FRESH, ROTATE
from service.tournaments.drawing import MAX_GAMES
from service.tournaments.errors import ImpossibleScheduleError, SettingError
from service.tournaments.schedule import check_entries
from service.tournaments.situation import Draw, Situation

PAIRS: Final = frozenset({2})
ANY: Final = frozenset({2, 4, 5, 6, 7, 8})


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its table sizes, its kinds of deals (the default first), the settings it takes, and its draw.

    `count` gives the tables of each round, for the settings and a number of entries, if nobody withdraws. `about` says
    in a clause what it is.
    """

    sizes: frozenset[int]
    deals: tuple[str, ...]
    settings: frozenset[str]
    draw: Callable[[Situation], Draw]
    count: Callable[[Tournament, int], Sequence[int]]
    about: str


FORMATS: Final = {
    "round_robin": Format(
        sizes=ANY,
        deals=(FIELD, FRESH, ROTATE),
        settings=frozenset({"rounds"}),
        draw=drawing.at_the_start(drawing.draw_round_robin),
        count=drawing.count_round_robin,
        about="each meets each, in pairs or at tables drawn so that all meet alike",
    ),
    "gauntlet": Format(
        sizes=PAIRS,
        deals=(FRESH,),
        settings=frozenset({"rounds", "challenger"}),
        draw=drawing.at_the_start(drawing.draw_gauntlet),
        count=drawing.count_gauntlet,
        about="the challenger meets each of the others",
    ),
    "swiss": Format(
        sizes=ANY,
        deals=(FIELD, FRESH, ROTATE),
        settings=frozenset({"rounds"}),
        draw=drawing.draw_swiss,
        count=drawing.count_swiss,
        about="each round seats together who has done equally well so far",
    ),
    "knockout": Format(
        sizes=ANY,
        deals=(FIELD, FRESH, ROTATE),
        settings=frozenset({"advance"}),
        draw=drawing.draw_knockout,
        count=drawing.count_knockout,
        about="the winner of a pair, the best `advance` of a table go on",
    ),
    "ladder": Format(
        sizes=PAIRS,
        deals=(FRESH,),
        settings=frozenset({"max_games"}),
        draw=drawing.draw_ladder,
        count=drawing.count_ladder,
        about="pairs of near strength, until it is stopped or `max_games` are played",
    ),
    "match": Format(
        sizes=PAIRS,
        deals=(FRESH, ROTATE),
        settings=frozenset({"rounds", "challenger", "sprt"}),
        draw=drawing.at_the_start(drawing.draw_match),
        count=drawing.count_match,
        about="two bots against each other, with `sprt` until it is clear who is stronger",
    ),
}


def check_settings(tournament: Tournament) -> None:
    """Raise SettingError unless the tournament's format can have its settings; entries aren't looked at."""
    name, chosen = tournament.format, FORMATS[tournament.format]
    if tournament.table_size not in chosen.sizes:
        raise SettingError("table_size", f"expected a ruleset of two seats for {name}, got {tournament.table_size}")
    if tournament.deals not in chosen.deals:
        kinds = " or ".join(chosen.deals)
        raise SettingError("deals", f"expected {kinds} deals for {name}, got {tournament.deals}")
    for setting in ("rounds", "challenger", "advance", "max_games", "sprt"):
        if getattr(tournament, setting) is not None and setting not in chosen.settings:
            others = ", ".join(other for other, each in FORMATS.items() if setting in each.settings)
            raise SettingError(setting, f"expected no {setting} for {name}: it is a setting of {others}")
    _check_advance(tournament)
    _check_sprt(tournament)


def _check_advance(tournament: Tournament) -> None:
    advance, size = tournament.advance, tournament.table_size
    if advance is not None and size == 2:
        raise SettingError("advance", "expected no advance with two seats: the winner goes on")
    if advance is not None and not 1 <= advance < size:
        raise SettingError("advance", f"expected 1 to {size - 1} of a table of {size} to go on, got {advance}")


def _check_sprt(tournament: Tournament) -> None:
    sprt = tournament.sprt
    if sprt is None:
        return
    if tournament.deals != ROTATE:
        raise SettingError("sprt", f"expected rotate deals for an SPRT, which judges pairs, got {tournament.deals}")
    if sprt.elo0 >= sprt.elo1:
        raise SettingError("sprt", f"expected elo0 below elo1, got {sprt.elo0:g} and {sprt.elo1:g}")
    for name, rate in (("alpha", sprt.alpha), ("beta", sprt.beta)):
        if not 0 < rate <= 0.5:
            raise SettingError("sprt", f"expected {name} above 0 and at most 0.5, got {rate:g}")


def check_start(tournament: Tournament, entries: Sequence[Entry]) -> None:
    """Raise ImpossibleScheduleError unless these entries can play the tournament, in at most `MAX_GAMES` games."""
    ids = [entry.bot_id for entry in entries]
    check_entries(ids, tournament.table_size, tournament.rounds)
    if tournament.format == "match" and len(ids) != 2:
        raise ImpossibleScheduleError(f"expected exactly 2 entries for a match, got {len(ids)}")
    if tournament.format == "gauntlet" and tournament.challenger is None:
        raise ImpossibleScheduleError("expected a challenger for a gauntlet, one of the entries, got none")
    if tournament.challenger is not None and tournament.challenger not in ids:
        raise ImpossibleScheduleError(f"expected the challenger among the entries, got {tournament.challenger!r}")
    games = count_games(tournament, len(ids))
    if games > MAX_GAMES:
        raise ImpossibleScheduleError(f"expected at most {MAX_GAMES} games, got {games}; ask for fewer rounds")


def count_games(tournament: Tournament, entries: int) -> int:
    """Tell how many games will be scheduled, if nobody withdraws and, in a match, no SPRT stops it."""
    return legs_of(tournament.table_size, tournament.deals) * sum(count_tables(tournament, entries))


def count_tables(tournament: Tournament, entries: int) -> Sequence[int]:
    """Tell how many tables each round will have, as `count_games` does."""
    return FORMATS[tournament.format].count(tournament, entries)


def draw(situation: Situation) -> Draw:
    """Draw what comes next, as far as the results allow; raises ImpossibleScheduleError for entries that can't play.

    Before the first round that is asked again: entries and settings may have changed while the start was checked.
    """
    if not situation.rounds:
        check_start(situation.tournament, situation.entries)
    return FORMATS[situation.tournament.format].draw(situation)
