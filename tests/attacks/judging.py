"""Judges what was told of a game, when its record says who could know what."""

from __future__ import annotations

import re
from collections import defaultdict

from tests.attacks.knowledge import CARD, Knowledge, secrets_of, written
from tests.attacks.receipts import BEFORE, NOTE, Receipt
from tests.attacks.watching import Watched

DECISION = re.compile(rb"(gam_[a-z2-7]{26})\.([0-9])\.[0-9]+")


class Judge:
    """Finds in the receipts of a game what nobody could have known then; each check fails by an AssertionError."""

    def __init__(self, game: Watched, record):
        self._game = game
        self._moments = Knowledge(record).moments
        fairness = record["fairness"]
        self._secrets = secrets_of(game.secret, fairness["label"], fairness["entropy"], len(record["deals"]) + 1)
        self._secrets += written(game.root_secret) if game.root_secret else []

    def check(self):
        self.check_cards()
        for receipt in self._game.receipts:
            told = [secret for secret in self._secrets if secret in receipt.raw]
            assert not told, f"a secret is told: {receipt}"
            self._check_names(receipt)
        self.check_equal()

    def check_cards(self):
        """No card that its reader couldn't know."""
        before = defaultdict(lambda: BEFORE)
        for receipt in self._game.receipts:
            hidden = set(CARD.findall(receipt.told)) - self._known(receipt, before[receipt.name])
            before[receipt.name] = receipt.events
            assert not hidden, f"{sorted(hidden)} told to {receipt.audience} after {receipt.events} events: {receipt}"

    def _known(self, receipt, before):
        now = self._moments[receipt.events]
        if receipt.allowed == "nothing" or receipt.events == BEFORE:
            return set()
        if receipt.allowed == "now":
            return now.of(receipt.audience)
        since = before + 1 if receipt.allowed == "new" else 0
        own = now.ever[receipt.audience] if receipt.allowed == "ever" and receipt.audience is not None else set()
        return own.union(*(moment.fresh for moment in self._moments[since : receipt.events + 1]))

    def _check_names(self, receipt):
        """No token of a seat, no decision of another seat, no remark of a bot."""
        tokens = [token for token in self._game.tokens if token.encode() in receipt.raw]
        assert not tokens, f"a token is told: {receipt}"
        named = {int(seat) for game, seat in DECISION.findall(receipt.told) if game == self._game.id.encode()}
        assert named <= {receipt.audience}, f"decisions of seats {named} are named: {receipt}"
        assert NOTE.encode() not in receipt.raw, f"a remark is told: {receipt}"

    def check_equal(self):
        """Whoever could learn nothing in between is told the same, to the byte: tags, versions and sizes included.

        Gives the number of readings that were compared with an earlier one amid sealed decisions of others.
        """
        same = defaultdict(set)
        quiet = 0
        for receipt in self._game.receipts:
            if receipt.allowed in {"now", "nothing"}:
                at = (receipt.audience, receipt.name, self._told(receipt))
                quiet += at in same and receipt.events not in {events for events, _ in same[at]}
                same[at].add((receipt.events, receipt.raw))
        for at, told in same.items():
            assert len({raw for _, raw in told}) == 1, f"{at} was told more than there was to tell: {told}"
        return quiet

    def _told(self, receipt: Receipt):
        return BEFORE if receipt.events == BEFORE else self._moments[receipt.events].told[receipt.audience]
