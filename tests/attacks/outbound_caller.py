"""A worker's side of many calls, in a process of its own: it reads whom to ask, and prints how each round went.

Its interpreter is its own, as a worker's is; the bots run elsewhere. `plan` has `steps`, each with a name, a URL, a
budget, the size of the request and the URL of an honest bot to ask next; how many go `at_once`; the number of
`rounds`; how many threads are `busy` besides; the `authority` to trust, and the port of a name server.
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
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from ssrfguard.resolvers import UdpResolver

from bot_sdk.replies import BadReply, read_action
from service.outbound.calls import Calls
from service.outbound.guard import LOOPBACK, Found, Guard
from service.outbound.values import Answer
from service.worker import SWITCH_S
from tests.service.outbound.hostile import call_to

Step = dict[str, Any]
TRIES = 3  # as the referee has it for what is our fault
HONEST_MS = 10_000


class Caller:
    def __init__(self, plan: dict[str, Any]) -> None:
        self._port = plan["names"]
        self._calls = Calls(
            Guard(LOOPBACK, lookup=self._look_up), tls=ssl.create_default_context(cadata=plan["authority"])
        )
        self._bodies = {step["sent"]: b"x" * step["sent"] or b'{"type":"decision"}' for step in plan["steps"]}

    def _look_up(self, host: str, port: int, timeout: float) -> list[Found]:
        ask = UdpResolver(("127.0.0.1",), timeout=timeout, attempt_timeout=timeout, nameserver_port=self._port)
        return ask(host, port)

    def take(self, step: Step) -> dict[str, Any]:
        """Make a call, and the next one to an honest bot."""
        message = {"body": self._bodies[step["sent"]], "webhook_id": step.get("id", "msg_1")}
        call = call_to(step["url"], step["budget_ms"], **message)
        tries, answer = 0, None
        while tries < TRIES and (answer is None or answer.outcome == "our_fault"):
            tries += 1
            began = time.monotonic()
            answer = self._calls.ask(call)
            took_ms = (time.monotonic() - began) * 1000
        return {
            "name": step["name"],
            "id": call.webhook_id,
            "began": began,
            "outcome": _read(answer),
            "error": answer.error,
            "over_ms": took_ms - step["budget_ms"],
            "tries": tries,
            "next": self._calls.ask(call_to(step["honest"], HONEST_MS)).outcome if step["honest"] else "ok",
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
    with ThreadPoolExecutor(plan["at_once"]) as pool:
        for _ in range(plan["rounds"]):
            steps = order.sample(plan["steps"], len(plan["steps"]))
            taken = list(pool.map(caller.take, steps))
            peak_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            gc.collect()
            sys.stdout.write(json.dumps({"taken": taken, "peak_kb": peak_kb, "objects": len(gc.get_objects())}) + "\n")
            del taken
    stopping.set()


if __name__ == "__main__":
    main()
