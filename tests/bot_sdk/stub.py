"""An arena of prepared answers, to hold the client against."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import takewhile


class Stub:
    """Gives (status, body) or (status, body, headers) in turn, or hangs up for None; keeps what it got.

    A body is bytes, a tuple of pieces that are sent one by one (it breaks off at None) or, as JSON, anything else.
    """

    def __init__(self, script):
        self.script = list(script)
        self.got = []
        stub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                length = int(self.headers.get("Content-Length") or 0)
                sent = self.rfile.read(length)
                stub.got.append((self.command, self.path, dict(self.headers), json.loads(sent) if sent else None))
                told = stub.script.pop(0)
                self.close_connection = True
                if told is None:
                    return
                status, body, *more = told
                kind = "application/problem+json" if status >= 400 else "application/json"
                headers = {"Content-Type": kind, **(more[0] if more else {})}
                if isinstance(body, tuple):
                    self._begin(status, headers | {"Transfer-Encoding": "chunked"})
                    for piece in takewhile(lambda piece: piece is not None, body):
                        self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                    self.wfile.write(b"" if None in body else b"0\r\n\r\n")
                    return
                raw = body if isinstance(body, bytes) else json.dumps(body).encode()
                self._begin(status, {"Content-Length": str(len(raw)), **headers})
                self.wfile.write(raw)

            def _begin(self, status, headers):
                self.send_response_only(status)
                for name, value in {"Connection": "close", **headers}.items():
                    self.send_header(name, value)
                self.end_headers()

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815 - the base class calls them so

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
