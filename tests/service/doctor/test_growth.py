"""A large store is looked at in time that grows with it, and in memory that doesn't."""

from __future__ import annotations

import time
import tracemalloc

import pytest

from service.store import keys, listing, packed

LARGE = 100_000
PER_KEY_S = 100e-6
MORE_BYTES = 8_000_000


def fill(world, games):
    """Add packed games, each with tokens and its place in a list; two keys each."""
    sealed = world.redis.get(keys.game_packed(world.packed))
    body = sealed[5:]
    for start in range(0, games, 1_000):
        with world.redis.pipeline(transaction=False) as pipe:
            for number in range(start, start + 1_000):
                game_id = f"gam_{number:026d}"
                pipe.set(keys.game_packed(game_id), sealed[:1] + packed._crc(game_id, body) + body)
                pipe.hset(keys.game_tokens(game_id), "0", "ab" * 32)
                pipe.zadd(keys.GAMES, {listing.member(1_700_000_000_000 + number, game_id): 0})
            pipe.execute()


def peak(world):
    tracemalloc.start()
    try:
        world.look()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.soak
def test_a_hundred_thousand_keys_take_seconds_and_no_more_memory_than_a_few(world):
    before = peak(world)
    fill(world, LARGE // 2)
    began = time.process_time()
    findings, _ = world.look()
    assert time.process_time() - began < LARGE * PER_KEY_S
    assert findings.keys > LARGE
    assert {each.code for each in findings.found} <= {"no_worker", "overdue"}  # filling takes its time
    assert peak(world) < before + MORE_BYTES
