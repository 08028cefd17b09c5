"""What an author's tests ask of a bot; `bot_sdk.tester` brings it to pytest.

A test that fails says what the bot was asked, what it held, what was legal and what it chose. It works without pytest.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, ParamSpec, TypeVar

from bot_sdk import messages
from bot_sdk.arranging import holding
from bot_sdk.bot import Bot, BotError
from bot_sdk.bots import PREFIX, house
from bot_sdk.comparing import compared
from bot_sdk.errors import SdkError
from bot_sdk.events import Outcome
from bot_sdk.games.record import SeatShown
from bot_sdk.games.registry import Ruleset
from bot_sdk.games.registry import ruleset as ruleset_of
from bot_sdk.loading import is_url, load_bot, secret_for
from bot_sdk.local import Answered, InProcess, Match, MatchError, Played, Player, in_process, play
from bot_sdk.positions import VARIANTS
from bot_sdk.remote import at_url
from bot_sdk.summary import Comparison

P = ParamSpec("P")
T = TypeVar("T")

_BY_CHANCE: Final = f"{PREFIX}random"
_OURS: Final = {__name__, "bot_sdk.bot"}
"""The modules a traceback begins in before it comes to the author's code."""


class BotFault(SdkError, AssertionError):  # noqa: N818 - the contract's word for it
    """What a bot shouldn't have done: an illegal action, an exception, a late answer, or too weak a game."""


class BotTester:
    """Puts one bot to the test: a `Bot`, or a text that names one, ``FILE:bot``, ``house:NAME`` or a URL.

    Each method raises `BotFault` if the bot fails. Everything follows from `seed`: what failed fails again.
    """

    def __init__(self, bot: Bot | str) -> None:
        """Take the bot; raises what `Bot.card` and `bot_sdk.loading.load_player` do where there is none."""
        self._player, self._plays = _loaded(bot)

    def plays_legally(
        self,
        ruleset: str,
        *,
        games: int = 20,
        seats: int | None = None,
        options: Mapping[str, Any] | None = None,
        seed: str = "0",
        budget_ms: int = messages.BUDGET_MS,
    ) -> None:
        """Play whole games against ``house:random``, sitting everywhere in turn; each answer must be legal and in time.

        Unless `seats` or `options` are given the games are spread over the tables that the arena's check asks about,
        with options of all kinds: a bot that claims a ruleset plays all of it.
        """
        __tracebackhide__ = True
        rules = self._expected(ruleset)
        by_chance = in_process(house(_BY_CHANCE))
        tables = VARIANTS[ruleset] if seats is None and not options else ((seats or rules.min_seats, options or {}),)
        for at, (size, chosen) in enumerate(tables):
            table: list[Player] = [_Watched(self._player), *[by_chance] * (size - 1)]
            share = len(range(at, games, len(tables)))
            _through(_all, play(Match(rules, chosen, budget_ms), table, games=share, seed=f"{seed}/{at}"))

    def answers(
        self,
        ruleset: str,
        *,
        phase: str,
        hand: str,
        upcard: str | None = None,
        seats: int | None = None,
        options: Mapping[str, Any] | None = None,
        seed: str = "0",
    ) -> str:
        """Give the bot's action where it holds this hand; it must be legal.

        The position is one of a real game; `bot_sdk.arranging.holding` tells which, how the rest is dealt, and what it
        raises for a hand that can't be.
        """
        __tracebackhide__ = True
        self._expected(ruleset)
        decision = holding(ruleset, phase, hand, upcard=upcard, seats=seats, options=options, seed=seed)
        return _Watched(self._player).ask(decision).action

    def beats(
        self,
        opponent: Bot | str,
        *,
        ruleset: str | None = None,
        games: int = 200,
        seats: int | None = None,
        options: Mapping[str, Any] | None = None,
        seed: str = "0",
    ) -> list[Comparison]:
        """Play against another bot and win: the 95% interval over boards must lie above even. Gives the comparisons.

        `games` are played of `ruleset`, or of each on the bot's card, and rounded up to whole boards: every board is
        played with each rotation of the seats. At a larger table the two sit in turn. Raises `MatchError` for a single
        board, and for an opponent that doesn't play a ruleset.
        """
        __tracebackhide__ = True
        other, plays = _loaded(opponent)
        names = self._player.shown.name, opponent if isinstance(opponent, str) else opponent.name
        found = []
        for name in [ruleset] if ruleset else self._plays:
            rules = self._expected(name)
            if name not in plays:
                raise MatchError(f"expected an opponent that plays {name}, got one that plays {', '.join(plays)}")
            table = seats or rules.min_seats
            if games <= table:
                raise MatchError(f"expected more than {table} games, which are one board at a table, got {games}")
            match, players = Match(rules, options or {}), (_Watched(self._player), other)
            found.append(_through(compared, match, players, names, seats=table, games=games, seed=seed))
            _expect_better(found[-1], name)
        return found

    def _expected(self, ruleset: str) -> Ruleset:
        rules = ruleset_of(ruleset)
        if ruleset not in self._plays:
            raise BotFault(f"expected a bot that plays {ruleset}, got one that plays {', '.join(self._plays)}")
        return rules


