"""From what a user names on the command line to bots and players: ``FILE:bot``, ``house:NAME`` or a URL."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Final

from bot_sdk import signing
from bot_sdk.bot import Bot, secret_in
from bot_sdk.bots import PREFIX, house
from bot_sdk.errors import SdkError
from bot_sdk.games.packs import OFFLINE
from bot_sdk.games.record import Record
from bot_sdk.local import InProcess, Player, in_process
from bot_sdk.remote import at_url

SECRET_FILE: Final = ".secret"  # noqa: S105 - the name of a file
_LOADED: Final = "slagbot_"
"""How the modules made of bots' files are called, so that they are no module of the author's."""


class LoadError(SdkError):
    """A bot that can't be found or loaded."""


def is_url(text: str) -> bool:
    """Whether the text names a bot by its URL."""
    return text.startswith(("http://", "https://"))


def file_of(text: str) -> tuple[Path, str]:
    """Split ``FILE:bot`` into the file and the name in it, ``bot`` if none is given; raises `LoadError`."""
    path, colon, name = text.rpartition(":")
    if not colon or not name.isidentifier():
        path, name = text, "bot"
    file = Path(path)
    if not file.is_file():
        raise LoadError(f"expected a file such as bot.py:bot, {PREFIX}NAME or a URL, got {text!r:.200}")
    return file.resolve(), name


def load_bot(text: str) -> Bot:
    """Load the bot ``FILE:bot`` names, running the file once; raises `LoadError`, also where the file itself raises.

    The modules beside one bot aren't those beside another, though both be called ``engine``; only an import that
    waits inside a function is served from the folder that was loaded last.
    """
    file, name = file_of(text)
    module_name = f"{_LOADED}{hashlib.sha256(str(file).encode()).hexdigest()[:12]}"
    module = sys.modules.get(module_name) or _run(file, module_name)
    bot = getattr(module, name, None)
    if not isinstance(bot, Bot):
        there = [other for other, value in vars(module).items() if isinstance(value, Bot)]
        instead = f"; there is {', '.join(there)}" if there else ""
        raise LoadError(f"expected a Bot named {name!r} in {file.name}, got {bot!r:.80}{instead}")
    return bot


def _run(file: Path, module_name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(module_name, file)
    if spec is None or spec.loader is None:
        raise LoadError(f"expected a Python file, got {file.name!r}")
    module = importlib.util.module_from_spec(spec)
    _make_way(file.parent)
    sys.modules[module_name] = module
    if str(file.parent) not in sys.path:
        sys.path.insert(0, str(file.parent))  # a bot may have modules beside it
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # the author's file may raise anything
        del sys.modules[module_name]
        raise LoadError(f"expected a file that runs, got {_trace(error, file)}") from error
    return module


def _make_way(folder: Path) -> None:
    """Forget the modules of other bots' folders that one in this folder would be taken for.

    Two versions of a bot in two folders, each with its ``engine.py``, would else play with one engine.
    """
    others = {_folder(module) for name, module in sys.modules.items() if name.startswith(_LOADED)} - {folder}
    theirs = {name for name, module in list(sys.modules.items()) if _folder(module) in others}
    taken = {name for name in theirs if (folder / f"{name}.py").is_file() or (folder / name).is_dir()}
    for name in list(sys.modules):
        if name.partition(".")[0] in taken:
            del sys.modules[name]


def _folder(module: ModuleType) -> Path | None:
    """Give the folder that a module or package lies in; None for what is built in."""
    for package in getattr(module, "__path__", ()):
        return Path(package).parent
    file = getattr(module, "__file__", None)
    return Path(file).parent if file else None


def _trace(error: BaseException, file: Path) -> str:
    """Show where the author's file failed, without the frames that brought us there."""
    shown = traceback.TracebackException.from_exception(error)
    own = [at for at, frame in enumerate(shown.stack) if frame.filename == str(file)]
    shown.stack = traceback.StackSummary.from_list(shown.stack[own[0] :] if own else [])
    return "".join(shown.format()).strip()


def load_player(text: str, ruleset: str, environment: Mapping[str, str] = os.environ) -> Player:
    """Seat a bot for offline matches of a ruleset.

    Raises `NoSuchBot`, `WireError` or `BadReply` where there is none, `BotError` while it lacks phases, and
    `LoadError` also if its card doesn't name the ruleset.
    """
    if text.startswith(PREFIX):
        return in_process(house(text), bot_id=text)
    if is_url(text):
        player, plays = at_url(text, secret=secret_for(text, environment))
        expect_plays(ruleset, plays, text)
        return player
    bot = load_bot(text)
    expect_plays(ruleset, bot.card().rulesets, text)
    return in_process(bot)


def load_asked_again(text: str, recorded: Record, environment: Mapping[str, str] = os.environ) -> Player:
    """Seat a bot to be asked decisions of a recorded game again; raises like `load_player`, and `SigningError`.

    A bot's own draws are those that it made then: offline they follow from the decision's id, in the arena from the
    bot's secret, too.
    """
    player = load_player(text, recorded.ruleset, environment)
    if not isinstance(player, InProcess) or text.startswith(PREFIX) or recorded.fairness.label.startswith(OFFLINE):
        return player
    return replace(player, key=secret_for(text, environment) or player.bot.secret or "")


def expect_plays(ruleset: str, plays: Sequence[str], text: str) -> None:
    """See that the bot that `text` names plays a ruleset; raises `LoadError`."""
    if ruleset not in plays:
        raise LoadError(f"expected a bot that plays {ruleset}, got {text!r:.200}, which plays {', '.join(plays)}")


def secret_for(text: str, environment: Mapping[str, str] = os.environ) -> str | None:
    """Find a bot's secret: ``SLAGVELD_BOT_SECRET`` or its file, else ``.secret`` beside it, or here for a URL.

    Raises `SigningError` for one that is none.
    """
    given = secret_in(environment)
    if given is not None:
        return given
    folder = Path.cwd() if is_url(text) else file_of(text)[0].parent
    file = folder / SECRET_FILE
    kept = file.read_text(encoding="utf-8", errors="replace").strip() if file.is_file() else ""
    if not kept:
        return None
    try:
        signing.check_secret(kept)
    except signing.SigningError as error:
        raise signing.SigningError(f"{file}: {error}") from None
    return kept
