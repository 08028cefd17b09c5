"""What a view finds at hand: the services of its app, and who is asking."""

from __future__ import annotations

from typing import cast

from flask import Flask, current_app, g

from service.arena.caller import Caller
from service.services import Services
from service.store.door import Glance

_EXTENSION = "slagveld"


def attach(app: Flask, services: Services) -> None:
    """Give the app its services."""
    app.extensions[_EXTENSION] = services


def services_of(app: Flask) -> Services:
    """Return the services of an app."""
    return cast("Services", app.extensions[_EXTENSION])


def services() -> Services:
    """Return the services of the app that answers this request."""
    return cast("Services", current_app.extensions[_EXTENSION])


def glance() -> Glance | None:
    """Return what was seen of the request's game when it was let in; None if nothing was looked at."""
    return cast("Glance | None", g.glance)


def caller() -> Caller:
    """Return who sent this request; an operation's `who` has checked it before its view runs."""
    return cast("Caller", g.caller)
