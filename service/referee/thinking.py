"""Lines by which a run asks house bots that think, too: to whoever asks they are bots like others."""

from __future__ import annotations

from collections import deque
from typing import Final

from bot_sdk.bots import PREFIX
from bot_sdk.events import Outcome
from service.outbound.values import Answer, Call
from service.referee.referee import Caller, Line
from service.thinking.frames import Thought
from service.thinking.thinkers import Job, Thinkers

OK_STATUS: Final = 200


class Callers:
    """Opens lines that take calls to house bots to `thinkers`, and all others to `calls`."""

    def __init__(self, calls: Caller, thinkers: Thinkers) -> None:
        """Keep where calls go."""
        self._calls = calls
        self._thinkers = thinkers

    def line(self) -> Line:
        """Open a line for a run."""
        return ThinkingLine(self._calls.line(), self._thinkers)


class ThinkingLine:
    """A line, and beside it the processes that think. Their answers wake whoever waits."""

    def __init__(self, line: Line, thinkers: Thinkers) -> None:
        """Join the two."""
        self._line = line
        self._thinkers = thinkers
        self._answers: deque[Answer] = deque()

    def submit(self, call: Call) -> None:
        """Have a call sent, or thought about: `secrets` of a house bot's endpoint is what goes into its draws."""
        endpoint = call.endpoint
        if not endpoint.bot_id.startswith(PREFIX):
            self._line.submit(call)
            return

        def done(thought: Thought, ms: float) -> None:
            self._answers.append(_answer(call, thought, ms))
            self._line.wake()

        self._thinkers.put(self, Job(endpoint.bot_id, endpoint.secrets[0], call.body, call.budget_ms / 1000, done))

    def wait(self, timeout_s: float) -> list[Answer]:
        """Send and receive; give all answers there are."""
        answers = self._line.wait(0.0 if self._answers else timeout_s)
        while self._answers:
            answers.append(self._answers.popleft())
        return answers

    def wake(self) -> None:
        """End a `wait`."""
        self._line.wake()

    def close(self) -> None:
        """Drop what is under way."""
        self._thinkers.forget(self)
        self._line.close()


def _answer(call: Call, thought: Thought, ms: float) -> Answer:
    if thought.reply is None:
        return Answer(call.key, Outcome.OUR_FAULT, ms, thought.error)
    return Answer(call.key, Outcome.OK, ms, status=OK_STATUS, body=thought.reply.encode())
