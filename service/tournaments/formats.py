"""The formats of tournaments: which settings each takes, and what it draws next.

The next rounds are a function of entries, settings, seed and the results so far. Who writes them down, and when
their games begin, is for others to say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from math import ceil, log2
from typing import Final

from bot_sdk.results.attendance import legs_of
from bot_sdk.results.encounters import Encounter, decided
from bot_sdk.results.knockout import table_ranking
from bot_sdk.results.lots import lot
from bot_sdk.results.standings import standings
from bot_sdk.results.values import Entry, Result, Round
from service.store.entities import Tournament
from service.tournaments.boards import FIELD, FRESH, ROTATE, places
from service.tournaments.disjoint import disjoint_rounds, rounds_per_disjoint_cycle
from service.tournaments.errors import ImpossibleScheduleError, SettingError
from service.tournaments.gauntlet import MATCH_ROUNDS, gauntlet, match_rounds
from service.tournaments.knockout import default_advance, knockout_round, tables_by_round
from service.tournaments.ladder import ladder_tables
from service.tournaments.schedule import check_entries, round_robin, rounds_per_cycle
from service.tournaments.swiss import swiss_round

PAIRS: Final = frozenset({2})
ANY: Final = frozenset({2, 4, 5, 6, 7, 8})
MAX_GAMES: Final = 100_000
"""Games of one tournament at most; a ladder that sets no end of its own ends here."""


@dataclass(frozen=True)
class Situation:
    """A tournament as it stands: all entries, withdrawn ones too, the rounds drawn, the results that count."""

    tournament: Tournament
    entries: Sequence[Entry]
    rounds: Mapping[int, Round]
    done: frozenset[str]
    """The places (see `boards.Place.name`) that have a result."""
    read_results: Callable[[], Sequence[Result]]

    @cached_property
    def results(self) -> Sequence[Result]:
        """The results, read when they are needed first."""
        return self.read_results()

    @property
    def everybody(self) -> list[str]:
        """All entries by lot: the order of seeding."""
        return sorted((entry.bot_id for entry in self.entries), key=lambda bot_id: lot(self.tournament.seed, bot_id))

    @property
    def gone(self) -> set[str]:
        """The entries that have withdrawn."""
        return {entry.bot_id for entry in self.entries if entry.withdrawn_at is not None}

    @property
    def remaining(self) -> list[str]:
        """The entries that haven't, in order of seeding."""
        return [bot_id for bot_id in self.everybody if bot_id not in self.gone]

    @property
    def is_round_over(self) -> bool:
        """Whether every game drawn so far has a result."""
        drawn = places(self.tournament.id, self.tournament.deals, self.rounds)
        return all(place.name in self.done for place in drawn)


@dataclass(frozen=True, slots=True)
class Draw:
    """Rounds to be added to those there are; nothing follows the last ones, and `reason` says why if it is odd."""

    rounds: Sequence[Round] = ()
    is_last: bool = False
    reason: str | None = None


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
            raise SettingError(setting, f"expected no {setting} for {name}, got {getattr(tournament, setting)!r:.80}")
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


# --- all rounds at the start ------------------------------------------------------------------------------------------


def _at_the_start(rounds: Callable[[Situation], Sequence[Round]]) -> Callable[[Situation], Draw]:
    def drawn(situation: Situation) -> Draw:
        return Draw(is_last=True) if situation.rounds else Draw(rounds(situation), is_last=True)

    return drawn


def _round_robin(situation: Situation) -> Sequence[Round]:
    tournament = situation.tournament
    size, rounds, seed = tournament.table_size, tournament.rounds, tournament.seed
    if size > 2 and tournament.deals != FRESH:
        return disjoint_rounds(situation.everybody, table_size=size, rounds=rounds, seed=seed)
    return round_robin(situation.everybody, table_size=size, rounds=rounds, seed=seed)


def _gauntlet(situation: Situation) -> Sequence[Round]:
    tournament = situation.tournament
    challenger = tournament.challenger or ""
    return gauntlet(situation.everybody, challenger=challenger, rounds=tournament.rounds, seed=tournament.seed)


def _match(situation: Situation) -> Sequence[Round]:
    return match_rounds(situation.everybody, rounds=situation.tournament.rounds, seed=situation.tournament.seed)


