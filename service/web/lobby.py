"""The lobby: what is on, and how to join."""

from __future__ import annotations

from flask import Blueprint, Response

from service.web.site import page

pages = Blueprint("lobby", __name__)


@pages.get("/")
def lobby() -> Response:
    """Show what is on."""
    return page("lobby.html", here="lobby")
