"""What each format draws next, and how many tables that comes to if nobody withdraws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from math import ceil, log2
from typing import Final

from bot_sdk.results.encounters import Encounter, decided
from bot_sdk.results.knockout import table_ranking
from bot_sdk.results.standings import standings
from bot_sdk.results.values import Result, Round
from service.store.entities import Tournament
from service.tournaments.boards import FRESH
from service.tournaments.disjoint import disjoint_rounds, rounds_per_disjoint_cycle
from service.tournaments.gauntlet import MATCH_ROUNDS, gauntlet, match_rounds
from service.tournaments.knockout import default_advance, knockout_round, tables_by_round
from service.tournaments.ladder import ladder_tables
from service.tournaments.schedule import round_robin, rounds_per_cycle
from service.tournaments.situation import Draw, Situation
from service.tournaments.swiss import swiss_round

MAX_GAMES: Final = 100_000
"""Games of one tournament at most; a ladder that sets no end of its own ends here."""

# --- all rounds at the start ------------------------------------------------------------------------------------------


def at_the_start(rounds: Callable[[Situation], Sequence[Round]]) -> Callable[[Situation], Draw]:
    """Make a draw of one that gives all rounds at once."""

    def drawn(situation: Situation) -> Draw:
        return Draw(is_last=True) if situation.rounds else Draw(rounds(situation), is_last=True)

    return drawn


def draw_round_robin(situation: Situation) -> Sequence[Round]:
    """Draw all rounds of a round robin: tables of four to eight are disjoint, unless each has a board of its own."""
    tournament = situation.tournament
    size, rounds, seed = tournament.table_size, tournament.rounds, tournament.seed
    if size > 2 and tournament.deals != FRESH:
        return disjoint_rounds(situation.everybody, table_size=size, rounds=rounds, seed=seed)
    return round_robin(situation.everybody, table_size=size, rounds=rounds, seed=seed)


def draw_gauntlet(situation: Situation) -> Sequence[Round]:
    """Draw all rounds of a gauntlet."""
    tournament = situation.tournament
    challenger = tournament.challenger or ""
    return gauntlet(situation.everybody, challenger=challenger, rounds=tournament.rounds, seed=tournament.seed)


def draw_match(situation: Situation) -> Sequence[Round]:
    """Draw all rounds of a match."""
    return match_rounds(situation.everybody, rounds=situation.tournament.rounds, seed=situation.tournament.seed)


def count_round_robin(tournament: Tournament, entries: int) -> Sequence[int]:
    """Count the tables of each round."""
    size = tournament.table_size
    if size > 2 and tournament.deals != FRESH:
        return [entries // size] * (tournament.rounds or rounds_per_disjoint_cycle(entries, size))
    return [entries // 2 if size == 2 else entries] * (tournament.rounds or rounds_per_cycle(entries, size))


def count_gauntlet(tournament: Tournament, entries: int) -> Sequence[int]:
    """Count the tables of each round."""
    return [entries - 1] * (tournament.rounds or 1)


def count_match(tournament: Tournament, _entries: int) -> Sequence[int]:
    """Count the tables of each round."""
    return [1] * (tournament.rounds or MATCH_ROUNDS)


# --- round by round ---------------------------------------------------------------------------------------------------


def swiss_rounds(tournament: Tournament, entries: int) -> int:
    """Tell how many rounds a Swiss tournament has: as many as a knockout of pairs would have, if it says none."""
    return tournament.rounds or max(1, ceil(log2(entries)))


def draw_swiss(situation: Situation) -> Draw:
    """Draw the next round of a Swiss, once the one before is over."""
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


def count_swiss(tournament: Tournament, entries: int) -> Sequence[int]:
    """Count the tables of each round."""
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


def draw_knockout(situation: Situation) -> Draw:
    """Draw the next round of a knockout, once the one before is over."""
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


def count_knockout(tournament: Tournament, entries: int) -> Sequence[int]:
    """Count the tables of each round."""
    return tables_by_round(entries, table_size=tournament.table_size, advance=_advance(tournament))


def _advance(tournament: Tournament) -> int:
    return tournament.advance or default_advance(tournament.table_size)


def _too_few(situation: Situation, after: str = "") -> str:
    """Say when too few were left; without a word of what had been played, before anything was."""
    left, when = len(situation.remaining), f"after {after}" if after else "before the first round"
    return f"ended early: {left} of {len(situation.entries)} entries were left {when}, the others had withdrawn"


# --- continuous -------------------------------------------------------------------------------------------------------


def draw_ladder(situation: Situation) -> Draw:
    """Draw as many tables as keep each entry in two games on average; each is a round of its own."""
    tournament, rounds = situation.tournament, situation.rounds
    if len(situation.remaining) < 2:
        return Draw(is_last=True, reason=_too_few(situation, f"{len(rounds)} games"))
    most = tournament.max_games or MAX_GAMES
    under_way = [each.tables[0] for number, each in rounds.items() if f"{number}.1.0" not in situation.done]
    if _is_silent(situation):
        silent = _silence(situation)
        return Draw(is_last=True, reason=f"ended early: in none of the last {silent} games did both sides play")
    tables = ladder_tables(
        situation.remaining,
        list(rounds.values()),
        _games_in_order(situation.results),
        busy=Counter(bot_id for table in under_way for bot_id in table),
        count=min(most - len(rounds), len(situation.remaining) - len(under_way)),
        seed=tournament.seed,
    )
    return Draw([Round((table,)) for table in tables], is_last=len(rounds) + len(tables) >= most)


def _is_silent(situation: Situation) -> bool:
    """Whether the last games were all forfeited or void: whoever is left doesn't play."""
    last = sorted(situation.results, key=_ended)[-_silence(situation) :]
    return len(last) == _silence(situation) and not any(True for result in last for _ in decided(result))


def _silence(situation: Situation) -> int:
    """Tell after how many games that nobody played a ladder is over: some for everybody."""
    return max(20, 4 * len(situation.remaining))


def _ended(result: Result) -> tuple[int, str]:
    return result.ended_at, result.game_id


def _games_in_order(results: Sequence[Result]) -> Iterator[Encounter]:
    for result in sorted(results, key=_ended):
        yield from decided(result)


def count_ladder(tournament: Tournament, _entries: int) -> Sequence[int]:
    """Count the tables of each round, which is one."""
    return [1] * (tournament.max_games or MAX_GAMES)
