"""Makes a golden store of a release, and what its API answered then.

`python -m tests.golden_stores.make NAME [--tree DIR]` runs the arena of a source tree, by default this one, has
everything happen in it, kills it in the middle and keeps what is in its store. Then its API alone says what that is.
Packs are drawn by chance, so it is another store each time: one that was made is never made anew.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from service.launch.valkey import EmbeddedValkey
from service.store.connection import connect
from tests.golden_stores.dumping import dump, put
from tests.golden_stores.scene import ADMIN, Hosts, Scene

HERE = Path(__file__).parent
TREE = HERE.parents[1]
LISTENING = re.compile(r"Listening at: (http://127\.0\.0\.1:\d+)")
SETTINGS = {
    "SLAGVELD_RATE_PER_ADDRESS": "100000 per second",
    "SLAGVELD_RATE_PER_TOKEN": "100000 per second",
    "SLAGVELD_BOT_NETWORKS": "127.0.0.0/8",
    "SLAGVELD_ADMIN_TOKEN": ADMIN,
    "SLAGVELD_RATINGS_MS": "300",
    "SLAGVELD_SWEEP_MS": "100",
    "SLAGVELD_KEEP_DAYS": "3650",
    "PYTHONUNBUFFERED": "1",
}


@contextmanager
def running(tree: Path, *command: str, **settings: str) -> Iterator[subprocess.Popen[str]]:
    """Run a command of the release in a source tree; killed with all it started at the end."""
    child = subprocess.Popen(
        [sys.executable, "-m", "service.cli", *command, "--port", "0"],
        cwd=tree,
        env=os.environ | SETTINGS | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if command[0] == "api" else None,
        start_new_session=True,
        text=True,
    )
    try:
        yield child
    finally:
        for pid in _family(child.pid):
            os.kill(pid, signal.SIGKILL)
        child.wait()


def _family(pid: int) -> list[int]:
    """Give a process and all that follow from it, the store among them; the first can't start others meanwhile."""
    os.kill(pid, signal.SIGSTOP)
    found = [pid]
    for each in found:  # it grows as it goes
        for task in Path(f"/proc/{each}/task").glob("*/children"):
            found += map(int, task.read_text().split())
    return found


@click.command()
@click.argument("name")
@click.option("--tree", default=TREE, type=click.Path(exists=True, file_okay=False, path_type=Path))
def main(name: str, tree: Path) -> None:
    """Make the golden store NAME by the release in a source tree."""
    if (HERE / name).exists():
        raise click.ClickException(f"expected a new name, there is a store {name}")
    with tempfile.TemporaryDirectory() as folder, Hosts(hold=True) as hosts:
        places = {url: bot for bot, url in hosts.urls.items()}
        with running(tree, "up", "--data", folder, "--workers", "1", "--json") as arena:
            scene = Scene(json.loads(arena.stdout.readline())["url"], hosts.urls)
            scene.play()
            hosts.await_silence()
        with EmbeddedValkey(Path(folder)) as valkey:
            client = connect(valkey.url)
            put(HERE / name / "store.jsonl.gz", "\n".join(dump(client, places)))
            client.close()
            with running(tree, "api", REDIS_URL=valkey.url) as api:
                answers = scene.look(next(filter(None, map(LISTENING.search, api.stderr)))[1])
    told = {"tokens": scene.tokens, "ids": scene.ids, "lacks": scene.lacks, "answers": answers}
    text = json.dumps(told, ensure_ascii=False, indent=0)
    for url, bot in places.items():
        text = text.replace(url, f"{{{bot}}}")
    put(HERE / name / "answers.json.gz", text)
    click.echo("\n".join(scene.lacks) or "nothing is left out")


if __name__ == "__main__":
    main()
