"""All pages there are."""

from __future__ import annotations

from flask import Flask

from service.web import assets, bot, bots, docs, games, leaderboards, lobby, organise, play, site, tournaments

PAGES = [lobby.pages, bot.pages, bots.pages, games.pages, leaderboards.pages, organise.pages, play.pages, tournament.pages, tournaments.pages, docs.pages]


def register(app: Flask) -> None:
    """Serve the pages and their files."""
    assets.register(app)
    site.register(app, PAGES)
