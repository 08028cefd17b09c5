"""Calls to the arena's HTTP API: the one place that holds a session, keeps deadlines, tries again, reads problems."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, TypeAlias, TypeVar
from urllib.parse import quote

import msgspec
import requests
from requests.auth import AuthBase
from urllib3.exceptions import HTTPError

from bot_sdk.errors import SdkError, quoted, reason

Json: TypeAlias = dict[str, Any]
T = TypeVar("T")

TIMEOUT_S: Final = 30.0
TRIES: Final = 3
"""How often a call is sent when connections break."""
PAGE: Final = 100
PIECE: Final = 64 * 1024
"""Bytes of an answer that are taken at once, at most."""
_MEMBERS: Final = frozenset({"type", "title", "status", "code", "detail", "errors"})
"""What every problem has; others are its own."""
_KEY: Final = "Idempotency-Key"


class ArenaError(SdkError):
    """The arena refused, or couldn't be reached.

    `status` is the HTTP status, 0 if there was no answer. `code` is stable: the problem's own, or `unreachable`, or
    `timeout`, or `not_an_arena` for an answer that no arena gives. `errors` names what is wrong by field, `members` is
    what the problem says besides, such as `legal_actions`; `retry_after` are the seconds after which to try again, if
    the arena named any.
    """

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        errors: Mapping[str, list[str]] | None = None,
        *,
        members: Mapping[str, Any] | None = None,
        retry_after: float | None = None,
    ) -> None:
        fields = [f"{name}: {', '.join(said)}" for name, said in (errors or {}).items()]
        more = "; ".join(field for field in fields if field not in detail)
        super().__init__(f"{detail} ({more})" if more else detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.errors = dict(errors or {})
        self.members = dict(members or {})
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class Got:
    """A whole answer."""

    status: int
    content: bytes
    url: str


@dataclass(frozen=True, slots=True)
class _Call:
    """What is sent."""

    method: str
    path: str
    params: Mapping[str, Any] | None = None
    body: Json | None = None
    headers: Mapping[str, str] | None = None
    token: str | None = None


def _new_key() -> str:
    return uuid.uuid4().hex


class _Bearer(AuthBase):
    """Puts the token into a request. As a header it would give way to whatever ``.netrc`` says of the host."""

    def __init__(self, token: str | None) -> None:
        """Take a token; raises `ArenaError` for what can't be one, which isn't shown."""
        if token and not (token.isascii() and token.isprintable() and " " not in token):
            raise ArenaError(0, "bad_token", "expected a token, got a text with other letters or spaces in it")
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._token:
            request.headers["Authorization"] = f"Bearer {self._token}"
        return request


class _Page(msgspec.Struct, frozen=True):
    """A page of any list, its items not yet read."""

    items: list[msgspec.Raw]
    next_cursor: str | None = None


class _Problem(msgspec.Struct, frozen=True):
    """What every problem says."""

    code: str
    detail: str
    errors: dict[str, list[str]] | None = None


class Transport:
    """Sends requests for one token, or for nobody.

    A call takes `timeout_s` in all, with its repeats and their pauses, against an arena that is silent or drips its
    answer, and twice that at most if it falls silent within its answer; one that drips its headers isn't guarded
    against. A call is sent again when the connection breaks, and when the arena says after how long to; what would do
    more than the first time carries an idempotency key.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout_s: float = TIMEOUT_S,
        new_key: Callable[[], str] = _new_key,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Aim at an arena; nothing is sent yet."""
        self.url = url.rstrip("/")
        self.token = token
        self._timeout_s = timeout_s
        self._new_key = new_key
        self._sleep = sleep
        self._clock = clock
        self._session = requests.Session()

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def get(self, path: str, kind: type[T], params: Mapping[str, Any] | None = None) -> T:
        """GET an answer of a kind."""
        return read(self.send("GET", path, params=params), kind)

    def pages(self, path: str, kind: type[T], params: Mapping[str, Any] | None = None) -> Iterator[T]:
        """List the items of all pages of a list, asking for a page when it is come to."""
        cursor: str | None = None
        while True:
            query = {**(params or {}), "limit": str(PAGE), **({"cursor": cursor} if cursor else {})}
            got = self.send("GET", path, params=query)
            page = read(got, _Page)
            yield from (decoded(item, kind, got) for item in page.items)
            cursor = page.next_cursor
            if cursor is None:
                return

    def create(self, path: str, body: Json, kind: type[T], *, method: str = "POST") -> T:
        """Send what makes something, with a key that lets it be sent again."""
        return read(self.send(method, path, body=body, headers={_KEY: self._new_key()}), kind)

    def call(self, method: str, path: str, body: Json, kind: type[T], *, token: str | None = None) -> T:
        """Send what may be repeated without harm."""
        return read(self.send(method, path, body=body, token=token), kind)

    def remove(self, path: str, *, method: str = "DELETE", token: str | None = None) -> None:
        """Send what leaves nothing to do it to again: a repeat that finds nothing has been done by the first try."""
        self.send(method, path, token=token, done=HTTPStatus.NOT_FOUND)

    def send(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        body: Json | None = None,
        headers: Mapping[str, str] | None = None,
        token: str | None = None,
        more_s: float = 0.0,
        patient: bool = True,
        done: int | None = None,
    ) -> Got:
        """Send a request and read the whole answer; raises `ArenaError` for a refusal.

        `more_s` is what the arena was asked to wait for. Without `patient`, a pause that the arena asks for isn't
        made. `done` is a status that is none of a refusal when it answers a repeat.
        """
        call = _Call(method, path, params, body, headers, token)
        until = self._clock() + self._timeout_s + more_s
        broken = 0
        while True:
            try:
                with self._open(call, until) as response:
                    got = self._whole(response, until)
                    refusal = None if _is_good(response) else _refusal(got, response.headers)
            except (requests.RequestException, HTTPError) as error:
                broken += 1
                self._check_again(error, broken, until)
                continue
            if refusal is None or (broken and got.status == done):
                return got
            pause = refusal.retry_after if patient else None
            if pause is None or self._clock() + pause >= until:
                raise refusal
            self._sleep(pause)

    def stream(
        self, path: str, *, params: Mapping[str, Any] | None = None, headers: Mapping[str, str] | None = None
    ) -> requests.Response:
        """GET an answer that is read as it comes; raises `ArenaError` for a refusal.

        What is waited for at once is bounded by `timeout_s`; all of it isn't.
        """
        until = self._clock() + self._timeout_s
        broken = 0
        while True:
            try:
                response = self._open(_Call("GET", path, params, headers=headers), until)
                if _is_good(response):
                    return response
                with response:
                    raise _refusal(self._whole(response, until), response.headers)
            except (requests.RequestException, HTTPError) as error:
                broken += 1
                self._check_again(error, broken, until)

    def pieces(self, response: requests.Response) -> Iterator[bytes]:
        """Give the body of a streamed answer as it comes; raises `ArenaError` if it breaks off."""
        try:
            yield from response.iter_content(PIECE)
        except requests.RequestException as error:
            raise ArenaError(0, "unreachable", f"the answer of {self.url} broke off: {reason(error)}") from error

    def _open(self, call: _Call, until: float) -> requests.Response:
        return self._session.request(
            call.method,
            self.url + call.path,
            params=call.params,
            json=call.body,
            headers=call.headers,
            auth=_Bearer(call.token or self.token),
            timeout=max(until - self._clock(), 0.001),
            allow_redirects=False,
            stream=True,
        )

    def _whole(self, response: requests.Response, until: float) -> Got:
        """Read the body as it comes in, so that a dripping one meets the deadline."""
        got = bytearray()
        while piece := response.raw.read1(PIECE, decode_content=True):
            got += piece
            if self._clock() > until:
                raise ArenaError(0, "unreachable", f"no whole answer from {self.url} in time")
        return Got(response.status_code, bytes(got), response.url)

    def _check_again(self, error: Exception, broken: int, until: float) -> None:
        """Raise the `ArenaError` of what went wrong unless the call may be sent once more."""
        late = isinstance(error, requests.ReadTimeout) or self._clock() >= until
        if late or not isinstance(error, requests.ConnectionError | HTTPError):
            raise ArenaError(0, "unreachable", f"no answer from {self.url}: {reason(error)}") from error
        if broken >= TRIES:
            raise ArenaError(0, "unreachable", f"no arena at {self.url}: {reason(error)}") from error


def at(template: str, *ids: object) -> str:
    """Fill ids into a path such as ``/v1/bots/{}``; raises `ArenaError` for one that would be another path."""
    for each in ids:
        if str(each) in {"", ".", ".."}:
            raise ArenaError(0, "not_found", f"expected an id, got {quoted(each)}")
    return template.format(*(quote(str(each), safe=":") for each in ids))


def read(got: Got, kind: type[T]) -> T:
    """Read an answer; raises `ArenaError` ``not_an_arena`` if it isn't of that kind."""
    return decoded(got.content, kind, got)


