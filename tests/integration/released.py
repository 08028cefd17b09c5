"""Processes of the arena as a release would have them that has got as far as some version of the rules.

They make games of that version, and know all before it. `python -m tests.integration.released VERSION` is a worker,
`tests.integration.released:application(VERSION)` what gunicorn serves.
"""

from __future__ import annotations

import dataclasses
import sys
from typing import Any, Final

from bot_sdk.games import registry

OTHERS_MS: Final = 200
"""After so long a game that is left to others is looked at again: an upgrade here is over in seconds."""


def release(version: int) -> None:
    """Make this process one of that release, before it imports anything of the service."""
    refuse = registry.pinned

    def pinned(name: str, wanted: int) -> registry.Ruleset:
        known = registry.RULESETS.get(name)
        return dataclasses.replace(known, version=wanted) if known and 1 <= wanted <= version else refuse(name, wanted)

    registry.pinned = pinned
    for name, rules in registry.RULESETS.items():
        registry.RULESETS[name] = dataclasses.replace(rules, version=version)
    from service.referee import held  # noqa: PLC0415 - it takes over `pinned` when it is imported

    held.OTHERS_MS = OTHERS_MS


def application(version: int) -> Any:
    release(version)
    from service.wsgi import application as built  # noqa: PLC0415 - as above

    return built()


if __name__ == "__main__":
    release(int(sys.argv[1]))
    from service.cli import main

    main(["worker"])
