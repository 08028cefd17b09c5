from __future__ import annotations

import subprocess

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_families
from prometheus_client.parser import text_string_to_metric_families as families

from service.metrics import catalogue
from service.metrics.catalogue import METRICS
from service.metrics.exposition import exposed
from service.metrics.tallies import Cell
from tests.programs import program

EVERYTHING = [Cell(each.name, tuple("x" for _ in each.labels), [1.0] * each.size) for each in METRICS]


@pytest.mark.parametrize(
    ("accept", "read"), [("", families), ("application/openmetrics-text; version=1.0.0", open_families)]
)
def test_every_metric_is_told_in_both_forms(accept, read):
    text, content_type = exposed(EVERYTHING, accept)
    assert ("openmetrics" in content_type) == bool(accept)
    names = {sample.name for family in read(text.decode()) for sample in family.samples}
    assert names >= {each.name for each in METRICS if each.kind != "histogram"}
    assert names >= {
        f"{each.name}_{end}" for each in METRICS if each.kind == "histogram" for end in ("count", "sum", "bucket")
    }


def test_classes_of_a_histogram_add_up_to_its_count():
    values = [1.0, 0.0, 2.0, *[0.0] * (catalogue.BATCHES.size - 5), 4.0, 99.5]
    text, _ = exposed([Cell(catalogue.BATCHES.name, (), values)], "")
    (family,) = families(text.decode())
    told = {sample.labels.get("le", sample.name): sample.value for sample in family.samples}
    name = catalogue.BATCHES.name
    assert (told["1.0"], told["2.0"], told["4.0"], told["+Inf"]) == (1.0, 1.0, 3.0, 7.0)
    assert (told[f"{name}_count"], told[f"{name}_sum"]) == (7.0, 99.5)


def test_labels_can_hold_anything():
    strange = 'a "quoted"\nline\\'
    text, _ = exposed([Cell(catalogue.ALARM.name, (strange,), [1.0])], "")
    ((sample,),) = (family.samples for family in families(text.decode()))
    assert sample.labels == {"alarm": strange}


def test_names_and_texts_are_as_prometheus_wants_them():
    text, _ = exposed(EVERYTHING, "")
    told = subprocess.run(
        [program("promtool", "prometheus"), "check", "metrics"],
        input=text,
        check=False,
        capture_output=True,
        timeout=60,
    )
    assert (told.returncode, told.stdout, told.stderr) == (0, b"", b"")


def test_the_tool_would_see_what_is_wrong():
    told = subprocess.run(
        [program("promtool", "prometheus"), "check", "metrics"],
        input=b"# TYPE a counter\na 1\n",
        check=False,
        capture_output=True,
        timeout=60,
    )
    assert told.returncode != 0
