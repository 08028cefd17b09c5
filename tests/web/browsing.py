"""A real browser on the pages of a real arena, and what every page must hold."""

from __future__ import annotations

import os
import re
import shutil
import time
from pathlib import Path
from typing import Final

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Playwright

WIDTHS: Final = (360, 1440)
RULES: Final = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
SHOTS: Final = os.environ.get("SLAGVELD_SHOTS")
"""A folder that screenshots go to, to be looked at; none are taken without it."""
_CUT: Final = """
() => {
  const wrong = [];
  const say = (each) => each.outerHTML.slice(0, 120);
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (wide > 0) wrong.push(`the page scrolls ${wide} px sideways`);
  const shown = (selector) =>
    [...(document.querySelector("dialog:modal") ?? document).querySelectorAll(selector)]
      .filter((each) => each.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
      .filter((each) => !each.closest(".skip, .unseen, [inert]"))
      .filter((each) => !document.querySelector(":modal") || each.closest(":modal"));
  const related = (one, other) => one.contains(other) || other.contains(one) || other.closest("label")?.contains(one);
  const at = [scrollX, scrollY];
  for (const each of shown("a[href], button, input, select, textarea, summary, [tabindex='0']")) {
    const scroller = each.closest(".scroll, [data-scrolls]");
    each.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
    const box = each.getClientRects()[0];
    if (!box || box.width === 0) continue;
    if (!scroller && (box.left < -1 || box.right > innerWidth + 1)) wrong.push(`cut off: ${say(each)}`);
    const top = document.elementFromPoint(box.left + box.width / 2, box.top + Math.min(box.height / 2, 8));
    if (top && !scroller && !related(each, top)) wrong.push(`${say(each)} lies under ${say(top)}`);
  }
  scrollTo({ left: at[0], top: at[1], behavior: "instant" });
  for (const each of shown("main *")) {
    const cut = getComputedStyle(each).textOverflow === "ellipsis" && each.scrollWidth > each.clientWidth + 1;
    if (cut && !each.closest("[title]")) wrong.push(`what is cut can't be read anywhere: ${say(each)}`);
  }
  return wrong;
}
"""


def chromium() -> str:
    """Find the browser: $SLAGVELD_CHROMIUM, or Debian's or whatever else is on the PATH."""
    named = os.environ.get("SLAGVELD_CHROMIUM")
    found = named or next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    assert found, "no Chromium: install the package `chromium`, or name one in SLAGVELD_CHROMIUM"
    return found


def launch(playwright: Playwright) -> Browser:
    """Start the browser without a window."""
    return playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-dev-shm-usage"])


class Faults:
    """What went wrong in a page by itself: errors of scripts, violated policies, requests that failed or went away."""

    def __init__(self, page: Page, base: str) -> None:
        self._base = base
        self._found: list[str] = []
        self._expected: list[re.Pattern[str]] = []
        page.on(
            "console", lambda each: each.type in {"error", "warning"} and self._found.append(f"console: {each.text}")
        )
        page.on("pageerror", lambda error: self._found.append(f"script: {error}"))
        page.on("request", self._asked)
        page.on("response", lambda each: each.status >= 400 and self._found.append(f"{each.status}: {each.url}"))
        page.on("requestfailed", self._failed)

    def _asked(self, request) -> None:
        if not request.url.startswith((self._base, "data:", "blob:", "about:")):
            self._found.append(f"went elsewhere: {request.url}")

    def _failed(self, request) -> None:
        """Note a request that failed; one that a page gave up, since it went away or closed a stream, hasn't."""
        if request.failure != "net::ERR_ABORTED":
            self._found.append(f"{request.failure}: {request.url}")

    def expect(self, pattern: str) -> None:
        """Let what matches pass."""
        self._expected.append(re.compile(pattern))

    def check(self) -> None:
        """Fail if anything was found that wasn't expected."""
        left = [each for each in self._found if not any(known.search(each) for known in self._expected)]
        assert not left, left


def check_page(page: Page) -> None:
    """Fail unless the page can be used by everybody: axe finds nothing, nothing is cut off or covered."""
    found = Axe().run(page, options={"runOnly": RULES, "resultTypes": ["violations"]})
    assert found.violations_count == 0, found.generate_report()
    wrong = page.evaluate(_CUT)
    assert not wrong, wrong


def wait_for(page: Page, expression: str, seconds: float = 15) -> None:
    """Wait until an expression of JavaScript is true. Playwright's own way to do so is what pages' policy forbids."""
    ends = time.monotonic() + seconds
    while not page.evaluate(expression):
        assert time.monotonic() < ends, f"expected within {seconds:g} s: {expression}"
        page.wait_for_timeout(20)


def shots(page: Page, name: str) -> None:
    """Take pictures of the page as it is, on a phone and on a desk, by day and by night."""
    if SHOTS is None:
        return
    before = page.viewport_size
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.screenshot(path=Path(SHOTS) / f"{name}-{width}-{scheme}.png", full_page=True)
    page.set_viewport_size(before)
    page.emulate_media(color_scheme="light")
