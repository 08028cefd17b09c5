"""What no module of the pages may do, whoever writes it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from service.web.assets import FOLDER

MODULES = sorted((FOLDER / "js").rglob("*.js"))
TEMPLATES = sorted((FOLDER.parent / "templates").rglob("*.html"))
STYLES = sorted((FOLDER / "css").rglob("*.css"))
MARKUP = re.compile(
    r"\b(innerHTML|insertAdjacentHTML|outerHTML\s*=[^=]|document\.write|setHTMLUnsafe|createContextualFragment|srcdoc)"
)
"""What makes elements of a text."""
ELSEWHERE = re.compile(r"(?:import|from|url\(|fetch\(|src=|href=)\s*[\"'(]*(?:https?:)?//")
IMPORTED = re.compile(r"""(?:^(?:import\b|export\b.*\bfrom\b|\} from\b).*?|import\()["']([^"']+)["']""", re.MULTILINE)


def named(path: Path) -> str:
    return str(path.relative_to(FOLDER.parent))


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_no_module_turns_a_text_into_markup(path):
    found = MARKUP.findall(path.read_text("utf-8"))
    assert found == []


@pytest.mark.parametrize("path", [*MODULES, *TEMPLATES, *STYLES], ids=named)
def test_nothing_is_loaded_from_elsewhere(path):
    assert ELSEWHERE.findall(path.read_text("utf-8")) == []


@pytest.mark.parametrize("path", TEMPLATES, ids=named)
def test_no_template_has_scripts_styles_or_unescaped_texts_of_its_own(path):
    text = path.read_text("utf-8")
    assert re.findall(r"<style|\sstyle=|\son[a-z]+=|\|\s*safe\b|autoescape|javascript:", text) == []
    assert re.findall(r"<script(?![^>]*\ssrc=)[^>]*>", text) == []


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_modules_import_relative_files_that_there_are(path):
    imported = IMPORTED.findall(path.read_text("utf-8"))
    assert [name for name in imported if not name.startswith(".") or not (path.parent / name).is_file()] == []


@pytest.mark.parametrize("path", STYLES, ids=named)
def test_colours_are_named_in_one_place(path):
    """Shades, which are translucent, are no colours of their own."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text("utf-8"), flags=re.DOTALL)
    own = re.findall(r"#[0-9a-fA-F]{3,8}\b(?![^{};]*\{)|\b(?:rgb|hsl|oklch)a?\([^/)]*\)", text)
    assert path.name == "base.css" or own == []
