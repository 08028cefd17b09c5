"""Registers the example bots and has them play the house.

Usage: `examples.py ARENA SHOWN TOKEN SECRETS NAME=URL…`.

It may run any number of times: what is done isn't done again. ARENA is called, SHOWN is where people reach it. TOKEN is
the file that keeps the token of their account, SECRETS the folder with the bots' secrets, a file for each NAME.
"""

from __future__ import annotations

import os
import sys
from http import HTTPStatus
from pathlib import Path
from typing import Final

from bot_sdk.client import Arena, ArenaError
from bot_sdk.errors import SdkError
from bot_sdk.registering import NewAccount, make_account, register
from bot_sdk.variables import secret_of

ACCOUNT: Final = "examples"
TOURNAMENT: Final = "first night"
ROUNDS: Final = 12
HOUSE: Final = ("house:greedy", "house:random")


def main(url: str, shown: str, token: Path, secrets: Path, bots: dict[str, str]) -> None:
    """Do what isn't done yet; raises `SdkError` where the arena refuses."""
    with Arena(url, _kept(token)) as arena:
        if not _is_known(arena):
            _keep(token, make_account(arena, ACCOUNT, secret_of(os.environ, "SLAGVELD_INVITE_CODE") or None, _quiet))
        known = {bot.name: bot.id for bot in arena.bots(owner="me") if bot.state == "active"}
        for name in bots.keys() - known.keys():
            known[name] = _register(arena, name, bots[name], (secrets / name).read_text().strip())
        tell(f"{TOURNAMENT}: {shown}/tournaments/{_play(arena, [known[name] for name in bots])}")


def _register(arena: Arena, name: str, url: str, secret: str) -> str:
    done = register(arena, url, secret, name=name, new_account=NewAccount(), tell=tell)
    if not done.active:
        failed = "; ".join(f"{step.name}: {step.detail}" for step in done.steps if not step.ok)
        raise SdkError(f"{name} didn't pass its check: {failed}")
    return done.bot_id


def _play(arena: Arena, entries: list[str]) -> str:
    """Start the tournament, or what a start that was cut off left of it."""
    found = next((each for each in arena.tournaments(owner="me") if each.name == TOURNAMENT), None)
    tournament = found or arena.create_tournament(TOURNAMENT, "seven_up", rounds=ROUNDS)
    if tournament.state == "open":
        for entry in (*entries, *HOUSE):
            arena.enter(tournament.id, entry)
        arena.set_tournament_state(tournament.id, "running")
    return tournament.id


def _is_known(arena: Arena) -> bool:
    """Whether we have an account; a token may have outlived its arena, whose store was made anew."""
    try:
        return arena.token is not None and bool(arena.me())
    except ArenaError as error:
        if error.status != HTTPStatus.UNAUTHORIZED:
            raise
        arena.token = None
        return False


def _kept(token: Path) -> str | None:
    return token.read_text().strip() or None if token.exists() else None


def _keep(file: Path, token: str) -> None:
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as opened:
        opened.write(token + "\n")


def tell(sentence: str) -> None:
    """Say it in the log of the container."""
    sys.stdout.write(f"{sentence}\n")
    sys.stdout.flush()


def _quiet(_sentence: str) -> None:
    """Say nothing: a token is no line of a log."""


if __name__ == "__main__":
    url, shown, token, secrets, *bots = sys.argv[1:]
    try:
        main(url, shown, Path(token), Path(secrets), dict(bot.split("=", 1) for bot in bots))
    except (SdkError, OSError) as error:
        sys.exit(str(error))
