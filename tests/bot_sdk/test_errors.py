"""How messages quote what came from outside."""

from __future__ import annotations

from bot_sdk.errors import quoted


def test_a_value_is_quoted_as_python_writes_it() -> None:
    assert (quoted("10H"), quoted(None), quoted([1])) == ("'10H'", "None", "[1]")


def test_a_long_value_is_cut() -> None:
    assert len(quoted("x" * 1000)) == 80


def test_a_value_that_python_refuses_to_write_is_named_by_its_type() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert quoted(10**5000) == "a int too large to show"
    assert quoted(deep) == "a list too large to show"
