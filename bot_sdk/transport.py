"""Calls to the arena's HTTP API: the one place that holds a session, keeps deadlines and reads problems."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

import requests
from requests.auth import AuthBase

from bot_sdk.errors import SdkError

Json: TypeAlias = dict[str, Any]

TIMEOUT_S: Final = 30.0
TRIES: Final = 3
PAGE: Final = 100
PIECE: Final = 64 * 1024
"""Bytes of a streamed answer that are taken at once, at most."""


class ArenaError(SdkError):
    """The arena refused, or couldn't be reached.

    `status` is the HTTP status, 0 if there was no answer. `code` is stable: the problem's own, or `unreachable`, or
    `not_an_arena` for an answer that no arena gives. `errors` names what is wrong by field.
    """

    def __init__(self, status: int, code: str, detail: str, errors: Mapping[str, list[str]] | None = None) -> None:
        fields = [f"{name}: {', '.join(said)}" for name, said in (errors or {}).items()]
        more = "; ".join(field for field in fields if field not in detail)
        super().__init__(f"{detail} ({more})" if more else detail)
        self.status = status
        self.code = code
        self.errors = dict(errors or {})


def _new_key() -> str:
    return uuid.uuid4().hex


class _Bearer(AuthBase):
    """Puts the token into a request. As a header it would give way to whatever ``.netrc`` says of the host."""

    def __init__(self, token: str | None) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._token:
            request.headers["Authorization"] = f"Bearer {self._token}"
        return request


class Transport:
    """Sends requests for one token, or for nobody."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout_s: float = TIMEOUT_S,
        new_key: Callable[[], str] = _new_key,
    ) -> None:
        """Aim at an arena; nothing is sent yet. `timeout_s` bounds each wait for the arena."""
        self.url = url.rstrip("/")
        self.token = token
        self._timeout_s = timeout_s
        self._new_key = new_key
        self._session = requests.Session()

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def get(self, path: str, params: Mapping[str, Any] | None = None) -> Json:
        """GET an object."""
        return self.read(self.send("GET", path, params=params))

    def whole(self, path: str, params: Mapping[str, str] | None = None) -> Json:
        """GET a list whole: what its first page says, with the items of all pages."""
        first = self.get(path, {**(params or {}), "limit": str(PAGE)})
        if (cursor := first.get("next_cursor")) is None:
            return first
        more = self.pages(path, {**(params or {}), "cursor": cursor})
        return {**first, "items": [*first["items"], *more], "next_cursor": None}

    def pages(self, path: str, params: Mapping[str, str] | None = None) -> Iterator[Json]:
        """List the items of all pages of a list."""
        cursor: str | None = None
        while True:
            query = {**(params or {}), "limit": str(PAGE), **({"cursor": cursor} if cursor else {})}
            page = self.get(path, query)
            yield from page["items"]
            cursor = page.get("next_cursor")
            if cursor is None:
                return

    def create(self, path: str, body: Json, *, method: str = "POST") -> Json:
        """Send what makes something, with a key that lets it be sent again."""
        return self.read(self.send(method, path, body=body, headers={"Idempotency-Key": self._new_key()}))

    def call(self, method: str, path: str, body: Json | None = None, *, token: str | None = None) -> Json:
        """Send what may be repeated without harm."""
        return self.read(self.send(method, path, body=body, token=token))

    def read(self, response: requests.Response) -> Json:
        """Read an object; an empty answer is an empty one."""
        if not response.content:
            return {}
        try:
            value = response.json()
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise ArenaError(response.status_code, "not_an_arena", f"expected an object from {response.url}")
        return value

    def pieces(self, response: requests.Response) -> Iterator[bytes]:
        """Give the body of a streamed answer as it comes; raises `ArenaError` if it breaks off."""
        try:
            yield from response.iter_content(PIECE)
        except requests.RequestException as error:
            raise ArenaError(0, "unreachable", f"the answer of {self.url} broke off: {error}") from error

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
        stream: bool = False,
    ) -> requests.Response:
        """Send a request, again if the connection breaks; raises `ArenaError` for a refusal."""
        for left in reversed(range(TRIES)):
            try:
                response = self._session.request(
                    method,
                    self.url + path,
                    params=params,
                    json=body,
                    headers=headers,
                    auth=_Bearer(token or self.token),
                    timeout=self._timeout_s + more_s,
                    allow_redirects=False,
                    stream=stream,
                )
                break
            except requests.ConnectionError as error:
                if not left:
                    raise ArenaError(0, "unreachable", f"no arena at {self.url}: {error}") from error
            except requests.RequestException as error:
                raise ArenaError(0, "unreachable", f"no answer from {self.url}: {error}") from error
        if not response.ok:
            raise _refusal(response)
        return response


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


def _refusal(response: requests.Response) -> ArenaError:
    try:
        problem = response.json()
        return ArenaError(response.status_code, problem["code"], problem["detail"], problem.get("errors"))
    except (ValueError, KeyError, TypeError):
        detail = f"status {response.status_code} from {response.url}: {response.text[:200]}"
        return ArenaError(response.status_code, "not_an_arena", detail)
