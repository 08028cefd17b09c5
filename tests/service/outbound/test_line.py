"""Many calls at once on one line, and many lines at once: each is answered once, in time, and none takes all."""

from __future__ import annotations

import queue
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from service.outbound.calls import Calls
from service.outbound.guard import LOOPBACK, Guard
from service.outbound.line import Line
from service.outbound.values import Call, Endpoint
from tests.service.outbound.hostile import BAD, CHUNKED, SECRET, SLACK_MS, call_to, gather, reply


@pytest.fixture
def make() -> Iterator[Calls]:
    made: list[Calls] = []

    def start(guard: Guard | None = None, **options: object) -> Calls:
        made.append(Calls(guard or Guard(LOOPBACK), **options))
        return made[-1]

    yield start
    for calls in made:
        calls.close()


@pytest.fixture
def calls(make):
    return make(slots=16)


@pytest.fixture
def open_line():
    opened: list[Line] = []

    def start(calls: Calls) -> Line:
        opened.append(calls.line())
        return opened[-1]

    yield start
    for line in opened:
        line.close()


@pytest.fixture
def line(calls, open_line):
    return open_line(calls)


def call_by(bot: str, url: str, key: object = 1, budget_ms: float = 5_000) -> Call:
    return Call(key, Endpoint(bot, url, (SECRET,)), b"{}", budget_ms, "msg_1")


def forever(serve):
    """Serve nothing, ever."""
    server = serve(lambda *_: server.stopping.wait(30))
    return server


class TestManyCalls:
    def test_each_call_is_answered_once_under_its_key(self, serve, line):
        server = serve(reply())
        for key in range(300):
            line.submit(call_to(server.url, key=key, budget_ms=10_000))
        answers = gather(line, 300)
        assert sorted(answer.key for answer in answers) == list(range(300))
        assert {answer.outcome for answer in answers} == {"ok"}
        assert server.connections <= 8

    def test_1_000_are_in_flight_at_once(self, make, open_line):
        line = open_line(make(slots=1_000, most_per_bot=1_000, most_per_host=1_000, openers=32))
        with ThreadPoolExecutor(1) as beside, socket.create_server(("127.0.0.1", 0), backlog=1_024) as listener:
            answered = beside.submit(_answer_together, listener, 1_000)
            for key in range(1_000):
                line.submit(call_to(f"http://127.0.0.1:{listener.getsockname()[1]}/", key=key, budget_ms=30_000))
            answers = gather(line, 1_000, 30)
            assert {answer.outcome for answer in answers} == {"ok"}
            assert len({answer.key for answer in answers}) == 1_000
            assert answered.result(10) == 1_000

    def test_waiting_for_a_slot_costs_a_bot_nothing(self, serve, make, open_line):
        line = open_line(make(slots=1))
        slow = serve(lambda connection, _: slow.stopping.wait(0.15) or connection.sendall(reply()) or True)
        for key in range(5):
            line.submit(call_to(slow.url, key=key, budget_ms=1_000))
        answers = gather(line, 5)
        assert [answer.outcome for answer in answers] == ["ok"] * 5
        assert [answer.key for answer in answers] == list(range(5))
        assert all(answer.ms < 700 for answer in answers)

    def test_a_silent_bot_does_not_hold_up_the_others(self, serve, line):
        silent, fast = forever(serve), serve(reply())
        for _ in range(20):
            line.submit(call_by("bot_1", silent.url, "silent", 20_000))
        for key in range(40):
            line.submit(call_by("bot_2", fast.url, key))
        answers = gather(line, 40)
        assert {answer.outcome for answer in answers} == {"ok"}
        assert {answer.key for answer in answers} == set(range(40))

    def test_silent_bots_of_one_host_do_not_hold_up_those_of_another(self, serve, line):
        silent, fast = forever(serve), serve(reply(), family=socket.AF_INET6)
        for number in range(40):
            line.submit(call_by(f"bot_{number}", silent.url, "silent", 20_000))
        for key in range(40):
            line.submit(call_by("bot_else", fast.url, key))
        assert {answer.key for answer in gather(line, 40)} == set(range(40))

    def test_nothing_is_left_of_many_bad_calls(self, serve, line, calls):
        servers = [serve(answer) for answer in (BAD["html"], BAD["endless headers"], reply(status="500 x"), reply())]
        for key in range(200):
            line.submit(call_to(servers[key % 4].url, key=key))
        assert {(answer.key % 4, answer.outcome.value) for answer in gather(line, 200)} == {
            (0, "bad_reply"),
            (1, "bad_reply"),
            (2, "bad_status"),
            (3, "ok"),
        }
        assert_nothing_is_left(line, calls)
        assert len(line._pool._idle) <= 8

    def test_hostile_calls_side_by_side_all_end_at_their_deadline(self, serve, make, open_line):
        line = open_line(make(slots=48, most_per_bot=48, most_per_host=48, openers=48))
        servers = [
            forever(serve),
            serve(lambda connection, _: servers[1].drip(connection, reply() * 9, 0.01)),
            serve(
                lambda connection, _: (
                    connection.sendall(CHUNKED) or servers[2].drip(connection, b"1\r\n \r\n" * 99, 0.01)
                )
            ),
        ]
        for key in range(48):
            line.submit(call_to(servers[key % 3].url, key=key, budget_ms=500))
        answers = gather(line, 48)
        assert {answer.outcome for answer in answers} == {"late"}
        assert all(500 <= answer.ms <= 500 + SLACK_MS for answer in answers)
        line.submit(call_to(serve(reply()).url))
        assert gather(line, 1)[0].outcome == "ok"


