"""All pages there are."""

from __future__ import annotations

from flask import Flask

from service.web import assets, docs, lobby, organise, site

PAGES = [lobby.pages, organise.pages, docs.pages]


def register(app: Flask) -> None:
    """Serve the pages and their files."""
    assets.register(app)
    site.register(app, PAGES)
