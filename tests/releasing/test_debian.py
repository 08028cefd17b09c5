"""A Debian in a folder: what it takes, and what is left behind. The real one is set up by `make matrix`."""

from __future__ import annotations

import stat

import pytest

from releasing import debian


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """Let nothing be installed but what the test puts there."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")

    def put(name, script):
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(stat.S_IRWXU)

    return put


def test_the_mirror_is_that_of_this_machines_apt(programs):
    programs("apt-get", "echo Debian-Security http://a.example/; echo Debian http://b.example/debian/")
    assert debian.mirror() == "http://b.example/debian/"


def test_apt_without_debian_is_told(programs):
    programs("apt-get", "echo Others http://a.example/")
    with pytest.raises(debian.DebianError, match="expected Debian among apt's sources"):
        debian.mirror()


def test_a_machine_without_the_tools_is_told_which(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(debian.DebianError, match=r"expected apt-get, .*, apt-get, chroot, .* missing"):
        debian.bootstrapped(tmp_path / "made", tmp_path, {})


def test_one_that_was_set_up_half_is_none(programs, tmp_path, monkeypatch):
    programs("apt-get", "echo Debian http://b.example/debian/")
    programs("unshare", 'mkdir "$HERE/made.new"; echo no such release; exit 3')
    for tool in ("chroot", "debootstrap", "mount"):
        programs(tool, "exit 1")
    monkeypatch.setenv("HERE", str(tmp_path))
    monkeypatch.setattr(debian.os, "geteuid", lambda: 0)
    with pytest.raises(debian.DebianError, match="expected debootstrap to work, got status 3: no such release"):
        debian.bootstrapped(tmp_path / "made", tmp_path, {})
    assert (tmp_path / "made.new").exists()
    assert not (tmp_path / "made").exists()


def test_one_that_is_there_is_taken_and_gets_the_certificates_that_are_named(tmp_path):
    (tmp_path / "made").mkdir()
    (tmp_path / "own.pem").write_text("mine")
    made = debian.bootstrapped(tmp_path / "made", tmp_path, {"SSL_CERT_FILE": str(tmp_path / "own.pem")})
    assert (tmp_path / "made" / str(tmp_path / "own.pem").lstrip("/")).read_text() == "mine"
    assert made.command(["true"])[-3:] == ["env", f"--chdir={tmp_path}", "true"]
