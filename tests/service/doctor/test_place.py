"""Which store is looked at, with which settings, and that looking at one that stands still leaves it as it is."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import stat
import tempfile

import pytest
from click.testing import CliRunner

from service.cli import main
from service.config import SettingsError
from service.doctor.place import found
from service.launch.valkey import EmbeddedValkey, ValkeyError
from service.store import keys
from service.store.connection import connect


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Give the folder of an arena that doesn't run, in which a key is left over."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    with EmbeddedValkey(tmp_path / "data") as server:
        client = connect(server.url)
        client.set(keys.mail_card("bot_gone"), "{}")
        client.close()
    return tmp_path / "data"


def doctor(*options):
    unset = dict.fromkeys(name for name in os.environ if name.startswith(("SLAGVELD_", "REDIS_URL")))
    return CliRunner().invoke(main, ["doctor", *map(str, options)], env=unset)


def left_over(data):
    with EmbeddedValkey(data) as server:
        client = connect(server.url)
        count = client.dbsize()
        client.close()
    return count


def test_what_doesnt_run_is_looked_at_as_a_copy_that_is_gone_afterwards(data, tmp_path):
    with found({}, data) as patient:
        assert patient.is_still
        assert len(list((tmp_path / "tmp").glob(".doctor-*"))) == 1
        assert patient.settings.broker_url == patient.settings.redis_url.replace("db=0", "db=1")
        assert patient.commands["doctor"] == f"slagveld doctor --data {data}"
    assert list((tmp_path / "tmp").iterdir()) == []


def test_what_doesnt_run_is_mended_where_it_is(data, tmp_path):
    told = doctor("--data", data)
    assert told.exit_code == 1
    assert f"  run: slagveld doctor --data {data} --mend" in told.stdout.splitlines()
    assert left_over(data) == 1
    mended = doctor("--data", data, "--mend", "--json")
    assert mended.exit_code == 0, mended.output
    assert json.loads(mended.stdout)["mended"] == {"key_orphaned": 1}
    assert left_over(data) == 0


def test_nothing_is_dropped_that_isnt_damaged(data):
    refused = doctor("--data", data, "--drop", "bot_gone")
    assert refused.exit_code == 2
    assert refused.stderr == "Error: expected the id of something that can't be read, got 'bot_gone'\n"
    assert left_over(data) == 1


def test_settings_are_those_of_up_for_a_folder_and_those_given_for_a_store(data):
    with found({}, data) as patient:
        assert [str(network) for network in patient.settings.bot_networks] == ["127.0.0.0/8", "::1/128"]
    given = {"REDIS_URL": "redis://store/3", "SLAGVELD_BROKER_URL": "redis://jobs/0"}
    with found(given, None) as patient:
        assert (patient.settings.bot_networks, patient.is_still) == ((), False)
        assert (patient.settings.redis_url, patient.settings.broker_url) == ("redis://store/3", "redis://jobs/0")
    with pytest.raises(SettingsError, match="got both"), found(given, data):
        pass


def test_a_store_that_is_starting_isnt_copied(data):
    with (data / "valkey/lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(ValkeyError, match="try again"), found({}, data):
            pass
    with found({}, data) as patient:
        assert patient.is_still


def test_several_may_look_at_the_same_time(data):
    with (data / "valkey/lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)  # as one does that copies
        with found({}, data) as patient:
            assert patient.is_still


def test_data_that_nobody_may_write_to_can_be_looked_at(data, tmp_path):
    """Root may write anywhere; that the copy doesn't take the modes along is what counts."""
    folder = data / "valkey/appendonlydir"
    for path in (*folder.iterdir(), folder, folder.parent):
        path.chmod(0o500 if path.is_dir() else 0o400)
    with found({}, data):
        (copy,) = (tmp_path / "tmp").glob(".doctor-*/valkey")
        assert all(path.stat().st_mode & stat.S_IWUSR for path in copy.rglob("*") if not path.is_socket())
    assert list((tmp_path / "tmp").iterdir()) == []
    for path in (folder.parent, folder):
        path.chmod(0o700)


@pytest.mark.parametrize("option", [(), ("--mend",)])
def test_a_folder_whose_data_are_gone_isnt_well(data, option):
    shutil.rmtree(data / "valkey/appendonlydir")
    told = doctor("--data", data, *option)
    assert told.exit_code == 2
    assert "expected the folder of an arena" in told.stderr
    assert not (data / "valkey/appendonlydir").exists()


def test_a_temporary_folder_that_is_full_is_said_in_a_sentence(data, monkeypatch):
    def full(source, _place):
        raise OSError(errno.ENOSPC, "No space left on device", str(source))

    monkeypatch.setattr(shutil, "copyfile", full)
    told = doctor("--data", data)
    assert told.exit_code == 2
    assert "Error: it can't be looked at: [Errno 28] No space left on device: " in told.stderr
    assert "(" not in told.stderr


def test_a_store_that_was_restored_and_never_run_can_be_looked_at(data):
    (data / "valkey/lock").unlink()
    with found({}, data) as patient:
        assert patient.is_still
    assert not (data / "valkey/lock").exists()


def test_a_store_that_a_later_release_has_made_its_own_is_left_alone(data):
    with EmbeddedValkey(data) as server:
        client = connect(server.url)
        client.set(keys.FORM, 1_000)
        client.close()
    for option in ((), ("--mend",)):
        told = doctor("--data", data, *option)
        assert told.exit_code == 2
        assert "a newer release has worked on it" in told.stderr
    assert left_over(data) == 2