def decoded(body: bytes | msgspec.Raw, kind: type[T], got: Got) -> T:
    """Read a part of an answer, as `read` does."""
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, RecursionError) as error:
        expected = f"expected a {kind.__name__.lstrip('_')} from {got.url}: {error}"
        raise ArenaError(got.status, "not_an_arena", expected) from error


def given(**fields: Any) -> Json:
    """Leave out what isn't given: the arena has its own defaults."""
    return {name: value for name, value in fields.items() if value is not None}


def lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    r"""Cut bytes that come in pieces into lines, each without its ``\n``; what follows the last one is a line too.

    `requests` has this as well, but makes a line end wherever a piece does.
    """
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        yield from whole
    if rest:
        yield rest


def _is_good(response: requests.Response) -> bool:
    """Whether it was done: a redirect, which no arena answers and which isn't followed, is no success."""
    return HTTPStatus.OK <= response.status_code < HTTPStatus.MULTIPLE_CHOICES


def _refusal(got: Got, headers: Mapping[str, str]) -> ArenaError:
    try:
        problem = msgspec.json.decode(got.content, type=_Problem)
        whole = msgspec.json.decode(got.content, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        elsewhere = f", which sends to {quoted(headers['Location'])}" if "Location" in headers else ""
        said = got.content[:200].decode(errors="replace")
        detail = f"status {got.status} from {got.url}{elsewhere}: {said}"
        return ArenaError(got.status, "not_an_arena", detail)
    members = {name: value for name, value in whole.items() if name not in _MEMBERS}
    pause = _pause_s(headers)
    return ArenaError(got.status, problem.code, problem.detail, problem.errors, members=members, retry_after=pause)


def _pause_s(headers: Mapping[str, str]) -> float | None:
    """Read after how many seconds to try again; a date, which arenas don't send, is none."""
    said = headers.get("Retry-After", "")
    return float(said) if said.isascii() and said.isdigit() else None
