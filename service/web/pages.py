"""All pages there are."""

from __future__ import annotations

from flask import Flask

from service.web import assets, bots, docs, games, lobby, play, site, tournaments

PAGES = [lobby.pages, bots.pages, games.pages, play.pages, tournaments.pages, docs.pages]


def register(app: Flask) -> None:
    """Serve the pages and their files."""
    assets.register(app)
    site.register(app, PAGES)
