"""Pages of documentation as a reader meets them: their code in order, their links, their headings."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
_NOT_OURS = {"node_modules", "dist", "build"}
_CODE = re.compile(r"^(```+)(\w*)\n(.*?)^\1\s*$", re.MULTILINE | re.DOTALL)


def pages():
    """List every Markdown file of the project."""
    found = [page.relative_to(ROOT) for page in ROOT.rglob("*.md")]
    return sorted(page for page in found if not any(part.startswith(".") or part in _NOT_OURS for part in page.parts))


def text(page):
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page):
    """List a page's blocks of code as (language, code), in order."""
    return [(language, code) for _, language, code in _CODE.findall(text(page))]


def prose(page):
    """Give a page without its blocks of code."""
    return _CODE.sub("", text(page))


def links(page):
    """List what a page's links lead to, web pages left out."""
    spoken = re.sub(r"`[^`\n]*`", "", prose(page))
    targets = re.findall(r"\]\(([^)\s]+)\)", spoken) + re.findall(r"^\[[^\]]+\]:\s*(\S+)", spoken, re.MULTILINE)
    return [target for target in targets if not re.match(r"[a-z]+:", target)]


def anchors(page):
    """Give the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#{1,6} +(.+?) *#*$", prose(page), re.MULTILINE)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading) for heading in headings]
    slugs = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in plain]
    return {f"{slug}-{before}" if (before := slugs[:at].count(slug)) else slug for at, slug in enumerate(slugs)}
