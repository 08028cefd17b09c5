"""All pages there are."""

from __future__ import annotations

from flask import Flask

from service.web import assets, bot, docs, leaderboards, lobby, site

PAGES = [lobby.pages, bot.pages, leaderboards.pages, docs.pages]


def register(app: Flask) -> None:
    """Serve the pages and their files."""
    assets.register(app)
    site.register(app, PAGES)
