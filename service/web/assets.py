"""Our own files that pages load: browsers keep them for good, since their addresses change with what is in them."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Final

from flask import Blueprint, Flask, Response, send_from_directory, url_for

FOLDER: Final = Path(__file__).parent / "static"
KEPT_S: Final = 365 * 24 * 3600

files = Blueprint("files", __name__)


def register(app: Flask) -> None:
    """Serve them, and let templates name one by `asset("css/base.css")`."""
    app.register_blueprint(files)
    app.jinja_env.globals["asset"] = asset


def asset(name: str) -> str:
    """Give the address of a file of the folder, as a path. A module's own imports stay under the same print."""
    return url_for("files.show", fingerprint=_current(), name=name)


@files.get("/static/<fingerprint>/<path:name>")
def show(fingerprint: str, name: str) -> Response:
    """Send a file. During an upgrade pages of another release ask too: they get ours, and don't keep it."""
    answer = send_from_directory(FOLDER, name)
    kept = f"public, max-age={KEPT_S}, immutable" if fingerprint == _current() else "no-cache"
    answer.headers["Cache-Control"] = kept
    return answer


@cache
def _current() -> str:
    """Give what changes whenever a file of the folder does between two starts of the process."""
    digest = hashlib.sha256()
    for path in sorted(each for each in FOLDER.rglob("*") if each.is_file()):
        digest.update(b"%b\0%d\0" % (str(path.relative_to(FOLDER)).encode(), path.stat().st_size))
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:12]
