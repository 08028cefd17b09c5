from __future__ import annotations

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
