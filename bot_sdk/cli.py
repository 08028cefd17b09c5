"""``slagbot``: the bot author's tool. Progress goes to stderr, tables and JSON to stdout.

It exits with 0 if all went well, 1 if the answer is no (a check failed, a record doesn't verify), 2 if it was asked for
something that can't be.
"""

from __future__ import annotations

import json
import logging
import secrets
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar

import click
import msgspec
from rich.console import Console
from rich.progress import track

from bot_sdk import check as checking
from bot_sdk import registering, reports, starter
from bot_sdk.client import Arena
from bot_sdk.errors import SdkError
from bot_sdk.games import record
from bot_sdk.games.registry import RULESETS
from bot_sdk.hosting import Server, serving
from bot_sdk.loading import file_of, is_url, load_bot, load_player, secret_for
from bot_sdk.local import Match, Played, play, seated
from bot_sdk.messages import BotCard
from bot_sdk.remote import Remote
from bot_sdk.results import export, recompute
from bot_sdk.signing import SigningError
from bot_sdk.summary import summarise

PORT: Final = 8100
P = ParamSpec("P")
R = TypeVar("R")

err: Final = Console(stderr=True, highlight=False)


def as_usage_errors(command: Callable[P, R]) -> Callable[P, R]:
    """Turn the package's errors into click's: a sentence on stderr and exit status 2."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except (SdkError, SigningError, OSError) as error:
            raise click.UsageError(str(error)) from error

    return run


json_option: Final = click.option("--json", "as_json", is_flag=True, help="Answer in JSON on stdout.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="slagveld")
def main() -> None:
    """Write, test and host bots for Slagveld."""
    logging.basicConfig(format="%(message)s", stream=sys.stderr)


@main.command()
@click.argument("name")
@json_option
@as_usage_errors
def new(name: str, *, as_json: bool) -> None:
    """Make a folder NAME with a bot, its test and a secret."""
    files = starter.create(Path(name), random=secrets.token_bytes(32))
    if as_json:
        _print_json({"files": [str(file) for file in files]})
        return
    for file in files:
        click.echo(f"made {file}")
    bot = f"{name}/bot.py:bot"
    click.echo(
        f"\nnext: slagbot play {bot} house:random --ruleset seven_up\n"
        f"      slagbot check {bot}\n"
        f"      slagbot serve {bot}\n"
        f"      slagbot register {bot}   (while it is served)"
    )


@main.command()
@click.argument("bot", metavar="FILE:bot")
@click.option("--port", default=PORT, show_default=True, type=click.IntRange(0, 65535), help="0 takes a free one.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The IPv4 address to listen on.")
@json_option
@as_usage_errors
def serve(bot: str, port: int, host: str, *, as_json: bool) -> None:
    """Host a bot until Ctrl-C, in a threaded server for development.

    Its secret is SLAGVELD_BOT_SECRET, or the file .secret beside it. Without one, calls aren't verified. In
    production use gunicorn, which reads no file: SLAGVELD_BOT_SECRET=$(cat .secret) gunicorn bot:bot
    """
    loaded = load_bot(bot)
    loaded.secret = secret_for(bot) or loaded.secret
    card = loaded.card()
    signal.signal(signal.SIGTERM, _stop)
    with Server(loaded, host, port) as server:
        try:
            _announce(server.url, card, signed=loaded.secret is not None, as_json=as_json)
            server.serve_forever()
        except KeyboardInterrupt:
            err.print("stopped")


def _announce(url: str, card: BotCard, *, signed: bool, as_json: bool) -> None:
    if as_json:
        _print_json({"url": url, "name": card.name, "version": card.version, "signed": signed})
    else:
        verified = "signed calls only" if signed else "calls aren't verified: it has no secret"
        click.echo(f"{card.name} {card.version} listens on {url} ({verified})")
    sys.stdout.flush()


def _stop(_number: int, _frame: Any) -> None:
    raise KeyboardInterrupt


@main.command("play")
@click.argument("bots", nargs=-1, required=True, metavar="BOT...")
@click.option("--ruleset", type=click.Choice(list(RULESETS)), default="seven_up", show_default=True)
@click.option("--games", type=click.IntRange(1), default=None, help="Default: 50 boards, each with every rotation.")
@click.option("--seats", type=click.IntRange(2, 8), default=None, help="Default: as few as the rules allow.")
@click.option("--seed", default="0", show_default=True, help="The same seed deals the same packs.")
@click.option("--options", default="{}", metavar="JSON", help="Options of the ruleset, such as '{\"target\": 3}'.")
@click.option("--budget-ms", type=click.IntRange(50, 30_000), default=1_000, show_default=True)
@click.option("--record", "to", type=click.Path(dir_okay=False, path_type=Path), help="Write the records, a line each.")
@json_option
@as_usage_errors
def play_command(
    *,
    bots: Sequence[str],
    ruleset: str,
    games: int | None,
    seats: int | None,
    seed: str,
    options: str,
    budget_ms: int,
    to: Path | None,
    as_json: bool,
) -> None:
    """Play bots against each other offline.

    BOT is FILE:bot, house:NAME or a URL. Fewer bots than seats sit down in turn until the table is full; wins and
    points are means for one seat, so that those who sit twice compare with those who sit once.
    Every board is played once with each rotation of the seats, so nobody has the better cards.
    """
    rules = RULESETS[ruleset]
    match = Match(rules, _options(options), budget_ms)
    players = [load_player(bot, ruleset) for bot in bots]
    table = seated(players, seats or max(rules.min_seats, len(players)))
    rules.resolve(match.options, len(table))
    number = games or 50 * len(table)
    running = track(play(match, table, games=number, seed=seed), "playing", total=number, console=err)
    who = [seat % len(players) for seat in range(len(table))]
    names = reports.told_apart([player.shown.name for player in players])
    lines = summarise(_recorded(running, to), names, who)
    if as_json:
        _print_json({"ruleset": ruleset, "options": rules.resolve(match.options, len(table)), "seed": seed,
                     "games": number, "players": [reports.line_json(line) for line in lines]})  # fmt: skip
    else:
        Console().print(reports.table(lines, f"{rules.title}: {number} games, seed {seed}"))


def _options(text: str) -> dict[str, Any]:
    try:
        options = json.loads(text)
    except ValueError as error:
        raise click.BadParameter(f"expected JSON, got {text!r:.80}: {error}", param_hint="--options") from None
    if not isinstance(options, dict):
        raise click.BadParameter(f"expected a JSON object, got {text!r:.80}", param_hint="--options")
    return options


def _recorded(running: Iterable[Played], to: Path | None) -> Iterable[Played]:
    if to is None:
        yield from running
        return
    with to.open("wb") as out:
        for played in running:
            out.write(record.encode(played.record) + b"\n")
            yield played


@main.command()
@click.argument("records", type=click.File("rb"), metavar="RECORD")
@json_option
@click.pass_context
def verify(ctx: click.Context, records: Iterable[bytes], *, as_json: bool) -> None:
    """Replay the records of a JSON Lines file ("-" is stdin) and compare all that they claim.

    A file may also hold one record laid out over many lines. Exits with 1 if one doesn't hold, and says which and why.
    """
    verified = 0
    failures = []
    for number, line in track(record.lines(records), "verifying", console=err, disable=not err.is_terminal):
        try:
            record.verify(record.read(line))
            verified += 1
        except record.RecordError as error:
            failures.append({"line": number, "error": str(error)})
    if as_json:
        _print_json({"verified": verified, "failures": failures})
    else:
        for failure in failures:
            click.echo(f"line {failure['line']}: {failure['error']}")
        click.echo(f"{verified} verified, {len(failures)} refused")
    ctx.exit(0 if verified and not failures else 1)


@main.command("recompute")
@click.argument("exported", type=click.File("rb"), metavar="EXPORT")
@json_option
@click.pass_context
@as_usage_errors
def recompute_command(ctx: click.Context, exported: Iterable[bytes], *, as_json: bool) -> None:
    """Recompute the standings of a tournament's export in JSON Lines ("-" is stdin), and compare.

    Exits with 1 if the export says anything else than follows from its results, and says what.
    """
    found = export.read(exported)
    differing = recompute.differences(found)
    if as_json:
        _print_json(reports.recomputed_json(found, differing))
    else:
        click.echo(reports.recomputed_text(found, differing))
    ctx.exit(1 if differing else 0)


@main.command()
@click.argument("bot", metavar="URL|FILE:bot")
@click.option("--seed", default="check", show_default=True, help="The same seed asks the same positions.")
@json_option
@click.pass_context
@as_usage_errors
def check(ctx: click.Context, bot: str, seed: str, *, as_json: bool) -> None:
    """Check a bot as the arena does before it lets it play.

    Its secret is SLAGVELD_BOT_SECRET, or the file .secret beside it (for a URL: here). Without one it is asked
    unsigned.
    """
    secret = secret_for(bot)
    if is_url(bot):
        steps = _checked(bot, secret, seed)
    else:
        loaded = load_bot(bot)
        loaded.secret = secret or loaded.secret
        with serving(loaded) as server:
            steps = _checked(server.url, loaded.secret, seed)
    _report(ctx, steps, as_json=as_json)


def _checked(url: str, secret: str | None, seed: str) -> list[checking.Step]:
    remote = Remote(url)
    try:
        return list(checking.run(remote, bot_id="bot_check", secret=secret, challenge=secrets.token_hex(16), seed=seed))
    finally:
        remote.close()


def _report(ctx: click.Context, steps: Sequence[checking.Step], *, as_json: bool) -> None:
    ok = checking.passed(steps)
    if as_json:
        _print_json({"passed": ok, "steps": msgspec.to_builtins(steps)})
    else:
        click.echo(reports.steps_text(steps))
        click.echo("passed" if ok else "failed")
    ctx.exit(0 if ok else 1)


@main.command()
@click.argument("bot", metavar="URL|FILE:bot")
@click.option("--arena", envvar="SLAGVELD_ARENA", default="http://127.0.0.1:8000", show_default=True)
@click.option("--token", envvar="SLAGVELD_TOKEN", help="Your account's; without one an account is made.")
@click.option("--account", default=None, help="What to call a new account. Default: the bot's name.")
@click.option("--invite-code", envvar="SLAGVELD_INVITE_CODE", help="Where accounts are by invitation.")
@click.option("--url", default=None, help=f"Where the arena reaches a FILE:bot. Default: http://127.0.0.1:{PORT}")
@click.option("--name", default=None, help="Default: the name on the bot's card.")
@json_option
@click.pass_context
@as_usage_errors
def register(
    ctx: click.Context,
    *,
    bot: str,
    arena: str,
    token: str | None,
    account: str | None,
    invite_code: str | None,
    url: str | None,
    name: str | None,
    as_json: bool,
) -> None:
    """Register a bot that is being served, have it checked, and say what comes next.

    Its secret is SLAGVELD_BOT_SECRET, or the file .secret beside it (for a URL: here).
    """
    secret = secret_for(bot)
    if secret is None:
        raise click.UsageError("expected the bot's secret in SLAGVELD_BOT_SECRET or .secret, got none")
    url = bot if is_url(bot) else url or f"http://127.0.0.1:{PORT}"
    with Arena(arena, token) as client:
        done = registering.register(
            client,
            url,
            secret,
            name=name,
            new_account=registering.NewAccount(account, invite_code),
            tell=lambda text: err.print(text, markup=False),
        )
    if as_json:
        _print_json(msgspec.to_builtins(done))
    else:
        click.echo(registering.report(done, arena, None if is_url(bot) else str(file_of(bot)[0])))
    ctx.exit(0 if done.active else 1)


def _print_json(value: Any) -> None:
    click.echo(json.dumps(value, ensure_ascii=False))


if __name__ == "__main__":
    main()
