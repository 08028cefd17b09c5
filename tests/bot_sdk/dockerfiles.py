"""Dockerfiles, read and followed as far as that goes without an engine."""

from __future__ import annotations

import fnmatch
import shlex
import shutil


def instructions(folder):
    """Read a Dockerfile as (instruction, rest) pairs."""
    text = (folder / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line.strip() for line in text.splitlines()]
    return [tuple(line.split(maxsplit=1)) for line in lines if line and not line.startswith("#")]


def settings(folder):
    """Give the variables that a Dockerfile sets."""
    pairs = [shlex.split(rest) for name, rest in instructions(folder) if name == "ENV"]
    return dict(pair.split("=", 1) for some in pairs for pair in some)


def ignored(folder, path):
    patterns = (folder / ".dockerignore").read_text().split()
    return any(fnmatch.fnmatch(path.name, pattern.removeprefix("**/").rstrip("/")) for pattern in patterns)


def image_of(folder, image):
    """Copy what the Dockerfile copies; a source that is no pattern has to be there, and one of each COPY at least."""
    image.mkdir()
    for name, rest in instructions(folder):
        if name != "COPY":
            continue
        *sources, destination = rest.split()
        assert destination == "./"
        found = [path for source in sources for path in folder.glob(source) if not ignored(folder, path)]
        assert found, rest
        assert not [each for each in sources if "*" not in each and not (folder / each).is_file()], rest
        for path in found:
            shutil.copy(path, image)
    return image
