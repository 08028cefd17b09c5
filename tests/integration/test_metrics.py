"""What Prometheus reads of an arena in processes is what its records say, whatever dies meanwhile."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections import Counter

from prometheus_client.parser import text_string_to_metric_families

from bot_sdk.events import Decided
from bot_sdk.results.values import GameState
from service.launch.ports import listen
from tests.integration.arena import PATIENT_LIMITS, Api, Arena, wait_until
from tests.integration.prometheus import Prometheus
from tests.integration.running import children_of
from tests.programs import program

BOTS = ["house:greedy", "house:random"]
NOBODY = "http://127.0.0.1:9/"
HOUSE = "house:greedy"
OPERATION = "rulesets.list_rulesets"
REQUESTS = f'sum(slagveld_http_request_duration_seconds_count{{operation="{OPERATION}"}})'
DECISIONS = "sum by (kind, outcome) (slagveld_decision_duration_seconds_count)"
COUNTERS = '{__name__=~"slagveld_.*(_total|_count|_bucket|_sum)"}[1h]'
SERVED = re.compile(r"metrics are served at http://(127\.0\.0\.1:\d+)/metrics")


class TwoProcesses(Api):
    """An API of two processes."""

    def __init__(self, environment, log):
        self._from = 0
        super(Api, self).__init__(
            "API", ["-m", "service.cli", "api", "--port", "0", "--processes", "2"], environment, log
        )


def metrics_of(process):
    """Tell where a process serves its metrics; waits until it does."""
    wait_until(lambda: SERVED.search(process.said()), 60, "metrics that are served")
    return SERVED.search(process.said())[1]


def get(url):
    with urllib.request.urlopen(url, timeout=20) as answer:
        return answer.read()


def get_again(url):
    """GET, again if the process that took it was killed meanwhile."""
    for _ in range(50):
        with contextlib.suppress(OSError):  # what it broke off with
            get(url)
            return
    raise AssertionError(f"{url} isn't answered")


def wait_for(seen, query, values):
    """Wait until a query comes to those values: of what a process counts it tells within a second."""
    wait_until(lambda: seen.value(query) == values, 60, f"{query} that comes to {values}", every_s=0.2)


def recorded(arena, tournament_id):
    """Count the decisions that stand in the logs of a tournament, by who decided and how that went."""
    counted = Counter()
    for result in arena.store.tournaments.results(tournament_id):
        game, log, _ = arena.store.games.load(result.game_id)
        for _, event in log:
            if isinstance(event, Decided):
                kind = "house" if game.seats[event.seat].kind == "house" else "http"
                counted[kind, event.outcome.value] += 1
    return counted


def test_what_prometheus_reads_is_what_the_records_say(tmp_path):
    """Two APIs on one port and two workers, a tournament in which a bot isn't reached, an API killed in the middle."""
    folder = tmp_path / "arena"
    with Arena(folder, bots=BOTS, think_ms=2, SLAGVELD_METRICS="127.0.0.1:0") as arena:
        arena.register("bot_nobody", "nobody", NOBODY)
        api = arena._own(TwoProcesses(arena.environment, folder / "api.log"))
        workers = [arena.start_worker(), arena.start_worker()]
        url = f"{api.address}/v1/rulesets"
        targets = {"api": [metrics_of(api)], "worker": [metrics_of(worker) for worker in workers]}
        with Prometheus(tmp_path / "prometheus", targets) as seen:
            wait_until(lambda: seen.up() == 3, 60, "three targets that are up", every_s=0.1)
            for _ in range(40):
                get(url)
            wait_for(seen, REQUESTS, {(): 40.0})

            held = arena.launch("night", "seven_up", 2, 4, [*arena.bot_ids, "bot_nobody", HOUSE], PATIENT_LIMITS)
            wait_until(lambda: arena.store.tournaments.count_results(held) >= 2, 120, "a tournament under way")
            killed = min(children_of(api.child.pid))
            os.kill(killed, signal.SIGKILL)
            for _ in range(40):
                get_again(url)
            wait_until(lambda: len(children_of(api.child.pid).keys() - {killed}) == 2, 60, "another API process")
            wait_until(lambda: arena.is_finished(held), 180, "a tournament that is over")

            expected = {key: float(count) for key, count in recorded(arena, held).items()}
            assert {outcome for _, outcome in expected} >= {"ok", "unreachable"}
            assert {kind for kind, _ in expected} == {"house", "http"}
            ended = sum(result.state is GameState.FINISHED for result in arena.store.tournaments.results(held))
            for query, are in (
                (DECISIONS, expected),
                ('sum(slagveld_games_ended_total{state="finished"})', {(): float(ended)}),
                ('sum(slagveld_processes{part="api"})', {(): 2.0}),
                ('sum(slagveld_processes{part="worker"})', {(): 2.0}),
                ("sum(slagveld_store_up)", {(): 1.0}),
                ("sum(slagveld_workers)", {(): 2.0}),
                ('sum(slagveld_due{kind=~"game|tournament"})', {(): 0.0}),
                ("sum(slagveld_alarm)", {}),
                (f"({REQUESTS} > bool 40) * ({REQUESTS} <= bool 80)", {(): 1.0}),
            ):
                wait_for(seen, query, are)
            histories = seen.history(COUNTERS)
            assert any(values[-1] > values[0] for values in histories.values())
            assert [name for name, values in histories.items() if values != sorted(values)] == []

        text = get(f"http://{targets['api'][0]}/metrics") + get(f"http://{targets['worker'][0]}/metrics")
        assert b"bot_nobody" not in text
        assert b"gam_" not in text
        for target in (targets["api"][0], targets["worker"][0]):
            told = subprocess.run(
                [program("promtool", "prometheus"), "check", "metrics"],
                check=False,
                input=get(f"http://{target}/metrics"),
                capture_output=True,
                timeout=60,
            )
            assert (told.returncode, told.stderr) == (0, b""), told.stdout
        api.terminate()


