"""The option for the options of a ruleset."""

from __future__ import annotations

import json
from typing import Any, Final

import click


def _parsed(_ctx: click.Context, _parameter: click.Parameter, text: str) -> dict[str, Any]:
    try:
        options = json.loads(text)
    except ValueError as error:
        raise click.BadParameter(f"expected JSON, got {text!r:.80}: {error}") from None
    if not isinstance(options, dict):
        raise click.BadParameter(f"expected a JSON object, got {text!r:.80}")
    return options


options_option: Final = click.option(
    "--options",
    default="{}",
    callback=_parsed,
    metavar="JSON",
    help="Options of the ruleset, such as '{\"target\": 3}'.",
)
