"""Bots at URLs as players of offline matches: asked as a check asks them, with the arena's outcomes.

The arena has its own calls, with a guard against strangers. Here the URL is the user's own choice.
"""

from __future__ import annotations

from dataclasses import dataclass

from bot_sdk import messages
from bot_sdk.check import card_in
from bot_sdk.checking.caller import Caller
from bot_sdk.events import Outcome
from bot_sdk.games.record import SeatShown
from bot_sdk.local import Answered
from bot_sdk.replies import BadReply, read_action


@dataclass(frozen=True, slots=True)
class AtUrl:
    """A bot at a URL as a player of an offline match (`bot_sdk.local.Player`)."""

    caller: Caller
    secret: str | None
    shown: SeatShown

    def ask(self, decision: messages.Decision, /) -> Answered:
        """Ask for one decision over HTTP."""
        heard = self.caller.post(messages.encode(decision), decision.budget_ms, self.secret)
        if heard.outcome is not Outcome.OK:
            return Answered(heard.outcome, heard.ms)
        try:
            action, note = read_action(heard.body or b"", decision.decision_id)
        except BadReply:
            return Answered(Outcome.BAD_REPLY, heard.ms)
        return Answered(Outcome.OK, heard.ms, action, note)

    def notify(self, message: messages.GameStarted | messages.GameEnded, /) -> None:
        """Tell the bot; whatever it answers will do."""
        self.caller.post(messages.encode(message), messages.BUDGET_MS, self.secret)


def card_at(caller: Caller) -> messages.BotCard:
    """Read the card of the bot at a URL; raises `BadReply` if it shows none."""
    try:
        return card_in(caller)
    except BadReply as error:
        raise BadReply(f"expected a bot at {caller.url}, got {error}") from None


def at_url(url: str, *, secret: str | None) -> tuple[AtUrl, list[str]]:
    """Make a player of the bot at a URL, and list the rulesets on its card.

    Raises `WireError`, or `BadReply` if it shows no card.
    """
    caller = Caller(url)
    card = card_at(caller)
    return AtUrl(caller, secret, SeatShown(card.name, "bot", None, card.version)), card.known
