"""What ``slagbot new`` makes: a bot of one screen with its test, its README, its Dockerfile and its secret.

The texts are files in ``bot_sdk/templates``, a folder for each language.
"""

from __future__ import annotations

import os
import re
from importlib import resources
from pathlib import Path
from shlex import quote
from typing import Final

from bot_sdk import signing
from bot_sdk.errors import SdkError
from bot_sdk.loading import SECRET_FILE

LANGUAGES: Final = ("python", "node")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_HIDDEN: Final = {"gitignore", "dockerignore"}
"""Files whose names begin with a dot only in the folder that is made: here git and others would heed them."""

_ARENA: Final = "http://127.0.0.1:8000"
_URL: Final = "http://127.0.0.1:8100"
_STEPS: Final = {
    "python": (
        ("slagbot check bot.py:bot", "is it fit to play?"),
        ("slagbot play bot.py:bot house:greedy --ruleset river", "is it any good?"),
        (f"slagbot connect bot.py:bot --arena {_ARENA}", "plays in an arena; `slagveld up` runs one here"),
        ("slagbot serve bot.py:bot --reload", "or serves it at a URL, for the next, in another terminal"),
        (f"slagbot register bot.py:bot --arena {_ARENA}", f"plays in an arena that reaches {_URL}"),
    ),
    "node": (
        ("node main.mjs", f"serves it at {_URL}; the rest in another terminal, in the same folder"),
        (f"slagbot check {_URL}", "is it fit to play?"),
        (f"slagbot play {_URL} house:greedy --ruleset river", "is it any good?"),
        (f"slagbot register {_URL} --arena {_ARENA}", "plays in an arena; `slagveld up` runs one here"),
    ),
}


class StarterError(SdkError):
    """A bot that can't be made here."""


def create(folder: Path, language: str, *, random: bytes, version: str) -> list[Path]:
    """Make a new folder with a bot named after it and list its files; raises `StarterError`.

    `language` is one of `LANGUAGES`. The secret is made of `random`: 32 bytes from the operating system's generator.
    `version` is that of this package, which the bot asks for where it is installed.
    """
    if not _NAME.fullmatch(folder.name):
        raise StarterError(f"expected a name of letters, digits, - and _, got {folder.name!r:.80}")
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise StarterError(f"expected a new folder, got {str(folder)!r} which exists") from None
    values = {"name": folder.name, "tag": _tag(folder.name), "version": version}
    made = []
    for name, text in _templates(language).items():
        made.append(folder / name)
        made[-1].write_text(_filled(text, values), encoding="utf-8", newline="\n")
    secret = folder / SECRET_FILE
    with os.fdopen(os.open(secret, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as opened:
        opened.write(signing.make_secret(random) + "\n")
    return [*made, secret]


def next_steps(folder: Path, language: str) -> str:
    """Say which commands lead from a new folder to a bot that plays, a line each, every one with its purpose."""
    steps = ((f"cd {quote(str(folder))}", "README.md tells more"), *_STEPS[language])
    width = max(len(command) for command, _ in steps)
    return "\n".join(f"  {command:<{width}}  # {purpose}" for command, purpose in steps)


def _templates(language: str) -> dict[str, str]:
    """Read the templates of a language by the names of the files that are made of them."""
    files = resources.files("bot_sdk") / "templates" / language
    texts = {file.name: file.read_text(encoding="utf-8") for file in files.iterdir() if file.is_file()}
    return {f".{name}" if name in _HIDDEN else name: texts[name] for name in sorted(texts)}


def _filled(text: str, values: dict[str, str]) -> str:
    return re.sub(r"\{\{(\w+)\}\}", lambda hole: values[hole[1]], text)


def _tag(name: str) -> str:
    """Make of a bot's name what an image may be called."""
    return re.sub(r"[-_]+", "-", name.lower()).strip("-")
