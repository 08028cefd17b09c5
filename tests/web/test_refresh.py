"""Pages that keep themselves up to date. What the server answers is the tests' own here, the module is the real one."""

from __future__ import annotations

import re
import time

import pytest
from playwright.sync_api import expect

from service.web.site import POLICY

PATH = "/refreshed"
HIDE = "Object.defineProperty(document, 'hidden', { get: () => window.isHidden === true });"
LONG = "".join(f"<p>line {number}</p>" for number in range(200))


class Served:
    """A page as the server would render it now: `parts` by id, and what <main> says. It counts the looks at it."""

    def __init__(self, frame, every):
        self._frame = frame
        self.every = every
        self.parts = {}
        self.status = 200
        self.asked = 0

    @property
    def html(self):
        parts = "".join(f'<section id="{name}" data-refresh>{inner}</section>' for name, inner in self.parts.items())
        return re.sub(
            r"<main[^>]*>.*</main>", f'<main data-every="{self.every}">{parts}</main>', self._frame, flags=re.DOTALL
        )

    def be_asked(self, page, times):
        """Wait until it was asked so many times more, and the page has had time to take the last answer but one."""
        asked, ends = self.asked + times, time.monotonic() + 15
        while self.asked < asked:
            assert time.monotonic() < ends, f"expected {times} more looks"
            page.wait_for_timeout(20)

    def answer(self, route):
        self.asked += 1
        route.fulfill(
            status=self.status, body=self.html, headers={"Content-Type": "text/html", "Content-Security-Policy": POLICY}
        )


@pytest.fixture
def serve(open_page, arena):
    """Open a page of these parts, which asks again every so many seconds, and give both."""

    def begin(every="0.1", **parts):
        page = open_page("/")
        served = Served(page.content(), every)
        served.parts = parts
        page.add_init_script(HIDE)
        page.context.route(arena.api.address + PATH, served.answer)
        page.goto(arena.api.address + PATH)
        return page, served

    return begin


def refresh(page, times=1):
    """Tell the module of news, so often at once."""
    page.evaluate(
        """async (times) => {
          const { refresh } = await import(document.querySelector("script[src$='js/refresh.js']").src);
          for (let each = 0; each < times; each++) refresh();
        }""",
        times,
    )


def test_what_has_changed_is_replaced_and_nothing_else(serve):
    page, served = serve(one="<p>1</p>", other="<p>same</p>")
    page.evaluate("""() => {
      window.told = [];
      document.addEventListener("refreshed", (event) => window.told.push(event.target.id));
      document.getElementById("other").mark = true;
    }""")
    served.parts["one"] = "<p>2</p>"
    expect(page.locator("#one")).to_have_text("2")
    assert page.evaluate("[document.getElementById('other').mark, window.told]") == [True, ["one"]]


def test_what_a_module_drew_stays_until_the_server_tells_something_else(serve):
    page, served = serve(chart="<p>1</p>")
    page.evaluate("document.querySelector('#chart p').textContent = 'drawn'")
    served.be_asked(page, 2)
    expect(page.locator("#chart")).to_have_text("drawn")
    served.parts["chart"] = "<p>2</p>"
    expect(page.locator("#chart")).to_have_text("2")


def test_focus_open_details_and_scrolls_stay_where_they_were(serve):
    rows = '<a href="/play">play</a> <a href="/bots">bots</a><details><summary>more</summary>all</details>'
    wide = f'<div class="scroll"><table><tr><td class="number">{"wide " * 999}</table></div>'
    page, served = serve(one=rows + wide + LONG)
    page.focus("a[href='/bots']:not(header *)")
    page.evaluate("""() => {
      document.querySelector("details").open = true;
      document.querySelector(".scroll").scrollLeft = 300;
      window.scrollTo(0, 400);
    }""")
    served.parts["one"] = '<a href="/new">new</a>' + rows + wide + LONG
    page.wait_for_selector("a[href='/new']")
    assert page.evaluate("document.activeElement.getAttribute('href')") == "/bots"
    assert page.evaluate("document.activeElement.closest('main') !== null")
    assert page.evaluate("document.querySelector('details').open")
    assert page.evaluate("[document.querySelector('.scroll').scrollLeft, scrollY]") == [300, 400]


