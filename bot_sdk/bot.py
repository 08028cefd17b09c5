"""What a bot author writes: a `Bot`, and the `Decision` it is asked for.

A bot is a WSGI application, so ``gunicorn my_bot:bot`` serves it. It is asked the same way over HTTP, in offline
matches and inside the arena's worker. Nothing here keeps time, judges an answer or knows the arena.
"""

from __future__ import annotations

import hmac
import logging
import os
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from inspect import iscoroutinefunction
from random import Random
from typing import Any, ClassVar, Final, TypeAlias, TypeVar

import msgspec

from bot_sdk import hosting, messages, signing
from bot_sdk.errors import SdkError
from bot_sdk.games.base import State
from bot_sdk.games.registry import RULESETS, ruleset
from bot_sdk.knowledge import Knowledge, sample
from bot_sdk.variables import VariableError, secret_of

SECRET_VARIABLE: Final = "SLAGVELD_BOT_SECRET"  # noqa: S105 - the name of a variable

log = logging.getLogger("slagveld.bot")


def secret_in(environment: Mapping[str, str]) -> str | None:
    """Read the bot's secret from its variable, or the file that ``SLAGVELD_BOT_SECRET_FILE`` names.

    Raises `SigningError` if something else stands there.
    """
    try:
        secret = secret_of(environment, SECRET_VARIABLE)
    except VariableError as error:
        raise signing.SigningError(str(error)) from None
    if not secret:
        return None
    try:
        signing.check_secret(secret)
    except signing.SigningError as error:
        raise signing.SigningError(f"{SECRET_VARIABLE}: {error}") from None
    return secret


class BotError(SdkError):
    """A bot that is put together wrongly, or answers with something that is no action."""


class NoActionError(BotError):
    """What an author's function returned is no action: `chosen`."""

    def __init__(self, message: str, chosen: object) -> None:
        super().__init__(message)
        self.chosen = chosen


class Decision:
    """One decision to take: all that this seat may know, and what it may do."""

    def __init__(self, message: messages.Decision, key: str = "") -> None:
        self.message: Final = message
        """The whole request, as docs/contract.md defines it."""
        self._key = key

    @property
    def id(self) -> str:
        """The name of the decision; a retry has the same."""
        return self.message.decision_id

    @property
    def ruleset(self) -> str:
        """The game's rules: ``seven_up`` or ``river``."""
        return self.message.game.ruleset

    @property
    def options(self) -> dict[str, Any]:
        """Every option of the ruleset with its value in this game."""
        return self.message.game.options

    @property
    def game(self) -> messages.GameInfo:
        """The game's id, ruleset, options, and the players' names by seat."""
        return self.message.game

    @property
    def seat(self) -> int:
        """The seat this bot has in the game, from 0."""
        return self.message.seat

    @property
    def phase(self) -> str:
        """What kind of action is owed, such as ``bid``."""
        return self.message.phase

    @property
    def observation(self) -> dict[str, Any]:
        """All that the seat may know of the current deal, field by field as in docs/contract.md."""
        return self.message.observation

    @property
    def hand(self) -> list[str]:
        """The cards in hand, such as ``QH``, sorted by suit C D H S and rank."""
        hand: list[str] = self.message.observation["hand"]
        return hand

    @property
    def legal(self) -> list[str]:
        """Every legal action in the fixed order; the first is played if no good answer comes in time."""
        return self.message.legal_actions

    @property
    def budget_ms(self) -> int:
        """All the time there is for this decision, network included."""
        return self.message.budget_ms

    @property
    def last(self) -> messages.Last | None:
        """How this seat's previous decision in the game went; None before the first."""
        return self.message.last

    @cached_property
    def rng(self) -> Random:
        """A generator seeded by the decision's id: the same decision is answered the same way again.

        The bot's secret is in the seed, too, where it is asked by the arena. Everybody knows the id: by that alone
        they would know what it draws, a hidden bid for instance.
        """
        return Random(hmac.digest(self._key.encode(), self.id.encode(), "sha256") if self._key else self.id)

    @cached_property
    def knowledge(self) -> Knowledge:
        """What follows from the observation: cards seen and still out, voids shown, who is winning the trick."""
        return Knowledge(self.message)

    def sample(self, rng: Random) -> State:
        """Draw a game that this seat may be in, as far as it knows: a state that observes the same and allows the same.

        All ways the hidden cards can lie are equally likely; `bot_sdk.knowledge.sample` says more.
        """
        return sample(self.knowledge, rng)


Choice: TypeAlias = str | tuple[str, str]
"""What an author's function returns: an action, or an action and a note that the record shows."""

Decide: TypeAlias = Callable[[Decision], Choice]
Function = TypeVar("Function", bound=Decide)
Hook = TypeVar("Hook", bound=Callable[..., object])