def _answer_together(listener: socket.socket, number: int) -> int:
    """Answer only once all have asked."""
    connections = [listener.accept()[0] for _ in range(number)]
    for connection in connections:
        assert connection.recv(65_536).startswith(b"POST")
    for connection in connections:
        connection.sendall(reply())
    for connection in connections:
        connection.close()
    return len(connections)


def assert_nothing_is_left(line: Line, calls: Calls) -> None:
    assert not line._under_way
    assert not line._by_connection
    assert not line._pool._busy
    assert line._timers.next() is None
    assert not calls._slots._hosts


class TestConnections:
    def test_what_ends_while_it_idles_is_closed_before_it_is_used(self, serve, line):
        server = serve(reply())
        line.submit(call_to(server.url))
        assert gather(line, 1)[0].outcome == "ok"
        [connection] = line._pool._idle
        server.die()
        for thread in server.serving:
            thread.join(5)
        line.wait(0)
        assert connection.fileno() == -1
        assert not line._pool._idle

    def test_a_host_whose_connections_take_long_holds_up_no_other(self, make, open_line, serve):
        """Its names are never answered: all openers that it may have wait, and what it asks besides waits for them."""
        asked: queue.SimpleQueue[str] = queue.SimpleQueue()

        def look_up(host, port, timeout):
            if host == "good.example":
                return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]
            asked.put(host)
            time.sleep(timeout)  # a name server that is silent
            raise socket.gaierror(socket.EAI_AGAIN, "timed out")

        line = open_line(make(Guard(LOOPBACK, lookup=look_up), slots=64, openers=4))
        for number in range(9):
            line.submit(call_by(f"bot_{number % 3}", "http://bad.example:8080/", f"bad {number}", 400))
        for _ in range(3):
            line.wait(0)
            asked.get(timeout=5)
        good = serve(reply())
        line.submit(call_by("bot_good", f"http://good.example:{good.port}/", "good"))
        answers = {answer.key: answer for answer in gather(line, 10)}
        assert answers.pop("good").outcome == "ok"
        lates = [answer.ms for answer in answers.values() if answer.outcome == "late"]
        assert {answer.outcome for answer in answers.values()} <= {"late", "our_fault"}  # a machine may be busy
        assert all(400 <= ms <= 400 + SLACK_MS for ms in lates)

    def test_waiting_for_an_opener_costs_a_bot_nothing(self, make, open_line, serve):
        """The time of the second one, which waits for the first one's, is only its own."""

        def look_up(host, port, timeout):
            time.sleep(0.2)  # a name server that is slow
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

        line = open_line(make(Guard(LOOPBACK, lookup=look_up), openers=1))
        server = serve(reply())
        for number in range(4):
            line.submit(call_by(f"bot_{number}", f"http://bot.example:{server.port}/", number, 600))
        assert [answer.outcome for answer in gather(line, 4)] == ["ok"] * 4

    def test_a_machine_without_descriptors_blames_no_bot(self, line, monkeypatch):
        def connect(*_):
            raise OSError(24, "Too many open files")

        monkeypatch.setattr(Guard, "connect", connect)
        line.submit(call_to("http://127.0.0.1:8080/"))
        [answer] = gather(line, 1)
        assert (answer.outcome, "Too many open files" in answer.error) == ("our_fault", True)


class TestManyLines:
    def test_they_share_the_slots(self, serve, make, open_line):
        """What one line holds, the other waits for; what it frees, the other gets at once."""
        calls, asked, go = make(slots=2, most_per_bot=2, most_per_host=2), threading.Semaphore(0), threading.Event()
        server = serve(lambda connection, _: asked.release() or (go.wait(10) and connection.sendall(reply())) or True)
        first, second = open_line(calls), open_line(calls)
        for key in range(2):
            first.submit(call_to(server.url, key=key, budget_ms=20_000))
        second.submit(call_to(server.url, key="waits", budget_ms=20_000))
        while not (asked.acquire(blocking=False) and asked.acquire(blocking=False)):
            first.wait(0.01)
        assert second.wait(0.05) == []
        assert len(server.requests) == 2
        with ThreadPoolExecutor(1) as beside:
            answer = beside.submit(gather, second, 1)
            go.set()
            assert len(gather(first, 2)) == 2
            assert [each.key for each in answer.result(10)] == ["waits"]

    def test_many_at_once_answer_each_its_own(self, serve, make, open_line):
        calls, server = make(slots=8), serve(reply())
        lines = [open_line(calls) for _ in range(6)]

        def ask(number: int) -> set[object]:
            for key in range(100):
                lines[number].submit(call_by(f"bot_{key % 3}", server.url, (number, key), 20_000))
            answers = gather(lines[number], 100, 30)
            assert {answer.outcome for answer in answers} == {"ok"}
            return {answer.key for answer in answers}

        with ThreadPoolExecutor(6) as beside:
            for number, keys in enumerate(beside.map(ask, range(6))):
                assert keys == {(number, key) for key in range(100)}
        for line in lines:
            assert_nothing_is_left(line, calls)

    def test_slots_of_one_that_is_closed_go_to_the_others(self, serve, make, open_line):
        calls, silent, fast = make(slots=2, most_per_bot=2, most_per_host=2), forever(serve), serve(reply())
        gone, stays = open_line(calls), open_line(calls)
        for key in range(1_500):  # two in flight, and many that wait
            gone.submit(call_to(silent.url, key=key, budget_ms=30_000))
        gone.wait(0.05)
        stays.submit(call_to(fast.url))
        assert stays.wait(0.05) == []
        gone.close()
        assert gather(stays, 1)[0].outcome == "ok"
        assert_nothing_is_left(stays, calls)


