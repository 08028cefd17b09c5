"""The part of the client that is about bots without a URL: they fetch what they are asked and send what they answer."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import msgspec

from bot_sdk.answers import AnswersTaken, PulledCall
from bot_sdk.client.orders import CallAnswer
from bot_sdk.client.part import Part
from bot_sdk.messages import BotCard
from bot_sdk.transport import at, read


class Pulling(Part):
    """The operations of bots whose transport is ``pull``; `bot_sdk.connecting` makes a bot of them that plays."""

    def show_card(self, bot_id: str, card: BotCard) -> None:
        """Say what a bot is; that counts from its next passed check on."""
        body = {"card": msgspec.to_builtins(card)}
        self._session.send("PUT", at("/v1/bots/{}/card", bot_id), body=body)

    def fetch_calls(self, bot_id: str, *, limit: int = 16, wait_s: float = 0) -> list[PulledCall]:
        """Fetch up to `limit` (1 to 64) calls, each of which is given once.

        With `wait_s` (at most 60, rounded up to whole seconds) it waits until there is one.
        """
        headers = {"Prefer": f"wait={ceil(wait_s)}"}
        path = at("/v1/bots/{}/decisions/next", bot_id)
        got = self._session.send("GET", path, params={"limit": limit}, headers=headers, more_s=wait_s)
        return read(got, list[PulledCall])

    def answer_calls(self, bot_id: str, answers: Sequence[CallAnswer]) -> AnswersTaken:
        """Send up to 256 answers; of several to one call the first is taken."""
        body = {"answers": list(answers)}
        return self._session.call("POST", at("/v1/bots/{}/actions", bot_id), body, AnswersTaken)
