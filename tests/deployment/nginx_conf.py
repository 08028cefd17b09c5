"""nginx's configuration, a directive at a time: what is known to say nothing of the machine stays as it is."""

from __future__ import annotations

import os
import re

from tests.deployment.composefile import UnknownError

PLAIN = """
    absolute_redirect access_log add_header client_body_buffer_size client_body_timeout client_header_timeout
    client_max_body_size default_type error_log error_page events http if include keepalive_timeout
    large_client_header_buffers limit_conn limit_conn_status limit_conn_zone location log_format map merge_slashes
    proxy_buffer_size proxy_buffers proxy_busy_buffers_size proxy_connect_timeout proxy_http_version
    proxy_max_temp_file_size proxy_next_upstream proxy_next_upstream_tries proxy_pass proxy_read_timeout
    proxy_send_timeout proxy_set_header reset_timedout_connection resolver_timeout return send_timeout server
    server_tokens ssl_protocols ssl_session_cache ssl_session_tickets worker_connections worker_processes
    worker_rlimit_nofile worker_shutdown_timeout
"""
"""Directives that name nothing of the machine, or nothing but what `NARROW` allows."""
NARROW = {
    "include": r" listen\.conf;",
    "access_log": r" (off|/dev/stdout \w+);",
    "error_log": r" stderr \w+;",
    "proxy_pass": r" http://\$arena;",
}
PATHS = """
    pid client_body_temp_path proxy_temp_path fastcgi_temp_path scgi_temp_path uwsgi_temp_path ssl_certificate
    ssl_certificate_key
"""
_ENTRY = re.compile(r"^\s*((\d{3}|default|on) (\d+|'[^'/]*(HTTP/1\.1)?[^'/]*')|~[^\s;]+ \$1|internal);$")
"""A line of a map: a text that names no path, or a part of one's own; or the one directive that has no value."""
_DIRECTIVE = re.compile(r"^(?P<indent>\s*)(?P<name>\w+)(?P<rest>\s.*)?$")


def main(text, place):
    """Give the main file for a place. A master that is root would give its workers to nobody, who may enter no folder
    of ours; in the container all of it is of one user, as here then."""
    return ("user root;\n" if os.geteuid() == 0 else "") + translated(text, place)


def translated(text, place):
    """Give the configuration for a place; names stay, since our name service is asked for them."""
    return "\n".join(_line(line, place) for line in text.splitlines()) + "\n"


def _line(line, place):
    if not line.strip() or line.lstrip().startswith(("#", "}", "'")):  # a text goes on from the line above
        return line
    found = _DIRECTIVE.match(line)
    if _ENTRY.match(line):
        return line
    if found is None or re.search(r";\s*[^\s#]", line):
        raise UnknownError(f"expected one directive of nginx, got {line!r}")
    return f"{found['indent']}{found['name']}{_rest(found['name'], found['rest'] or '', place)}"


def _rest(name, rest, place):
    port = place.ground.port
    if name == "listen":
        return _replaced(r" (?:127\.0\.0\.1:)?(\d+)(?= |;)", lambda to: f" {place.address}:{port(to[1])}", name, rest)
    if name == "resolver":
        return _replaced(r" 127\.0\.0\.11 ", lambda _: f" {place.ground.resolver}:{port(53)} ", name, rest)
    if name == "set":
        return _replaced(
            r" \$arena (\w+):(\d+);", lambda to: f" $arena {_known(to[1], place)}:{port(to[2])};", name, rest
        )
    if name in PATHS.split():
        return _replaced(r" (/\S+);", lambda to: f" {place.path(to[1])};", name, rest)
    if name not in PLAIN.split() or not re.match(NARROW.get(name, ""), rest):
        raise UnknownError(f"nothing is known of {name}{rest}")
    return rest


def _replaced(pattern, replacement, name, rest):
    if not re.match(pattern, rest):
        raise UnknownError(f"nothing is known of {name}{rest}")
    return re.sub(pattern, replacement, rest, count=1)


def _known(name, place):
    if name not in place.ground.names:
        raise UnknownError(f"nobody is known as {name}")
    return name