def told(address):
    """Read metrics: their values by name and labels."""
    families = text_string_to_metric_families(get(f"http://{address}/metrics").decode())
    return {(each.name, *each.labels.values()): each.value for family in families for each in family.samples}


def test_an_arena_on_one_machine_tells_of_all_its_processes_on_one_port(start, tmp_path):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = {"SLAGVELD_METRICS": "127.0.0.1:0", "TMPDIR": str(temporary), "SLAGVELD_SWEEP_MS": "50"}
    up = start(tmp_path / "data", "--workers", "2", environment=environment)
    up.ready()
    address = SERVED.search("".join(up.said))[1]
    api, worker, sweeps = ("slagveld_processes", "api"), ("slagveld_processes", "worker"), ("slagveld_sweeps_total",)

    def all_are_there():
        seen = told(address)
        return (seen.get(api), seen.get(worker)) == (1.0, 2.0) and seen.get(sweeps, 0.0) > 20

    wait_until(all_are_there, 60, "an API and two workers", every_s=0.1)
    before = told(address)
    killed = up.child("service.cli worker")
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: up.child("service.cli worker") not in {killed, None}, 60, "another worker")
    wait_until(all_are_there, 60, "an API and two workers again", every_s=0.1)
    after = told(address)
    lasting = [key for key in before if key[0].endswith(("_total", "_count", "_bucket", "_sum"))]
    assert lasting
    assert [key for key in lasting if after[key] < before[key]] == []
    assert list(temporary.glob("slagveld-metrics-*"))
    assert up.stop() == 0
    assert list(temporary.iterdir()) == []


def test_port_that_is_taken_stops_the_start_with_a_sentence(tmp_path):
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        environment = os.environ | {"SLAGVELD_METRICS": f"127.0.0.1:{port}", "REDIS_URL": "redis://127.0.0.1:9/0"}
        for command in (["api", "--port", "0"], ["worker"], ["up", "--port", "0", "--data", str(tmp_path)]):
            ended = subprocess.run(
                [sys.executable, "-m", "service.cli", *command],
                check=False,
                env=environment,
                capture_output=True,
                text=True,
                timeout=60,
            )
            said = f"port {port} on 127.0.0.1 is taken; stop what uses it or choose another with SLAGVELD_METRICS"
            assert (ended.returncode, said in ended.stderr) == (2, True), ended.stderr
