"""``slagveld``: runs the arena and holds tournaments at it. What to read goes to stdout, what happens to stderr.

It exits with 0 after a stop in good order, 1 if the arena can't run, 2 if it was asked for something that can't be.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar
from urllib.parse import urlsplit

import click

from bot_sdk.errors import SdkError
from bot_sdk.variables import is_given
from service.config import Settings, SettingsError
from service.launch import commands, local, measured, ports
from service.launch.announced import AnnounceError
from service.launch.errors import StackError
from service.launch.memory import store_bytes
from service.launch.signals import INTERRUPTED, Signals
from service.launch.valkey import EmbeddedValkey, ValkeyError, running
from service.launch.workplace import BackupError
from service.logs import setup
from service.metrics.metering import Place, meters_of

PORT: Final = 8000
PARTS: Final = ("dramatiq", "flask", "flask_smorest", "gevent", "gunicorn", "redis", "scipy", "ssrfguard")
"""What a bot author's installation lacks: the modules of the extra `service`."""
ORGANISING: Final = ("leaderboard", "tournament")
"""What an author may do at anybody's arena; all other commands are parts of one."""
EXTRA: Final = "slagveld[service]"
REDIS_URL: Final = "REDIS_URL"
P = ParamSpec("P")
R = TypeVar("R")


class UsageProblem(click.ClickException):
    """What was asked for can't be: a sentence on stderr, exit status 2."""

    exit_code = 2


def as_sentences(command: Callable[P, R]) -> Callable[P, R]:
    """Turn what the operator can mend into a sentence and an exit status."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except (SettingsError, ports.PortError) as error:
            raise _said(UsageProblem(str(error))) from error
        except (AnnounceError, BackupError, SdkError, StackError, ValkeyError, OSError) as error:
            raise _said(click.ClickException(str(error))) from error

    return run


def _said(problem: click.ClickException) -> Exception:
    """Say what is wrong if programs read what we say, and give what ends the command; else give what says so itself."""
    logger: logging.Logger | None = click.get_current_context().obj
    if logger is None:
        return problem
    logger.critical(problem.message)
    return click.exceptions.Exit(problem.exit_code)


def _teller(process: str, settings: Settings) -> Callable[[str], object]:
    """Give what tells the operator of what happens to a process: sentences for people, or lines for programs."""
    if settings.logs == "text":
        return _tell
    setup.begin(process, settings.logs, settings.log_level)
    return _for_programs(process).warning


def _for_programs(process: str) -> logging.Logger:
    """Have what stops the command said by this logger, too."""
    logger = click.get_current_context().obj = logging.getLogger(f"slagveld.{process}")
    return logger


port_option: Final = click.option(
    "--port", default=PORT, show_default=True, type=click.IntRange(0, 65535), help="0 takes a free one."
)
host_option: Final = click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")


class Commands(click.Group):
    """The commands of an arena, and those of organisers, which are loaded when asked for: an arena does without."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name all."""
        return sorted([*super().list_commands(ctx), *ORGANISING])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Give one by its name."""
        if cmd_name not in ORGANISING:
            return super().get_command(ctx, cmd_name)
        from service.organising import commands as organising  # noqa: PLC0415 - much to load, and for these alone

        return organising.leaderboard if cmd_name == "leaderboard" else organising.tournament


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="slagveld")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Run an arena for trick-taking card games, and hold tournaments. Its settings are environment variables."""
    missing = [name for name in PARTS if find_spec(name) is None]
    if missing and ctx.invoked_subcommand not in ORGANISING:
        raise UsageProblem(f"expected the arena's parts, {', '.join(missing)} among them: pip install '{EXTRA}'")


@main.command()
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

    tell = _teller("up", Settings.from_env(os.environ))
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
    if is_given(given, REDIS_URL):
        return None, environment, assumed
    store = EmbeddedValkey(data, fsync=settings.fsync, max_bytes=store_bytes(settings.memory_mb))
    archive = settings.archive or str(data.absolute() / "archive")
    return store, {**environment, REDIS_URL: store.url, "SLAGVELD_ARCHIVE": archive}, assumed


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


@main.command()
@port_option
@host_option
@click.option("--processes", default=1, show_default=True, type=click.IntRange(1, 64), help="Serving processes.")
@as_sentences
def api(port: int, host: str, processes: int) -> None:
    """Serve the API alone, until SIGTERM or Ctrl-C."""
    from service.launch.admission import check  # noqa: PLC0415 - as above

    settings = Settings.from_env(os.environ)
    tell = _teller("api", settings)
    check(settings.redis_url)
    listening = ports.listen(host, port)
    listening.set_inheritable(True)
    if settings.metrics is not None:
        place = measured.open_place(settings.metrics)
        _tell_of_metrics(place, tell)
        os.environ.update(place.environment)
    command = commands.api(listening.fileno(), processes=processes)
    os.execv(command[0], command)  # noqa: S606 - our own command


