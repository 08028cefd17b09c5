"""Text of strangers made harmless: a terminal would obey what in it isn't printable."""

from __future__ import annotations


def plain(text: str) -> str:
    """Replace what isn't printable."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


def plain_lines(text: str) -> str:
    """Replace what isn't printable, but for the ends of lines; tabs become spaces."""
    return "\n".join(map(plain, text.expandtabs().split("\n")))
