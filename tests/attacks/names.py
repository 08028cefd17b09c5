"""A name server of our own, whose answers may change from one question to the next."""

from __future__ import annotations

import ipaddress
import socket
import struct
import threading

A, AAAA = 1, 28
NO_SUCH_NAME = 3


class Names:
    """Answers from `known`: the addresses of a name, or None to leave a question unanswered. Others don't exist."""

    def __init__(self, known: dict[str, list[str] | None]) -> None:
        self.known = known
        self.asked: list[str] = []
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def close(self) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
            last.sendto(b"", ("127.0.0.1", self.port))
        self._thread.join(10)
        assert not self._thread.is_alive()
        self._socket.close()

    def _serve(self) -> None:
        while True:
            question, sender = self._socket.recvfrom(512)
            if not question:
                return
            if reply := self._answer(question):
                self._socket.sendto(reply, sender)

    def _answer(self, question: bytes) -> bytes | None:
        labels, at = [], 12
        while length := question[at]:
            labels.append(question[at + 1 : at + 1 + length].decode())
            at += 1 + length
        name, (wanted,) = ".".join(labels), struct.unpack_from("!H", question, at + 1)
        self.asked.append(name)
        addresses = self.known.get(name, [])
        if addresses is None:
            return None
        found = [ipaddress.ip_address(address) for address in addresses]
        records = [each.packed for each in found if each.version == (6 if wanted == AAAA else 4)]
        code = 0 if name in self.known else NO_SUCH_NAME
        head = question[:2] + struct.pack("!HHHHH", 0x8180 | code, 1, len(records), 0, 0)
        answers = [struct.pack("!HHHIH", 0xC00C, wanted, 1, 0, len(packed)) + packed for packed in records]
        return head + question[12 : at + 5] + b"".join(answers)
