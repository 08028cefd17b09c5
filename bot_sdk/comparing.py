"""Two bots against each other on rotated boards, in one call: for ladders, tests and notebooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot_sdk.bot import Bot
from bot_sdk.games.registry import ruleset as ruleset_of
from bot_sdk.loading import load_player
from bot_sdk.local import Match, MatchError, in_process, play, seated
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
    games += -games % table
    summing = Summing((_name(a), _name(b)), [seat % 2 for seat in range(table)])
    if jobs:
        with opened(match, [_sent(a), _sent(b)], seats=table, seed=seed, jobs=jobs) as pool:
            for one in pool.play(games):
                summing.add(one)
    else:
        players = [in_process(bot) if isinstance(bot, Bot) else load_player(bot, ruleset) for bot in (a, b)]
        for one in play(match, seated(players, table), games=games, seed=seed):
            summing.add(one)
    (comparison,) = summing.comparisons()
    return comparison


def _name(bot: str | Bot) -> str:
    return bot.name if isinstance(bot, Bot) else bot


def _sent(bot: str | Bot) -> str:
    if isinstance(bot, Bot):
        raise MatchError(f"expected bots named by text for several processes, got {bot.name!r} itself")
    return bot
