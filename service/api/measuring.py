"""How long requests take: counted around the whole app, by what they ask for and how they are answered."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from http import HTTPMethod
from time import perf_counter
from typing import Any, Final

from flask import Flask, request

from service.metrics.meters import Meters

METHODS: Final = frozenset(HTTPMethod)
OTHER: Final = "other"
NOTHING: Final = "none"
_OPERATION: Final = "slagveld.operation"
_WAITED: Final = "slagveld.waited_s"

_App = Callable[[dict[str, Any], Any], Iterable[bytes]]


def register(app: Flask, meters: Meters) -> None:
    """Have the app's requests measured; call it before anything else that looks at requests."""
    if meters.is_on:
        app.before_request(_note_operation)
        app.wsgi_app = _Measured(app.wsgi_app, meters)  # type: ignore[method-assign]  # as Flask says to wrap it


def waited(seconds: float) -> None:
    """Note that the request has waited so long for something to happen, which isn't how quick the arena is."""
    request.environ[_WAITED] = request.environ.get(_WAITED, 0.0) + seconds


def _note_operation() -> None:
    request.environ[_OPERATION] = request.endpoint


class _Measured:
    """An app, around which time is taken until it has begun its answer. A stream goes on after that."""

    def __init__(self, app: _App, meters: Meters) -> None:
        self._app = app
        self._meters = meters

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        status = "5xx"

        def start(line: str, *args: Any) -> Any:
            nonlocal status
            status = f"{line[0]}xx"
            return start_response(line, *args)

        began = perf_counter()
        self._meters.in_flight.add()
        try:
            return self._app(environ, start)
        finally:
            self._meters.in_flight.add(by=-1)
            took = perf_counter() - began - environ.get(_WAITED, 0.0)
            self._meters.requests.note(max(0.0, took), _operation(environ), _method(environ), status)


def _operation(environ: dict[str, Any]) -> str:
    return environ.get(_OPERATION) or NOTHING


def _method(environ: dict[str, Any]) -> str:
    method: str = environ["REQUEST_METHOD"]
    return method if method in METHODS else OTHER