def _loaded(bot: Bot | str) -> tuple[Player, Sequence[str]]:
    """Give the player that a bot is, and the rulesets on its card."""
    if isinstance(bot, str):
        if is_url(bot):
            return at_url(bot, secret=secret_for(bot))
        bot = house(bot) if bot.startswith(PREFIX) else load_bot(bot)
    return in_process(bot), bot.card().known


def _all(games: Iterator[Played]) -> None:
    for _ in games:
        pass  # a fault ends them


def _through(match: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Play a match; a fault is raised as if from here, since where a match was driven from says nothing."""
    __tracebackhide__ = True
    try:
        return match(*args, **kwargs)
    except BotFault as fault:
        raise fault.with_traceback(None) from fault.__cause__


def _expect_better(comparison: Comparison, ruleset: str) -> None:
    __tracebackhide__ = True
    mean, low, high = comparison.mean, comparison.low, comparison.high
    if mean is None or low is None or high is None:
        raise BotFault(f"expected games of {ruleset} that count, got none")
    if low <= 0:
        raise BotFault(
            f"expected to beat {comparison.second} in {ruleset}, got {mean:+.3f} ({low:+.3f} to {high:+.3f} at 95%, "
            f"meetings won less lost; the lower end must be above 0) over {comparison.boards} boards, "
            f"{comparison.games} games"
        )


@dataclass(frozen=True, slots=True)
class _Watched:
    """The bot under test at a table: its first fault ends the match, with all there is to say about it."""

    player: Player

    @property
    def shown(self) -> SeatShown:
        return self.player.shown

    def ask(self, decision: messages.Decision, /) -> Answered:
        __tracebackhide__ = True
        legal = list(decision.legal_actions)  # the bot may do to its own list what it likes
        answered = self._answer(decision, legal)
        if answered.outcome is not Outcome.OK:
            said = f"expected an answer within {decision.budget_ms} ms, got {answered.outcome.value}"
            raise BotFault(_report(f"{said} after {answered.ms:.0f} ms", decision, legal, answered.action))
        if answered.action not in legal:
            raise BotFault(
                _report(f"expected a legal action, got {answered.action!r}", decision, legal, answered.action)
            )
        return answered

    def notify(self, message: messages.GameStarted | messages.GameEnded, /) -> None:
        self.player.notify(message)

    def _answer(self, decision: messages.Decision, legal: list[str]) -> Answered:
        """Ask as `InProcess` does, but keep what the author's code raises."""
        __tracebackhide__ = True
        if not isinstance(self.player, InProcess):
            return self.player.ask(decision)
        start = time.perf_counter()
        try:
            reply = self.player.bot.answer(decision, key=self.player.key)
        except BotError as error:  # no action, and no code of the author's failed
            raise BotFault(_report(str(error), decision, legal)) from None
        except Exception as error:  # the author's code may raise anything
            said = f"expected an action, got {type(error).__name__}: {error}"
            error.__traceback__ = _authors_part(error.__traceback__)
            raise BotFault(_report(said, decision, legal)) from error
        ms = 1000 * (time.perf_counter() - start)
        return Answered(Outcome.LATE if ms > decision.budget_ms else Outcome.OK, ms, reply.action, reply.note)


def _authors_part(traceback: TracebackType | None) -> TracebackType | None:
    while traceback and traceback.tb_next and traceback.tb_frame.f_globals.get("__name__") in _OURS:
        traceback = traceback.tb_next
    return traceback


def _report(said: str, decision: messages.Decision, legal: Sequence[str], chosen: str = "") -> str:
    """Put down what happened, a line for each thing that the author will ask next."""
    game, seen = decision.game, dict(decision.observation)
    seat = f"seat {decision.seat} of {len(game.seats)}"
    lines = {
        "decision": f"{game.ruleset} {decision.phase}, {seat} ({decision.decision_id})",
        "hand": " ".join(seen.pop("hand")),
        "legal": " ".join(legal),
        "chosen": chosen or "nothing",
        **{name: json.dumps(value) for name, value in seen.items() if value not in (None, [])},
        "options": json.dumps(game.options),
    }
    return "\n".join([said, *(f"  {name:<12}{text}" for name, text in lines.items())])
