"""What is kept under a key as plain bytes, so that words can be looked for: compressed values are read out."""

from __future__ import annotations

import zlib

from service.store import packed


def plain(redis, name):
    """Give the bytes under a key, nothing if it has gone; the server mustn't compress what it dumps."""
    value = redis.dump(name) or b""
    if name.endswith(b":packed"):
        value += zlib.decompressobj(packed._WINDOW, packed._TYPICAL).decompress(redis.get(name)[packed._HEAD :])
    elif name.endswith(b":notes"):
        value += zlib.decompress(redis.get(name))
    return value
