"""How much memory the embedded store may use: so much that it refuses writes before the machine ends it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

CGROUPS: Final = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
"""Where a container's share is told, by version of the kernel's interface; elsewhere there is none."""


def store_bytes(wanted_mb: int) -> int:
    """Give the most bytes for a setting in MiB; 0 stands for half of what there is.

    The other half is for the rest of the arena, and for the copies that the store makes of what changes while it
    rewrites its log.
    """
    return wanted_mb * 1024**2 if wanted_mb else there_is() // 2


def there_is(cgroups: Iterable[Path] = CGROUPS) -> int:
    """Give the bytes of the machine, or of our share of it if that is less."""
    found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for path in cgroups:
        with contextlib.suppress(OSError, ValueError):  # "max" is no number
            found.append(int(path.read_text()))
    return min(found)
