"""Every key of `keys` is known by its name, and nothing else is."""

from __future__ import annotations

import inspect

import pytest

from service.store import keys
from service.store.catalogue import KINDS, Named, Thing, named

FUNCTIONS = [
    each
    for name, each in inspect.getmembers(keys, inspect.isfunction)
    if not name.startswith("of_") and not name.endswith("_news")
]
CONSTANTS = [value for name, value in vars(keys).items() if name.isupper() and name != "SECRET"]


def test_every_key_of_the_store_is_of_one_kind():
    made = [kind.make for kind in KINDS]
    assert len(set(made)) == len(made)
    assert set(made) == {*FUNCTIONS, *CONSTANTS}


@pytest.mark.parametrize("make", FUNCTIONS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("ident", ["x", "bot_a2b", "house:greedy"])
def test_a_key_tells_its_kind_and_whose_it_is(make, ident):
    found = named(make(ident).encode())
    assert (found.kind.make, found.ident) == (make, ident)


@pytest.mark.parametrize("key", CONSTANTS)
def test_a_key_of_which_there_is_one_tells_its_kind(key):
    assert named(key.encode()) == Named(next(kind for kind in KINDS if kind.make == key), "")


@pytest.mark.parametrize(
    "key", [b"", b"x", b"gam_1", b"{g:x}:metal", b"{g:x}:meta:x", b"{g:}:meta", b"secret:x", b"{g:\xff}:log", b"due "]
)
def test_what_the_arena_doesnt_write_is_of_no_kind(key):
    assert named(key) is None


def test_counters_and_limits_may_have_any_name():
    assert named(keys.unfinished("address:2001:db8::/64").encode()).ident == "address:2001:db8::/64"
    assert named(keys.rate("per address/50 per 1 second/{x}\n").encode()).ident.endswith("{x}\n")


@pytest.mark.parametrize("thing", Thing)
def test_what_a_thing_is_there_by_is_its_own(thing):
    for make in thing.value:
        assert named(make("x").encode()).kind.owner is thing
