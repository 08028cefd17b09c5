"""The page of a game that is over: its record, face up, gone through in any way, and verified in the browser."""

from __future__ import annotations

import json
import re
import threading
from urllib.request import urlopen

import pytest
from playwright.sync_api import expect

from bot_sdk.bot import Bot
from bot_sdk.games import record
from bot_sdk.hosting import Server
from tests.integration.arena import PATIENT_LIMITS, SECRET, wait_until
from tests.web.browsing import WIDTHS, check_page, shots
from tests.web.playing import Party

NAME = "<img src=x onerror=alert(1)> \u202eyoll " + "W" * 40
NOTES = [None, "<script>alert(1)</script> \u202enote", "x" * 500]


class Faulty(Bot):
    """Answers badly now and then, and notes what might be taken for markup."""

    plays = ("river", "seven_up")

    def decide(self, decision):
        number = int(decision.id.rpartition(".")[2])
        return ("play:none" if number % 17 == 5 else decision.legal[0]), NOTES[number % len(NOTES)]


@pytest.fixture(scope="module")
def games(arena):
    """Play a long game of River in which a seat is retired for faults, and a short one of Seven Up: their records."""
    server = Server(Faulty(name="faulty", version="1", secret=SECRET))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    arena.register("bot_faulty", NAME, server.url)
    seated = {"river": ["bot_faulty", "bot_0", "bot_1", "bot_0"], "seven_up": ["bot_1", "bot_0"]}
    ids = {ruleset: arena.start_game(ruleset, bots, PATIENT_LIMITS) for ruleset, bots in seated.items()}
    for game_id in ids.values():
        wait_until(lambda game_id=game_id: arena.store.games.get(game_id).state.value == "finished", 60, "an end")
    server.shutdown()
    server.server_close()
    return {ruleset: Recorded(arena.api.address, game_id) for ruleset, game_id in ids.items()}


class Recorded:
    """A game, its record, and all places in it in order: (deal, event)."""

    def __init__(self, address, game_id):
        self.path = f"/games/{game_id}"
        self.pattern = f"**/v1{self.path}/record"
        self.line = urlopen(f"{address}/v1{self.path}/record").read()
        self.shown = json.loads(self.line)
        record.verify(record.read(self.line))

    def event(self, deal, at):
        return self.shown["deals"][deal]["events"][at]

    @property
    def places(self):
        return [(deal["number"], at) for deal in self.shown["deals"] for at in [None, *range(len(deal["events"]))]]

    @property
    def troubles(self):
        return [
            (deal, at) for deal, at in self.places
            if at is not None and self.event(deal, at).get("outcome") not in {"ok", "retired"}
        ]  # fmt: skip


def written(place):
    deal, at = place
    return f"{deal}" if at is None else f"{deal}.{at}"


def at_place(page, place):
    expect(page.locator(".replay-place")).to_have_text(re.compile(rf"event {re.escape(written(place))}$"))


def test_a_replay_opens_at_the_end_with_all_hands_played(open_page, games):
    game = games["river"]
    page = open_page(game.path)
    at_place(page, game.places[-1])
    expect(page.locator(".scores .total")).to_have_text([str(total) for total in game.shown["totals"]])


@pytest.mark.parametrize("ruleset", ["river", "seven_up"])
def test_an_address_leads_to_a_decision_as_it_stands_in_the_record(open_page, games, ruleset):
    game = games[ruleset]
    deal, at = 1, 3
    page = open_page(f"{game.path}?deal={deal}&event={at}")
    at_place(page, (deal, at))
    event = game.event(deal, at)
    expect(page.locator(".decision-facts")).to_contain_text(event["outcome"])
    expect(page.locator(".decision-facts code")).to_have_text(f"{deal}.{at}")
    expect(page.locator("tr.shown td.mono")).to_have_text(f"{deal}.{at}")
    expect(page.locator(".card-down")).to_have_count(0)


def test_an_address_of_no_decision_says_so(open_page, games):
    page = open_page(f"{games['seven_up'].path}?deal=0&event=999")
    expect(page.get_by_role("alert")).to_have_text("This game has no such deal or event.")


