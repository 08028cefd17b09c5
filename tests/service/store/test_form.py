"""A store says of what form it is, and a release works on its own form only."""

from __future__ import annotations

import pytest

from service.store import keys
from service.store.errors import FormError
from service.store.form import FORM


def test_store_without_a_number_is_taken_for_ours_and_gets_it(store, redis):
    assert not store.form.check()
    assert redis.keys() == []
    store.form.claim()
    assert redis.get(keys.FORM) == b"%d" % FORM
    assert store.form.check()
    store.form.claim()


def test_store_of_a_newer_release_is_refused_in_a_sentence_and_left_alone(store, redis):
    redis.set(keys.FORM, FORM + 1)
    for ask in (store.form.check, store.form.claim):
        with pytest.raises(FormError, match=f"expected a store of form {FORM}, got form {FORM + 1}: a newer release"):
            ask()
    assert redis.get(keys.FORM) == b"%d" % (FORM + 1)


@pytest.mark.parametrize("found", [b"", b"one", b"\xff" * 10_000, b"9" * 10_000, b"01"])
def test_what_is_no_number_of_ours_is_refused(store, redis, found):
    redis.set(keys.FORM, found)
    with pytest.raises(FormError, match="for its form") as refused:
        store.form.claim()
    assert len(str(refused.value)) < 200
