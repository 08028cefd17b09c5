"""Drives games: asks who must act, judges the answer, commits it."""
