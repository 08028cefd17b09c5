from __future__ import annotations

from service.store.secrets import Secrets


def test_first_arena_key_stays(redis):
    assert Secrets(redis).arena_key(b"a" * 32) == b"a" * 32
    assert Secrets(redis).arena_key(b"b" * 32) == b"a" * 32


def test_given_arena_key_is_used_and_not_kept(redis):
    assert Secrets(redis, given=b"g" * 32).arena_key(b"a" * 32) == b"g" * 32
    assert redis.keys() == []
