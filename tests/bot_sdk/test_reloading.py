from __future__ import annotations

import sys
import threading
import time
from contextlib import contextmanager

import pytest

from bot_sdk import messages
from bot_sdk.bot import Bot
from bot_sdk.checking.caller import Caller
from bot_sdk.hosting import serving
from bot_sdk.loading import LoadError
from bot_sdk.positions import positions
from bot_sdk.reloading import Source, keep_current, own_modules

PATIENCE_S = 30
LOOK_S = 0.01

BOT = """\
from bot_sdk.bot import Bot
{first}
bot = Bot("b", version={version})
bot.on("river")(lambda decision: decision.legal[0])
"""


@pytest.fixture(autouse=True)
def own_path(monkeypatch):
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.fixture
def folder(tmp_path):
    write(tmp_path, "'1'")
    return tmp_path


def write(folder, version, first=""):
    (folder / "bot.py").write_text(BOT.format(version=version, first=first))


class Watched:
    """A bot whose file is watched, and what was told of it."""

    def __init__(self, source):
        self.source = source
        self.bot = source.bot
        self.told = []
        self.news = threading.Condition()

    def swap(self, bot):
        self.bot = bot

    def tell(self, text):
        with self.news:
            self.told.append(text)
            self.news.notify_all()

    def heard(self, count):
        """Wait until so much was told, and give the last of it."""
        with self.news:
            assert self.news.wait_for(lambda: len(self.told) >= count, PATIENCE_S), self.told
            return self.told[count - 1]


@contextmanager
def watching(folder, prepare=Bot.card):
    watched = Watched(Source(str(folder / "bot.py"), prepare))
    stopped = threading.Event()
    thread = threading.Thread(
        target=keep_current, args=(watched.source, watched.swap, watched.tell, stopped, LOOK_S), daemon=True
    )
    thread.start()
    try:
        yield watched
    finally:
        stopped.set()
        thread.join(PATIENCE_S)
        assert not thread.is_alive()


def test_a_change_of_the_file_brings_a_new_bot(folder):
    with watching(folder) as watched:
        write(folder, "'2'")
        assert watched.heard(1) == "bot.py changed, the bot is loaded anew"
        assert watched.bot.version == "2"


@pytest.mark.parametrize("place", ["engine.py", "deep/engine.py", "deep/er/engine.py"])
def test_a_change_of_a_module_beside_it_brings_a_new_bot(folder, place):
    module = folder / place
    module.parent.mkdir(parents=True, exist_ok=True)
    module.write_text("VERSION = '1'\n")
    write(folder, "VERSION", f"from {place[:-3].replace('/', '.')} import VERSION")
    with watching(folder) as watched:
        module.write_text("VERSION = '2'\n")
        assert watched.heard(1) == f"{place} changed, the bot is loaded anew"
        assert watched.bot.version == "2"


def test_a_module_that_is_new_is_found(folder):
    with watching(folder) as watched:
        (folder / "engine.py").write_text("VERSION = '2'\n")
        watched.heard(1)
        write(folder, "VERSION", "from engine import VERSION")
        watched.heard(2)
        assert watched.bot.version == "2"


@pytest.mark.parametrize(
    ("first", "told"),
    [
        ("def (", "SyntaxError"),
        ("1 / 0", "ZeroDivisionError"),
        ("import engine_that_isnt_there", "ModuleNotFoundError"),
        ("raise SystemExit(3)", "SystemExit: 3"),
    ],
)
def test_an_edit_that_does_not_run_is_shown_and_the_old_bot_stays(folder, first, told):
    with watching(folder) as watched:
        write(folder, "'2'", first)
        shown = watched.heard(1)
        assert shown.startswith("bot.py changed, the bot stays as it was: expected a file that runs, got ")
        assert told in shown
        assert f'File "{folder / "bot.py"}", line 2' in shown
        assert watched.bot.version == "1"
        write(folder, "'3'")
        assert watched.heard(2) == "bot.py changed, the bot is loaded anew"
        assert watched.bot.version == "3"


