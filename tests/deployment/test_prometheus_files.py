"""deploy/prometheus.yml and deploy/alerts.yml, as Prometheus' own tool reads them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from service.metrics.catalogue import METRICS
from tests.programs import program

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
ALERTS = yaml.safe_load((DEPLOY / "alerts.yml").read_text())["groups"][0]["rules"]
TESTS = Path(__file__).with_name("alerts_test.yml")


def promtool(*arguments):
    told = subprocess.run(
        [program("promtool", "prometheus"), *map(str, arguments)],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return told.returncode, told.stdout + told.stderr


def test_configuration_and_rules_are_as_prometheus_wants_them():
    code, said = promtool("check", "config", DEPLOY / "prometheus.yml")
    assert code == 0, said
    assert f"{len(ALERTS)} rules found" in said


def test_each_alert_fires_when_it_should_and_no_sooner(tmp_path):
    rules = tmp_path / "test.yml"
    rules.write_text(TESTS.read_text().replace("ALERTS", str(DEPLOY / "alerts.yml")))
    code, said = promtool("test", "rules", rules)
    assert code == 0, said


@pytest.mark.parametrize("case", yaml.safe_load(TESTS.read_text())["tests"], ids=lambda case: case["name"])
def test_each_alert_is_tested(case):
    assert {each["alertname"] for each in case["alert_rule_test"]} == {each["alert"] for each in ALERTS}


def test_alerts_ask_for_metrics_that_there_are():
    known = {each.name + end for each in METRICS for end in ("", "_bucket", "_count", "_sum")}
    asked = {name for each in ALERTS for name in re.findall(r"slagveld_\w+", each["expr"])}
    assert asked
    assert asked <= known
