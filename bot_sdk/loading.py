"""From what a user names on the command line to bots and players: ``FILE:bot``, ``house:NAME`` or a URL."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from bot_sdk import signing
from bot_sdk.bot import SECRET_VARIABLE, Bot
from bot_sdk.bots import PREFIX, house
from bot_sdk.errors import SdkError
from bot_sdk.local import Player, in_process
from bot_sdk.remote import at_url

SECRET_FILE: Final = ".secret"  # noqa: S105 - the name of a file


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
    """Load the bot ``FILE:bot`` names, running the file; raises `LoadError`, and whatever the file raises."""
    file, name = file_of(text)
    module_name = f"slagbot_{hashlib.sha256(str(file).encode()).hexdigest()[:12]}"
    module = sys.modules.get(module_name)
    if module is None:
        spec = importlib.util.spec_from_file_location(module_name, file)
        if spec is None or spec.loader is None:
            raise LoadError(f"expected a Python file, got {file.name!r}")
        module = importlib.util.module_from_spec(spec)
        sys.modules[module_name] = module
        if str(file.parent) not in sys.path:
            sys.path.insert(0, str(file.parent))  # a bot may have modules beside it
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[module_name]
            raise
    bot = getattr(module, name, None)
    if not isinstance(bot, Bot):
        raise LoadError(f"expected a Bot named {name!r} in {file.name}, got {bot!r:.80}")
    return bot


def load_player(text: str, environment: Mapping[str, str] = os.environ) -> Player:
    """Seat a bot for offline matches; raises `LoadError`, `NoSuchBot`, `RemoteError`, or what its file raises."""
    if text.startswith(PREFIX):
        return in_process(house(text), bot_id=text)
    if is_url(text):
        return at_url(text, secret=secret_for(text, environment))
    return in_process(load_bot(text))


def secret_for(text: str, environment: Mapping[str, str] = os.environ) -> str | None:
    """Find a bot's secret: ``SLAGVELD_BOT_SECRET``, else the file ``.secret`` beside it, or here for a URL.

    Raises `SigningError` for one that is none.
    """
    given = environment.get(SECRET_VARIABLE, "").strip()
    if not given:
        folder = Path.cwd() if is_url(text) else file_of(text)[0].parent
        file = folder / SECRET_FILE
        given = file.read_text().strip() if file.is_file() else ""
    if not given:
        return None
    signing.check_secret(given)
    return given
