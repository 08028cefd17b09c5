"""The audit log: no act of the operator without its line, none of an account that concerns its security."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from service.arena.caller import Caller
from service.store.audit import AuditStore, Line, Log


class Auditing:
    """Writes acts down and shows them. `new_id` gives a word that is new each time."""

    def __init__(self, store: AuditStore, *, clock: Callable[[], int], new_id: Callable[[], str]) -> None:
        """Keep where it writes to."""
        self._store = store
        self._clock = clock
        self._new_id = new_id

    def begin(self, caller: Caller, operation: str, path: str, body: str | None) -> Line:
        """Write down what is about to be done; `body` holds no secrets. If this fails, it mustn't be done."""
        line = Line(
            id=f"aud_{self._new_id()}",
            created_at=self._clock(),
            log=Log.OPERATOR if caller.is_operator else Log.ACCOUNTS,
            account_id=caller.account_id,
            operation=operation,
            path=path,
            address=caller.address,
            body=body,
        )
        self._store.put(line)
        return line

    def end(self, line: Line, status: int, made: str | None) -> None:
        """Add how it ended: the HTTP status, and the id of what it made."""
        self._store.put(replace(line, status=status, made=made))

    def lines(self, log: Log, *, limit: int, cursor: str | None) -> tuple[list[Line], str | None]:
        """List acts, newest first, and the next cursor; raises BadCursorError."""
        return self._store.lines(log, limit=limit, cursor=cursor)
