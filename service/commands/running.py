"""Commands that run an arena: all of it on this machine, or one part."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import click

from bot_sdk.variables import is_given
from service.commands.telling import UsageProblem, as_sentences, for_programs, teller
from service.config import Settings
from service.launch import commands, local, measured, ports
from service.launch.memory import store_bytes
from service.launch.signals import INTERRUPTED, Signals
from service.launch.valkey import EmbeddedValkey
from service.logs import setup
from service.metrics.metering import Place, meters_of

PORT: Final = 8000

port_option: Final = click.option(
    "--port", default=PORT, show_default=True, type=click.IntRange(0, 65535), help="0 takes a free one."
)
host_option: Final = click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")


@click.command()
@click.option("--data", default=local.DATA, show_default=True, type=click.Path(file_okay=False, path_type=Path),
              help="The folder that keeps everything; it may hold other files.")  # fmt: skip
@port_option
@host_option
@click.option(
    "--workers", type=click.IntRange(1, 64), help="Worker processes. Default: a processor less than there are."
)
@click.option("--json", "as_json", is_flag=True, help="Once ready, say where in a line of JSON.")
@as_sentences
def up(data: Path, port: int, host: str, workers: int | None, *, as_json: bool) -> None:
    """Run the whole arena on this machine until Ctrl-C.

    Unless REDIS_URL names a store, an embedded one runs on the data folder. Unless variables say otherwise, the arena
    is open to everybody who can reach it.
    """
    from service.launch.admission import check  # noqa: PLC0415 - needs what a bot author's installation lacks
    from service.launch.supervisor import Supervisor  # noqa: PLC0415 - as above

    tell = teller("up", Settings.from_env(os.environ))
    listening = ports.listen(host, port)
    store, environment, assumed = _environment(os.environ, data, ports.url_of(listening))
    settings = Settings.from_env(environment)
    count = workers or min(4, max(1, (os.cpu_count() or 1) - 1))

    def ready() -> None:
        shown = {
            "url": supervisor.url,
            "docs": f"{supervisor.url}/docs",
            "store": _store_shown(store, data, environment),
        }
        kept = _kept(settings)
        click.echo(json.dumps(shown) if as_json else _welcome({**shown, "kept": kept}, assumed, host))

    def admit() -> None:
        check(settings.redis_url)

    with (
        measured.place_of(settings) as place,
        Supervisor(
            listening,
            environment,
            workers=count,
            store=store,
            admit=admit,
            tell=tell,
            metrics=place,
            server_level="warning" if settings.logs == "text" and settings.log_level == "info" else None,
        ) as supervisor,
    ):
        _tell_of_metrics(place, tell)
        supervisor.run(ready)


def _tell_of_metrics(place: Place | None, tell: Callable[[str], object]) -> None:
    if place is not None:
        tell(f"metrics are served at {measured.url_of(place)}")


def _environment(
    given: Mapping[str, str], data: Path, url: str
) -> tuple[EmbeddedValkey | None, dict[str, str], dict[str, str]]:
    """Give the store to run, if any, the environment of API and workers, and which defaults are in it."""
    assumed = local.unset(given)
    environment = {**given, **assumed}
    if not given.get("SLAGVELD_PUBLIC_URL", "").strip():
        environment["SLAGVELD_PUBLIC_URL"] = url
    settings = Settings.from_env(environment)
    if is_given(given, local.REDIS_URL):
        return None, environment, assumed
    store = EmbeddedValkey(data, fsync=settings.fsync, max_bytes=store_bytes(settings.memory_mb))
    archive = settings.archive or str(data.absolute() / "archive")
    return store, {**environment, local.REDIS_URL: store.url, "SLAGVELD_ARCHIVE": archive}, assumed


def _store_shown(store: EmbeddedValkey | None, data: Path, environment: Mapping[str, str]) -> str:
    if store is not None:
        return str(data.absolute())
    parts = urlsplit(Settings.from_env(environment).redis_url)
    return f"{parts.scheme}://{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}{parts.path}"


def _welcome(shown: Mapping[str, str], assumed: Mapping[str, str], host: str) -> str:
    lines = [f"the arena is ready: open {shown['url']} in a browser, its API is explained at {shown['docs']}"]
    lines += [f"everything is kept in {shown['store']}, {shown['kept']}", ""]
    if assumed:
        lines += ["it is an arena for the people on this machine:", *(f"  {line}" for line in local.told(assumed))]
    if assumed and not _is_loopback(host):
        lines.append(f"  and so may everybody who reaches {host}: set these variables before you let strangers in")
    return "\n".join([*lines, "", local.curl_lines(shown["url"]), "", "Ctrl-C stops it"])


def _kept(settings: Settings) -> str:
    if not settings.archive:
        return "for ever"
    return f"and {settings.keep_days} days after their end games move to files in {settings.archive}"


def _is_loopback(host: str) -> bool:
    return host in {"localhost", "::1"} or host.startswith("127.")


@click.command()
@port_option
@host_option
@click.option("--processes", default=1, show_default=True, type=click.IntRange(1, 64), help="Serving processes.")
@as_sentences
def api(port: int, host: str, processes: int) -> None:
    """Serve the API alone, until SIGTERM or Ctrl-C."""
    from service.launch.admission import check  # noqa: PLC0415 - as above

    settings = Settings.from_env(os.environ)
    tell = teller("api", settings)
    check(settings.redis_url)
    listening = ports.listen(host, port)
    listening.set_inheritable(True)
    if settings.metrics is not None:
        place = measured.open_place(settings.metrics)
        _tell_of_metrics(place, tell)
        os.environ.update(place.environment)
    command = commands.api(listening.fileno(), processes=processes)
    os.execv(command[0], command)  # noqa: S606 - our own command


@click.command()
@click.option(
    "--queues",
    metavar="NAMES",
    help="What it takes on: `interactive` (games of people, checks of bots), `tournament` (games of bots, ratings,"
    " erasures), or both with a comma between. Default: both.",
)
@as_sentences
def worker(queues: str | None) -> None:
    """Run a worker alone, until SIGTERM or Ctrl-C; a second Ctrl-C doesn't wait for its games to be handed back."""
    from service.jobs import SERVED  # noqa: PLC0415 - as above
    from service.launch.admission import await_claimed  # noqa: PLC0415 - as above
    from service.worker.process import WorkerProcess  # noqa: PLC0415 - much to load, and for this command alone

    takes = list(SERVED) if queues is None else [name.strip() for name in queues.split(",")]
    if not SERVED.keys() >= set(takes):
        raise UsageProblem(f"expected --queues of {' and '.join(SERVED)}, got {queues!r}")

    settings = Settings.from_env(os.environ)
    setup.begin("worker", settings.logs, settings.log_level)
    if settings.logs != "text":
        for_programs("worker")
    with (
        Signals(lambda: os._exit(INTERRUPTED)) as signals,
        measured.of_worker(settings, os.environ) as metering,
    ):
        if await_claimed(settings.redis_url, wait=signals.wait, stopped=lambda: signals.stop):
            WorkerProcess(settings, takes, meters_of(metering)).run(signals.wait_for_stop)
