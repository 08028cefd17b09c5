"""The command lines of the arena's processes, as `slagveld up`, `slagveld api` and docker-compose.yml start them."""

from __future__ import annotations

import sys


def api(fd: int, *, processes: int = 1, log_level: str | None = None, grace_s: int | None = None) -> list[str]:
    """Serve the API by gunicorn on a listening socket that the process inherits as `fd`.

    `log_level` is what the server itself says, by default as SLAGVELD_LOG_LEVEL has it.
    """
    options = ["--bind", f"fd://{fd}", "--workers", str(processes)]
    level = [] if log_level is None else ["--log-level", log_level]
    grace = [] if grace_s is None else ["--graceful-timeout", str(grace_s)]
    config = ["-c", "python:service.launch.gunicorn_conf"]
    return [sys.executable, "-m", "gunicorn", *config, *options, *level, *grace, "service.wsgi:application()"]


def worker() -> list[str]:
    """Drive games."""
    return [sys.executable, "-m", "service.cli", "worker"]
