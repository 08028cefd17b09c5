"""What the long run of schemathesis needs to be told; its command loads this by SCHEMATHESIS_HOOKS."""

from __future__ import annotations

import schemathesis


@schemathesis.hook
def before_call(_context, case, _kwargs):
    """Make things anew in stories: a key used before repeats the answer about a thing that may be gone by now."""
    if case.meta is not None and case.meta.phase.name.value == "stateful" and case.headers:
        case.headers.pop("Idempotency-Key", None)