def _count_round_robin(tournament: Tournament, entries: int) -> Sequence[int]:
    size = tournament.table_size
    if size > 2 and tournament.deals != FRESH:
        return [entries // size] * (tournament.rounds or rounds_per_disjoint_cycle(entries, size))
    return [entries // 2 if size == 2 else entries] * (tournament.rounds or rounds_per_cycle(entries, size))


def _count_gauntlet(tournament: Tournament, entries: int) -> Sequence[int]:
    return [entries - 1] * (tournament.rounds or 1)


def _count_match(tournament: Tournament, _entries: int) -> Sequence[int]:
    return [1] * (tournament.rounds or MATCH_ROUNDS)


# --- round by round ---------------------------------------------------------------------------------------------------


def swiss_rounds(tournament: Tournament, entries: int) -> int:
    """Tell how many rounds a Swiss tournament has: as many as a knockout of pairs would have, if it says none."""
    return tournament.rounds or max(1, ceil(log2(entries)))


def _swiss(situation: Situation) -> Draw:
    tournament, drawn = situation.tournament, len(situation.rounds)
    planned = swiss_rounds(tournament, len(situation.entries))
    if drawn == planned:
        return Draw(is_last=True)
    if not situation.is_round_over:
        return Draw()
    if len(situation.remaining) < tournament.table_size:
        return Draw(is_last=True, reason=_too_few(situation, f"round {drawn} of {planned}" if drawn else ""))
    following = swiss_round(
        situation.remaining,
        list(situation.rounds.values()),
        _scores(situation),
        table_size=tournament.table_size,
        seed=tournament.seed,
    )
    return Draw([following], is_last=drawn + 1 == planned)


def _count_swiss(tournament: Tournament, entries: int) -> Sequence[int]:
    return [entries // tournament.table_size] * swiss_rounds(tournament, entries)


def _scores(situation: Situation) -> dict[str, float]:
    tournament = situation.tournament
    rows = standings(
        situation.entries,
        situation.results,
        tournament.ruleset,
        seed=tournament.seed,
        format=tournament.format,
        deals=tournament.deals,
        rounds=situation.rounds,
    )
    return {row.bot_id: row.points if tournament.table_size == 2 else row.mean.mean or 0 for row in rows}


def _knockout(situation: Situation) -> Draw:
    tournament = situation.tournament
    if not situation.is_round_over:
        return Draw()
    following = knockout_round(
        situation.everybody,
        list(situation.rounds.values()),
        _rankings(situation),
        table_size=tournament.table_size,
        advance=_advance(tournament),
        gone=situation.gone,
    )
    if following is not None:
        return Draw([following])
    if not situation.rounds:
        return Draw(is_last=True, reason=_too_few(situation))
    last = situation.rounds[len(situation.rounds)]
    is_decided = len(last.tables) == 1 and not last.byes
    return Draw(is_last=True, reason=None if is_decided else _too_few(situation, f"round {len(situation.rounds)}"))


def _rankings(situation: Situation) -> list[list[list[str]]]:
    """Rank every table played so far, by round and table."""
    by_table = {
        at: list(results)
        for at, results in groupby(situation.results, lambda result: (result.slot.round, result.slot.table))
    }
    ruleset, seeding = situation.tournament.ruleset, situation.everybody
    return [
        [table_ranking(by_table[number, at], ruleset, seeding) for at in range(1, len(each.tables) + 1)]
        for number, each in situation.rounds.items()
    ]


def _count_knockout(tournament: Tournament, entries: int) -> Sequence[int]:
    return tables_by_round(entries, table_size=tournament.table_size, advance=_advance(tournament))


def _advance(tournament: Tournament) -> int:
    return tournament.advance or default_advance(tournament.table_size)


def _too_few(situation: Situation, after: str = "") -> str:
    """Say when too few were left; without a word of what had been played, before anything was."""
    left, when = len(situation.remaining), f"after {after}" if after else "before the first round"
    return f"ended early: {left} of {len(situation.entries)} entries were left {when}, the others had withdrawn"


# --- continuous -------------------------------------------------------------------------------------------------------


def _ladder(situation: Situation) -> Draw:
    """Draw as many tables as keep each entry in two games on average; each is a round of its own."""
    tournament, rounds = situation.tournament, situation.rounds
    if len(situation.remaining) < 2:
        return Draw(is_last=True, reason=_too_few(situation, f"{len(rounds)} games"))
    most = tournament.max_games or MAX_GAMES
    under_way = [each.tables[0] for number, each in rounds.items() if f"{number}.1.0" not in situation.done]
    tables = ladder_tables(
        situation.remaining,
        list(rounds.values()),
        _games_in_order(situation.results),
        busy=Counter(bot_id for table in under_way for bot_id in table),
        count=min(most - len(rounds), len(situation.remaining) - len(under_way)),
        seed=tournament.seed,
    )
    return Draw([Round((table,)) for table in tables], is_last=len(rounds) + len(tables) >= most)


def _games_in_order(results: Sequence[Result]) -> Iterator[Encounter]:
    for result in sorted(results, key=lambda result: (result.ended_at, result.game_id)):
        yield from decided(result)


def _count_ladder(tournament: Tournament, _entries: int) -> Sequence[int]:
    return [1] * (tournament.max_games or MAX_GAMES)


FORMATS: Final = {
    "round_robin": Format(
        sizes=ANY,
        deals=(FIELD, FRESH, ROTATE),
        settings=frozenset({"rounds"}),
        draw=_at_the_start(_round_robin),
        count=_count_round_robin,
        about="each meets each, in pairs or at tables drawn so that all meet alike",
    ),
    "gauntlet": Format(
        sizes=PAIRS,
        deals=(FRESH,),
        settings=frozenset({"rounds", "challenger"}),
        draw=_at_the_start(_gauntlet),
        count=_count_gauntlet,
        about="the challenger meets each of the others",
    ),
    "swiss": Format(
        sizes=ANY,
        deals=(FIELD, FRESH, ROTATE),
        settings=frozenset({"rounds"}),
        draw=_swiss,
        count=_count_swiss,
        about="each round seats together who has done equally well so far",
    ),
    "knockout": Format(
        sizes=ANY,
        deals=(FIELD, FRESH, ROTATE),
        settings=frozenset({"advance"}),
        draw=_knockout,
        count=_count_knockout,
        about="the winner of a pair, the best `advance` of a table go on",
    ),
    "ladder": Format(
        sizes=PAIRS,
        deals=(FRESH,),
        settings=frozenset({"max_games"}),
        draw=_ladder,
        count=_count_ladder,
        about="pairs of near strength, until it is stopped or `max_games` are played",
    ),
    "match": Format(
        sizes=PAIRS,
        deals=(FRESH, ROTATE),
        settings=frozenset({"rounds", "challenger", "sprt"}),
        draw=_at_the_start(_match),
        count=_count_match,
        about="two bots against each other, with `sprt` until it is clear who is stronger",
    ),
}
