"""The answer to SYNC in both its forms, cut wherever it may be; a snapshot that isn't whole never counts as one."""

from __future__ import annotations

import io

import pytest

from service.store.snapshot import SnapshotError, copied, receive

MARK = b"0123456789abcdef0123456789abcdef01234567"
DATA = b"REDIS0011" + bytes(range(256)) * 20 + MARK[:39] + b"\r\n"
FORMS = {"length": b"$%d\r\n" % len(DATA) + DATA, "mark": b"$EOF:" + MARK + b"\r\n" + DATA + MARK}


class Piecewise:
    """A connection that gives its bytes in pieces, and then closes or falls silent."""

    def __init__(self, data, piece, end=b""):
        self.data, self.piece, self.end = data, piece, end

    def recv(self, most):
        if not self.data and self.end is not None:
            if isinstance(self.end, Exception):
                raise self.end
            return self.end
        taken = min(most, self.piece)
        found, self.data = self.data[:taken], self.data[taken:]
        return found


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("piece", [1, 7, 39, 40, 41, 1_000, 10**6])
def test_snapshot_comes_through_whole_and_nothing_after_it(form, piece):
    into, heard = io.BytesIO(), []
    source = Piecewise(b"\n\n" + FORMS[form] + b"*1\r\n$4\r\nPING\r\n", piece)
    assert copied(source, into, heard.append) == len(DATA)
    assert into.getvalue() == DATA
    assert heard[-1] == len(DATA)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("missing", [1, 41, 3_000, 6_000])
def test_snapshot_that_is_cut_off_is_none(form, missing):
    for end, said in ((b"", "closed"), (TimeoutError(), "fell silent"), (ConnectionResetError(), "broke")):
        with pytest.raises(SnapshotError, match=said):
            copied(Piecewise(FORMS[form][:-missing], 100, end), io.BytesIO(), lambda _: None)


@pytest.mark.parametrize("said", [b"-NOPERM this user has no permissions\r\n", b"-ERR unknown command 'SYNC'\r\n"])
def test_refusal_is_told(said):
    with pytest.raises(SnapshotError, match=said[1:-2].decode()):
        copied(Piecewise(said, 10), io.BytesIO(), lambda _: None)


def test_server_that_only_prepares_is_given_up():
    with pytest.raises(SnapshotError, match="doesn't begin"):
        copied(Piecewise(b"\n" * 10, 1), io.BytesIO(), lambda _: None, begin_s=-1)
    with pytest.raises(SnapshotError, match="doesn't begin"):
        copied(Piecewise(b"x" * 10_000, 1), io.BytesIO(), lambda _: None)


@pytest.mark.parametrize("by_disk", [True, False])
def test_real_server_gives_its_snapshot_either_way(valkey, redis, by_disk):
    redis.set("a", "1")
    redis.config_set("repl-diskless-sync", "no" if by_disk else "yes")
    try:
        into = io.BytesIO()
        assert receive(valkey.url, into) == len(into.getvalue()) > 50
    finally:
        redis.config_set("repl-diskless-sync", "yes")
    assert into.getvalue().startswith((b"REDIS", b"VALKEY"))


def test_user_who_may_replicate_is_enough_and_another_is_told(valkey, redis):
    redis.execute_command("ACL", "SETUSER", "saver", "on", ">letmein", "+sync", "+replconf", "+client")
    redis.execute_command("ACL", "SETUSER", "other", "on", ">letmein", "+replconf", "+client")
    try:
        assert receive(valkey.url.replace("unix://", "unix://saver:letmein@"), io.BytesIO()) > 50
        with pytest.raises(SnapshotError, match="NOPERM"):
            receive(valkey.url.replace("unix://", "unix://other:letmein@"), io.BytesIO())
    finally:
        redis.execute_command("ACL", "DELUSER", "saver", "other")
