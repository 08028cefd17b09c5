"""What bots answer, read strictly: the SDK's own reader, so that a bot's check and its games judge alike."""

from __future__ import annotations

from bot_sdk.replies import BadReply, Missed, Reply, read_action, read_actions

__all__ = ["BadReply", "Missed", "Reply", "read_action", "read_actions"]
