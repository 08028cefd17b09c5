"""Which Pythons are promised, and how those that are here are found."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from releasing import debian, matrix, pythons

BASE = sys._base_executable
HERE = f"{sys.version_info.major}.{sys.version_info.minor}"


def put(folder, name, script):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_the_oldest_that_is_promised_is_the_one_that_installers_are_told():
    project = tomllib.loads((pythons.ROOT / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] == f">={pythons.promised()[0]}"


def test_what_is_promised_has_no_gap_and_ends_with_what_the_newest_debian_has():
    promised = pythons.promised()
    assert promised == [f"3.{minor}" for minor in range(11, 11 + len(promised))]
    assert promised[-1] == debian.VERSIONS[-1]


def test_the_python_that_runs_this_is_found(tmp_path):
    put(tmp_path / "bin", f"python{HERE}", f'exec "{BASE}" "$@"')
    assert is_this(pythons.find(HERE, {"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path)}))


@pytest.mark.parametrize("script", ["exit 127", "echo 2.7", "exec /nowhere/python"])
def test_a_name_without_that_python_behind_it_is_passed_over(script, tmp_path):
    put(tmp_path / "shims", f"python{HERE}", script)
    shims = str(tmp_path / "shims")
    assert pythons.find(HERE, {"PATH": shims, "HOME": str(tmp_path)}) is None
    put(tmp_path / "kept", f"python{HERE}", f'exec "{BASE}" "$@"')
    path = os.pathsep.join([shims, str(tmp_path / "kept")])
    assert is_this(pythons.find(HERE, {"PATH": path, "HOME": str(tmp_path)}))


def is_this(found):
    """Tell whether what was found is the Python that runs this, outside of its virtual environment."""
    asked = [found, "-c", "import sys; print(sys.version, sys.prefix)"]
    ran = subprocess.run(asked, capture_output=True, text=True, timeout=60, check=True)
    return ran.stdout.strip() == f"{sys.version} {sys.base_prefix}"


def test_a_cell_is_a_promised_python_with_the_lowest_or_the_newest_of_all_else():
    assert [cell.name for cell in matrix.CELLS[:3]] == ["3.11-lowest", "3.11-newest", "3.12-lowest"]
    assert len(matrix.CELLS) == 2 * len(pythons.promised())


def test_a_cell_that_is_none_is_refused(capsys):
    assert matrix.main(["3.10-lowest"]) == 2
    assert "expected some of 3.11-lowest, " in capsys.readouterr().err


def test_a_python_that_cannot_be_had_fails_only_whoever_asked_for_it(tmp_path, monkeypatch, capsys):
    def nowhere(version, _environment):
        raise debian.DebianError(f"expected python{version}")

    monkeypatch.setattr(matrix, "FOLDER", tmp_path / "made")
    monkeypatch.setattr(matrix, "place", nowhere)
    assert matrix.main(["3.15-newest"]) == 1
    assert matrix.main([]) == 0
    assert capsys.readouterr().out.count("not here: expected python3.") == 1 + len(matrix.CELLS)


def test_a_step_that_fails_fails_its_cell(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(matrix, "FOLDER", tmp_path / "made")
    monkeypatch.setattr(matrix, "place", lambda *_: matrix.Place(Path(sys.executable)))
    monkeypatch.setattr(matrix, "steps", lambda *_: [["true"], ["sh", "-c", "exit 3"], ["touch", tmp_path / "after"]])
    assert matrix.main(["3.11-lowest"]) == 1
    assert "3.11-lowest: status 3 of sh -c exit 3 …" in capsys.readouterr().out
    assert not (tmp_path / "after").exists()


def test_what_a_cell_runs_of_the_suite_is_there():
    assert all((pythons.ROOT / each).exists() for each in matrix.TESTS)
