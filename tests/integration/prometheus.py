"""A real Prometheus that reads the metrics of processes of ours, and what it has seen."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlencode
from urllib.request import urlopen

import yaml

from tests.integration.arena import ROOT, wait_until
from tests.programs import program

_LISTENING = re.compile(r'msg="Listening on" address=(127\.0\.0\.1:\d+)')
_READY = "Server is ready to receive web requests"
EVERY = "1s"


class Prometheus:
    """Reads at once what deploy/prometheus.yml names jobs for; use it in a `with`.

    `targets` are addresses by job: they stand in the place of the names that the file looks up.
    """

    def __init__(self, folder: Path, targets: Mapping[str, list[str]]) -> None:
        folder.mkdir()
        self._log = folder / "prometheus.log"
        config = yaml.safe_load((ROOT / "deploy/prometheus.yml").read_text())
        config["global"] = {"scrape_interval": EVERY, "scrape_timeout": EVERY, "evaluation_interval": EVERY}
        config["rule_files"] = [str(ROOT / "deploy/alerts.yml")]
        assert {each["job_name"] for each in config["scrape_configs"]} == set(targets)
        for each in config["scrape_configs"]:
            del each["dns_sd_configs"]
            each["static_configs"] = [{"targets": targets[each["job_name"]]}]
        file = folder / "prometheus.yml"
        file.write_text(yaml.safe_dump(config))
        options = [
            f"--config.file={file}",
            f"--storage.tsdb.path={folder / 'data'}",
            "--web.listen-address=127.0.0.1:0",
        ]
        with self._log.open("wb") as said:
            self._process = subprocess.Popen(
                [program("prometheus", "prometheus"), *options],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,
            )

    def __enter__(self) -> Self:
        try:
            wait_until(lambda: self._address() and _READY in self._said(), 60, "a Prometheus that is ready")
        except BaseException:  # Ctrl-C too: nobody else would end it
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait(timeout=10)

    def ask(self, path: str, **query: str) -> Any:
        """Ask its own API."""
        with urlopen(f"http://{self._address()}/api/v1/{path}?{urlencode(query)}", timeout=20) as answer:
            return json.load(answer)["data"]

    def up(self) -> int:
        """Tell how many targets it reads well."""
        return sum(each["health"] == "up" for each in self.ask("targets")["activeTargets"])

    def value(self, query: str) -> dict[tuple[str, ...], float]:
        """Give what a query comes to now, by the values of its labels."""
        found = self.ask("query", query=query)["result"]
        return {tuple(each["metric"].values()): float(each["value"][1]) for each in found}

    def history(self, query: str) -> dict[str, list[float]]:
        """Give all samples of the series that a query chooses."""
        found = self.ask("query", query=query)["result"]
        return {str(each["metric"]): [float(value) for _, value in each["values"]] for each in found}

    def _address(self) -> str | None:
        assert self._process.poll() is None, self._said()[-2_000:]
        match = _LISTENING.search(self._said())
        return match[1] if match else None

    def _said(self) -> str:
        return self._log.read_text(errors="replace")
