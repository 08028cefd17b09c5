"""What is released: an sdist and the wheel that is built from it. Both are built here as ``python -m build`` does."""

from __future__ import annotations

import email
import os
import shutil
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder
from trove_classifiers import classifiers

from tests.docs import pages

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
NAMED = f'"{PROJECT["version"]}"'
PACKAGES = ("bot_sdk", "service")
OF_THE_REPOSITORY = ("benchmarks/", "tests/")
"""What pages may link to although it stands in the repository alone."""


def sources(root, *tops):
    """Give the files of these folders, by name, without what Python and tools leave there."""
    found = (path for top in tops for path in (root / top).rglob("*") if path.is_file())
    return {str(path.relative_to(root)) for path in found if "__pycache__" not in path.parts}


def build(root, folder):
    """Build an sdist of `root`, and a wheel of what is in it; give both files."""
    (sdist,) = SdistBuilder(str(root)).build(directory=str(folder), versions=["standard"])
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (wheel,) = WheelBuilder(str(folder / Path(sdist).name.removesuffix(".tar.gz"))).build(directory=str(folder))
    return Path(sdist), Path(wheel)


@pytest.fixture(scope="module", autouse=True)
def _dated():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "1700000000")
        yield


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return build(ROOT, tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def in_sdist(built):
    with tarfile.open(built[0]) as archive:
        return {name.partition("/")[2] for name in archive.getnames()}


@pytest.fixture(scope="module")
def in_wheel(built):
    with zipfile.ZipFile(built[1]) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="module")
def metadata(built):
    with zipfile.ZipFile(built[1]) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        return email.message_from_bytes(archive.read(name))


def test_the_wheel_holds_the_two_packages_whole_and_nothing_else(in_wheel):
    about = {name for name in in_wheel if ".dist-info/" in name}
    assert in_wheel - about == sources(ROOT, *PACKAGES)
    assert {Path(name).name for name in about} == {"METADATA", "RECORD", "WHEEL", "LICENSE", "entry_points.txt"}


def test_what_is_no_python_is_in_the_wheel(in_wheel):
    assert "bot_sdk/py.typed" in in_wheel
    for folder, suffix, least in (
        ("service/store/scripts", ".lua", 30),
        ("service/web/templates", ".html", 20),
        ("service/web/static", ".js", 50),
        ("bot_sdk/templates", "", 15),
    ):
        assert sum(name.startswith(f"{folder}/") and name.endswith(suffix) for name in in_wheel) >= least


def test_what_others_wrote_comes_with_their_licences(in_wheel):
    vendor = "service/web/static/vendor/"
    theirs = {name.removeprefix(vendor).partition("/")[0] for name in in_wheel if name.startswith(vendor)}
    assert theirs
    assert {f"{vendor}{each}/LICENSE" for each in theirs} <= in_wheel


def test_the_sdist_holds_what_builds_the_wheel_and_the_image_and_the_documentation(in_sdist):
    assert in_sdist >= sources(ROOT, *PACKAGES, "docs", "openapi")
    assert {"pyproject.toml", "README.md", "SECURITY.md", "LICENSE", "PKG-INFO", ".dockerignore"} <= in_sdist
    copied = [line.split()[1:-1] for line in (ROOT / "Dockerfile").read_text().splitlines() if line.startswith("COPY")]
    wanted = {source for line in copied for source in line if not line[0].startswith("--from")}
    assert wanted
    for source in wanted:
        assert source in in_sdist or any(name.startswith(f"{source}/") for name in in_sdist)


def test_neither_holds_tests_or_tools_of_ours(in_sdist, in_wheel):
    for name in in_sdist | in_wheel:
        assert name.partition("/")[0] not in {"tests", "benchmarks", "releasing", ".ci", "Makefile"}
        assert "__pycache__" not in name


def test_links_of_released_pages_lead_to_what_is_released(in_sdist):
    released = [page for page in pages.pages() if str(page) in in_sdist]
    assert len(released) > 15
    for page in released:
        for target in pages.links(page):
            path = target.partition("#")[0]
            aim = os.path.normpath(page.parent / path) if path else str(page)
            there = aim in in_sdist or any(name.startswith(f"{aim}/") for name in in_sdist)
            assert there or aim.startswith(OF_THE_REPOSITORY), f"{page}: {target}"


def test_whoever_builds_the_same_sources_gets_the_same_bytes(built, in_sdist, tmp_path):
    for number, name in enumerate(sorted(in_sdist - {"PKG-INFO"}, reverse=True)):  # in another order, at other times
        if (ROOT / name).is_file():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, tmp_path / name)
            (tmp_path / name).chmod(0o600)
            os.utime(tmp_path / name, (number, number))
    again = build(tmp_path, tmp_path / "dist")
    assert [file.read_bytes() for file in again] == [file.read_bytes() for file in built]


def test_the_wheel_says_who_may_install_it(metadata):
    assert metadata["Name"] == "slagveld"
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "MIT"
    assert set(metadata.get_all("Provides-Extra")) == set(PROJECT["optional-dependencies"])
    assert set(metadata.get_all("Classifier")) <= set(classifiers)


def test_one_wheel_is_for_every_python_and_system(built):
    assert built[1].name.endswith("-py3-none-any.whl")


def test_the_version_stands_in_one_place():
    written = [name for name in sources(ROOT, *PACKAGES) if name.endswith(".py") and NAMED in (ROOT / name).read_text()]
    assert written == []
