"""Counts what deals of Seven Up score, for the prospects by which house bots weigh points, and prints it as Python.

    python -m benchmarks.deals_seven_up [GAMES]

``house:counting`` plays itself. Counted is what the play of a deal brings, without turned Jacks, in deals of a
thousand.
"""

from __future__ import annotations

import sys
from collections import Counter

from bot_sdk.bots import house
from bot_sdk.cards import JACK, parse_card, rank_of
from bot_sdk.games.game import Game
from bot_sdk.games.registry import RULESETS
from bot_sdk.local import Match, in_process, play


def main() -> None:
    """Play as many games as are given, or 3000."""
    games = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    table = [in_process(house("house:counting"))] * 2
    scored: Counter[tuple[int, int]] = Counter()
    for played in play(Match(RULESETS["seven_up"]), table, games=games, seed="deals"):
        scored += scores(played.game)
    deals = scored.total()
    shares = {score: round(1000 * scored[score] / deals) for score in sorted(scored)}
    print(f"{deals} deals: { ({score: share for score, share in shares.items() if share}) }")


def scores(game: Game) -> Counter[tuple[int, int]]:
    """Count the deals that were played out by what eldest and dealer scored in the play."""
    jacks = Counter(
        news["deal"] for news in game.news if "upcard" in news and rank_of(parse_card(news["upcard"])) == JACK
    )
    return Counter(
        (deal.points[1 - deal.dealer], deal.points[deal.dealer] - jacks[deal.number])
        for deal in game.state.deals
        if not deal.void and sum(deal.points) > jacks[deal.number]
    )


if __name__ == "__main__":
    main()
