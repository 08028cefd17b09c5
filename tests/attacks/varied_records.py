"""Records of games that went in every way one can go: with any options, faults, people who leave, forfeits, stops."""

from __future__ import annotations

import random
from typing import Any

from bot_sdk.events import Retired, RetiredBecause
from bot_sdk.games import packs, record
from bot_sdk.games.game import Game
from bot_sdk.games.registry import RULESETS
from tests.bot_sdk.tables import random_event, values_of

COURSES = (
    *("played", "faulty", "hopeless", "left", "deserted", "forfeited", "given up", "stopped"),
    *("jack", "gift of a jack", "void deal"),
)
"""How the games go, in turn."""
ENTROPY = ["", "alice", "bød 🂡", "x" * 256, "two\nlines\0and NUL"]
SECRETS = {"jack": 28, "gift of a jack": 80, "void deal": 375}
"""With them the first upcard is a Jack; a game of gifts ends by a gift on a Jack; nobody finds a trump for deal 0.

That is so where all beg, give, and play what is legal first.
"""


def varied(name: str, number: int) -> record.Record:
    """Make the record with that number; the course of its game is ``COURSES[number % len(COURSES)]``."""
    rng = random.Random(f"{name} {number}")
    again, course = number // len(COURSES), COURSES[number % len(COURSES)]
    rules = RULESETS[name]
    seats = rules.min_seats + (number + again) % (rules.max_seats - rules.min_seats + 1)
    options = _options(name, seats, course, rng)
    secret, label = rng.randbytes(32), f"gam_{number}" if rng.random() < 0.5 else f"trn_{number}/1.2~1"
    entropy = [rng.choice(ENTROPY) for _ in range(seats if label.startswith("gam") else rng.randint(2, 9))]
    if course in SECRETS:
        secret, label, entropy = SECRETS[course].to_bytes(32, "big"), f"gam_{course.replace(' ', '_')}", ["", ""]
    game = Game(
        rules, options, seats, packs.committed(secret, label, entropy),
        max_faults=rng.choice([1, 2, 3]) if course in {"faulty", "hopeless"} else 5,
        forfeited=_forfeited(course, seats, rng),
    )  # fmt: skip
    is_stopped = _play(game, course, rng)
    kinds: list[Any] = ["bot", "house", "human"]
    return record.build(
        game,
        game_id=f"gam_{number}",
        status=("aborted", "cancelled")[again % 2] if is_stopped else "void" if game.void else "finished",
        limits=record.LimitsShown(1000, 5000, game.max_faults),
        seats=[record.SeatShown(f"p{seat} ☺", kinds[seat % 3], None, "1") for seat in range(seats)],
        label=label,
        secret=secret,
        entropy=entropy,
    )


def _options(name: str, seats: int, course: str, rng: random.Random) -> dict[str, Any]:
    options = {each.name: rng.choice(values_of(each)) for each in RULESETS[name].options_for(seats)}
    if name == "seven_up":
        options["target"] = {"stopped": 9, "played": 30}.get(course) or rng.randint(1, 9)
        if course == "played":  # long, and with equal pips now and then
            options |= {"pips": "classic", "game_tie": "non_dealer"}
        if course in SECRETS:
            options = {"target": 1 if course == "jack" else 9, "turned_jack": "every", "gift": False}
        if course == "gift of a jack":
            options |= {"turned_jack": "final", "gift": True}
    else:
        options["start_cards"] = min(options["start_cards"], 6 if course == "stopped" else rng.choice([1, 2, 3, 12]))
    return options


def _forfeited(course: str, seats: int, rng: random.Random) -> list[int]:
    if course == "given up":
        return list(range(seats))
    return rng.sample(range(seats), rng.randint(1, seats - 1)) if course == "forfeited" else []


def _play(game: Game, course: str, rng: random.Random) -> bool:
    """Play a game to its end, or to where it is stopped, and tell whether it was."""
    faults = {"faulty": 0.3, "hopeless": 1.0}.get(course, 0.03)
    leaving = {"left": 0.05, "deserted": 0.3}.get(course, 0.0)
    left = rng.randint(0, 50) if course == "stopped" else 10**6
    while not game.is_over and left > 0:
        left -= 1
        playing = [seat for seat in range(game.seats) if not game.is_out(seat)]
        if playing and rng.random() < leaving:
            game.apply(Retired(rng.choice(playing), rng.choice([RetiredBecause.LEFT, RetiredBecause.DISABLED])))
        elif course in SECRETS:
            seat = game.owed()[0]
            legal = game.state.legal_actions(seat)
            game.apply(game.judged(seat, next((each for each in ("beg", "give") if each in legal), legal[0]), ms=1.0))
        else:
            game.apply(random_event(game, rng, faults))
    return not game.is_over
