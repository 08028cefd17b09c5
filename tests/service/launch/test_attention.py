from __future__ import annotations

from bot_sdk.answers import Alarm
from bot_sdk.client import ArenaError
from service.launch.attention import EVERY_S, Attention
from tests.service.fakes import Clock


def test_alarms_are_said_when_they_come_and_when_they_come_back():
    clock, told, alarms, asked = Clock(0), [], {}, []

    def ask():
        asked.append(clock.now)
        if alarms is None:
            raise ArenaError(0, "unreachable", "the arena is away", {})
        return [Alarm(alarm=word, detail=detail) for word, detail in alarms.items()]

    attention = Attention(ask, told.append, clock)

    def look(found):
        nonlocal alarms
        alarms = found
        clock.forward(EVERY_S)
        attention.look()
        attention.look()
        said = told.copy()
        told.clear()
        return said

    attention.look()
    assert asked == []
    assert look({}) == []
    assert look({"memory": "81%", "archive": "no space"}) == ["archive: no space", "memory: 81%"]
    assert look({"memory": "82%"}) == []
    assert look(None) == []
    assert look({"memory": "82%", "archive": "no space"}) == ["archive: no space"]
    assert len(asked) == 5
