"""How an account, its bots' decisions, results and practice are shown: tables and lines for people.

What comes from an arena may come from strangers: whatever in it isn't printable is replaced.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from shlex import quote

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table

from bot_sdk.answers import AccountView, BotView, LedgerLine, OpponentView, RatingsView, TokenView
from bot_sdk.games.registry import RULESETS
from bot_sdk.plain import plain
from bot_sdk.practising import Practised, faults, wins
from bot_sdk.reports import interval_text
from bot_sdk.stats import Stats


def moment(milliseconds: int) -> str:
    """Say when, in this machine's time zone."""
    return datetime.fromtimestamp(milliseconds / 1_000, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def account(shown: AccountView, bots: Sequence[BotView], tokens: Sequence[TokenView]) -> Group:
    """Show an account: its bots and its tokens."""
    of_bots = _table("bots", "bot", "id", "state", "version", "plays", "for", "url")
    for bot in bots:
        state = bot.state if bot.reason is None else f"{bot.state}: {bot.reason}"
        plays = ", ".join(bot.rulesets)
        at = bot.url or "none: it connects"
        _add(of_bots, bot.name, bot.id, state, bot.version or "", plays, bot.availability, at)
    of_tokens = _table("tokens", "token", "id", "may change", "made")
    for token in tokens:
        _add(of_tokens, token.name, token.id, ", ".join(token.scopes), moment(token.created_at))
    return Group(
        plain(f"{shown.name} ({shown.id}), since {moment(shown.created_at)}"),
        of_bots if bots else "no bots yet: slagbot connect, or slagbot register",
        of_tokens,
    )


def ledger_line(line: LedgerLine) -> str:
    """Show one decision in a line; what went wrong and the head of the answer follow indented."""
    said = f"{moment(line.at)}  {line.outcome:<11} {line.ms:7.1f} ms  {line.action or '-':<14} {line.decision_id}"
    status = "" if line.status is None else f"status {line.status}: "
    more = [f"    {status}{line.error}"] if line.error else []
    if line.head:
        more.append(f"    got {line.head!r}")
    return "\n".join(map(plain, [said, *more]))


def stats(found: Stats) -> Group:
    """Show a bot's ratings, head-to-head and outcomes."""
    parts: list[RenderableType] = [plain(f"{found.bot.name} ({found.bot.id}) is {_state(found.bot)}")]
    parts.append(_ratings(found.ratings) if found.ratings else "not rated yet: only games of tournaments are")
    if found.opponents:
        parts.append(_opponents(found.opponents))
    parts.append(_outcomes(found))
    return Group(*parts)


def _state(bot: BotView) -> str:
    version = "" if bot.version is None else f", version {bot.version}"
    return f"{bot.state}{version}" + ("" if bot.reason is None else f": {bot.reason}")


def _ratings(ratings: Sequence[RatingsView]) -> Table:
    table = _table("ratings", "ruleset", "version", "rating", "games", "last game")
    for each in ratings:
        for one in each.versions:
            rating = interval_text(one.rating, one.low, one.high, 0) + (" provisional" if one.is_provisional else "")
            _add(table, each.ruleset, one.version or "", rating, str(one.games), moment(one.last_at))
    return table


def _opponents(opponents: Sequence[OpponentView]) -> Table:
    table = _table("head-to-head", "ruleset", "against", "games", "points", "mean", "better")
    for each in opponents:
        better = "" if each.superiority is None else f"{each.superiority:.1%}"
        name = each.name or each.bot_id
        _add(table, each.ruleset, name, str(each.games), f"{each.points:g}", f"{each.mean:.3f}", better)
    return table


def _outcomes(found: Stats) -> str:
    if found.since is None:
        return "no decisions yet"
    latest = f"its latest {found.decisions} decisions, since {moment(found.since)}"
    return f"{latest}: {counts_text(found.outcomes)}"


def counts_text(counts: Mapping[str, int]) -> str:
    """Show how often what occurred, such as ``ok 31, late 2``."""
    return ", ".join(f"{name} {times}" for name, times in counts.items())


def practised(one: Practised, number: int, games: int) -> str:
    """Show a practice game that has ended in a line."""
    totals = "" if one.totals is None else f"  {':'.join(map(str, one.totals))}"
    against = ", ".join(dict.fromkeys(one.against))
    how = {None: one.state, 1: "won"}.get(one.place, f"place {one.place}")
    how = "tied" if one.place == 1 and one.won != 1 else how
    outcomes = counts_text(one.outcomes)
    return plain(f"{number}/{games}  {how:<8} seat {one.seat} against {against}{totals}  {outcomes}  {one.game_id}")


def practice(played: Sequence[Practised], bot: BotView) -> str:
    """Sum up practice games."""
    won = wins(played)
    lines = [f"{bot.name} won {interval_text(won.mean, won.low, won.high, 2)} of {len(played)} games"]
    if wrong := faults(played):
        named = " ".join(f"--outcome {outcome}" for outcome in wrong)
        lines.append(f"{counts_text(wrong)}: slagbot logs {quote(bot.name)} {named}")
    return "\n".join(map(plain, lines))


def rated_games(bot: BotView, ruleset: str, houses: Sequence[str], arena: str) -> str:
    """Say how to come to rated games: a tournament against house bots; nothing if there are too few of them."""
    seats = RULESETS[ruleset].min_seats
    if len(houses) < seats - 1:
        return ""
    name = quote(f"{bot.name}-first")
    steps = (
        f"create {name} --ruleset {ruleset} --rounds {seats}",
        f"enter {name} {bot.id} {' '.join(houses[: seats - 1])}",
        f"start {name}",
        f"watch {name}",
    )
    lines = [f"  slagveld tournament {step} --arena {arena}" for step in steps]
    return "\n".join(["next: rated games, in a tournament", *map(plain, lines)])


def _add(table: Table, *cells: str) -> None:
    table.add_row(*map(plain, cells))


def _table(title: str, *headings: str) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table
