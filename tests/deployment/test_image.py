"""The image's recipe and what it installs, checked as far as that goes without an engine."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from service import cli as slagveld
from tests.bot_sdk.dockerfiles import instructions
from tests.deployment.composefile import ROOT
from tests.deployment.test_compose import SERVICES, parsed

DEPLOY = ROOT / "deploy"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PIN = re.compile(
    r"^(?P<name>[\w.-]+)==(?P<version>\S+)(?: ; .+)? \\\n(?P<hashes>(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)",
    re.MULTILINE,
)


def pins(name):
    """Read which version of what a file of requirements pins."""
    text = (DEPLOY / name).read_text()
    found = {canonicalize_name(pin["name"]): pin["version"] for pin in PIN.finditer(text)}
    left = [line for line in PIN.sub("", text).splitlines() if not line.startswith("#")]
    assert left == [], "more than versions and their hashes"
    return found


def asked_for(extra):
    """Give what an extra asks for, the project's own among its extras resolved."""
    for line in PROJECT["project"]["optional-dependencies"][extra]:
        requirement = Requirement(line)
        if requirement.name == PROJECT["project"]["name"]:
            yield from (each for other in requirement.extras for each in asked_for(other))
        else:
            yield requirement


def expect_pinned(requirements, pinned):
    for requirement in requirements:
        version = pinned.get(canonicalize_name(requirement.name))
        assert version is not None, f"{requirement.name} isn't pinned: make lock"
        assert requirement.specifier.contains(version), f"{requirement} is pinned at {version}: make lock"


def test_what_the_service_asks_for_is_pinned_and_fits():
    ours = [*map(Requirement, PROJECT["project"]["dependencies"]), *asked_for("service")]
    assert len(ours) > 15
    expect_pinned(ours, pins("requirements.txt"))


def test_what_the_build_asks_for_is_pinned_and_fits():
    expect_pinned(map(Requirement, PROJECT["build-system"]["requires"]), pins("requirements-build.txt"))


def test_a_pin_that_does_not_fit_would_be_seen():
    pinned = pins("requirements.txt")
    for requirement in (Requirement("flask>=99"), Requirement("nowhere")):
        with pytest.raises(AssertionError, match="make lock"):
            expect_pinned([requirement], pinned)


def test_make_lock_is_what_made_the_pins():
    for name in ("requirements.txt", "requirements-build.txt"):
        assert (DEPLOY / name).read_text().splitlines()[1].split() == ["#", "make", "lock"]
    assert {f"deploy/{name}" for name in ("requirements.txt", "requirements-build.txt")} <= set(
        re.findall(r"--output-file (\S+)", (ROOT / "Makefile").read_text())
    )


def linted(file):
    program = shutil.which("hadolint", path=str(Path(sys.executable).parent))
    return subprocess.run([program, "--no-color", str(file)], capture_output=True, text=True, timeout=60, check=False)


def test_linter_has_nothing_to_say():
    ran = linted(ROOT / "Dockerfile")
    assert (ran.returncode, ran.stdout) == (0, "")


def test_linter_would_say_it(tmp_path):
    (tmp_path / "Dockerfile").write_text("FROM python\nRUN cd /tmp && pip install flask\n")
    assert linted(tmp_path / "Dockerfile").returncode == 1


def test_both_stages_begin_with_the_same_exact_version():
    bases = {rest.split()[0] for word, rest in instructions(ROOT) if word == "FROM"}
    assert len(bases) == 1
    assert re.fullmatch(r"python:3\.\d+\.\d+-slim-[a-z]+", bases.pop())


def test_pins_are_for_the_python_of_the_image():
    (base, *_) = (rest.split()[0] for word, rest in instructions(ROOT) if word == "FROM")
    version = re.match(r"python:(3\.\d+)", base)[1]
    assert f"--python-version {version} " in (ROOT / "Makefile").read_text()


def test_everything_is_installed_by_hash_or_from_here():
    installs = re.findall(r"pip install (.+?)(?: \\)?$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert len(installs) == 3
    assert all("--require-hashes" in each or "--no-deps --no-index" in each for each in installs)


def test_image_runs_our_command_as_nobody_special():
    last = dict(instructions(ROOT))
    program, *arguments = yaml.safe_load(last["CMD"])
    assert program == "slagveld"
    assert parsed(slagveld.main, arguments)["host"] == "0.0.0.0"
    assert last["USER"] == SERVICES["api"]["user"]
    uid, gid = last["USER"].split(":")
    made = [rest for word, rest in instructions(ROOT) if word == "RUN" and "useradd" in rest]
    assert f"--uid {uid} " in made[0]
    assert f"--gid {gid} " in made[0]


def test_image_copies_what_exists_and_is_not_ignored():
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = set()
    for word, rest in instructions(ROOT):
        if word == "COPY" and not rest.startswith("--from"):
            *sources, _ = rest.split()
            copied |= set(sources)
    assert all((ROOT / source).exists() for source in copied)
    assert copied == kept


def test_build_makes_the_wheel_that_is_installed(tmp_path):
    """Runs the image's own line of the build, with the builder that is here."""
    (line,) = (rest for word, rest in instructions(ROOT) if word == "RUN" and "hatchling build" in rest)
    builder, *arguments = line.split("&&")[0].split()
    assert builder == "/opt/build/bin/hatchling"
    arguments[arguments.index("/wheel")] = str(tmp_path)
    context = tmp_path / "src"
    context.mkdir()
    for word, rest in instructions(ROOT):
        if word == "COPY" and not rest.startswith("--from"):
            *sources, _ = rest.split()
            for source in sources:
                if (ROOT / source).is_dir():
                    shutil.copytree(ROOT / source, context / source, ignore=shutil.ignore_patterns("__pycache__"))
                elif not source.startswith("deploy/"):
                    shutil.copy(ROOT / source, context)
    command = [sys.executable, "-m", "hatchling", *arguments]
    subprocess.run(command, cwd=context, capture_output=True, timeout=120, check=True)
    assert [wheel.suffix for wheel in tmp_path.glob("*.whl")] == [".whl"]
