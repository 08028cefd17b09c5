"""A backup is whole or none, and so is what is made of it; nothing that was there is ever overwritten."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner

from service import cli
from service.launch import backup as module
from service.launch.backup import BackupError, backup, restore_into_folder, restore_into_redis
from service.launch.valkey import EmbeddedValkey, running
from service.store import copying, keys
from service.store.connection import connect
from service.store.form import FORM

TOLD = []


def tell(sentence):
    TOLD.append(sentence)


def fill(client):
    client.set("a", b"\x00\xff", px=10_000_000)
    client.set("gone", "soon", px=1)
    client.hset("hash", mapping={f"f{n}": n for n in range(2_500)})
    client.rpush("list", *(f"{n % 7}" for n in range(2_500)))
    client.zadd("zset", {f"m{n}": n * 1e12 + 0.5 for n in range(2_500)})
    for n in range(3):
        client.xadd("stream", {"body": b"\xff", "at": n}, id=f"{n + 1}-7")


def content(client):
    expiry = client.pexpiretime("a")
    assert expiry > 0
    values = client.get("a"), client.hgetall("hash"), client.lrange("list", 0, -1)
    return (
        client.dbsize(),
        expiry,
        *values,
        client.zrange("zset", 0, -1, withscores=True),
        client.xrange("stream"),
        client.ttl("hash"),
    )


@pytest.fixture
def kept(tmp_path, valkey, redis):
    """Give a backup, and what it holds."""
    fill(redis)
    while redis.exists("gone"):
        pass
    file = tmp_path / "arena.rdb"
    assert backup(valkey.url, file, tell) == 5
    return file, content(redis)


def test_backup_is_for_its_owner_alone_and_leaves_nothing_beside_it(kept):
    file, _ = kept
    assert file.stat().st_mode & 0o777 == 0o600
    assert list(file.parent.iterdir()) == [file]


def test_folder_made_of_a_backup_holds_the_same(kept, tmp_path):
    file, held = kept
    (tmp_path / "data").mkdir()
    (tmp_path / "data/notes.txt").write_text("mine")
    assert restore_into_folder(file, tmp_path / "data", tell) == 5
    assert sorted(path.name for path in (tmp_path / "data").iterdir()) == ["notes.txt", "valkey"]
    for _ in range(2):
        with EmbeddedValkey(tmp_path / "data") as server:
            client = connect(server.url)
            assert content(client) == held
            client.close()


def test_redis_made_of_a_backup_holds_the_same(kept, valkey, redis):
    file, held = kept
    assert restore_into_redis(file, valkey.url_of(7), tell) == 5
    other = connect(valkey.url_of(7))
    assert content(other) == held
    other.close()


def test_only_the_arenas_own_database_is_in_a_backup(tmp_path, valkey, redis):
    redis.set("stranger", 1)
    for number, key in ((4, "arena"), (5, "job")):
        client = connect(valkey.url_of(number))
        client.set(key, 1)
        client.close()
    assert backup(valkey.url_of(4), tmp_path / "arena.rdb", tell) == 1
    assert restore_into_folder(tmp_path / "arena.rdb", tmp_path / "data", tell) == 1
    with EmbeddedValkey(tmp_path / "data") as server:
        client = connect(server.url)
        assert client.keys() == [b"arena"]
        assert list(client.info("keyspace")) == ["db0"]
        client.close()


def test_backup_takes_the_place_of_an_older_one_only_when_it_is_whole(kept, valkey, monkeypatch):
    file, _ = kept
    before = file.read_bytes()

    def breaks(_url, into, _told):
        into.write(before[:-20])
        return 1

    with monkeypatch.context() as patch:
        patch.setattr(module, "receive", breaks)
        with pytest.raises(BackupError, match="can't be read"):
            backup(valkey.url, file, tell)
    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file]


def test_empty_store_is_no_backup(tmp_path, valkey, redis):
    with pytest.raises(BackupError, match="there is nothing in the store"):
        backup(valkey.url, tmp_path / "arena.rdb", tell)
    assert list(tmp_path.iterdir()) == []


def test_store_that_is_not_there_is_said(tmp_path):
    with pytest.raises(BackupError, match="connecting"):
        backup(f"unix://{tmp_path}/none.sock?db=0", tmp_path / "arena.rdb", tell)
    assert list(tmp_path.iterdir()) == []


# --- what is refused --------------------------------------------------------------------------------------------------


def damaged(data):
    middle = len(data) // 2
    yield "cut", data[:-1], "cut off or damaged"
    yield "half", data[:middle], "cut off or damaged"
    yield "flipped", data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :], "cut off or damaged"
    yield "empty", b"", "something else"
    yield "other", b"PK\3\4" + data, "something else"


def test_damaged_backups_are_refused_and_leave_nothing(kept, tmp_path, valkey):
    file, _ = kept
    other = connect(valkey.url_of(7))
    for name, data, said in damaged(file.read_bytes()):
        bad = tmp_path / name
        bad.write_bytes(data)
        with pytest.raises(BackupError, match=said):
            restore_into_folder(bad, tmp_path / "data", tell)
        with pytest.raises(BackupError, match=said):
            restore_into_redis(bad, valkey.url_of(7), tell)
        assert not any((tmp_path / "data").glob("*"))
        assert other.dbsize() == 0
    other.close()


def test_data_that_are_there_are_never_overwritten(kept, tmp_path, valkey, redis):
    file, held = kept
    with pytest.raises(BackupError, match="expected a store that is empty"):
        restore_into_redis(file, valkey.url, tell)
    assert content(redis) == held
    restore_into_folder(file, tmp_path / "data", tell)
    with pytest.raises(BackupError, match="expected no store"):
        restore_into_folder(file, tmp_path / "data", tell)


def test_copy_that_breaks_on_the_way_is_taken_back(kept, valkey, monkeypatch):
    file, _ = kept
    monkeypatch.setattr(copying, "_KEYS", 2)
    real, rounds = copying._write, []

    def write(pipe, name, kind, value):
        rounds.append(name)
        if len(rounds) == 4:
            pipe.set("list", "no list")
            pipe.rpush("list", 1)
        real(pipe, name, kind, value)

    monkeypatch.setattr(copying, "_write", write)
    with pytest.raises(BackupError, match="nothing of it was left"):
        restore_into_redis(file, valkey.url_of(7), tell)
    other = connect(valkey.url_of(7))
    assert other.keys() == []
    other.close()


def test_kind_of_value_that_no_arena_has_is_refused(tmp_path, valkey, redis):
    redis.sadd("set", 1)
    backup(valkey.url, tmp_path / "arena.rdb", tell)
    with pytest.raises(BackupError, match=r"got a set; nothing of it was left"):
        restore_into_redis(tmp_path / "arena.rdb", valkey.url_of(7), tell)


# --- the commands -----------------------------------------------------------------------------------------------------


@pytest.fixture
def slagveld(monkeypatch):
    """Run a command with REDIS_URL as given, or unset."""

    def run(*arguments, redis_url=""):
        monkeypatch.setenv("REDIS_URL", redis_url)
        return CliRunner().invoke(cli.main, list(map(str, arguments)))

    return run


@pytest.mark.parametrize("is_running", [True, False])
def test_folder_is_saved_whether_its_arena_runs_or_not(slagveld, tmp_path, is_running):
    long = tmp_path / ("d" * 120)  # whose socket is elsewhere
    file = tmp_path / "arena.rdb"
    with EmbeddedValkey(long) as server:
        client = connect(server.url)
        client.set("a", 1)
        client.close()
        if not is_running:
            server.stop()
        assert running(long) == (server.url if is_running else None)
        told = slagveld("backup", file, "--data", long)
        assert (told.exit_code, told.stdout) == (0, f"{file} holds 1 keys\n"), told.output
        assert running(long) == (server.url if is_running else None)
    restored = slagveld("restore", file, "--data", tmp_path / "data")
    assert (restored.exit_code, restored.stdout) == (0, "restored 1 keys\n"), restored.output


def test_store_of_redis_url_is_saved_and_restored(slagveld, kept, valkey, tmp_path):
    file = tmp_path / "again.rdb"
    assert slagveld("backup", file, redis_url=valkey.url).exit_code == 0
    assert slagveld("restore", file, redis_url=valkey.url_of(7)).exit_code == 0
    refused = slagveld("restore", file, redis_url=valkey.url_of(7))
    assert refused.exit_code == 1
    assert "expected a store that is empty; nothing was changed" in refused.output


def test_store_is_saved_whose_address_stands_in_a_file(slagveld, kept, valkey, tmp_path, monkeypatch):
    (tmp_path / "url").write_text(valkey.url)
    monkeypatch.setenv("REDIS_URL_FILE", str(tmp_path / "url"))
    assert slagveld("backup", tmp_path / "arena.rdb").exit_code == 0
    both = slagveld("backup", tmp_path / "again.rdb", "--data", tmp_path)
    assert (both.exit_code, "got both" in both.output) == (2, True)


def test_what_is_meant_must_be_clear(slagveld, tmp_path, valkey):
    both = slagveld("backup", tmp_path / "arena.rdb", "--data", tmp_path, redis_url=valkey.url)
    assert (both.exit_code, "got both" in both.output) == (2, True)
    none = slagveld("backup", tmp_path / "arena.rdb", "--data", tmp_path)
    assert (none.exit_code, "there is none in" in none.output) == (2, True)
    missing = slagveld("restore", tmp_path / "arena.rdb", "--data", tmp_path)
    assert (missing.exit_code, "No such file" in missing.output) == (1, True)
    assert os.listdir(tmp_path) == []  # noqa: PTH208 - names


def test_backup_that_is_told_to_stop_leaves_nothing(tmp_path, valkey, redis):
    redis.set("a", 1)
    os.kill(valkey.pid, signal.SIGSTOP)  # so that it waits for its snapshot
    try:
        command = [sys.executable, "-m", "service.cli", "backup", str(tmp_path / "arena.rdb")]
        process = subprocess.Popen(command, env=os.environ | {"REDIS_URL": valkey.url}, stderr=subprocess.PIPE)
        ends = time.monotonic() + 30
        while not list(tmp_path.glob(".backup-*/valkey/*")):
            assert time.monotonic() < ends
            time.sleep(0.01)
        process.terminate()
        _, said = process.communicate(timeout=20)
    finally:
        os.kill(valkey.pid, signal.SIGCONT)
    assert process.returncode == 1
    assert b"Aborted" in said
    assert list(tmp_path.iterdir()) == []


def test_backup_of_a_newer_release_is_not_restored_by_an_older_one(tmp_path, valkey, redis):
    redis.set(keys.FORM, FORM + 1)
    file = tmp_path / "arena.rdb"
    assert backup(valkey.url, file, tell) == 1  # a copy needs no understanding
    refusal = f"expected a store of form {FORM}, got form {FORM + 1}"
    with pytest.raises(BackupError, match=refusal):
        restore_into_folder(file, tmp_path / "data", tell)
    assert list((tmp_path / "data").iterdir()) == []
    with pytest.raises(BackupError, match=refusal):
        restore_into_redis(file, valkey.url_of(7), tell)
    other = connect(valkey.url_of(7))
    assert other.dbsize() == 0
    other.close()