def test_keys_go_from_event_to_event_and_from_deal_to_deal(open_page, games):
    game = games["seven_up"]
    page = open_page(f"{game.path}?deal=1")
    at_place(page, (1, None))
    for key, place in (
        ("ArrowRight", (1, 0)),
        ("ArrowRight", (1, 1)),
        ("ArrowLeft", (1, 0)),
        ("Shift+ArrowLeft", (1, None)),
        ("Shift+ArrowLeft", (0, None)),
        ("ArrowLeft", (0, None)),
        ("Shift+ArrowRight", (1, None)),
    ):
        page.keyboard.press(key)
        at_place(page, place)
    page.wait_for_url("**?deal=1")
    expect(page.locator("#announcer")).to_contain_text("Deal 2")


def test_space_plays_and_pauses(open_page, games):
    page = open_page(f"{games['river'].path}?deal=0")
    page.get_by_label("Speed").select_option("10")
    page.locator("h1").click()
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(page.locator(".replay-place")).to_have_text(re.compile(r"event 0\.[5-9]$"))
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    place = page.locator(".replay-place").inner_text()
    page.wait_for_timeout(500)  # five times as long as a step takes at this speed
    assert page.locator(".replay-place").inner_text() == place


def test_play_stops_at_the_end_and_begins_again(open_page, games):
    game = games["seven_up"]
    deal, at = game.places[-3]
    page = open_page(f"{game.path}?deal={deal}&event={at}")
    page.get_by_label("Speed").select_option("10")
    page.get_by_role("button", name="Play").click()
    at_place(page, game.places[-1])
    page.get_by_role("button", name="Play").click()
    expect(page.locator(".replay-place")).to_have_text(re.compile(r"^Deal 1 "))


def test_the_slider_stands_wherever_it_is_put_in_a_long_game(open_page, games):
    game = games["river"]
    assert sum("event" not in event for deal in game.shown["deals"] for event in deal["events"]) == 344
    page = open_page(game.path)
    at_place(page, game.places[-1])
    shown = page.evaluate("""async () => {
        const slider = document.querySelector('.timeline input');
        const places = [];
        for (let at = 0; at <= Number(slider.max); at += 5) {
            slider.value = at;
            slider.dispatchEvent(new Event('input'));
            await new Promise(requestAnimationFrame);
            places.push([document.querySelector('.replay-place').textContent, slider.getAttribute('aria-valuetext')]);
        }
        return places;
    }""")
    assert [place.rpartition(" ")[2] for place, _ in shown] == [written(place) for place in game.places[::5]]
    assert [text.partition(":")[0] for _, text in shown] == [written(place) for place in game.places[::5]]


def test_a_slider_that_is_pulled_faster_than_the_browser_draws_is_drawn_once(open_page, games):
    page = open_page(games["river"].path)
    at_place(page, games["river"].places[-1])
    drawn = page.evaluate("""async () => {
        let drawn = 0;
        const seen = new MutationObserver(() => drawn++);
        seen.observe(document.querySelector('.replay-place'), { childList: true });
        const slider = document.querySelector('.timeline input');
        for (let at = Number(slider.max); at >= 0; at--) {
            slider.value = at;
            slider.dispatchEvent(new Event('input'));
        }
        for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
        return [drawn, document.querySelector('.replay-place').textContent];
    }""")
    assert drawn == [1, "Deal 1 of 15, event 0"]


def test_faults_are_marked_and_listed_and_lead_to_their_decisions(open_page, games):
    game = games["river"]
    page = open_page(game.path)
    links = page.locator(".troubles a")
    assert len(game.troubles) == 6
    expect(links).to_have_text([written(place) for place in game.troubles])
    expect(page.locator(".mark-trouble")).to_have_count(6)
    links.nth(1).click()
    at_place(page, game.troubles[1])
    expect(page.locator(".decision")).to_contain_text("an illegal action")
    page.wait_for_url(f"**?deal={game.troubles[1][0]}&event={game.troubles[1][1]}")
    links.last.click()
    expect(page.locator(".decision")).to_contain_text("is retired: too many faults")


def test_names_and_notes_of_strangers_are_text(open_page, games):
    game = games["river"]
    noted = [place for place in game.places if place[1] is not None and game.event(*place).get("note")]
    for note in NOTES[1:]:
        deal, at = next(place for place in noted if game.event(*place)["note"] == note)
        page = open_page(f"{game.path}?deal={deal}&event={at}", width=360)
        expect(page.locator("blockquote bdi")).to_have_text(note)
        expect(page.locator(".decision bdi.name").first).to_have_attribute("title", re.compile("^<img src=x"))
        assert page.evaluate("document.querySelectorAll('main img, main script').length") == 0
    check_page(page)  # with the longest


