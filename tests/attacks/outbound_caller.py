"""A worker's side of many calls, in a process of its own: it reads whom to ask, and prints how each round went.

Its interpreter is its own, as a worker's is; the bots run elsewhere. `plan` has `steps`, each with a name, a URL, a
budget, the size of the request and the URL of an honest bot to ask next; how many go `at_once`, on a `line` or each in
a thread; the number of `rounds`; how many threads are `busy` besides; the `authority` to trust, and the port of a name
server.
"""

from __future__ import annotations

import gc
import json
import random
import resource
import ssl
import sys
import threading
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from msgspec.structs import replace
from ssrfguard.resolvers import UdpResolver

from bot_sdk.replies import BadReply, read_action
from service.outbound.calls import Calls
from service.outbound.guard import LOOPBACK, Found, Guard
from service.outbound.values import Answer, Call
from service.worker.process import SWITCH_S
from tests.service.outbound.hostile import call_to

Step = dict[str, Any]
Turns = Generator[Call, Answer, dict[str, Any]]
TRIES = 3  # as the referee has it for what is our fault
HONEST_MS = 10_000


class Caller:
    def __init__(self, plan: dict[str, Any]) -> None:
        self._port = plan["names"]
        self._at_once = at_once = plan["at_once"]
        self._calls = Calls(
            Guard(LOOPBACK, lookup=self._look_up),
            slots=at_once,
            most_per_host=at_once,
            most_per_bot=at_once,
            openers=2 * at_once,
            tls=ssl.create_default_context(cadata=plan["authority"]),
        )
        self._line = self._calls.line()
        self._is_on_a_line = plan["line"]
        self._bodies = {step["sent"]: b"x" * step["sent"] or b'{"type":"decision"}' for step in plan["steps"]}

    def _look_up(self, host: str, port: int, timeout: float) -> list[Found]:
        ask = UdpResolver(("127.0.0.1",), timeout=timeout, attempt_timeout=timeout, nameserver_port=self._port)
        return ask(host, port)

    def take_all(self, steps: list[Step]) -> list[dict[str, Any]]:
        """Take all steps, so many at once."""
        return self._on_a_line(steps) if self._is_on_a_line else self._in_threads(steps)

    def _on_a_line(self, steps: list[Step]) -> list[dict[str, Any]]:
        waiting, taken = steps[::-1], []
        going: dict[object, Turns] = {}
        for key in range(self._at_once):
            if waiting:
                going[key] = self._begin(key, waiting.pop())
        while going:
            for answer in self._line.wait(1):
                key = answer.key
                try:
                    self._submit(key, going[key].send(answer))
                except StopIteration as end:
                    taken.append(end.value)
                    del going[key]
                    if waiting:
                        going[key] = self._begin(key, waiting.pop())
        return taken

    def _begin(self, key: object, step: Step) -> Turns:
        turns = self._take(step)
        self._submit(key, next(turns))
        return turns

    def _submit(self, key: object, call: Call) -> None:
        self._line.submit(replace(call, key=key))

    def _in_threads(self, steps: list[Step]) -> list[dict[str, Any]]:
        with ThreadPoolExecutor(self._at_once) as pool:
            return list(pool.map(self._here, steps))

    def _here(self, step: Step) -> dict[str, Any]:
        turns = self._take(step)
        call = next(turns)
        try:
            while True:
                call = turns.send(self._calls.ask(call))
        except StopIteration as end:
            return end.value

    def _take(self, step: Step) -> Turns:
        """Make a call, and the next one to an honest bot: each is given, and its answer taken."""
        message = {"body": self._bodies[step["sent"]], "webhook_id": step.get("id", "msg_1")}
        call = call_to(step["url"], step["budget_ms"], **message)
        tries, answer = 0, None
        while tries < TRIES and (answer is None or answer.outcome == "our_fault"):
            tries += 1
            began = time.monotonic()
            answer = yield call
            # On a line others may be begun, and signed, between this one's `submit` and the start of its budget.
            took_ms = answer.ms if self._is_on_a_line else (time.monotonic() - began) * 1000
        following = (yield call_to(step["honest"], HONEST_MS)).outcome if step["honest"] else "ok"
        return {
            "name": step["name"],
            "id": call.webhook_id,
            "began": began,
            "outcome": _read(answer),
            "error": answer.error,
            "over_ms": took_ms - step["budget_ms"],
            "tries": tries,
            "next": following,
        }


def _read(answer: Answer) -> str:
    """Give the outcome after the reply was read, as the referee does."""
    try:
        if answer.body is not None:
            read_action(answer.body, "gam_1.0.0")
    except BadReply:
        return "bad_reply"
    return answer.outcome


def _spin(stopping: threading.Event) -> None:
    while not stopping.is_set():
        sum(number * number for number in range(1_000))


def main() -> None:
    plan = json.load(sys.stdin)
    sys.setswitchinterval(SWITCH_S)
    caller, order = Caller(plan), random.Random(1)
    stopping = threading.Event()
    for _ in range(plan["busy"]):
        threading.Thread(target=partial(_spin, stopping), daemon=True).start()
    for _ in range(plan["rounds"]):
        taken = caller.take_all(order.sample(plan["steps"], len(plan["steps"])))
        peak_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        gc.collect()
        sys.stdout.write(json.dumps({"taken": taken, "peak_kb": peak_kb, "objects": len(gc.get_objects())}) + "\n")
        del taken
    stopping.set()


if __name__ == "__main__":
    main()
