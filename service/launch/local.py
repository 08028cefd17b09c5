"""What `slagveld up` sets where the operator hasn't: an arena that is friendly to the people on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from bot_sdk.variables import is_given
from service.config import SettingsError

REDIS_URL: Final = "REDIS_URL"
DATA: Final = Path("slagveld-data")
"""The folder that keeps everything, unless another is named."""
PLENTY: Final = "1000 per second"
DEFAULTS: Final = {
    "SLAGVELD_BOT_NETWORKS": "127.0.0.0/8,::1/128",
    "SLAGVELD_ACCOUNTS": "open",
    "SLAGVELD_ANONYMOUS_GAMES": "1",
    "SLAGVELD_RATE_PER_ADDRESS": PLENTY,
    "SLAGVELD_RATE_PER_TOKEN": PLENTY,
    "SLAGVELD_RATE_NEW_ACCOUNTS": "1000 per hour",
    "SLAGVELD_MAX_CHALLENGES": "10000",
    "SLAGVELD_MAX_OPEN_GAMES": "500",
    "SLAGVELD_TRUST_ACCOUNTS": "1",
}
MEANING: Final = {
    "SLAGVELD_BOT_NETWORKS": "bots may be on this machine (127.0.0.0/8 and ::1)",
    "SLAGVELD_ACCOUNTS": "anyone may make an account",
    "SLAGVELD_ANONYMOUS_GAMES": "games against house bots need no account",
    "SLAGVELD_RATE_PER_ADDRESS": f"an address may send {PLENTY}",
    "SLAGVELD_RATE_PER_TOKEN": f"a token may send {PLENTY}",
    "SLAGVELD_RATE_NEW_ACCOUNTS": "an address may make 1000 accounts an hour",
    "SLAGVELD_MAX_CHALLENGES": "bots at one host may be checked 10000 times a day",
    "SLAGVELD_MAX_OPEN_GAMES": "an account may have 500 unfinished games",
    "SLAGVELD_TRUST_ACCOUNTS": "games between bots of one account are rated",
}


def folder(environment: Mapping[str, str], data: Path | None) -> Path | None:
    """Give the folder of the store that is meant, None if REDIS_URL names it. Raises SettingsError for both."""
    if not is_given(environment, REDIS_URL):
        return data or DATA
    if data is not None:
        raise SettingsError("expected --data or REDIS_URL, got both")
    return None


def unset(environment: Mapping[str, str]) -> dict[str, str]:
    """Give the defaults for the variables that aren't set; an empty one counts as not set."""
    return {name: value for name, value in DEFAULTS.items() if not environment.get(name, "").strip()}


def told(chosen: Mapping[str, str]) -> list[str]:
    """Say what the defaults mean, a line each with the variable that changes it."""
    return [f"{MEANING[name]}: {name}={value!r}" for name, value in chosen.items()]


def curl_lines(url: str) -> str:
    """Say how to play a hand and how to look around, by curl."""
    return f"""\
play a game of Seven Up against greedy:
  curl -s {url}/v1/games -H 'Content-Type: application/json' \\
    -d '{{"ruleset":"seven_up","seats":[{{"kind":"human","name":"me"}},{{"kind":"house","name":"greedy"}}]}}'
take `id` and `seats[0].token` from the answer:
  GAME={url}/v1/games/gam_...; TOKEN=...
see your cards and what you may do (waits until it is your turn):
  curl -s "$GAME/seats/0?wait_for=decision" -H "Authorization: Bearer $TOKEN"
do it:
  curl -s $GAME/seats/0/actions -H "Authorization: Bearer $TOKEN" \\
    -H 'Content-Type: application/json' -d '{{"decision_id":"...","action":"..."}}'
bring a bot:
  slagbot new mybot
  slagbot connect mybot/bot.py:bot --arena {url}"""