def test_what_somebody_writes_is_not_lost(serve):
    page, served = serve(form="<label>name <input></label>", other="1")
    page.fill("input", "half a na")
    served.parts = {"form": "<p>gone</p>", "other": "2"}
    expect(page.locator("#other")).to_have_text("2")
    assert page.input_value("input") == "half a na"
    page.evaluate("document.activeElement.blur()")
    page.wait_for_selector("#form p")


def test_a_hidden_page_asks_for_nothing_and_is_up_to_date_when_it_is_shown(serve):
    page, served = serve(one="1")
    page.evaluate("() => { window.isHidden = true; document.dispatchEvent(new Event('visibilitychange')); }")
    page.wait_for_timeout(300)  # what was on its way has come
    asked, served.parts["one"] = served.asked, "2"
    refresh(page)
    page.wait_for_timeout(1_500)  # longer than a look is put off
    assert served.asked == asked
    page.evaluate("() => { window.isHidden = false; document.dispatchEvent(new Event('visibilitychange')); }")
    expect(page.locator("#one")).to_have_text("2")


def test_however_much_happens_it_asks_once_a_second(serve):
    page, served = serve(every="", one="1")
    page.evaluate("document.querySelector('main').dataset.every = '0'")  # news come from the test alone
    began = page.evaluate("performance.now()")
    for number in range(10):
        served.parts["one"] = str(number)
        refresh(page, times=50)
        page.wait_for_timeout(100)
    expect(page.locator("#one")).to_have_text("9")
    seconds = (page.evaluate("performance.now()") - began) / 1_000
    assert served.asked - 1 <= seconds + 1


def test_it_never_asks_while_it_waits_for_an_answer(serve):
    page, served = serve(every="", one="1")
    page.evaluate("document.querySelector('main').dataset.every = '0'")  # news come from the test alone
    held = []
    page.context.route(page.url, lambda route: held.append(route))  # noqa: PLW0108 (Playwright asks for a function)
    for _ in range(10):
        refresh(page)
        page.wait_for_timeout(200)
    assert len(held) == 1
    served.parts["one"] = "2"
    served.answer(held[0])
    expect(page.locator("#one")).to_have_text("2")


def test_it_says_that_it_cannot_ask_and_goes_on_when_it_can(serve):
    page, served = serve(one="1")
    page.faults.expect("503")
    served.status = 503
    page.wait_for_selector("#stale:visible")
    assert "can’t be reached" in page.text_content("#stale")
    assert page.text_content("#one") == "1"
    served.status, served.parts["one"] = 200, "2"
    expect(page.locator("#one")).to_have_text("2")
    page.wait_for_selector("#stale", state="hidden")


def test_a_page_that_is_no_more_says_so(serve):
    """A bot that was deleted, or made private: the arena is there, and answers."""
    page, served = serve(one="1")
    page.faults.expect("404")
    served.status = 404
    page.wait_for_selector("#stale:visible")
    assert "isn’t there any more" in page.text_content("#stale")
    assert page.text_content("#one") == "1"


def test_a_page_that_has_come_to_its_end_is_left_alone(serve):
    page, served = serve(one="1")
    served.every, served.parts["one"] = "", "over"
    expect(page.locator("#one")).to_have_text("over")
    asked = served.asked
    page.wait_for_timeout(1_500)
    assert served.asked <= asked + 1  # one may have been on its way


def test_what_comes_is_text_where_it_was_text_and_no_script_runs(serve):
    page, served = serve(one="1")
    served.parts["one"] = "&lt;img src=x onerror=alert(1)&gt;<script>window.ran = true</script>"
    expect(page.locator("#one")).to_contain_text("<img")
    assert page.evaluate("window.ran === undefined && !document.querySelector('#one img')")
