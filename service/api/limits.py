"""How much one address and one token may ask for. Counts live in the store, and in memory while it is away."""

from __future__ import annotations

import hashlib
import ipaddress
import re
import time

from flask import Flask, Response, request
from flask_limiter import ApplicationLimit, Limiter, RequestLimit

from service.api.auth import sent_token
from service.api.problems import Problem
from service.config import Settings
from service.store.connection import connect

NEW_ACCOUNT = "accounts.create_account"
NOWHERE = "nowhere"
_WITH_PORT = re.compile(r"([0-9.]+)(?::\d+)?|\[([0-9a-fA-F:.]+)\](?::\d+)?|([0-9a-fA-F:.]+)", re.ASCII)
_FREE = ("health.", "docs.", "static")


def address() -> str:
    """Name where the request comes from: an IPv4 address, or the /64 an IPv6 address lies in.

    Some proxies tell the port too, which is another for each connection. What is no address comes from nowhere.
    """
    match = _WITH_PORT.fullmatch(request.remote_addr or "")
    try:
        parsed = ipaddress.ip_address((match[1] or match[2] or match[3]) if match else "")
    except ValueError:
        return NOWHERE
    if parsed.version == 4:
        return str(parsed)
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, 64), strict=False))


def register(app: Flask, settings: Settings) -> Limiter:
    """Count every request of the app but those for its health and its pages.

    The counts have connections of their own, which give up fast: memory counts while the store is slow or away.
    """
    pool = connect(settings.redis_url, socket_timeout_s=0.5, pool_timeout_s=0.5, retries=1).connection_pool
    return Limiter(
        address,
        app=app,
        application_limits=[
            ApplicationLimit(settings.rate_per_address, key_function=address, scope="address", exempt_when=_is_free),
            ApplicationLimit(settings.rate_per_token, key_function=_token, scope="token", exempt_when=_has_no_token),
            ApplicationLimit(
                settings.rate_new_accounts, key_function=address, scope="account", exempt_when=_is_no_new_account
            ),
        ],
        storage_uri="redis://",
        storage_options={"connection_pool": pool},  # type: ignore[dict-item]  # declared for texts only
        in_memory_fallback_enabled=True,
        on_breach=_refuse,
        key_prefix="rate",
        request_identifier=lambda: request.endpoint or "nothing",  # paths that lead nowhere count, too
    )


def _refuse(limit: RequestLimit) -> Response:
    wait = max(1, limit.reset_at - int(time.time()))
    detail = f"too many requests: {limit.limit} are allowed"
    return Problem(429, detail, headers={"Retry-After": str(wait)}).response()


def _is_free() -> bool:
    return (request.endpoint or "").startswith(_FREE)


def _has_no_token() -> bool:
    return sent_token(request) is None or _is_free()


def _is_no_new_account() -> bool:
    return request.endpoint != NEW_ACCOUNT or request.method != "POST"


def _token() -> str:
    return hashlib.sha256((sent_token(request) or "").encode()).hexdigest()[:32]
