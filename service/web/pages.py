"""All pages there are."""

from __future__ import annotations

from flask import Flask

from service.web import assets, docs, games, lobby, site
from service.web.tournament import pages as tournament

PAGES = [lobby.pages, games.pages, tournament.pages, docs.pages]


def register(app: Flask) -> None:
    """Serve the pages and their files."""
    assets.register(app)
    site.register(app, PAGES)
