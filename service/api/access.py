"""Names every request, and tells of it once it is answered.

The name stands in the answer and in each line that the request causes, in a worker, too. Of what was sent only method
and route are told: paths, queries, bodies and other headers are strangers' texts, and may hold what is secret.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Final

from flask import Flask, g, request

from service.api import wire
from service.api.auth import kind_of
from service.api.direct import Direct
from service.api.routes import route
from service.logs import about

_GIVEN: Final = "HTTP_" + wire.REQUEST_ID.upper().replace("-", "_")
_VISIT: Final = "slagveld.visit"

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Visit:
    """A request on its way to its answer."""

    method: str
    began: float = field(default_factory=perf_counter)
    status: int = 0
    written: int = 0
    route: str | None = None
    client: str = "unknown"


class Access:
    """The outermost part of a WSGI app; with `is_told` each request has a line of its own."""

    def __init__(self, app: Callable[..., Iterable[bytes]], *, is_told: bool) -> None:
        """Stand around an app."""
        self._app = app
        self._is_told = is_told

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer a request, by its name."""
        name = about.name_request(environ.get(_GIVEN))
        about.begin(name)
        visit = environ[_VISIT] = Visit(environ["REQUEST_METHOD"])

        def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
            visit.status = int(status[:3])
            return start_response(status, [*headers, (wire.REQUEST_ID, name)], exc_info)

        return _Answered(self._app(environ, start), visit, environ if self._is_told else None)


class _Answered:
    """An answer on its way to who asked."""

    def __init__(self, parts: Iterable[bytes], visit: Visit, told_of: dict[str, Any] | None) -> None:
        self._parts = parts
        self._visit = visit
        self._told_of = told_of

    def __iter__(self) -> Iterator[bytes]:
        for part in self._parts:
            self._visit.written += len(part)
            yield part

    def close(self) -> None:
        """Tell of it; what this thread does next isn't caused by it any more."""
        try:
            if (close := getattr(self._parts, "close", None)) is not None:
                close()
        finally:
            if self._told_of is not None:
                _tell(self._visit, Direct.written(self._told_of))
            about.begin(None)


def register(app: Flask, *, is_told: bool) -> None:
    """Name the requests of an app, and let their lines tell of what they are about."""
    app.wsgi_app = Access(app.wsgi_app, is_told=is_told)  # type: ignore[method-assign]  # as Flask says to wrap it
    app.before_request(_begin)
    app.teardown_request(_end)


def _begin() -> None:
    about.add(request.view_args or {})


def _end(_: BaseException | None) -> None:
    visit: Visit | None = request.environ.get(_VISIT)
    if visit is None:  # no request, but somebody who does as if there were one
        return
    visit.route = route()
    if (caller := g.get("caller")) is not None:
        visit.client = kind_of(caller) or "anonymous"


def _tell(visit: Visit, past_server: int) -> None:
    fields = {
        "method": visit.method,
        "route": visit.route,
        "status": visit.status,
        "ms": round((perf_counter() - visit.began) * 1000, 1),
        "bytes": visit.written + past_server,
        "client": visit.client,
    }
    log.info("%s %s: %d", visit.method, visit.route or "nowhere", visit.status, extra=fields)
