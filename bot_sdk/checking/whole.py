"""What ``slagbot check`` does: the arena's own check, and then how the bot serves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from bot_sdk import messages
from bot_sdk.bot import Bot
from bot_sdk.checking.caller import Caller
from bot_sdk.checking.conformance import run
from bot_sdk.checking.faults import Finding
from bot_sdk.checking.judging import card_of
from bot_sdk.checking.probes import Probes
from bot_sdk.checking.questions import Questions
from bot_sdk.checking.values import Doctor, Failed, Sent, Step, failed_step
from bot_sdk.checking.watched import watching
from bot_sdk.games.registry import RULESETS
from bot_sdk.hosting import serving
from bot_sdk.positions import positions

BOT_ID = "bot_check"


@dataclass(frozen=True, slots=True)
class Manner:
    """How a check is made: `challenge` is fresh random text, the same `seed` asks the same decisions."""

    challenge: str
    seed: str = "check"
    budget_ms: int = messages.BUDGET_MS


def check_url(url: str, secret: str | None, manner: Manner) -> Iterator[Step]:
    """Check the bot at a URL, step by step; raises `WireError` for what is no URL."""
    return _check(url, secret, manner, ())


def check_bot(bot: Bot, folder: Path, manner: Manner) -> Iterator[Step]:
    """Check a bot of this process, whose code lies in `folder`, served as ``slagbot serve`` does.

    Faults are named by the line of its code. What it prints goes to stderr meanwhile.
    """
    with watching(bot, folder) as watched, serving(watched) as server:
        yield from _check(server.url, watched.secret, manner, (watched,))
        if step := watched.prints():
            yield step


def _check(url: str, secret: str | None, manner: Manner, doctors: Sequence[Doctor]) -> Iterator[Step]:
    caller = Caller(url)
    doctor = _Doctors((caller, *doctors))
    is_asked = False
    try:
        for step in run(
            caller,
            bot_id=BOT_ID,
            secret=secret,
            challenge=manner.challenge,
            seed=manner.seed,
            budget_ms=manner.budget_ms,
            doctor=doctor,
        ):
            yield step
            is_asked |= step.name == "game_started"  # nothing more is asked of one without a card or the secret
        if is_asked:
            yield from _served(caller, secret, manner, doctor)
    finally:
        caller.close()


def _served(caller: Caller, secret: str | None, manner: Manner, doctor: Doctor) -> Iterator[Step]:
    try:
        card = card_of(caller.get_card(messages.FIRST_BUDGET_MS))
    except Failed as failed:
        yield failed_step("card again", failed)
        return
    questions = Questions(caller, secret, _decisions(card, manner))
    yield from Probes(questions, max_games=card.max_games, budget_ms=manner.budget_ms, doctor=doctor).run()


def _decisions(card: messages.BotCard, manner: Manner) -> list[messages.Decision]:
    """Reach some decisions of every phase that the bot claims."""
    return [
        replace(decision, budget_ms=manner.budget_ms)
        for name in card.known
        for phase in RULESETS[name].phases
        for decision in positions(name, phase, 4, f"{manner.seed}/served/{name}")
    ]


class _Doctors:
    """Several doctors who look one after another."""

    def __init__(self, doctors: Sequence[Doctor]) -> None:
        self._doctors = doctors

    def look(self, found: Finding, decisions: Sequence[messages.Decision], sent: Sent | None) -> Finding:
        """Have each look at what the ones before made of it."""
        for doctor in self._doctors:
            found = doctor.look(found, decisions, sent)
        return found
