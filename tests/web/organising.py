"""An arena for organisers, one of them by the API to set the scene, and a keyboard."""

from __future__ import annotations

from contextlib import contextmanager

import requests

from tests.integration.arena import PATIENT_LIMITS, Arena

CODE = "let-me-in-please"
BOT = "bot_" + "a" * 26
STRANGE = "<b>bold</b> & so on"
SLEEPER = "bot_" + "c" * 26
ENDLESS = "\u202e" + "w" * 500


@contextmanager
def arena_for_hosts(folder):
    """Open an arena whose accounts are by invitation, with a worker and bots of others, some with odd names."""
    settings = {"SLAGVELD_ACCOUNTS": "invite", "SLAGVELD_INVITE_CODE": CODE, "SLAGVELD_MAX_TOURNAMENTS": "100"}
    with Arena(folder, bots=["house:random"], **settings) as opened:
        opened.register(BOT, STRANGE, opened.bots.urls[0])
        opened.register("bot_" + "b" * 26, ENDLESS, opened.bots.urls[0])
        opened.register(SLEEPER, "sleeper", opened.bots.urls[0])
        opened.start_api()
        opened.start_worker()
        yield opened


class Host:
    """An organiser, by the API: the account `me`."""

    def __init__(self, address, name):
        self.address = address
        self.me = None
        self.me = self("POST", "/accounts", {"name": name, "invite_code": CODE})

    def __call__(self, method, path, body=None):
        headers = {"Authorization": f"Bearer {self.me['token']}"} if self.me else {}
        answer = requests.request(method, f"{self.address}/v1{path}", json=body, headers=headers, timeout=30)
        assert answer.ok, answer.text
        return answer.json()

    def tournament(self, *entries, **order):
        """Make one with these entries, and give its path."""
        made = self("POST", "/tournaments", {"name": "a cup", "ruleset": "seven_up", **PATIENT_LIMITS, **order})
        for entry in entries:
            self("PUT", f"/tournaments/{made['id']}/entries/{entry}", {})
        return f"/tournaments/{made['id']}"

    def remembered(self):
        """Give the storage of a browser that remembers this account."""
        kept = {"name": "slagveld.account", "value": f'{{"name":"host","token":"{self.me["token"]}"}}'}
        return {"cookies": [], "origins": [{"origin": self.address, "localStorage": [kept]}]}


def tab_to(page, locator):
    """Go on by the key Tab alone until a control has the focus."""
    for _ in range(80):
        if locator.evaluate("each => each === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"the key Tab doesn't come to {locator}")


def fill_by_keys(page, label, text):
    tab_to(page, page.get_by_label(label, exact=True))
    page.keyboard.type(text)


def choose_by_keys(page, group, name):
    """Go to a group of radio buttons and on by the arrows."""
    tab_to(page, page.get_by_role("radiogroup", name=group).get_by_role("radio", checked=True))
    wanted = page.get_by_role("radiogroup", name=group).get_by_role("radio", name=name)
    for _ in range(8):
        if wanted.is_checked():
            return
        page.keyboard.press("ArrowDown")
    raise AssertionError(f"the arrows don't come to {name}")
