"""Reading one HTTP/1 reply of a stranger, strictly, on the parser of `httptools` (llhttp).

The parser refuses doubled and contradicting lengths, bare line feeds, folded headers and overflowing chunks.
What it leaves to its user is done here: limits, counted on the wire, content type and coding, and whether the
reply was whole when the connection ended. Opens no connection and knows no clock.
"""

from __future__ import annotations

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from bot_sdk.events import Outcome
from service.outbound.values import HEAD_SHOWN

HEADERS_LIMIT = 16 * 1024
MOST_HEADERS = 100
_HEADERS_READ = frozenset({b"content-type", b"content-length", b"content-encoding", b"transfer-encoding"})


class Fault(Exception):  # noqa: N818  # ends a call; never leaves this package
    """A reply, or the lack of one, that is the bot's to answer for."""

    def __init__(self, outcome: Outcome, error: str, status: int | None = None, head: bytes = b"") -> None:
        super().__init__(error)
        self.outcome = outcome
        self.error = error
        self.status = status
        self.head = head


class ReplyReader:
    """Reads the replies of one connection, one after another: `begin`, then `feed` until it says that's all.

    After a `Fault`, or when `may_go_on` is false, the connection is to be closed.
    """

    __slots__ = (
        "_body",
        "_ended",
        "_extra",
        "_header_count",
        "_headers",
        "_headers_done",
        "_keeps_alive",
        "_limit",
        "_parser",
        "_size",
        "_wants_json",
        "_wire",
        "status",
    )

    def __init__(self) -> None:
        self._parser: HttpResponseParser | None = HttpResponseParser(self)
        self.begin(0)

    def begin(self, limit: int, *, wants_json: bool = True) -> None:
        """Expect a 200 with at most `limit` bytes of JSON; or, if none is wanted, any 2xx."""
        self._limit = limit
        self._wants_json = wants_json
        self._header_count = 0
        self._headers: dict[bytes, bytes] = {}
        self._headers_done = False
        self._body: list[bytes] = []
        self._size = 0
        self._wire = 0
        self._keeps_alive = False
        self._ended = False
        self._extra = False
        self.status: int | None = None

    def close(self) -> None:
        """Let go of the parser, which refers back to this reader."""
        self._parser = None

    @property
    def has_begun(self) -> bool:
        """Whether any byte of a reply came."""
        return self._wire > 0

    @property
    def body(self) -> bytes:
        """What came of the body so far."""
        return self._body[0] if len(self._body) == 1 else b"".join(self._body)

    @property
    def may_go_on(self) -> bool:
        """Whether the connection may carry another call: this reply had its own end, and nothing followed."""
        return self._ended and self._keeps_alive and not self._extra

    def feed(self, data: bytes) -> bool:
        """Take what arrived; True once the reply is whole.

        Raises `Fault` as soon as it can't become a good one.
        """
        if not self._headers_done and self._wire + len(data) > HEADERS_LIMIT:
            data = self._parse_headers(data)
        self._parse(data)
        if self._header_count > MOST_HEADERS:
            raise self._fault(f"expected at most {MOST_HEADERS} headers")
        if not self._headers_done:
            return False
        self._check_status()
        if not self._wants_json:
            return True
        self._check_headers()
        if self._size > self._limit or self._wire > self._limit + HEADERS_LIMIT:
            raise self._fault(f"expected at most {self._limit} bytes")
        return self._ended

    def end(self) -> None:
        """Take the end of the connection; raises `Fault` unless it is the end of a whole reply.

        A reply without a length lasts as long as its connection; whether its JSON is whole, its reader sees.
        """
        if not self._headers_done:
            raise self._fault("the connection closed within the headers")
        if b"content-length" in self._headers or b"transfer-encoding" in self._headers:
            raise self._fault(f"the connection closed after {self._size} bytes of a longer body")

    def _parse_headers(self, data: bytes) -> bytes:
        """Take no more than headers may have, in whatever pieces they come, and give back the rest."""
        room = HEADERS_LIMIT - self._wire
        if room:
            self._parse(data[:room])
        if not self._headers_done:
            raise self._fault(f"expected at most {HEADERS_LIMIT} bytes of headers")
        return data[room:]

    def _parse(self, data: bytes) -> None:
        self._wire += len(data)
        try:
            self._parser.feed_data(data)  # type: ignore[union-attr]  # a closed connection isn't read
        except HttpParserUpgrade:
            self._extra = True
        except HttpParserError as error:
            if not self._ended:
                raise self._fault(f"expected HTTP/1.1, got something unreadable: {error}", data) from error
            self._extra = True

    def _check_status(self) -> None:
        expected = 200 if self._wants_json else 299
        if not 200 <= (self.status or 0) <= expected:
            said = "200" if self._wants_json else "2xx"
            raise Fault(Outcome.BAD_STATUS, f"expected {said}, got {self.status}", self.status, self.body[:HEAD_SHOWN])

    def _check_headers(self) -> None:
        headers = self._headers
        kind = headers.get(b"content-type", b"")
        if kind != b"application/json" and kind.partition(b";")[0].strip().lower() != b"application/json":
            raise self._fault(f"expected content-type application/json, got {_shown(kind)}")
        if headers.get(b"content-encoding", b"identity").lower() != b"identity":
            raise self._fault(f"expected no content-encoding, got {_shown(headers[b'content-encoding'])}")
        if headers.get(b"transfer-encoding", b"chunked").lower() != b"chunked":
            raise self._fault(f"expected no transfer-encoding but chunked, got {_shown(headers[b'transfer-encoding'])}")
        if int(headers.get(b"content-length", b"0")) > self._limit:
            raise self._fault(f"expected at most {self._limit} bytes")

    def _fault(self, error: str, garbage: bytes = b"") -> Fault:
        return Fault(Outcome.BAD_REPLY, error, self.status, (self.body or garbage)[:HEAD_SHOWN])

    # What the parser calls.

    def on_message_begin(self) -> None:
        """Start a message: the reply, what follows an interim one, or a second one that nobody asked for."""
        self._extra = self._ended

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep the few headers that matter; those of trailers and of a second reply don't."""
        if self._headers_done:
            return
        self._header_count += 1
        name = name.lower()
        if name in _HEADERS_READ:
            known = self._headers.get(name)
            self._headers[name] = value if known is None else known + b", " + value

    def on_headers_complete(self) -> None:
        """Take the status, unless it is an interim one such as 100 or 103."""
        if self._headers_done or self._parser is None:
            return
        status = self._parser.get_status_code()
        if 100 <= status < 200 and status != 101:
            self._headers.clear()
            return
        self._headers_done = True
        self.status = status
        self._keeps_alive = self._parser.should_keep_alive()

    def on_body(self, body: bytes) -> None:
        """Keep a piece of the body; how much there may be is judged after each read."""
        if not self._ended:
            self._body.append(body)
            self._size += len(body)

    def on_message_complete(self) -> None:
        """Note the end of the reply; that of an interim one is none."""
        if self._headers_done:
            self._ended = True


def _shown(value: bytes) -> str:
    return repr(value[:80].decode("latin-1"))