class Bot:
    """A bot: its card, and the functions that decide.

    Either decorate functions with `on`, or subclass and write `decide`. If the author's code raises, or returns
    anything but an action or (action, note), the bot answers HTTP 500 and the traceback goes to its stderr: the arena
    plays the fallback and names the outcome `bad_status`. An illegal action is sent as it is, after a warning there.
    """

    plays: ClassVar[tuple[str, ...]] = tuple(RULESETS)
    """The rulesets that a subclass with its own `decide` answers for; a decorated bot plays what it registered."""

    def __init__(
        self,
        name: str,
        *,
        version: str = "1",
        author: str = "",
        max_batch: int = 1,
        max_games: int = 8,
        secret: str | None = None,
    ) -> None:
        """Name the bot; raises `SigningError` for a secret that is none, wherever it comes from.

        `max_batch` is the most decisions it takes in one request, `max_games` the most games at once, both 1 to 64.
        Without `secret` the variable ``SLAGVELD_BOT_SECRET`` is read now; with neither, calls aren't verified.
        """
        self.secret = secret_in(os.environ) if secret is None else secret
        self.name = name
        self.version = version
        self.author = author
        self.max_batch = max_batch
        self.max_games = max_games
        self._functions: dict[tuple[str, str], Decide] = {}
        self._started: list[Callable[[messages.GameStarted], object]] = []
        self._ended: list[Callable[[messages.GameEnded], object]] = []

    @property
    def secret(self) -> str | None:
        """The secret that calls must be signed with; None if calls aren't verified."""
        return self._secret

    @secret.setter
    def secret(self, value: str | None) -> None:
        if value is not None:
            signing.check_secret(value)
        self._secret = value

    def on(self, ruleset_name: str, *phases: str) -> Callable[[Function], Function]:
        """Let the decorated function decide in these phases, or in all of the ruleset's if none is given.

        The function gets a `Decision`, returns an action or (action, note), and stays a plain function.
        Raises `RulesetError` or `BotError` for a ruleset or phase that doesn't exist or is taken, and for a coroutine
        function, which nobody would await.
        """
        known = ruleset(ruleset_name).phases
        for phase in phases:
            if phase not in known:
                raise BotError(f"expected a phase of {ruleset_name} among {', '.join(known)}, got {phase!r}")

        def register(function: Function) -> Function:
            if iscoroutinefunction(function):
                raise BotError(f"expected a plain function for {ruleset_name}, got async def {function.__name__}")
            for phase in phases or known:
                if (ruleset_name, phase) in self._functions:
                    raise BotError(f"expected one function for {ruleset_name} {phase}, got a second")
                self._functions[ruleset_name, phase] = function
            return function

        return register

    def on_game_started(self, hook: Hook) -> Hook:
        """Call the decorated function with each `GameStarted`, to warm up: nothing waits for it."""
        self._started.append(hook)
        return hook

    def on_game_ended(self, hook: Hook) -> Hook:
        """Call the decorated function with each `GameEnded`: totals, places, own outcomes and the record's URL."""
        self._ended.append(hook)
        return hook

    def decide(self, decision: Decision) -> Choice:
        """Choose an action: by the registered function, or by whatever a subclass writes here."""
        try:
            function = self._functions[decision.ruleset, decision.phase]
        except KeyError:
            raise BotError(f"expected a function for {decision.ruleset} {decision.phase}, got none") from None
        return function(decision)

    def game_started(self, started: messages.GameStarted) -> None:
        """Take notice that a game with this bot begins; a subclass may write its own."""
        for hook in self._started:
            hook(started)

    def game_ended(self, ended: messages.GameEnded) -> None:
        """Take notice that a game of this bot has ended; a subclass may write its own."""
        for hook in self._ended:
            hook(ended)

    def card(self) -> messages.BotCard:
        """Give the card; raises `BotError` while phases are missing or a value is out of range."""
        card = {
            "name": self.name,
            "version": self.version,
            "author": self.author,
            "rulesets": self._rulesets(),
            "max_batch": self.max_batch,
            "max_games": self.max_games,
        }
        try:
            return msgspec.convert(card, messages.BotCard)
        except msgspec.ValidationError as error:
            raise BotError(f"expected a valid card: {error}") from None

    def answer(self, message: messages.Decision, key: str | None = None) -> messages.ActionReply:
        """Decide; raises whatever the author's code raises, and `BotError` for a result that is no action.

        `key` seeds the draws together with the decision's id: the bot's secret if it is None, nothing if empty.
        """
        chosen = self.decide(Decision(message, (self.secret or "") if key is None else key))
        action, note = chosen if isinstance(chosen, tuple) and len(chosen) == 2 else (chosen, None)
        if not isinstance(action, str) or not action.isascii() or not isinstance(note, str | None):
            expected = f"an action such as {message.legal_actions[0]!r}, or (action, note)"
            raise NoActionError(f"expected {expected} for {message.phase}, got {chosen!r:.120}", chosen)
        if action not in message.legal_actions:
            log.warning("%s: %r isn't legal, expected one of %s", message.decision_id, action, message.legal_actions)
        return messages.ActionReply(decision_id=message.decision_id, action=action, note=note and _cut(note))

    def __call__(self, environ: hosting.Environ, start_response: hosting.StartResponse) -> Iterable[bytes]:
        """Answer one HTTP request: the bot is a WSGI application."""
        return hosting.wsgi(self, environ, start_response)

    def _rulesets(self) -> list[str]:
        if type(self).decide is not Bot.decide:
            return list(self.plays)
        begun = [name for name in RULESETS if any(name == registered for registered, _ in self._functions)]
        missing = [
            f"{name} {phase}"
            for name in begun
            for phase in RULESETS[name].phases
            if (name, phase) not in self._functions
        ]
        if missing or not begun:
            raise BotError(f"expected a function for {', '.join(missing) or 'every phase of a ruleset'}, got none")
        return begun


def _cut(note: str) -> str:
    """Cut a note to what the contract allows, at a character's edge."""
    return note.encode(errors="replace")[: messages.MAX_NOTE_BYTES].decode(errors="ignore")
