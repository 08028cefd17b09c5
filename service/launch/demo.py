"""`slagveld demo`: a whole night at the arena on this machine, and nothing left of it afterwards.

It does what a stranger would: starts `slagveld up`, hosts the example bots by `slagbot serve`, each in a process of its
own, and speaks to the arena by its HTTP API alone.
"""

from __future__ import annotations

import os
import secrets
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from bot_sdk import examples, signing
from bot_sdk.bot import SECRET_VARIABLE
from bot_sdk.client import Arena
from bot_sdk.errors import SdkError
from service.launch.announced import Announced
from service.launch.report import Report, Screen

BOTS: Final = ("by_the_book", "counter", "bold", "cautious", "dice", "clumsy")
"""The example bots that play: `bot_sdk/examples`, a file each."""
START_S: Final = 60.0
GAMES_S: Final = 300.0
POLL_S: Final = 0.2


class DemoError(SdkError):
    """The night can't go on; the message says why."""


@dataclass(frozen=True, slots=True)
class Event:
    """A tournament of the night, as `POST /v1/tournaments` takes it."""

    title: str
    ruleset: str
    rounds: int
    table_size: int
    deals: str
    options: dict[str, Any] = field(default_factory=dict)


EVENTS: Final = (
    Event("Seven Up", "seven_up", rounds=25, table_size=2, deals="field", options={"target": 7}),
    Event("River", "river", rounds=6, table_size=4, deals="fresh", options={"start_cards": 8}),
)
"""With six bots 75 games of Seven Up, some 55 decisions each, and 36 of River, 344 decisions each."""


@dataclass(frozen=True, slots=True)
class Running:
    """A tournament that has been started."""

    event: Event
    id: str


def run(screen: Screen) -> bool:
    """Hold the night; returns whether every game ended and every record verified.

    Raises SdkError or AnnounceError if it can't be held. Main thread only: children are tied to it.
    """
    with TemporaryDirectory(prefix="slagveld-demo-") as folder, Announced(Path(folder)) as processes:
        screen.say("starting the arena and six bots, each in a process of its own")
        environment = {name: value for name, value in os.environ.items() if not _is_ours(name)}
        command = [sys.executable, "-m", "service.cli", "up", "--port", "0", "--data", f"{folder}/data", "--json"]
        starting = processes.start("arena", command, environment)
        keys = {name: signing.make_secret(secrets.token_bytes(32)) for name in BOTS}
        urls = _host(processes, environment, keys)
        with Arena(starting.wait(START_S)["url"]) as arena:
            arena.token = arena.create_account("demo").token
            return _hold(arena, screen, _register(arena, urls, keys, screen))


def _is_ours(name: str) -> bool:
    """Whether a variable is a setting of an arena: the demo's is to be like everybody's."""
    return name.startswith(("SLAGVELD_", "REDIS_URL"))


def _host(processes: Announced, environment: Mapping[str, str], keys: Mapping[str, str]) -> dict[str, str]:
    """Serve every bot and give their URLs."""
    folder = Path(examples.__path__[0])
    serve = [sys.executable, "-m", "bot_sdk.cli", "serve", "--port", "0", "--json"]
    started = {
        name: processes.start(name, [*serve, f"{folder / name}.py:bot"], {**environment, SECRET_VARIABLE: key})
        for name, key in keys.items()
    }
    return {name: starting.wait(START_S)["url"] for name, starting in started.items()}


def _register(arena: Arena, urls: Mapping[str, str], keys: Mapping[str, str], screen: Screen) -> list[str]:
    """Register the bots, have them checked, and give their ids."""
    checks = []
    for name, url in urls.items():
        bot = arena.create_bot(name, url, ["seven_up", "river"], secret=keys[name])
        checks.append((name, bot.id, arena.start_check(bot.id).id))
    for name, bot_id, check_id in checks:
        check = arena.wait_for_check(bot_id, check_id, timeout_s=START_S)
        if check.state != "passed":
            raise DemoError(f"expected {name} to pass its check, got {check}")
    screen.say(f"registered and checked: {', '.join(urls)}")
    return [bot_id for _, bot_id, _ in checks]


def _hold(arena: Arena, screen: Screen, bots: Sequence[str]) -> bool:
    """Play the tournaments and report; returns whether all is well."""
    running = [_start(arena, event, bots) for event in EVENTS]
    began = time.monotonic()
    _watch(arena, running, screen)
    took_s = time.monotonic() - began
    report = Report()
    for tournament in running:
        report.take(arena.records(tournament.id))
    for tournament in running:
        screen.standings(tournament.event.title, arena.standings(tournament.id).items)
    screen.outcomes(report)
    screen.verdict(report, took_s)
    return report.is_fine


def _start(arena: Arena, event: Event, bots: Sequence[str]) -> Running:
    made = arena.create_tournament(
        f"demo night: {event.title}",
        event.ruleset,
        options=event.options,
        format="round_robin",
        deals=event.deals,
        table_size=event.table_size,
        rounds=event.rounds,
    )
    for bot_id in bots:
        arena.enter(made.id, bot_id)
    arena.set_tournament_state(made.id, "running")
    return Running(event, made.id)


def _watch(arena: Arena, running: Sequence[Running], screen: Screen) -> None:
    """Show the progress until every tournament has ended; raises DemoError if that takes too long."""
    ends = time.monotonic() + GAMES_S
    with screen.progress([tournament.event.title for tournament in running]) as show:
        while True:
            shown = [arena.tournament(tournament.id) for tournament in running]
            for number, tournament in enumerate(shown):
                show(number, tournament.progress.finished, tournament.progress.games)
            if all(tournament.state == "finished" for tournament in shown):
                return
            if time.monotonic() > ends:
                states = ", ".join(tournament.state for tournament in shown)
                raise DemoError(f"expected the tournaments to finish within {GAMES_S:.0f} s, they are {states}")
            time.sleep(POLL_S)
