"""What schemathesis needs to be told of things that last; its command loads this by SCHEMATHESIS_HOOKS."""

from __future__ import annotations

import schemathesis


@schemathesis.hook
def before_call(_context, case, _kwargs):
    """Make things anew in stories, and begin no maintenance.

    A key used before repeats the answer about a thing that may be gone by now; in maintenance whatever would begin a
    game is answered 503, as it should be.
    """
    if case.meta is not None and case.meta.phase.name.value == "stateful" and case.headers:
        case.headers.pop("Idempotency-Key", None)
    if case.operation.path == "/v1/admin/maintenance" and isinstance(case.body, dict) and case.body.get("on") is True:
        case.body["on"] = False