def test_an_error_in_a_module_beside_it_is_shown_and_mended_there(folder):
    (folder / "engine.py").write_text("VERSION = '1'\n")
    write(folder, "VERSION", "from engine import VERSION")
    with watching(folder) as watched:
        (folder / "engine.py").write_text("VERSION = '2'\nthis is no python\n")
        assert "engine.py" in watched.heard(1)
        assert "line 2" in watched.told[0]
        (folder / "engine.py").write_text("VERSION = '3'\n")
        watched.heard(2)
        assert watched.bot.version == "3"


def test_a_bot_that_lacks_phases_or_is_gone_does_not_replace_the_old_one(folder):
    with watching(folder) as watched:
        (folder / "bot.py").write_text("from bot_sdk.bot import Bot\nbot = Bot('b', version='2')\n")
        assert "expected a function for" in watched.heard(1)
        (folder / "bot.py").unlink()
        assert "expected a file such as" in watched.heard(2)
        assert watched.bot.version == "1"


def test_where_a_reload_fails_the_modules_are_those_of_the_old_bot(folder):
    (folder / "engine.py").write_text("VERSION = '1'\n")
    write(folder, "VERSION", "from engine import VERSION")
    source = Source(str(folder / "bot.py"), Bot.card)
    before = own_modules(folder)
    assert "engine" in before
    (folder / "engine.py").write_text("VERSION = '2'\n")
    write(folder, "1 / 0", "from engine import VERSION")
    with pytest.raises(LoadError):
        source.reload()
    assert own_modules(folder) == before


def test_what_is_being_answered_is_answered_by_the_bot_it_was_asked_of(folder):
    inside, go_on = threading.Event(), threading.Event()
    decision = positions("river", "play", 1, "reload")[0]

    class Slow(Bot):
        def decide(self, decision):
            inside.set()
            assert go_on.wait(PATIENCE_S)
            return decision.legal[-1], "of the old one"

    with watching(folder) as watched, serving(Slow("slow", secret=None)) as server:
        heard = []
        asking = threading.Thread(
            target=lambda: heard.append(Caller(server.url).post(messages.encode(decision), 30_000, None)), daemon=True
        )
        asking.start()
        assert inside.wait(PATIENCE_S)
        write(folder, "'2'")
        watched.heard(1)
        server.bot = watched.bot
        assert b'"version":"2"' in Caller(server.url).get_card(30_000).body
        go_on.set()
        asking.join(PATIENCE_S)
        assert b"of the old one" in heard[0].body


def test_what_is_installed_below_and_this_package_are_no_modules_of_the_bot(folder, tmp_path):
    for place in ("engine.py", ".venv/lib/hidden.py", "env/site-packages/shared.py"):
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text("")
        sys.path.insert(0, str((folder / place).parent))
    write(folder, "'1'", "import engine, hidden, shared")
    Source(str(folder / "bot.py"), Bot.card)
    own = own_modules(folder)
    assert "engine" in own
    assert not {"hidden", "shared"} & own.keys()
    everywhere = own_modules(type(folder)(folder.anchor)).keys()
    assert "engine" in everywhere
    assert not {"bot_sdk", "bot_sdk.bot", "json", "threading", "msgspec"} & everywhere


def test_files_are_read_once_they_stay_as_they_are(folder):
    source = Source(str(folder / "bot.py"), Bot.card)
    looks = 0

    class Looking(threading.Event):
        def wait(self, timeout=None):
            nonlocal looks
            looks += 1
            if looks <= 3:  # git or an editor is at work
                write(folder, f"'{looks + 1}'", "#" * looks)
            return looks > PATIENCE_S

    assert source.wait_for_change(Looking()) == ["bot.py"]
    assert looks == 4
    assert source.reload().version == "4"


def test_stopped_it_waits_no_longer(folder):
    stopped = threading.Event()
    stopped.set()
    began = time.monotonic()
    assert Source(str(folder / "bot.py"), Bot.card).wait_for_change(stopped, 60) == []
    assert time.monotonic() - began < PATIENCE_S
