"""docker-compose.yml as an engine reads it: variables filled in, services as they are written."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docker-compose.yml"
_VARIABLE = re.compile(r"\$(?:\{(?P<name>[A-Z_]+)(?P<how>:-|:\+)(?P<other>[^{}$]*)\}|(?P<else>.?))")


class UnknownError(Exception):
    """The file says something that isn't understood here."""


def read(environment=None):
    """Give what the file says with these variables set."""
    return _filled(yaml.safe_load(FILE.read_text()), environment or {})


def _filled(value, environment):
    if isinstance(value, dict):
        return {key: _filled(each, environment) for key, each in value.items()}
    if isinstance(value, list):
        return [_filled(each, environment) for each in value]
    return _VARIABLE.sub(lambda found: _value(found, environment), value) if isinstance(value, str) else value


def _value(found, environment):
    if found["name"] is None:
        raise UnknownError(f"expected ${{NAME:-default}} or ${{NAME:+instead}}, got {found.string!r}")
    given = environment.get(found["name"], "")
    if found["how"] == ":-":
        return given or found["other"]
    return found["other"] if given else ""
