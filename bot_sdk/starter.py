"""What ``slagbot new`` makes: a bot of one screen, its test, and a secret that git doesn't see."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from bot_sdk import signing
from bot_sdk.errors import SdkError
from bot_sdk.loading import SECRET_FILE

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")

BOT: Final = '''\
"""{name}: a bot for Slagveld. Make it better than this."""

from bot_sdk.bot import Bot, Decision

bot = Bot("{name}", version="1", author="")


@bot.on("river", "bid")
def bid(decision: Decision) -> str:
    """Bid one trick for every ace and every trump above the nine, or the legal bid nearest to that."""
    trump = decision.observation["trump"]
    hoped = sum(card[0] == "A" or (card[1] == trump and card[0] in "TJQK") for card in decision.hand)
    return min(decision.legal, key=lambda action: abs(int(action.removeprefix("bid:")) - hoped))


@bot.on("river", "play")
def play(decision: Decision) -> tuple[str, str]:
    """Play high while tricks are missing, else low. The note is shown in the record."""
    seen = decision.observation
    missing = seen["bids"][decision.seat] - seen["tricks_won"][decision.seat]
    ranked = sorted(decision.legal, key=lambda action: "23456789TJQKA".index(action[-2]))
    return (ranked[-1] if missing > 0 else ranked[0]), f"{{missing}} to go"


@bot.on("seven_up")
def seven_up(decision: Decision) -> str:
    """Any legal action; `decision.phase` tells which of beg, gift, discard and play is asked."""
    return decision.rng.choice(decision.legal)
'''

TEST: Final = """\
from bot import bot

from bot_sdk.bots import house
from bot_sdk.games.registry import RULESETS
from bot_sdk.local import Match, in_process, play, seated


def test_plays_legally_and_in_time():
    for name in bot.card().rulesets:
        ruleset = RULESETS[name]
        players = [in_process(bot), in_process(house("house:random"), bot_id="house:random")]
        table = seated(players, ruleset.min_seats)
        for played in play(Match(ruleset), table, games=ruleset.min_seats):
            for seat, player in enumerate(played.players):
                if table[player] is players[0]:
                    assert set(played.game.outcomes[seat]) == {"ok"}
"""

IGNORED: Final = f"{SECRET_FILE}\n__pycache__/\n.pytest_cache/\n"


class StarterError(SdkError):
    """A bot that can't be made here."""


def create(folder: Path, *, random: bytes) -> list[Path]:
    """Make a new folder with a bot named after it and list its files; raises `StarterError`.

    The secret is made of `random`: 32 bytes from the operating system's generator.
    """
    if not _NAME.fullmatch(folder.name):
        raise StarterError(f"expected a name of letters, digits, - and _, got {folder.name!r:.80}")
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise StarterError(f"expected a new folder, got {str(folder)!r} which exists") from None
    files = {
        "bot.py": BOT.format(name=folder.name),
        "test_bot.py": TEST,
        ".gitignore": IGNORED,
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    secret = folder / SECRET_FILE
    with os.fdopen(os.open(secret, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as opened:
        opened.write(signing.make_secret(random) + "\n")
    return [*(folder / name for name in files), secret]
