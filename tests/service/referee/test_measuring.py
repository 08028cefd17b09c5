from __future__ import annotations

import dataclasses
from collections import Counter

import pytest

from bot_sdk.events import Decided, Outcome
from service.metrics.meters import Meters
from service.outbound.values import Endpoint
from service.referee.measuring import kind_asked
from service.store.entities import PULL
from tests.service.fakes import fails


@pytest.fixture
def meters(worker):
    """Have the worker count what it does."""
    meters = Meters()
    worker.referee = dataclasses.replace(worker.referee, meters=meters)
    return meters


def counted(tally):
    return {cell.labels: cell.values[0] for cell in tally.cells() if cell.values[0]}


def noted(spread):
    return {cell.labels: sum(cell.values[:-1]) for cell in spread.cells() if sum(cell.values)}


def test_decisions_are_counted_as_they_stand_in_the_logs(worker, desk, calls, meters):
    calls.bots["bot_b"] = fails(Outcome.LATE)
    games = [desk.game("bot_a", "bot_b"), desk.game("bot_a", "house:greedy")]
    assert worker.drive(*games) == []
    standing = Counter()
    for game, kinds in zip(games, (("http", "http"), ("http", "house")), strict=True):
        standing.update(
            (kinds[event.seat], event.outcome.value) for event in desk.log(game) if isinstance(event, Decided)
        )
    assert standing["http", "late"] > 0
    assert standing["house", "ok"] > 0
    assert noted(meters.decisions) == standing
    commits = counted(meters.commits)
    assert commits.keys() == {("committed",)}
    assert noted(meters.turns).keys() == {("games",)}


@pytest.mark.parametrize(
    ("endpoint", "kind"),
    [
        (Endpoint("bot_1", "http://127.0.0.1:1/", ()), "http"),
        (Endpoint("bot_1", PULL, (), is_pull=True), "pull"),
        (Endpoint("house:search", "", ("draws",)), "house"),
    ],
)
def test_who_is_asked_is_told_by_how(endpoint, kind):
    assert kind_asked(endpoint) == kind
