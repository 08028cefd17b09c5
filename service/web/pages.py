"""All pages there are."""

from __future__ import annotations

from flask import Flask

from service.web import assets, bots, docs, games, lobby, organise, site, tournaments
from service.web.tournament import pages as tournament

PAGES = [lobby.pages, games.pages, tournaments.pages, organise.pages, tournament.pages, bots.pages, docs.pages]


def register(app: Flask) -> None:
    """Serve the pages and their files."""
    assets.register(app)
    site.register(app, PAGES)
