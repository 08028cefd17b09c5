"""All pages there are."""

from __future__ import annotations

from flask import Flask

from service.web import assets, bot, bots, docs, games, leaderboards, lobby, organise, play, site, tournaments
from service.web.tournament import pages as tournament

PAGES = [
    lobby.pages,
    games.pages,
    play.pages,
    tournaments.pages,
    organise.pages,
    tournament.pages,
    bots.pages,
    bot.pages,
    leaderboards.pages,
    docs.pages,
]


def register(app: Flask) -> None:
    """Serve the pages and their files."""
    assets.register(app)
    site.register(app, PAGES)
