"""A name service as small as can be: the addresses of names, as an engine's own gives them to containers."""

from __future__ import annotations

import socketserver
import struct
import threading

_ADDRESS, _INTERNET, _NO_SUCH_NAME = 1, 1, 3


class Names:
    """Answers on a UDP port for the names in `addresses`, which may change; all others don't exist."""

    def __init__(self, address, port):
        self.addresses = {}
        names = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                question, sock = self.request
                sock.sendto(names._answer(question), self.client_address)

        self._server = socketserver.ThreadingUDPServer((address, port), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def _answer(self, question):
        labels, at = [], 12
        while question[at]:
            labels.append(question[at + 1 : at + 1 + question[at]].decode())
            at += 1 + question[at]
        kind = struct.unpack_from("!H", question, at + 1)[0]
        asked = question[12 : at + 5]
        known = self.addresses.get(".".join(labels))
        found = (known or []) if kind == _ADDRESS else []
        code = 0x8180 | (_NO_SUCH_NAME if known is None else 0)
        head = question[:2] + struct.pack("!HHHHH", code, 1, len(found), 0, 0)
        record = struct.pack("!HHHIH", 0xC00C, _ADDRESS, _INTERNET, 1, 4)
        return head + asked + b"".join(record + bytes(map(int, address.split("."))) for address in found)

    def close(self):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