@main.command()
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
        _for_programs("worker")
    with (
        Signals(lambda: os._exit(INTERRUPTED)) as signals,
        measured.of_worker(settings, os.environ) as metering,
    ):
        if await_claimed(settings.redis_url, wait=signals.wait, stopped=lambda: signals.stop):
            WorkerProcess(settings, takes, meters_of(metering)).run(signals.wait_for_stop)


file_argument: Final = click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
store_option: Final = click.option(
    "--data", type=click.Path(file_okay=False, path_type=Path),
    help=f"The folder of `slagveld up`, running or not. Default: the store that REDIS_URL names, else {local.DATA}.",
)  # fmt: skip


@main.command()
@file_argument
@store_option
@as_sentences
def backup(file: Path, data: Path | None) -> None:
    """Write all that the store holds at one moment to FILE; the arena may go on playing meanwhile.

    The file holds secrets. What it doesn't hold: SLAGVELD_KEY if you set it, and SLAGVELD_ARCHIVE.
    """
    from service.launch.backup import backup as write  # noqa: PLC0415 - as above

    place = _place(data)
    with _tidy():
        if isinstance(place, str):
            count = write(place, file, _tell)
        elif (url := running(place)) is not None:
            count = write(url, file, _tell)
        elif (place / EmbeddedValkey.FOLDER).is_dir():
            with EmbeddedValkey(place) as store:
                count = write(store.url, file, _tell)
        else:
            raise UsageProblem(f"expected the folder of an arena, there is none in {place}; set REDIS_URL or --data")
    click.echo(f"{file} holds {count} keys")


@main.command()
@file_argument
@store_option
@as_sentences
def restore(file: Path, data: Path | None) -> None:
    """Fill an empty store with a backup. Start the arena on it afterwards: its games go on where they stood."""
    from service.launch.backup import restore_into_folder, restore_into_redis  # noqa: PLC0415 - as above

    place = _place(data)
    with _tidy():
        if isinstance(place, Path):
            count = restore_into_folder(file, place, _tell)
        else:
            count = restore_into_redis(file, place, _tell)
    click.echo(f"restored {count} keys")


@main.command()
@store_option
@click.option("--seconds", default=120.0, show_default=True, type=click.FloatRange(0.1, 86_400),
              help="How long it may look before it tells what it has seen so far.")  # fmt: skip
@click.option("--mend", is_flag=True, help="Mend what is safe to mend, then look again.")
@click.option("--drop", metavar="ID", help="Take away what is left of one thing that can't be read, then look again.")
@click.option("--json", "as_json", is_flag=True, help="Tell in JSON.")
@as_sentences
def doctor(data: Path | None, seconds: float, *, mend: bool, drop: str | None, as_json: bool) -> None:
    """Look for what is wrong with an arena, running or not, and say what to do.

    Without --mend or --drop it changes nothing.

    Exits with 0 if nothing needs anybody, 1 if something does, 2 if it couldn't look.
    """
    from service.doctor.command import run  # noqa: PLC0415 - needs what a bot author's installation lacks

    with _tidy():
        status = run(data, seconds, is_to_mend=mend, drop=drop, is_json=as_json)
    sys.exit(status)


@contextmanager
def _tidy() -> Iterator[None]:
    """Leave nothing half done behind when SIGTERM comes, as with Ctrl-C."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _place(data: Path | None) -> str | Path:
    """Give the store that is meant: its address, or the folder of an embedded one."""
    by_url = is_given(os.environ, REDIS_URL)
    if data is not None and by_url:
        raise UsageProblem("expected --data or REDIS_URL, got both")
    return Settings.from_env(os.environ).redis_url if by_url else data or local.DATA


@main.command()
@as_sentences
def demo() -> None:
    """Hold a night of tournaments in a temporary folder: two rulesets, six bots over HTTP, a hundred games.

    Nothing is left afterwards. It takes about a minute.
    """
    from rich.console import Console  # noqa: PLC0415 - as below

    from service.launch.demo import run  # noqa: PLC0415 - much to load, and for this command alone
    from service.launch.report import Screen  # noqa: PLC0415 - as above

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        fine = run(Screen(Console(), Console(stderr=True)))
    except KeyboardInterrupt:
        _tell("stopped, nothing is left")
        sys.exit(INTERRUPTED)
    sys.exit(0 if fine else 1)


@main.command()
@click.argument("which", type=click.Choice(["service", "bot"]), default="service")
def openapi(which: str) -> None:
    """Print a specification as openapi/ keeps it: of the API, or of a bot."""
    try:
        from service.openapi import rendered, rendered_bot  # noqa: PLC0415 - much to load, and for this command alone
    except ModuleNotFoundError as error:
        raise UsageProblem(f"expected the module {error.name}: pip install 'slagveld[service,dev]'") from error

    sys.stdout.write(rendered_bot() if which == "bot" else rendered())


def _tell(sentence: str, **more: Any) -> None:
    click.echo(sentence, err=True, **more)


if __name__ == "__main__":
    main()
