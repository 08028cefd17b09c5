"""Makes a secret for each bot named that has none, a file each: `make_secrets.py FOLDER NAME…`."""

from __future__ import annotations

import os
import secrets
import sys
from pathlib import Path

from bot_sdk.signing import make_secret


def make(file: Path) -> None:
    """Write a fresh secret for our own user alone; whole or not at all, and never over one that is there."""
    if file.exists():
        return
    begun = file.with_suffix(".new")
    begun.unlink(missing_ok=True)
    with os.fdopen(os.open(begun, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o400), "w") as opened:
        opened.write(make_secret(secrets.token_bytes(32)) + "\n")
    begun.rename(file)


if __name__ == "__main__":
    folder, *names = sys.argv[1:]
    for name in names:
        make(Path(folder) / name)
