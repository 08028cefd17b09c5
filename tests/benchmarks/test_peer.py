import sys
from pathlib import Path

import pytest

from benchmarks import peer
from benchmarks.peer import Peer, PeerError

DOUBLES = """
from benchmarks.peers.rounds import serve

def play(size):
    print("a library that talks")
    if size == 0:
        raise SystemExit
    return {"doubled": 2 * size}

serve(play)
"""


@pytest.fixture
def doubling(monkeypatch, tmp_path):
    """A peer that doubles the sizes of its rounds, and ends by itself when that is 0."""
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.symlink_to(sys.executable)
    monkeypatch.setenv("SLAGVELD_PEERS", str(tmp_path))
    package = tmp_path / "here" / "benchmarks" / "peers"
    package.mkdir(parents=True)
    (package / "rounds.py").write_bytes(Path(peer.__file__).with_name("peers").joinpath("rounds.py").read_bytes())
    (package / "doubling.py").write_text(DOUBLES)
    monkeypatch.setattr(peer, "ROOT", tmp_path / "here")
    return Peer("doubling", "json")


def test_peer_plays_a_round_each_time_it_is_told(doubling):
    with doubling as playing:
        assert [playing.round(2), playing.round(3)] == [{"doubled": 4}, {"doubled": 6}]


def test_peer_that_ends_is_said_to_have(doubling):
    with doubling as playing, pytest.raises(PeerError, match="or ended"):
        playing.round(0)


def test_peer_that_is_not_installed_is_said_to_be_missing(doubling):
    with pytest.raises(PeerError, match="no_such_peer isn't installed"), Peer("doubling", "no_such_peer"):
        pass


def test_no_environment_of_peers_is_said(monkeypatch, tmp_path):
    monkeypatch.setenv("SLAGVELD_PEERS", str(tmp_path / "none"))
    with pytest.raises(PeerError, match="make bench"), Peer("doubling", "json"):
        pass
