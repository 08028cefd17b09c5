"""Every link of every Markdown file leads to a file that is there, and to a heading in it."""

from __future__ import annotations

import pytest

from tests.docs.pages import ROOT, anchors, links, pages


def broken(page):
    """List a page's links that lead nowhere."""
    return [target for target in links(page) if not leads_somewhere(page, target)]


def leads_somewhere(page, target):
    path, _, anchor = target.partition("#")
    aim = ((ROOT / page).parent / path if path else ROOT / page).resolve()
    if not aim.is_relative_to(ROOT) or not aim.exists():
        return False
    return not anchor or anchor in anchors(aim.relative_to(ROOT))


@pytest.mark.parametrize("page", pages(), ids=str)
def test_every_link_leads_somewhere(page):
    assert broken(page) == []


def test_the_pages_are_found_and_some_of_them_are_linked():
    names = {str(page) for page in pages()}
    assert {"README.md", "SECURITY.md", "docs/contract.md", "docs/quickstart.md", "docs/cookbook.md"} <= names
    assert sum(len(links(page)) for page in pages()) > 20


def test_a_link_to_nowhere_is_seen(tmp_path, monkeypatch):
    for module in ("tests.docs.pages", "tests.docs.test_links"):
        monkeypatch.setattr(f"{module}.ROOT", tmp_path)
    (tmp_path / "there.md").write_text("# Here, `it` is\n\n## Twice\n\n## Twice\n")
    good = (
        "[a](there.md) [b](there.md#here-it-is) [c](#own) [d](https://x.example) [e](there.md#twice-1) `[f](none.md)`\n"
    )
    (tmp_path / "page.md").write_text(f"# Own\n\n{good}\n```md\n[g](none.md)\n# No\n```\n")
    assert broken("page.md") == []
    (tmp_path / "page.md").write_text(
        "[a](none.md) [b](there.md#none) [c](#no) [d](../page.md) [e](there.md#twice-2)\n"
    )
    assert broken("page.md") == ["none.md", "there.md#none", "#no", "../page.md", "there.md#twice-2"]
