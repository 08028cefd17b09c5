"""What ``slagbot register`` does: an account if there is none yet, the bot, its check, and what comes next.

``slagbot connect`` does the same for a bot without a URL, see ``bot_sdk/enrolling.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from shlex import quote

from msgspec import Struct

from bot_sdk.answers import BotView
from bot_sdk.answers import Step as StepShown
from bot_sdk.check import Step
from bot_sdk.checking.caller import Caller
from bot_sdk.client import Arena
from bot_sdk.messages import BotCard
from bot_sdk.plain import plain_lines
from bot_sdk.remote import card_at
from bot_sdk.reports import steps_text
from bot_sdk.transport import given


class NewAccount(Struct, frozen=True):
    """How to make an account where there is none: `name` None is the bot's."""

    name: str | None = None
    invite_code: str | None = None


class Registered(Struct, frozen=True):
    """How it went: `token` is there if an account was made, `steps` are those of the arena's check.

    `url` is None for a bot that fetches its calls.
    """

    bot_id: str
    name: str
    url: str | None
    rulesets: list[str]
    state: str
    check: str
    steps: list[Step]
    token: str | None = None

    @property
    def active(self) -> bool:
        """Whether the bot may play."""
        return self.check == "passed"


def register(
    arena: Arena,
    url: str,
    secret: str,
    *,
    name: str | None,
    new_account: NewAccount,
    tell: Callable[[str], None],
) -> Registered:
    """Register the bot at `url` and have it checked; a bot of mine with that name is brought up to date instead.

    Raises `ArenaError` where the arena refuses, `BadReply` if the URL shows no card.
    """
    card = _card(url)
    name = name or card.name
    token = None if arena.token else make_account(arena, new_account.name or name, new_account.invite_code, tell)
    bot = enter(arena, name, url, card.known, secret)
    tell(f"{name} is {bot.id}, being checked")
    return checked(arena, bot.id, name=name, url=url, rulesets=card.known, token=token)


def make_account(arena: Arena, name: str, invite_code: str | None, tell: Callable[[str], None]) -> str:
    """Make an account and go on as it; gives its token, which is told too: nobody keeps it.

    Raises `ArenaError`.
    """
    made = arena.create_account(name, invite_code=invite_code)
    token = arena.token = made.token
    tell(f"made account {made.name}: export SLAGVELD_TOKEN={token}")
    return token


def enter(arena: Arena, name: str, url: str | None, rulesets: Sequence[str], secret: str) -> BotView:
    """Register a bot, one without a URL as one that fetches its calls; if mine has that name it is brought up to date.

    Raises `ArenaError`.
    """
    transport = None if url else "pull"
    for bot in arena.bots(owner="me"):
        if bot.name == name:
            changed = arena.change_bot(bot.id, **given(url=url, transport=transport, rulesets=list(rulesets)))
            arena.rotate_secret(bot.id, secret)
            return changed
    return arena.create_bot(name, url, list(rulesets), transport=transport, secret=secret)


def checked(
    arena: Arena, bot_id: str, *, name: str, url: str | None, rulesets: list[str], token: str | None
) -> Registered:
    """Have a bot checked, and say how that went; raises `ArenaError`."""
    ended = arena.wait_for_check(bot_id, arena.start_check(bot_id).id)
    return Registered(
        bot_id=bot_id,
        name=name,
        url=url,
        rulesets=rulesets,
        state=arena.bot(bot_id).state,
        check=ended.state,
        steps=[_step(step) for step in ended.steps],
        token=token,
    )


def report(done: Registered, arena_url: str, *, bot: str, again: str) -> str:
    """Say in plain text how it went and what comes next.

    `bot` is what ``slagbot check`` takes, quoted for a shell, and `again` the command that had it checked.
    """
    lines = [steps_text(done.steps)]
    lines.append(f"{done.name} ({done.bot_id}): check {done.check}, {done.state}")
    if not done.active:
        lines.append(f"\nnext: put it right, see slagbot check {bot}, then once more\n  {again}")
        return plain_lines("\n".join(lines))
    if done.token:
        lines.append(f"\nkeep your account's token: export SLAGVELD_TOKEN={done.token}")
    where = "" if done.url else ", in another terminal"  # this one is where the bot is connected
    practice = f"slagbot practice {quote(done.name)} --arena {arena_url.rstrip('/')}"
    lines.append(f"\nnext{where}: games against the house\n  {practice}")
    return plain_lines("\n".join(lines))


def _card(url: str) -> BotCard:
    with closing(Caller(url)) as caller:
        return card_at(caller)


def _step(shown: StepShown) -> Step:
    return Step(
        name=shown.name,
        ok=shown.ok,
        detail=shown.detail or "",
        ms=shown.ms or 0.0,
        warning=shown.warning,
        fault=shown.fault,
        where=shown.where,
        advice=shown.advice,
    )
