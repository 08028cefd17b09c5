"""Room that is shared out fairly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.outbound.shares import Shares


class Room:
    """Shares, and what has room by name: a bot's letter and a number."""

    def __init__(self, size: int, **most: int) -> None:
        self.shares: Shares[str] = Shares(size, **most)
        self.inside: list[str] = []

    def enter(self, *names: str, host: str = "host") -> list[str]:
        """Enter, and tell who got in at once."""
        got_in = [name for name in names if self.shares.enter(host, name[0], name)]
        self.inside += got_in
        return got_in

    def leave(self, name: str, host: str = "host") -> str | None:
        """Leave, and tell who came in instead."""
        self.inside.remove(name)
        following = self.shares.leave(host, name[0])
        if following is None:
            return None
        self.inside.append(following.item)
        return following.item


@pytest.fixture
def room():
    return Room(4, per_host=3, per_bot=2)


def test_one_bot_leaves_room_to_the_others_of_its_host(room):
    assert room.enter("a0", "a1", "a2", "a3", "a4", "b0") == ["a0", "a1", "b0"]
    assert room.shares.waiting == 3
    assert [room.leave(name) for name in ("a0", "a1", "a2", "a3", "a4")] == ["a2", "a3", "a4", None, None]
    assert room.shares.waiting == 0


def test_bots_of_one_host_leave_room_to_other_hosts(room):
    assert room.enter("a0", "b0", "c0", "d0", "e0") == ["a0", "b0", "c0"]
    assert room.enter("z0", host="elsewhere") == ["z0"]
    assert room.leave("z0", host="elsewhere") is None  # its room isn't theirs
    assert room.leave("a0") == "d0"


def test_those_with_a_share_come_in_as_there_is_room(room):
    room.enter("a0", "b0", "c0")
    assert room.enter("x0", "y0", host="elsewhere") == ["x0"]
    assert room.leave("b0") == "y0"


def test_bots_of_one_host_take_turns(room):
    room.enter("z0", "y0", "x0", "a0", "a1", "a2", "b0", "b1", "c0")
    turns = [room.leave(name) for name in ("z0", "a0", "b0", "c0", "a1", "b1")]
    assert turns == ["a0", "b0", "c0", "a1", "b1", "a2"]


def test_a_bot_with_its_share_is_passed_over_and_keeps_its_turn(room):
    assert room.enter("a0", "a1", "b0", "a2", "a3", "c0", "c1") == ["a0", "a1", "b0"]
    assert [room.leave(name) for name in ("b0", "a0", "c0", "a1")] == ["c0", "a2", "c1", "a3"]


def test_half_is_for_a_bot_and_three_quarters_for_a_host():
    room = Room(8)
    assert room.enter(*[f"a{number}" for number in range(8)]) == ["a0", "a1", "a2", "a3"]
    assert room.enter(*[f"b{number}" for number in range(8)]) == ["b0", "b1"]


HOSTS = {"a": "one", "b": "one", "c": "one", "x": "two", "y": "two"}


@given(st.lists(st.tuples(st.sampled_from(sorted(HOSTS)), st.booleans())))
def test_nobody_gets_more_than_a_share_and_nobody_is_forgotten(moves):
    room, entered = Room(4, per_host=3, per_bot=2), 0
    for bot, enters in moves:
        if enters:
            room.enter(f"{bot}{entered}", host=HOSTS[bot])
            entered += 1
        elif room.inside:
            room.leave(room.inside[0], host=HOSTS[room.inside[0][0]])
        assert len(room.inside) <= 4
        for host, bots in (("one", "abc"), ("two", "xy")):
            assert sum(name[0] in bots for name in room.inside) <= 3, host
        assert all(sum(name[0] == bot for name in room.inside) <= 2 for bot in HOSTS)
    left = 0
    while room.inside:
        room.leave(room.inside[0], host=HOSTS[room.inside[0][0]])
        left += 1
    assert room.shares.waiting == 0
    assert not room.shares._hosts
    assert room.shares._free == 4
