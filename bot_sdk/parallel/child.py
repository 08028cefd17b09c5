"""The process that plays: loads the bots, plays the games that it is asked for one by one, and ends with its pipe.

What bots print goes to stderr: stdout is how games are told.
"""

from __future__ import annotations

import faulthandler
import logging
import os
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import BinaryIO, Final

import msgspec

from bot_sdk import messages
from bot_sdk.errors import SdkError
from bot_sdk.games import record
from bot_sdk.games.registry import RULESETS
from bot_sdk.loading import load_player
from bot_sdk.local import Answered, Match, Player, place, play_number, seated
from bot_sdk.parallel.orders import Done, Mark, Order, Ready, Refused, Task, Told, Verdict, verdict_key

ORPHAN_S: Final = 2.0
"""How long a game may go on that nobody waits for any more."""


def main(path: str) -> None:
    """Serve whoever started this process with the file of a `Mark`; returns when it wants no more games."""
    mark = Mark(Path(path))
    mark.forget()  # whatever becomes of the other side, no file is left
    logging.basicConfig(format="%(message)s", stream=sys.stderr)
    faulthandler.enable()
    asked, told = _pipes()
    lines = _lines(asked)
    order = msgspec.json.decode(next(lines), type=Order)
    try:
        players = [load_player(bot, order.ruleset) for bot in order.bots]
    except (SdkError, OSError) as error:
        _tell(told, Refused(str(error)))
        return
    _tell(told, Ready([player.shown for player in players]))
    for done in _games(order, players, lines, mark):
        _tell(told, done)


def _pipes() -> tuple[BinaryIO, BinaryIO]:
    """Take stdin and stdout for ourselves: bots read nothing, and write to stderr."""
    asked, told = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return asked, told


def _lines(asked: BinaryIO) -> Iterator[bytes]:
    """Give the lines that come; once none can, this process ends, also from amid a game."""
    came: SimpleQueue[bytes | None] = SimpleQueue()

    def listen() -> None:
        for line in asked:
            came.put(line)
        came.put(None)
        threading.Event().wait(ORPHAN_S)
        os._exit(1)  # a bot that hangs would keep a process alive that nobody knows of

    threading.Thread(target=listen, daemon=True).start()
    while (line := came.get()) is not None:
        yield line


def _tell(told: BinaryIO, what: Told) -> None:
    told.write(msgspec.json.encode(what) + b"\n")
    told.flush()


def _games(order: Order, players: list[Player], lines: Iterable[bytes], mark: Mark) -> Iterator[Done]:
    match = Match(RULESETS[order.ruleset], order.options, order.budget_ms, order.first_budget_ms, order.max_faults)
    for line in lines:
        task = msgspec.json.decode(line, type=Task)
        watched = [Watched(player, mark, task.verdicts) for player in seated(players, order.seats)]
        _, made = play_number(match, watched, task.number, order.seed)
        answers = []
        if order.debug_seat is not None:
            answers = watched[place(task.number, order.seats).players[order.debug_seat]].answers
        yield Done(task.number, msgspec.Raw(record.encode(made)), answers)


@dataclass(frozen=True, slots=True)
class Watched:
    """A player that is seen to be asked: while it is, the mark says for what. Keeps what it answered in one game."""

    player: Player
    mark: Mark
    verdicts: Mapping[str, Verdict]
    answers: list[Answered] = field(default_factory=list)

    @property
    def shown(self) -> record.SeatShown:
        """The player as the record shows it."""
        return self.player.shown

    def ask(self, decision: messages.Decision, /) -> Answered:
        """Ask for one decision, unless it is known to take the process down."""
        answered = self._judged(decision) or self._asked(decision)
        self.answers.append(answered)
        return answered

    def notify(self, message: messages.GameStarted | messages.GameEnded, /) -> None:
        """Tell the player."""
        self.mark.set()
        self.player.notify(message)
        self.mark.set()

    def _judged(self, decision: messages.Decision) -> Answered | None:
        verdict = self.verdicts.get(verdict_key(decision.seat, len(self.answers)))
        return Answered(verdict.outcome, verdict.ms) if verdict else None

    def _asked(self, decision: messages.Decision) -> Answered:
        self.mark.set(decision.seat, len(self.answers))
        answered = self.player.ask(decision)
        self.mark.set()
        return answered
