"""Every metric there is: its name, what it says, by which labels. docs/metrics.md lists the same.

Labels are bounded: operations, outcomes, queues, states; never ids, addresses, paths or anything a stranger may choose.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from bot_sdk.results.values import GameState

PREFIX: Final = "slagveld_"


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric. `bounds` are the upper ends of a histogram's classes, in its unit; the last, infinity, goes without.

    A counter's name ends in `_total`. A gauge is the sum over the processes that live; of `arena` ones, which the store
    tells, each API tells the same.
    """

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    help: str
    labels: tuple[str, ...] = ()
    bounds: tuple[float, ...] = ()
    is_arena: bool = False
    known: tuple[str, ...] = ()
    """Values of its only label, shown before anything was counted: to Prometheus what begins at 1 never grew."""

    @property
    def size(self) -> int:
        """How many numbers are kept for one set of labels: one, or a count for each class and then the sum."""
        return len(self.bounds) + 2 if self.kind == "histogram" else 1


def _counter(name: str, text: str, *labels: str, known: tuple[str, ...] = ()) -> Metric:
    return Metric(f"{PREFIX}{name}_total", "counter", text, labels, known=known)


def _gauge(name: str, text: str, *labels: str) -> Metric:
    return Metric(f"{PREFIX}{name}", "gauge", text, labels)


def _arena(name: str, text: str, *labels: str) -> Metric:
    return Metric(f"{PREFIX}{name}", "gauge", text, labels, is_arena=True)


def _histogram(name: str, text: str, *labels: str, bounds: tuple[float, ...]) -> Metric:
    return Metric(f"{PREFIX}{name}", "histogram", text, labels, bounds)


_ANSWERS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_DECISIONS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0)
_TURNS: Final = (0.00025, 0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.25, 1.0)

# --- the API ----------------------------------------------------------------------------------------------------------
REQUESTS: Final = _histogram(
    "http_request_duration_seconds",
    "Time until a request was answered, without what a long poll waited.",
    "operation", "method", "status",
    bounds=_ANSWERS,
)  # fmt: skip
IN_FLIGHT: Final = _gauge("http_requests_in_flight", "Requests that aren't answered yet, long polls among them.")
STREAMS: Final = _gauge("http_streams_open", "Streams of events that are open.")
POLLS: Final = _gauge("http_polls_waiting", "Long polls that wait.")

# --- games ------------------------------------------------------------------------------------------------------------
DECISIONS: Final = _histogram(
    "decision_duration_seconds",
    "Time that decisions took which stand in the log of a game.",
    "kind", "outcome",
    bounds=_DECISIONS,
)  # fmt: skip
BATCHES: Final = _histogram(
    "bot_request_decisions",
    "Decisions that were asked in one request to a bot.",
    bounds=(1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 63.0),
)
CALLS_WAITING: Final = _gauge("calls_waiting", "Calls to bots that wait for a slot.")
DRIVEN: Final = _gauge("games_driven", "Games in the hands of workers.", "run")
TURNS: Final = _histogram(
    "turn_duration_seconds", "Time a turn of a run worked, without what it listened.", "run", bounds=_TURNS
)
COMMITS: Final = _counter("commits", "Commits of workers, by what became of them.", "status")
ENDED: Final = _counter(
    "games_ended", "Games that ended.", "state", known=tuple(each.value for each in GameState if each.is_end)
)
LEASES_LOST: Final = _counter("leases_lost", "Games that a worker had to leave since their lease was another's.")
OUR_FAULTS: Final = _counter("our_faults", "Decisions that came to nothing by the arena's own fault.", "reason")
CHECKS: Final = _counter("checks", "Checks of bots that ended.", "result")

# --- the sweeper, the store, the processes ----------------------------------------------------------------------------
SWEEPS: Final = _counter("sweeps", "Sweeps that were done.")
FOUND: Final = _counter("sweeper_findings", "What the sweeper found to be done.", "kind")
ROUND_TRIPS: Final = _histogram("store_round_trip_duration_seconds", "Time of round trips to the store.", bounds=_TURNS)
PROCESSES: Final = _gauge("processes", "Processes that live.", "part")
CPU: Final = _counter("process_cpu_seconds", "Processor time, of those that ended too.", "part")
MEMORY: Final = _gauge("process_resident_memory_bytes", "Resident memory.", "part")
DESCRIPTORS: Final = _gauge("process_open_fds", "Open file descriptors.", "part")
THREADS: Final = _gauge("process_threads", "Threads.", "part")

# --- the arena as the store tells it ----------------------------------------------------------------------------------
BUILD: Final = _arena("build_info", "1; the labels say which release runs on what.", "version", "python")
STORE_UP: Final = _arena("store_up", "1 if the store answers and takes writes, else 0.")
ALARM: Final = _arena("alarm", "1 for each alarm of /health/ready that stands.", "alarm")
WORKERS: Final = _arena("workers", "Workers that were there lately.")
DUE: Final = _arena("due", "What is unfinished: games, tournaments, checks and more.", "kind")
OVERDUE: Final = _arena("overdue", "What of it waits for its turn now.", "kind")
OVERDUE_AGE: Final = _arena("overdue_oldest_age_seconds", "How long what waits for longest has waited for its turn.")
QUEUED: Final = _arena("queue_jobs", "Jobs that no worker has fetched.", "queue")
QUEUED_AGE: Final = _arena("queue_oldest_age_seconds", "Age of the job that is next.", "queue")
DEAD: Final = _arena("dead_letters", "Jobs that were given up.", "queue")
STORE_MEMORY: Final = _arena("store_memory_bytes", "Memory that the store uses.")
STORE_LIMIT: Final = _arena("store_memory_limit_bytes", "Memory that the store may use.")

METRICS: Final = tuple(found for found in tuple(globals().values()) if isinstance(found, Metric))
BY_NAME: Final = {metric.name: metric for metric in METRICS}
