"""`slagveld tournament …` and `slagveld leaderboard`: an organiser's whole work, a command a step."""

from __future__ import annotations

from collections.abc import Sequence

import click

from bot_sdk.answers import EntryView, PlanView
from bot_sdk.client import Arena
from bot_sdk.errors import SdkError
from bot_sdk.games.registry import RULESETS
from service.organising import shown, words
from service.organising.asking import asking, plain, screen, sentence, show_json, show_list
from service.organising.creating import create
from service.organising.exporting import export
from service.organising.watching import watch

STATES = ("open", "running", "paused", "finished", "cancelled")


@click.group()
def tournament() -> None:
    """Hold tournaments at an arena: make, enter, start, follow, read.

    TOURNAMENT is an id, or a name; of your own before others'.
    """


tournament.add_command(create)
tournament.add_command(watch)
tournament.add_command(export)


# --- who takes part ---------------------------------------------------------------------------------------------------


@tournament.command()
@click.argument("tournament")
@click.argument("bots", nargs=-1, required=True, metavar="BOT...")
@click.option("--entropy", help="Goes into the shuffle of every board; for your own bots and house bots.")
@asking
def enter(arena: Arena, tournament: str, bots: Sequence[str], entropy: str | None, *, as_json: bool) -> None:
    """Enter bots. BOT is an id, house:NAME, or the name of a bot of your own."""
    tournament_id = arena.find_tournament(tournament)
    entered = []
    for bot in bots:
        try:
            entered.append(arena.enter(tournament_id, arena.find_bot(bot), entropy=entropy))
        except SdkError as error:
            raise click.ClickException(f"{bot} isn't entered: {sentence(error)}{_so_far(entered)}") from error
    if as_json:
        show_list(entered)
        return
    for entry in entered:
        click.echo(f"entered {entry.name} ({entry.bot_id})")


def _so_far(entered: Sequence[EntryView]) -> str:
    return f"; entered before it: {', '.join(entry.bot_id for entry in entered)}" if entered else ""


@tournament.command()
@click.argument("tournament")
@click.argument("bot")
@asking
def withdraw(arena: Arena, tournament: str, bot: str, *, as_json: bool) -> None:
    """Take a bot out: its games that run go on, those that wait are forfeited.

    BOT is an id, house:NAME, or the name of a bot of your own. With --json the tournament is shown.
    """
    tournament_id = arena.find_tournament(tournament)
    bot_id = arena.find_bot(bot)
    arena.withdraw(tournament_id, bot_id)
    if as_json:
        show_json(arena.tournament(tournament_id))
    else:
        click.echo(f"withdrew {bot_id}")


# --- its states -------------------------------------------------------------------------------------------------------


@tournament.command()
@click.argument("tournament")
@click.option("--dry-run", is_flag=True, help="Only say what it would come to.")
@asking
def start(arena: Arena, tournament: str, *, dry_run: bool, as_json: bool) -> None:
    """Start a tournament with the entries it has."""
    tournament_id = arena.find_tournament(tournament)
    if dry_run:
        _show_plan(arena.plan(tournament_id), as_json=as_json)
        return
    _steer(arena, tournament_id, "running", as_json=as_json)
    if not as_json:
        click.echo(f"\nnext: slagveld tournament watch {tournament_id}")


def _show_plan(plan: PlanView, *, as_json: bool) -> None:
    """Show what it would come to; exits with 1 if it can't start."""
    if as_json:
        show_json(plan)
    elif plan.can_start:
        click.echo(words.plan(plain(plan)))
    else:
        click.echo(f"it can't start: {plan.why_not}")
    click.get_current_context().exit(0 if plan.can_start else 1)


@tournament.command()
@click.argument("tournament")
@asking
def pause(arena: Arena, tournament: str, *, as_json: bool) -> None:
    """Let no game begin; those that run are finished."""
    _steer(arena, arena.find_tournament(tournament), "paused", as_json=as_json)


@tournament.command()
@click.argument("tournament")
@asking
def resume(arena: Arena, tournament: str, *, as_json: bool) -> None:
    """Go on with a paused tournament."""
    tournament_id = arena.find_tournament(tournament)
    if arena.tournament(tournament_id).state == "open":  # the arena would start it, and so close its entries
        raise click.ClickException(f"it wasn't started yet: slagveld tournament start {tournament_id}")
    _steer(arena, tournament_id, "running", as_json=as_json)


@tournament.command()
@click.argument("tournament")
@asking
def cancel(arena: Arena, tournament: str, *, as_json: bool) -> None:
    """Call a tournament off for good; the results so far stay."""
    _steer(arena, arena.find_tournament(tournament), "cancelled", as_json=as_json)


@tournament.command()
@click.argument("tournament")
@asking
def finish(arena: Arena, tournament: str, *, as_json: bool) -> None:
    """Draw no more games of a ladder; it finishes with those it has."""
    _steer(arena, arena.find_tournament(tournament), "finished", as_json=as_json)


def _steer(arena: Arena, tournament_id: str, state: str, *, as_json: bool) -> None:
    changed = arena.set_tournament_state(tournament_id, state)
    if as_json:
        show_json(changed)
    else:
        click.echo(f"{changed.name} is {words.progress({**plain(changed.progress), 'state': changed.state})}")


# --- what becomes of it -----------------------------------------------------------------------------------------------


@tournament.command()
@click.argument("tournament")
@asking
def show(arena: Arena, tournament: str, *, as_json: bool) -> None:
    """Show a tournament: its settings, how far it is, who takes part."""
    found = arena.tournament(arena.find_tournament(tournament))
    if as_json:
        show_json(found)
    else:
        screen().print(shown.tournament(plain(found), plain(list(arena.entries(found.id)))))


@tournament.command()
@click.argument("tournament")
@asking
def standings(arena: Arena, tournament: str, *, as_json: bool) -> None:
    """Show the standings by the results so far."""
    tournament_id = arena.find_tournament(tournament)
    found = arena.standings(tournament_id)
    if as_json:
        show_json(found)
    else:
        screen().print(shown.standings(arena.tournament(tournament_id).name, plain(found)))


@tournament.command()
@click.argument("tournament")
@asking
def crosstable(arena: Arena, tournament: str, *, as_json: bool) -> None:
    """Show what each made of its games against each other."""
    tournament_id = arena.find_tournament(tournament)
    found = arena.crosstable(tournament_id)
    if as_json:
        show_json(found)
    else:
        screen().print(shown.crosstable(arena.tournament(tournament_id).name, plain(found)))


@tournament.command("list")
@click.option("--state", type=click.Choice(STATES), help="Only those that are in it.")
@click.option("--mine", is_flag=True, help="Only those that you made.")
@asking
def list_command(arena: Arena, state: str | None, *, mine: bool, as_json: bool) -> None:
    """List the arena's tournaments, newest first."""
    found = list(arena.tournaments(state=state, owner="me" if mine else None))
    if as_json:
        show_list(found)
    else:
        screen().print(shown.tournaments(plain(found)))


@click.command()
@click.argument("ruleset", type=click.Choice(list(RULESETS)))
@click.option("--all-versions", is_flag=True, help="A row for each version of a bot, not for its newest alone.")
@asking
def leaderboard(arena: Arena, ruleset: str, *, all_versions: bool, as_json: bool) -> None:
    """Show the ratings of a ruleset, best first."""
    found = arena.leaderboard(ruleset, versions="all" if all_versions else "newest")
    if as_json:
        show_json(found)
    else:
        screen().print(shown.leaderboard(f"{RULESETS[ruleset].title}: ratings", plain(found)))
