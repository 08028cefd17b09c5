"""Fits the weights by which ``house:greedy`` bids in Up and Down the River, and prints them as Python.

    python benchmarks/fit_greedy_river.py [SEATS ...]

Greedy plays against itself; least squares tells what each card of a hand added to the tricks it took; that moves the
weights half way, and again. Takes about half a minute for each number of seats.
"""

from __future__ import annotations

import sys

import numpy as np

from bot_sdk.bot import Bot, Decision
from bot_sdk.bots import greedy_river
from bot_sdk.cards import SUITS, parse_card, rank_of, suit_of
from bot_sdk.games.packs import offline_secret
from bot_sdk.games.registry import RULESETS
from bot_sdk.games.river import EXACT
from bot_sdk.local import Match, in_process, play_game

ROUNDS = 6
GAMES = 240
RIDGE = 3.0


def main() -> None:
    """Fit for each number of seats that is given, or for all."""
    for seats in [int(given) for given in sys.argv[1:]] or range(4, 9):
        weights = np.array([*greedy_river.SIDE[seats], *greedy_river.TRUMP[seats]])
        for number in range(ROUNDS):
            hands, tricks, exact = games(seats, weights, f"fit {number}")
            fitted = np.linalg.solve(hands.T @ hands + RIDGE * np.eye(26), hands.T @ tricks)
            weights = (weights + fitted) / 2
            print(f"{seats} seats, round {number}: {exact:.3f} of the bids exact", file=sys.stderr)
        print(f"SIDE  {seats}: ({', '.join(f'{weight:.2f}' for weight in weights[:13])}),")
        print(f"TRUMP {seats}: ({', '.join(f'{weight:.2f}' for weight in weights[13:])}),")


def games(seats: int, weights: np.ndarray, seed: str) -> tuple[np.ndarray, np.ndarray, float]:
    """Play, and give the hands bid on, the tricks they took, and the share of exact bids."""
    hands: dict[tuple[int, int], np.ndarray] = {}
    bot = Bot("fitting")

    @bot.on("river", "bid")
    def bid(decision: Decision) -> str:
        hand = features(decision)
        hands[decision.observation["deal"], decision.seat] = hand
        hoped = float(hand @ weights)
        return min(decision.legal, key=lambda action: abs(int(action.removeprefix("bid:")) - hoped))

    bot.on("river", "play")(greedy_river.play)
    rows, tricks = [], []
    exact = 0
    for number in range(GAMES):
        secret, label = offline_secret(seed, number)
        table = [in_process(bot)] * seats
        _, record = play_game(Match(RULESETS["river"]), table, game_id=label, secret=secret, label=label)
        for deal in record.deals:
            for seat, points in enumerate(deal.points):
                rows.append(hands[deal.number, seat])
                tricks.append(points % EXACT)  # under ten tricks a deal, so that ten more can only be the bonus
                exact += points >= EXACT
    return np.array(rows), np.array(tricks), exact / len(rows)


def features(decision: Decision) -> np.ndarray:
    """Count the hand's cards: 13 ranks of side suits, then 13 trumps."""
    counts = np.zeros(26)
    trump = SUITS.index(decision.observation["trump"])
    for card in map(parse_card, decision.hand):
        counts[rank_of(card) + (13 if suit_of(card) == trump else 0)] += 1
    return counts


if __name__ == "__main__":
    main()
