"""Writes what was counted as Prometheus reads it. Loaded only where metrics are served."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector, CollectorRegistry

from service.metrics import catalogue
from service.metrics.tallies import Cell


class _Told(Collector):
    def __init__(self, cells: Iterable[Cell]) -> None:
        self._cells = cells

    def collect(self) -> Iterator[Metric]:
        by_name: defaultdict[str, list[Cell]] = defaultdict(list)
        for cell in self._cells:
            by_name[cell.name].append(cell)
        for metric in catalogue.METRICS:
            if metric.name in by_name:
                yield _family(metric, sorted(by_name[metric.name], key=lambda cell: cell.labels))


def exposed(cells: Iterable[Cell], accept: str) -> tuple[bytes, str]:
    """Give the text for a reader who accepts that, and its content type."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Told(cells))
    encode, content_type = choose_encoder(accept)
    write: Callable[[CollectorRegistry], bytes] = encode
    return write(registry), content_type


def _family(metric: catalogue.Metric, cells: Iterable[Cell]) -> Metric:
    if metric.kind == "histogram":
        histogram = HistogramMetricFamily(metric.name, metric.help, labels=metric.labels)
        for cell in cells:
            *counts, total = cell.values
            ends = [*map(str, metric.bounds), "+Inf"]
            histogram.add_metric(cell.labels, [*zip(ends, accumulate(counts), strict=True)], total)
        return histogram
    made = CounterMetricFamily if metric.kind == "counter" else GaugeMetricFamily
    family: CounterMetricFamily | GaugeMetricFamily = made(metric.name, metric.help, labels=metric.labels)
    for cell in cells:
        family.add_metric(cell.labels, cell.values[0])
    return family
