"""``slagveld doctor``: what is found goes to stdout, what happens to stderr.

It exits with 0 if nothing needs anybody, 1 if something does, 2 if it couldn't look.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import click
from redis import RedisError
from rich.console import Console

from service.config import SettingsError
from service.doctor.examination import Examination, Findings
from service.doctor.mending import IDLE_S, Mender
from service.doctor.place import Patient, found
from service.doctor.showing import as_json, show
from service.doctor.surroundings import Surroundings
from service.jobs import DeadLetters, open_broker
from service.launch.valkey import ValkeyError
from service.outbound.guard import Guard
from service.store.connection import connect
from service.store.errors import FormError
from service.store.inspection import Inspection
from service.store.mending import Mending
from service.store.store import Store

NEEDED, BLIND = 1, 2


class NothingToDropError(Exception):
    """What is to be taken away can be read, or isn't there."""


def run(data: Path | None, seconds: float, *, is_to_mend: bool, drop: str | None, is_json: bool) -> int:
    """Look at the store in this folder, or at the one that the environment names, tell, and give the exit status."""
    try:
        with found(os.environ, data, is_to_mend=is_to_mend or drop is not None) as patient:
            findings, mended = examined(patient, seconds, is_to_mend=is_to_mend, drop=drop)
    except NothingToDropError as error:
        click.echo(f"Error: {error}", err=True)
        return BLIND
    except (SettingsError, ValkeyError, FormError, RedisError, OSError) as error:
        click.echo(f"Error: it can't be looked at: {error}", err=True)
        return BLIND
    if is_json:
        click.echo(as_json(findings, mended, patient))
    else:
        show(Console(), findings, mended, patient)
    return NEEDED if findings.needs_somebody else 0


def examined(
    patient: Patient,
    seconds: float,
    *,
    is_to_mend: bool = False,
    drop: str | None = None,
    sleep: Callable[[float], object] = time.sleep,
) -> tuple[Findings, Counter[str]]:
    """Examine a store, mend it or `drop` the thing of this id if that is wanted, and examine it again then.

    Gives what is left, and how many were mended. Raises what redis-py raises if the store can't be read, FormError for
    one that another release has made its own, and NothingToDropError.
    """
    mended: Counter[str] = Counter()
    with _examination(patient, seconds, sleep) as (examination, mender):
        findings = examination.run()
        if is_to_mend:
            mended = mender.mend(findings.found)
        if drop is not None:
            mended += mender.drop(findings.found, drop)
            if not mended:
                raise NothingToDropError(f"expected the id of something that can't be read, got {drop!r}")
    if mended:
        with _examination(patient, seconds, sleep) as (examination, _):
            findings = examination.run()
    return findings, mended


@contextlib.contextmanager
def _examination(
    patient: Patient, seconds: float, sleep: Callable[[float], object]
) -> Iterator[tuple[Examination, Mender]]:
    settings = patient.settings
    with contextlib.ExitStack() as stack:
        redis = connect(settings.redis_url, max_connections=4, is_patient=False)
        stack.callback(redis.close)
        values = Store(redis, key=settings.key)
        stack.callback(values.close)
        values.form.check()
        store = Inspection(redis)
        broker = open_broker(settings, is_patient=False)
        stack.callback(broker.close)
        letters = DeadLetters(broker)
        clock = lambda: time.time_ns() // 1_000_000  # noqa: E731 - this machine's own
        surroundings = Surroundings(settings, store, letters, clock=clock, is_still=patient.is_still)
        guard = Guard(str(network) for network in settings.bot_networks)
        idle_s = 0 if patient.is_still else IDLE_S
        yield (
            Examination(store, values, guard, surroundings, is_still=patient.is_still, seconds=seconds, sleep=sleep),
            Mender(values, Mending(redis, idle_s=idle_s)),
        )