class TestWaking:
    def test_who_waits_is_woken_from_another_thread(self, line):
        waiting = threading.Event()
        with ThreadPoolExecutor(1) as beside:
            woken = beside.submit(lambda: waiting.wait(5) and line.wake())
            began = time.monotonic()
            waiting.set()
            assert line.wait(30) == []
            assert time.monotonic() - began < 10
            woken.result(30)

    def test_a_wake_before_the_wait_ends_it_and_only_it(self, line):
        for _ in range(3):
            line.wake()
        began = time.monotonic()
        assert line.wait(30) == []
        assert time.monotonic() - began < 10
        began = time.monotonic()
        assert line.wait(0.1) == []
        assert time.monotonic() - began >= 0.1

    def test_a_wake_sends_what_was_submitted(self, serve, line):
        server = serve(reply())
        line.submit(call_to(server.url))
        line.wake()
        line.wait(0)
        assert gather(line, 1)[0].outcome == "ok"

    def test_no_wake_is_lost_however_many_there_are(self, line):
        handed_in: queue.SimpleQueue[int] = queue.SimpleQueue()

        def hand_in() -> None:
            for number in range(2_000):
                handed_in.put(number)
                line.wake()

        with ThreadPoolExecutor(2) as beside:
            done = [beside.submit(hand_in) for _ in range(2)]
            taken = 0
            while taken < 4_000:
                began = time.monotonic()
                line.wait(30)
                assert time.monotonic() - began < 20
                while not handed_in.empty():
                    handed_in.get()
                    taken += 1
            for each in done:
                each.result(30)

    def test_a_closed_line_may_be_woken(self, line):
        line.close()
        line.wake()


class TestTheEnd:
    def test_a_line_closed_with_calls_in_flight_drops_them(self, serve, make, open_line):
        calls, silent = make(slots=4, openers=2), forever(serve)
        line = open_line(calls)
        for key in range(9):
            line.submit(call_to(silent.url, key=key, budget_ms=30_000))
        line.wait(0.05)
        line.close()
        assert_nothing_is_left(line, calls)
        silent.die()
        for thread in silent.serving:
            thread.join(5)

    def test_what_is_opened_for_a_closed_line_is_closed(self, make, open_line, serve):
        looked_up, go = threading.Event(), threading.Event()

        def look_up(host, port, timeout):
            looked_up.set()
            go.wait(10)
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

        calls, ended = make(Guard(LOOPBACK, lookup=look_up)), threading.Event()
        server = serve(lambda connection, _: connection.recv(1) or ended.set(), reads=False)
        line = open_line(calls)
        line.submit(call_to(f"http://bot.example:{server.port}/", budget_ms=20_000))
        line.wait(0)
        assert looked_up.wait(5)
        line.close()
        go.set()
        assert ended.wait(10)

    def test_closing_ends_what_is_under_way_as_our_fault(self, serve, make, open_line):
        calls, asked = make(slots=4), threading.Semaphore(0)
        silent = serve(lambda *_: asked.release() or silent.stopping.wait(20))
        line = open_line(calls)
        for key in range(6):
            line.submit(call_to(silent.url, key=key, budget_ms=30_000))
        while not asked.acquire(blocking=False):
            line.wait(0.01)
        with ThreadPoolExecutor(1) as beside:
            answers = beside.submit(gather, line, 6)
            began = time.monotonic()
            calls.close()
            assert {answer.outcome for answer in answers.result(30)} == {"our_fault"}
            assert time.monotonic() - began < 15
        line.submit(call_to(silent.url))
        [answer] = gather(line, 1)
        assert (answer.outcome, answer.error) == ("our_fault", "the arena is shutting down")

    def test_closing_ends_what_asks_in_other_threads(self, serve, make):
        calls, asked = make(), threading.Event()
        silent = serve(lambda *_: asked.set() or silent.stopping.wait(20))
        with ThreadPoolExecutor(1) as beside:
            answer = beside.submit(calls.ask, call_to(silent.url, budget_ms=30_000))
            assert asked.wait(30)
            calls.close()
            assert answer.result(30).outcome == "our_fault"
