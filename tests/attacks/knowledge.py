"""Who could know which card when, worked out from a record by the rules alone (docs/rules.md, *Who may know what*).

It shares nothing with the product but the record: no state, no observation.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from dataclasses import dataclass, field

from tests.attacks.receipts import SPECTATOR

CARD = re.compile(rb"(?<![A-Za-z0-9])[2-9TJQKA][CDHS](?![A-Za-z0-9])")
"""A card in raw bytes, whatever is around it."""


@dataclass
class Moment:
    """What there was to know after so many events: of the deal that was on, and altogether.

    `told` counts by audience what has come to be known: it grows whenever an answer to that audience may change.
    """

    open: set[bytes] = field(default_factory=set)
    dealt: list[set[bytes]] = field(default_factory=list)
    fresh: set[bytes] = field(default_factory=set)
    last: list[set[bytes]] = field(default_factory=list)
    ever: list[set[bytes]] = field(default_factory=list)
    told: dict[int | None, int] = field(default_factory=dict)

    def of(self, audience):
        """Give the cards that an audience may be shown of the deal that is on, and in its own last action."""
        return self.open if audience is SPECTATOR else self.open | self.dealt[audience] | self.last[audience]


class Knowledge:
    """Replays a record. `moments[n]` is what could be known when the log held n events."""

    def __init__(self, record):
        self._record = record
        self._river = record["ruleset"] == "river"
        self._seats = len(record["seats"])
        none = [set() for _ in range(self._seats)]
        self.moments = [Moment(last=none, ever=none, told=dict.fromkeys([SPECTATOR, *range(self._seats)], 0))]
        self._deals = iter(record["deals"])
        self._deal()
        for deal in record["deals"]:
            for event in deal["events"]:
                self._take(event, deal)

    def _take(self, event, deal):
        now = self.moments[-1]
        copies = [set(cards) for cards in now.dealt], list(now.last), [set(cards) for cards in now.ever]
        self.moments.append(Moment(set(now.open), copies[0], set(), copies[1], copies[2], dict(now.told)))
        if "event" in event:
            self._retire(event["seat"])
        else:
            self._decide(event["seat"], event["action"])
            self._left -= 1
            if self._left == 0 and deal is not self._record["deals"][-1]:
                self._deal()

    # --- who hears of it ----------------------------------------------------------------------------------------------

    def _tell(self, *audiences):
        for audience in audiences:
            self.moments[-1].told[audience] += 1

    def _tell_all(self):
        self._tell(SPECTATOR, *range(self._seats))

    def _retire(self, seat):
        """Others hear of a retirement amid sealed decisions when these are revealed."""
        if self._sealed > 0:
            self._tell(seat)
        else:
            self._tell_all()

    def _decide(self, seat, action):
        kind, _, what = action.partition(":")
        now = self.moments[-1]
        now.last[seat] = {what.encode()} if kind in {"play", "discard"} else set()
        if self._sealed > 0:
            self._sealed -= 1
            self._tell(seat)
            if self._sealed > 0:
                return
        self._tell_all()
        if kind == "play":
            self._show(what)
        elif kind == "run" or (kind == "beg" and not self._record["options"]["gift"]):
            self._run()

    # --- cards --------------------------------------------------------------------------------------------------------

    def _show(self, card):
        self.moments[-1].open.add(card.encode())
        self.moments[-1].fresh.add(card.encode())

    def _deal(self):
        deal = next(self._deals)
        self._left = sum("action" in event for event in deal["events"])
        self._pack = iter(deal["deck"])
        self._eldest = (deal["dealer"] + 1) % self._seats
        now = self.moments[-1]
        now.open, now.dealt = set(), [set() for _ in range(self._seats)]
        options = self._record["options"]
        size = self._schedule()[deal["number"]] if self._river else 6
        self._sealed = self._seats if options.get("bidding") == "simultaneous" else 0
        self._serve(size)
        self._first = next(self._pack)
        self._show(self._first)

    def _serve(self, size):
        now = self.moments[-1]
        for at in range(size * self._seats):
            seat, card = (self._eldest + at) % self._seats, next(self._pack).encode()
            now.dealt[seat].add(card)
            now.ever[seat].add(card)

    def _schedule(self):
        options = self._record["options"]
        up = list(range(1, options["start_cards"] + 1))
        down = up[::-1]
        return {"down_up": down + up[1:], "up_down": up + down[1:], "down": down}[options["schedule"]]

    def _run(self):
        upcard, runs = self._first, 0
        while upcard[1] == self._first[1] and runs < 5:
            self._serve(3)
            upcard, runs = next(self._pack), runs + 1
            self._show(upcard)
        if upcard[1] != self._first[1]:
            self._sealed = 2 * 3 * runs


def written(secret: bytes) -> list[bytes]:
    """Write a secret in every way it could be told."""
    hexed = secret.hex().encode()
    return [
        secret, hexed, hexed.upper(), base64.b64encode(secret).rstrip(b"="),
        base64.urlsafe_b64encode(secret).rstrip(b"="), base64.b32encode(secret).rstrip(b"="),
        base64.b32encode(secret).rstrip(b"=").lower(),
    ]  # fmt: skip


def secrets_of(secret: bytes, label: str, entropy: list[str], deals: int) -> list[bytes]:
    """Give what the packs of a game are made from, step by step (docs/deals.md), in every way of writing it."""
    mixed = b"slagveld/mix/v1\0" + label.encode()
    for text in entropy:
        mixed += len(text.encode()).to_bytes(2, "big") + text.encode()
    key = hmac.digest(secret, mixed, "sha256")
    made = [hmac.digest(key, b"deal" + number.to_bytes(4, "big"), "sha256") for number in range(deals)]
    plain = hashlib.sha256(secret).digest()
    return [form for each in (secret, key, plain, *made) for form in written(each)]
