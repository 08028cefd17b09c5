"""``python -m service.thinking [text|json [LEVEL]]``: questions come in by stdin, thoughts go out by stdout."""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
from typing import BinaryIO, Final

import msgspec

from bot_sdk import messages
from bot_sdk.bots import house
from service.logs import setup
from service.thinking.frames import Question, Thought, framed, read

NICENESS: Final = 5
"""Who keeps deadlines goes first."""

log = logging.getLogger("slagveld.thinking")

_read_question = msgspec.json.Decoder(Question).decode
_read_decision = msgspec.json.Decoder(messages.Decision).decode


def main() -> None:
    """Think until the worker closes the pipe, or dies; a bot that never comes to an end takes the process with it."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # they are for the worker, which ends this process in its own time
    os.nice(NICENESS)
    setup.begin("thinker", *sys.argv[1:3])
    questions, thoughts = _pipes()
    gc.freeze()
    _tell(thoughts, b"")  # ready
    while (body := read(questions)) is not None:
        _tell(thoughts, msgspec.json.encode(think(_read_question(body))))


def think(question: Question) -> Thought:
    """Have the bot decide; whatever it raises becomes an error."""
    signal.setitimer(signal.ITIMER_REAL, question.longest_s)  # by default its signal ends a process
    try:
        reply = house(question.bot_id).answer(_read_decision(question.decision), question.key)
    except Exception as error:  # a house bot that breaks is a fault of ours that the worker deals with
        log.exception("%s broke", question.bot_id, extra={"bot_id": question.bot_id})
        return Thought(None, f"{question.bot_id} broke: {type(error).__name__}")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return Thought(messages.encode(reply).decode())


def _pipes() -> tuple[BinaryIO, BinaryIO]:
    """Take stdin and stdout for ourselves: what anybody prints goes to stderr."""
    thoughts = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return sys.stdin.buffer, thoughts


def _tell(pipe: BinaryIO, body: bytes) -> None:
    pipe.write(framed(body))
    pipe.flush()


if __name__ == "__main__":
    main()
