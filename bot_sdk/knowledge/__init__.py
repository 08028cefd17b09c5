"""What follows from what a seat is shown: where cards are, where they can't be, and how the others may lie.

Everything here is computed from one decision's message, so nothing here can know a hidden card. It is exact: what is
said of a hand follows from the rules, never from how players usually play.
"""

from bot_sdk.knowledge.dealing import Hidden, Unexplained
from bot_sdk.knowledge.known import Knowledge
from bot_sdk.knowledge.sampling import sample

__all__ = ["Hidden", "Knowledge", "Unexplained", "sample"]
