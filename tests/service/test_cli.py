from __future__ import annotations

import sys

import pytest
from click.testing import CliRunner

from service import cli


@pytest.mark.parametrize("command", ["up", "api", "worker", "demo"])
def test_an_installation_without_the_arenas_parts_is_told_what_to_install(command, monkeypatch):
    monkeypatch.setattr(cli, "find_spec", lambda name: None if name == "gevent" else object())
    ran = CliRunner().invoke(cli.main, [command])
    assert ran.exit_code == 2
    assert "gevent" in ran.output
    assert "pip install 'slagveld[service]'" in ran.output


def test_the_specification_needs_what_developers_have(monkeypatch):
    monkeypatch.delitem(sys.modules, "service.openapi", raising=False)
    monkeypatch.setitem(sys.modules, "yaml", None)
    ran = CliRunner().invoke(cli.main, ["openapi", "bot"])
    assert ran.exit_code == 2
    assert "expected the module yaml: pip install 'slagveld[service,dev]'" in ran.output
