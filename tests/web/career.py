"""Bots with a past: rated through a season, with games of their own in a store. Nothing of it needs a worker."""

from __future__ import annotations

import itertools
import random
from typing import Final

from msgspec.structs import replace

from bot_sdk.events import Outcome
from bot_sdk.games.registry import RULESETS
from service.arena.ratings import Ratings
from service.store.entities import BotState
from service.store.store import Store
from tests.service.bench import NOW, Desk, Worker
from tests.service.fakes import Clock, FakeCalls, HeldQueue, first_legal
from tests.service.rated import EVERY_MS, Season, fit_here

DAY_MS: Final = 86_400_000
MARKUP: Final = "<img src=x onerror=alert(1)><b>"
BACKWARDS: Final = "\u202eevitcefed\u202e"
LONG: Final = "Wagner-Wolfenbüttel" * 27
NAMES: Final = ("lowball", MARKUP, BACKWARDS, LONG, "anna", "trumpet", "هزار و یک ورق", "slow and steady", "newcomer")
BOTS: Final = tuple("bot_" + letter * 26 for letter in "abcdefghi")
HERO: Final = BOTS[0]
VERSION: Final = "3.1-beta"
PRIVATE, NEWCOMER, NEVER = BOTS[6], BOTS[8], "bot_" + "z" * 26


class Career:
    """Registers bots and lets them be rated and play, always the same way."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.desk = Desk(store)
        self.calls = FakeCalls()
        self.draw = random.Random(7)
        self.clock = Clock(NOW)
        self._numbers = itertools.count()
        for bot_id, name in zip((*BOTS, NEVER), (*NAMES, "never played"), strict=True):
            self.desk.bot(bot_id, name=name, version=VERSION, activated_at=NOW, account_id=bot_id.replace("bot", "acc"))
            self.calls.bots[bot_id] = self._answering(bot_id)
        self._change(PRIVATE, availability="private")
        self._change(BOTS[4], state=BotState.SUSPENDED)

    def _change(self, bot_id: str, **changes: object) -> None:
        self.store.bots.change(bot_id, lambda bot: replace(bot, **changes))

    def _answering(self, bot_id: str):
        """Make a bot that mostly answers, in times of its own."""
        pace = 4.0 * 3 ** BOTS.index(bot_id) if bot_id in BOTS[:4] else 40.0

        def answer(decision):
            self.calls.ms = min(pace * self.draw.lognormvariate(0, 0.8), 900.0)
            drawn = self.draw.random()
            bad = (Outcome.LATE, Outcome.ILLEGAL, Outcome.BAD_REPLY, Outcome.UNREACHABLE)
            return bad[int(drawn * 400)] if drawn < 0.01 else first_legal(decision)

        return answer

    def rate(self, ruleset: str, fits: int) -> None:
        """Let all but the last of the bots be rated, in many fits; the hero in two versions."""
        ratings = Ratings(self.store, HeldQueue(), fit_here, clock=self.clock, new_id=lambda: "fit", every_ms=EVERY_MS)
        season = Season(self.store, ratings, ruleset)
        known = (*BOTS, "house:random", "house:greedy")
        season.enter(**dict(zip(known, (*NAMES, "random", "greedy"), strict=True)))
        strengths = {bot_id: -number * 0.25 for number, bot_id in enumerate(known)}
        size = 2 if ruleset == "seven_up" else 4
        for fit in range(fits):
            self.clock.now += DAY_MS
            for _ in range(20):
                seated = self.draw.sample([each for each in known if each != NEWCOMER], size)
                drawn = {each: strengths[each] + self.draw.gauss(0, 1) for each in seated}
                order = sorted(seated, key=drawn.__getitem__, reverse=True)
                version = "2" if fit < fits // 2 else VERSION
                season.play(*(f"{each}@{version}" if each == HERO else each for each in order))
            season.play(NEWCOMER, *BOTS[1:size], times=fit == 0)
            assert ratings.refit(ruleset)

    def play(self, *who: str, **more: object) -> str:
        """Play a game to its end and give its id."""
        letters = "".join(chr(97 + digit) for digit in divmod(next(self._numbers), 26))
        game_id = self.desk.game(*who, id=f"gam_{'q' * 24}{letters}", **more)
        Worker(self.store, self.calls).drive(game_id)
        return game_id

    def play_some(self, games: int) -> list[str]:
        """Play games of the hero's, of both kinds, with others and house bots."""
        tables = itertools.cycle([
            (HERO, BOTS[1]),
            ("house:greedy", HERO),
            (BOTS[2], HERO, BOTS[3], "house:random"),
            (HERO, HERO, BOTS[1], BOTS[7]),
        ])  # fmt: skip
        limits = {"max_faults": 3}
        return [self.play(*seated, limits=limits) for seated in itertools.islice(tables, games)]


def full(store: Store, *, fits: int = 24, games: int = 50) -> Career:
    """Leave something of everything in a store, and give who can go on."""
    career = Career(store)
    for ruleset in RULESETS:
        career.rate(ruleset, fits)
    career.play_some(games)
    return career
