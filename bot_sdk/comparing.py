"""Two bots against each other on rotated boards, in one call: for ladders, tests and notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bot_sdk.bot import Bot
from bot_sdk.games.registry import ruleset as ruleset_of
from bot_sdk.loading import expect_plays, load_player
from bot_sdk.local import Match, MatchError, Played, Player, in_process, play, seated
from bot_sdk.messages import BUDGET_MS
from bot_sdk.parallel.pool import opened
from bot_sdk.summary import Comparison, Summing


def compare(
    ruleset: str,
    a: str | Bot,
    b: str | Bot,
    *,
    games: int,
    seed: str = "0",
    jobs: int = 0,
    seats: int | None = None,
    options: Mapping[str, Any] | None = None,
    budget_ms: int = BUDGET_MS,
) -> Comparison:
    """Play `a` against `b`, every board with all its rotations, and say how much better `a` is, and how surely.

    Each is a `Bot`, or FILE:bot, house:NAME or a URL. They sit down in turn at `seats` (as few as the rules allow, if
    None); `games` is rounded up to whole boards. `jobs` is the number of processes that play, which a `Bot` can't be
    sent to; 0 plays in this one. Raises like `bot_sdk.local.play` and `bot_sdk.loading.load_player`, `MatchError` for
    a `Bot` with `jobs`, and `LostError` as `bot_sdk.parallel.pool.Pool.play` does.
    """
    rules = ruleset_of(ruleset)
    match = Match(rules, options or {}, budget_ms)
    table = seats or rules.min_seats
    rules.resolve(match.options, table)
    names = _name(a), _name(b)
    if not jobs:
        return compared(match, (_player(a, ruleset), _player(b, ruleset)), names, seats=table, games=games, seed=seed)
    with opened(match, [_sent(a), _sent(b)], seats=table, seed=seed, jobs=jobs) as pool:
        return _summed(pool.play(_whole(games, table)), names, table)


def compared(
    match: Match, players: tuple[Player, Player], names: tuple[str, str], *, seats: int, games: int, seed: str
) -> Comparison:
    """Compare two players of this process, as `compare` does; raises like `bot_sdk.local.play`."""
    return _summed(play(match, seated(players, seats), games=_whole(games, seats), seed=seed), names, seats)


def _whole(games: int, seats: int) -> int:
    """Round up to whole boards."""
    return games + -games % seats


def _summed(playing: Iterable[Played], names: tuple[str, str], seats: int) -> Comparison:
    summing = Summing(names, [seat % 2 for seat in range(seats)])
    for one in playing:
        summing.add(one)
    (comparison,) = summing.comparisons()
    return comparison


def _player(bot: str | Bot, ruleset: str) -> Player:
    if not isinstance(bot, Bot):
        return load_player(bot, ruleset)
    expect_plays(ruleset, bot.card().rulesets, bot.name)
    return in_process(bot)


def _name(bot: str | Bot) -> str:
    return bot.name if isinstance(bot, Bot) else bot


def _sent(bot: str | Bot) -> str:
    if isinstance(bot, Bot):
        raise MatchError(f"expected bots named by text for several processes, got {bot.name!r} itself")
    return bot
