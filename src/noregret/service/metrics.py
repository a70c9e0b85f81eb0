"""Figures of the served models as Prometheus reads them."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from noregret.service.hosted import Hosted, Service

COUNTS = {
    "predicted": "Rows predicted",
    "labelled": "Rounds whose label was learned",
    "expired": "Rounds that ended without a label",
    "revised": "Labels that were replaced",
}
GAUGES = {
    "waiting": "Rounds that wait for their labels",
    "loss": "Loss of the predictions so far",
    "staleness": "What the predictions lost because labels were missing",
    "mistakes": "Predictions that were wrong",
}
KIND = "text/plain; version=0.0.4; charset=utf-8"


class Figures(Collector):
    """Read at every scrape."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def collect(self) -> Iterator[Metric]:
        counts = {
            name: CounterMetricFamily(f"noregret_{name}", about, labels=["model"]) for name, about in COUNTS.items()
        }
        gauges = {
            name: GaugeMetricFamily(f"noregret_{name}", about, labels=["model"]) for name, about in GAUGES.items()
        }
        unknown = CounterMetricFamily("noregret_unknown_labels", "Labels of predictions nobody knows", labels=["model"])
        on_disk = GaugeMetricFamily("noregret_event_on_disk", "The last event on the disk", labels=["model"])
        writable = GaugeMetricFamily(
            "noregret_log_writable", "1, or 0 while the log cannot be written", labels=["model"]
        )
        seconds = GaugeMetricFamily(
            "noregret_request_seconds", "Duration of recent requests", labels=["model", "request", "quantile"]
        )
        for name, one in self._service.models.items():
            known = one.served.late.figures
            for group in (counts, gauges):
                for key, family in group.items():
                    if known[key] is not None:
                        family.add_metric([name], known[key])
            unknown.add_metric([name], one.served.unknown)
            on_disk.add_metric([name], one.served.log.written)
            writable.add_metric([name], float(one.served.log.failed is None))
            _paces(seconds, name, one)
        yield from (*counts.values(), *gauges.values(), unknown, on_disk, writable, seconds)


def _paces(family: GaugeMetricFamily, name: str, one: Hosted) -> None:
    for request, pace in one.pace.items():
        for share in (0.5, 0.99):
            found = pace.quantile(share)
            if found is not None:
                family.add_metric([name, request, str(share)], found)


def metrics(service: Service) -> tuple[bytes, str]:
    """The text, and its media type."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Figures(service))
    return generate_latest(registry), KIND
