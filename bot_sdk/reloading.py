"""Loads a bot anew in this process when its file or a module beside it changes.

No process is forked and no socket handed over: whoever serves the bot goes on, with the new one in the place of the
old. What the old one was asked it still answers. Threads that a bot's file started aren't stopped.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
from collections.abc import Callable, Collection
from pathlib import Path
from types import ModuleType
from typing import Final

from bot_sdk.bot import Bot
from bot_sdk.errors import SdkError
from bot_sdk.loading import file_of, load_bot

LOOK_S: Final = 0.25
"""How often it is looked whether a file has changed."""
_NOT_OURS: Final = {"__main__", "bot_sdk", *sys.stdlib_module_names}
_INSTALLED: Final = {"site-packages", "dist-packages"}

_Stamps = dict[Path, tuple[int, int, int]]


class Source:
    """The files that a bot is made of, and the bot as it was when they were read last."""

    def __init__(self, text: str, prepare: Callable[[Bot], object]) -> None:
        """Load ``FILE:bot``; raises `LoadError` and whatever `prepare` raises for a bot that isn't fit to be served."""
        file, name = file_of(text)
        self._text = f"{file}:{name}"
        self._folder = file.parent
        self._prepare = prepare
        self._seen = self._stamps()  # before it is read: what changes meanwhile is read again
        self.bot = self._load()

    def wait_for_change(self, stopped: threading.Event, look_s: float = LOOK_S) -> list[str]:
        """Wait until files have changed and then stay as they are for a look; gives their names, none if `stopped`."""
        while not stopped.wait(look_s):
            now = self._stamps()
            if now == self._seen:
                continue
            while not stopped.wait(look_s) and (later := self._stamps()) != now:
                now = later  # an editor or git is still at work
            changed = {path for path, _ in now.items() ^ self._seen.items()}
            self._seen = now
            return sorted(str(path.relative_to(self._folder)) for path in changed)
        return []

    def reload(self) -> Bot:
        """Run the file and the modules beside it anew; if that fails it raises as at first, and all stays as it was."""
        before = own_modules(self._folder)
        _forget(before)
        importlib.invalidate_caches()
        try:
            self.bot = self._load()
        except BaseException:  # whatever an edit raises, the old bot goes on
            _forget(own_modules(self._folder))
            sys.modules.update(before)
            raise
        return self.bot

    def _load(self) -> Bot:
        bot = load_bot(self._text)
        self._prepare(bot)
        return bot

    def _stamps(self) -> _Stamps:
        folders = {self._folder, *(_folder_of(module) for module in own_modules(self._folder).values())}
        stamps: _Stamps = {}
        for folder in folders:
            for file in folder.glob("*.py"):
                try:
                    found = file.stat()
                except OSError:  # it has just gone, or is out of reach
                    continue
                stamps[file] = found.st_mtime_ns, found.st_size, found.st_ino
        return stamps


def keep_current(
    source: Source,
    swap: Callable[[Bot], object],
    tell: Callable[[str], object],
    stopped: threading.Event,
    look_s: float = LOOK_S,
) -> None:
    """Give `swap` a new bot whenever one can be loaded, and `tell` what became of each change, until `stopped`."""
    while changed := source.wait_for_change(stopped, look_s):
        names = ", ".join(changed)
        try:
            swap(source.reload())
        except (SdkError, OSError) as error:
            tell(f"{names} changed, the bot stays as it was: {error}")
        else:
            tell(f"{names} changed, the bot is loaded anew")


def own_modules(folder: Path) -> dict[str, ModuleType]:
    """List the loaded modules in a folder and below it, but for what is installed there, Python and this package."""
    inside = os.path.join(folder, "")  # noqa: PTH118 - a text to begin with, and the root ends in its slash already
    return {
        name: module
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] not in _NOT_OURS
        and (place := _place(module)).startswith(inside)
        and not _is_installed(place.removeprefix(inside))
    }


def _place(module: ModuleType) -> str:
    """Give the file of a module, the folder of a package; nothing for what is built in."""
    for package in getattr(module, "__path__", None) or ():
        return os.path.join(package, "")  # noqa: PTH118 - compared as a text, for every module and several times a second
    return getattr(module, "__file__", None) or ""


def _folder_of(module: ModuleType) -> Path:
    place = _place(module)
    return Path(place) if place.endswith(os.sep) else Path(place).parent


def _is_installed(below: str) -> bool:
    """Whether a path leads into an environment of its own, such as ``.venv``."""
    return any(part in _INSTALLED or part.startswith(".") for part in Path(below).parts[:-1])


def _forget(names: Collection[str]) -> None:
    for name in names:
        sys.modules.pop(name, None)