def test_who_has_watched_a_game_to_its_end_goes_on_to_its_replay(open_page, arena):
    game = Party(arena.api.address, ["ann", "bob", "cyd", "dan"], options={"start_cards": 1, "bidding": "simultaneous"})
    page = open_page(game.page)
    game.finish()
    page.get_by_role("button", name="Look at the replay").click()
    at_place(page, (0, 7))  # four bids and four cards
    for _ in range(7):
        page.keyboard.press("ArrowLeft")
    at_place(page, (0, 0))
    expect(page.locator(".hand .card:not(.card-down)")).to_have_count(4)
    expect(page.locator(".decision")).to_contain_text("bids")


def test_a_game_that_somebody_left_is_replayed_as_far_as_it_came(open_page, arena):
    game = Party(arena.api.address, ["ann", "bob"], ruleset="seven_up")
    game.act()
    game.ask("DELETE", "/seats/0", 0)
    page = open_page(game.page)
    expect(page.locator(".decision")).to_contain_text("left the game")
    expect(page.locator(".troubles a")).to_have_count(1)
    kind, _ = verdict(page)
    assert kind == "good"
    page.keyboard.press("Shift+ArrowLeft")
    at_place(page, (0, None))


# Verifying


def verdict(page):
    page.get_by_role("button", name="Verify").click()
    shown = page.locator("[data-verdict]:not([data-verdict=''])")
    expect(shown).to_be_visible()
    return shown.get_attribute("data-verdict"), shown.inner_text()


@pytest.mark.parametrize("ruleset", ["river", "seven_up"])
def test_a_record_that_holds_is_verified_in_the_browser(open_page, games, ruleset):
    page = open_page(games[ruleset].path)
    kind, text = verdict(page)
    assert kind == "good"
    assert "The record holds." in text
    expect(page.locator("#announcer")).to_contain_text("The record holds.")


def changed(line, what):
    """Change one byte of a record, in the middle of what a pattern finds."""
    begins, ends = re.search(what, line).span(1)
    at = (begins + ends) // 2
    other = b"8" if line[at : at + 1] != b"8" else b"9"
    return line[:at] + other + line[at + 1 :]


@pytest.mark.parametrize(
    "what",
    [
        rb'"record":(1)',
        rb'"secret":"(.*?)"',
        rb'"deck":\["(.)',
        rb'"ms":(\d)',
        rb'"name":"(.*?)"',
        rb'"action":"bid:(\d)"',
    ],
)
def test_a_changed_byte_turns_the_verdict_red(open_page, games, what):
    game = games["river"]
    page = open_page("/")
    page.route(game.pattern, lambda route: serve_changed(route, what))
    page.goto(page.url.rstrip("/") + game.path)
    kind, text = verdict(page)
    assert kind == "bad"
    assert "The record doesn't hold: expected " in text


def serve_changed(route, what):
    answer = route.fetch()
    route.fulfill(response=answer, body=changed(answer.body(), what))


def test_a_broken_record_is_shown_as_far_as_it_goes(open_page, games):
    game = games["river"]
    page = open_page("/")
    broken = json.loads(game.line)
    broken["deals"][1]["events"][5]["action"] = "bid:0"
    page.route(game.pattern, lambda route: route.fulfill(json=broken))
    page.goto(page.url.rstrip("/") + game.path)
    expect(page.get_by_role("alert")).to_contain_text(
        "This record is broken: expected record.deals[1].events[5].action"
    )
    at_place(page, (1, 4))
    kind, _ = verdict(page)
    assert kind == "bad"
    page.get_by_role("link", name="Show where").click()


def test_a_page_that_may_not_hash_says_so(open_page, games):
    page = open_page("/")
    page.add_init_script("Object.defineProperty(crypto, 'subtle', { value: undefined })")  # as over plain HTTP
    page.goto(page.url.rstrip("/") + games["seven_up"].path)
    kind, text = verdict(page)
    assert kind == "warn"
    assert "HTTPS" in text


# How it looks


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dark", [False, True])
def test_a_replay_can_be_used_by_everybody(open_page, games, width, dark):
    deal, at = games["river"].troubles[0]
    page = open_page(f"{games['river'].path}?deal={deal}&event={at}", width=width, dark=dark)
    at_place(page, (deal, at))
    verdict(page)
    check_page(page)


def test_a_replay_looks(open_page, games):
    for ruleset, game in games.items():
        page = open_page(f"{game.path}?deal=1&event=12")
        at_place(page, (1, 12))
        shots(page, f"replay-{ruleset}")
