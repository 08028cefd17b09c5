"""The look-up of known vulnerabilities, by pip-audit itself, at a service that runs here."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from releasing import audit
from releasing.audit import Package, Report, Status, Vulnerability

PINS = "click==8.2.0\nmsgspec==0.20.0\n"


class Osv(BaseHTTPRequestHandler):
    """Answers as osv.dev does; whom it knows something of is in `server.known`."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps({"vulns": self.server.known.get(asked["package"]["name"], [])}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def osv():
    with ThreadingHTTPServer(("127.0.0.1", 0), Osv) as server:
        server.known = {}
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def look_up(osv, tmp_path, monkeypatch):
    """Run the command on two pinned packages, at the service that runs here."""
    (tmp_path / "pinned.txt").write_text(PINS)
    pinned = ("--requirement", str(tmp_path / "pinned.txt"), "--no-deps", "--disable-pip")
    monkeypatch.setattr(audit, "SETS", {"pinned": pinned})
    url = f"http://127.0.0.1:{osv.server_port}/v1/query"
    return lambda *options: audit.main(["--vulnerability-service=osv", f"--osv-url={url}", *options])


def test_packages_of_which_nothing_is_known_are_clean(look_up, capsys):
    assert look_up() is Status.CLEAN
    assert capsys.readouterr().out == "pinned: clean\n  2 packages, none with a known vulnerability\n"


def test_a_vulnerability_is_named_with_what_mends_it(look_up, osv, capsys):
    events = [{"introduced": "0"}, {"fixed": "0.20.1"}]
    affected = {
        "package": {"name": "msgspec", "ecosystem": "PyPI"},
        "ranges": [{"type": "ECOSYSTEM", "events": events}],
        "versions": ["0.20.0"],
    }
    osv.known["msgspec"] = [{"id": "PYSEC-1", "details": "reads too much", "affected": [affected]}]
    assert look_up() is Status.VULNERABLE
    assert "  msgspec 0.20.0: PYSEC-1, mended in 0.20.1\n" in capsys.readouterr().out


def test_a_service_that_cannot_be_reached_leaves_it_unknown(look_up, capsys):
    assert look_up("--osv-url=http://127.0.0.1:1/v1/query") is Status.UNKNOWN
    assert "pinned: unknown\n  expected a report of pip-audit, got status 1: " in capsys.readouterr().out


def test_packages_that_pip_audit_passes_over_are_not_clean():
    passed_over = Package("click", skip_reason="not found")
    status, lines = audit.judged(Report((passed_over, Package("msgspec", "0.20.0"))))
    assert status is Status.UNKNOWN
    assert lines == ["not looked up: 1 of 2, click"]
    assert audit.judged(Report(()))[0] is Status.UNKNOWN


def test_our_own_package_need_not_be_known():
    packages = (Package("slagveld", skip_reason="editable"), Package("msgspec", "0.20.0"))
    assert audit.judged(Report(packages))[0] is Status.CLEAN


def test_a_vulnerability_counts_before_what_is_unknown(monkeypatch):
    found = {"a": Report((Package("b", "1", (Vulnerability("PYSEC-2"),)), Package("c", skip_reason="not found")))}
    assert audit.judged(found["a"])[0] is Status.VULNERABLE
    ended = iter([Status.VULNERABLE, Status.UNKNOWN])
    monkeypatch.setattr(audit, "look_up", lambda _: (next(ended), []))
    assert audit.main([]) is Status.VULNERABLE


def test_what_a_deployment_pins_is_there():
    assert audit.PINNED.is_file()
