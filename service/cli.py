"""``slagveld``: runs the arena and holds tournaments at it. What to read goes to stdout, what happens to stderr.

It exits with 0 after a stop in good order, 1 if the arena can't run, 2 if it was asked for something that can't be.
"""

from __future__ import annotations

import signal
import sys
from importlib.util import find_spec
from typing import Final

import click

from service.commands import running, upkeep
from service.commands.telling import UsageProblem, as_sentences, tell
from service.launch.signals import INTERRUPTED

PARTS: Final = ("dramatiq", "flask", "flask_smorest", "gevent", "gunicorn", "redis", "scipy", "ssrfguard")
"""What a bot author's installation lacks: the modules of the extra `service`."""
ORGANISING: Final = ("leaderboard", "tournament")
"""What an author may do at anybody's arena; all other commands are parts of one."""
EXTRA: Final = "slagveld[service]"


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


for _command in (running.up, running.api, running.worker, upkeep.backup, upkeep.restore, upkeep.doctor):
    main.add_command(_command)


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
        tell("stopped, nothing is left")
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


if __name__ == "__main__":
    main()
