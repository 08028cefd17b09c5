"""What all answers have in common, those of the app and those that the server gives before a request gets there.

It imports nothing: gunicorn needs it before the process is one of greenlets.
"""

from __future__ import annotations

from typing import Any, Final

REQUEST_ID: Final = "X-Request-Id"
"""On every answer: what the lines say that its request caused."""
PROBLEM_JSON: Final = "application/problem+json"
TITLES: Final = {
    400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
    406: "Not Acceptable", 408: "Request Timeout", 409: "Conflict", 411: "Length Required", 413: "Content Too Large",
    414: "URI Too Long", 415: "Unsupported Media Type", 417: "Expectation Failed", 422: "Unprocessable Content",
    429: "Too Many Requests", 431: "Request Header Fields Too Large", 500: "Internal Server Error",
    501: "Not Implemented", 503: "Service Unavailable",
}  # fmt: skip
CODES: Final = {
    400: "bad_request", 401: "unauthorized", 403: "forbidden", 404: "not_found", 405: "method_not_allowed",
    406: "not_acceptable", 408: "body_incomplete", 409: "conflict", 411: "length_required", 413: "body_too_large",
    414: "uri_too_long", 415: "unsupported_media_type", 417: "expectation_failed", 422: "invalid",
    429: "rate_limited", 431: "headers_too_large", 500: "internal_error", 501: "not_implemented", 503: "unavailable",
}  # fmt: skip
CONTENT_SECURITY_POLICY: Final = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
HEADERS: Final = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""On every answer, unless it has its own."""


def problem(status: int, detail: str, code: str | None = None) -> dict[str, Any]:
    """Give the members that every problem has (RFC 9457)."""
    return {
        "type": "about:blank",
        "title": TITLES[status],
        "status": status,
        "code": code or CODES[status],
        "detail": detail,
    }
