"""The quick start is followed from an empty folder to games that are rated; only the installing is left out."""

from __future__ import annotations

from tests.docs.pages import blocks
from tests.docs.terminals import listens_at, says

INSTALL, *SHELL = [code for language, code in blocks("docs/quickstart.md") if language == "sh"]
UP = next(at for at, code in enumerate(SHELL) if code.startswith("slagveld up"))
CONNECT = UP + 1


def test_every_command_does_what_the_quick_start_says(shell):
    assert INSTALL.startswith("python3 -m venv")
    assert SHELL[CONNECT].startswith("slagbot connect")
    said, status = shell("".join(SHELL[:UP]))
    assert status == 0, said
    arena = listens_at(shell(f"{SHELL[UP].strip()} --port 0 --data data --workers 1", in_background=True))
    connected = shell(f"cd lowball; {SHELL[CONNECT]}".replace("http://127.0.0.1:8000", arena), in_background=True)
    token = says(connected, r"SLAGVELD_TOKEN=(\S+)")[1]
    says(connected, "is connected to")
    script = "".join(SHELL[CONNECT + 1 :])
    assert script.count("http://127.0.0.1:8000") == script.count("slt_…") == 1
    said, status = shell(script.replace("http://127.0.0.1:8000", arena).replace("slt_…", token))
    assert status == 0, said
    assert "lowball won" in said
    assert "first is finished: all its 6 games are over" in said
