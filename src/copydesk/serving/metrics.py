"""Prometheus metrics: what happened, counted; vLLM's names where the meaning is the same, `copydesk:` for the rest.

Satisfies `Observer`, and hands out what queues, versions and replicas tell their news to. Counts of several worker
processes are added up when `PROMETHEUS_MULTIPROC_DIR` names their common folder. No caller, text or key is a label.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import choose_encoder
from prometheus_client.multiprocess import MultiProcessCollector

from copydesk import __version__
from copydesk.serving.events import Finished

Labelled = TypeVar("Labelled", Counter, Gauge, Histogram)
FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The environment variable that the client library reads when it is imported."""
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
_TOKENS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000)
_PASSES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256)
_SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
_REFUSED = frozenset({401, 403, 413, 429, 503})
_VLLM = ("model_name", "engine")
_ENGINE = "0"
"""The label that vLLM's dashboards expect; there it numbers data-parallel engines."""
_LIVE_FILE = re.compile(r"gauge_live[a-z]*_(\d+)\.db")


class Metrics:
    """All counters of a server. Each has a registry of its own."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._shared = bool(os.environ.get(FOLDER))
        self._of = cache(_labelled)
        """A metric's part with some labels; the client library's own way there takes a lock and longer."""
        if not self._shared:
            ProcessCollector(registry=self._registry)
        self._make_requests()
        self._make_answers()
        self._make_models()
        self._gauge("copydesk:info", "What runs here; always 1.", ["version"], "livemax").labels(__version__).set(1)

    def _make_requests(self) -> None:
        self._requests = self._counter(
            "copydesk:requests", "Requests that ended.", ["model", "route", "status", "outcome"]
        )
        self._open = self._gauge("copydesk:requests_open", "Requests whose headers are there.", ["route"], "livesum")
        self._seconds = self._histogram("copydesk:request_seconds", "From headers to last byte.", ["route"], _SECONDS)
        self._rejections = self._counter("copydesk:rejections", "Requests turned away, by why.", ["route", "reason"])
        self._running = self._gauge("vllm:num_requests_running", "Requests in progress.", _VLLM, "livesum")
        self._waiting = self._gauge("vllm:num_requests_waiting", "Requests in the queue.", _VLLM, "livesum")
        self._queued = self._histogram("vllm:request_queue_time_seconds", "Time in the queue.", _VLLM, _SECONDS)
        self._latency = self._histogram(
            "vllm:e2e_request_latency_seconds", "Of requests that were answered.", _VLLM, _SECONDS
        )
        self._first = self._histogram("vllm:time_to_first_token_seconds", "Of streams.", _VLLM, _SECONDS)

    def _make_answers(self) -> None:
        self._prompt = self._counter("vllm:prompt_tokens", "Tokens of prompts.", _VLLM)
        self._generated = self._counter("vllm:generation_tokens", "Tokens of answers.", _VLLM)
        self._prompts = self._histogram("vllm:request_prompt_tokens", "Of a request's prompts.", _VLLM, _TOKENS)
        self._lengths = self._histogram("vllm:request_generation_tokens", "Of a request's answers.", _VLLM, _TOKENS)
        self._looked_up = self._counter("vllm:prefix_cache_queries", "Tokens looked up in the prefix cache.", _VLLM)
        self._cached = self._counter("vllm:prefix_cache_hits", "Tokens found there.", _VLLM)
        self._answers = self._counter("copydesk:answers", "Answers, by who drafted them.", ["model", "draft"])
        self._fallbacks = self._counter(
            "copydesk:fallbacks", "Requests answered without a model, by whom.", ["model", "source"]
        )
        self._passes = self._histogram("copydesk:passes_per_answer", "Forward passes.", ["model"], _PASSES)
        self._accepted = self._histogram(
            "copydesk:accepted_share", "Share of drafted tokens that stood.", ["model"], _SHARES
        )

    def _make_models(self) -> None:
        version, replica = ["model", "version"], ["model", "version", "replica"]
        self._calls = self._counter("copydesk:version_calls", "Calls of a version.", [*version, "outcome"])
        self._call_seconds = self._histogram("copydesk:version_seconds", "Of calls that went well.", version, _SECONDS)
        self._in_service = self._gauge(
            "copydesk:version_in_service", "0 while it is taken out for falling behind.", version, "livemin"
        )
        self._available = self._gauge("copydesk:replica_available", "0 while it does not answer.", replica, "livemin")
        self._loads = self._counter("copydesk:replica_loads", "Times it was loaded.", replica)
        self._quotas_up = self._gauge("copydesk:quota_storage_up", "0 while Redis does not answer.", [], "livemin")
        self._quotas_up.set(1)

    def request_started(self, route: str) -> None:
        """See `Observer`."""
        self._of(self._open, route).inc()

    def request_finished(self, finished: Finished) -> None:
        """See `Observer`."""
        model = finished.model or ""
        self._of(self._open, finished.route).dec()
        self._of(self._requests, model, finished.route, str(finished.status), finished.outcome).inc()
        self._of(self._seconds, finished.route).observe(finished.seconds)
        if finished.status in _REFUSED:
            self._of(self._rejections, finished.route, finished.outcome).inc()
        if not model:
            return
        if finished.outcome == "ok":
            self._of(self._latency, model, _ENGINE).observe(finished.seconds)
        if finished.first_token_seconds is not None:
            self._of(self._first, model, _ENGINE).observe(finished.first_token_seconds)
        if finished.usage is not None:
            self._count_tokens(model, finished)
        if finished.answers:
            self._count_answers(model, finished)

    def _count_tokens(self, model: str, finished: Finished) -> None:
        usage = finished.usage
        if usage is None:
            return
        for counter, tokens in (
            (self._prompt, usage.prompt_tokens),
            (self._generated, usage.completion_tokens),
            (self._looked_up, usage.prompt_tokens),
            (self._cached, usage.cached_tokens),
        ):
            self._of(counter, model, _ENGINE).inc(tokens)
        self._of(self._prompts, model, _ENGINE).observe(usage.prompt_tokens)
        self._of(self._lengths, model, _ENGINE).observe(usage.completion_tokens)

    def _count_answers(self, model: str, finished: Finished) -> None:
        self._of(self._answers, model, finished.source or "none").inc(finished.answers)
        if not finished.verified:
            self._of(self._fallbacks, model, finished.source or "none").inc()
        if finished.passes:
            self._of(self._passes, model).observe(finished.passes / finished.answers)
        if finished.accepted is not None:
            self._of(self._accepted, model).observe(finished.accepted)

    def queue(self, model: str) -> QueueMetrics:
        """What a model's queue tells its news to."""
        labels = (model, _ENGINE)
        return QueueMetrics(self._running.labels(*labels), self._waiting.labels(*labels), self._queued.labels(*labels))

    def version(self, model: str, version: str) -> VersionMetrics:
        """What a version tells its news to."""
        return VersionMetrics(
            self._calls,
            self._call_seconds.labels(model, version),
            self._in_service.labels(model, version),
            (model, version),
        )

    def replica(self, model: str, version: str, replica: str) -> ReplicaMetrics:
        """What a replica tells its news to."""
        labels = (model, version, replica)
        return ReplicaMetrics(self._available.labels(*labels), self._loads.labels(*labels))

    def quota_storage(self, up: bool) -> None:
        """The shared quota storage answers, or no longer."""
        self._quotas_up.set(up)

    def expose(self, accept: str = "") -> tuple[bytes, str]:
        """All counts, of all workers, in the form that the header `Accept` asks for; and that form's content type."""
        registry = self._registry
        if self._shared:
            _forget_ended(Path(os.environ[FOLDER]))
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        encode, content_type = choose_encoder(accept)
        return encode(registry), content_type

    def _counter(self, name: str, help_text: str, labels: Sequence[str]) -> Counter:
        return Counter(name, help_text, labels, registry=self._registry)

    def _gauge(self, name: str, help_text: str, labels: Sequence[str], mode: Any) -> Gauge:
        return Gauge(name, help_text, labels, registry=self._registry, multiprocess_mode=mode)

    def _histogram(self, name: str, help_text: str, labels: Sequence[str], buckets: Sequence[float]) -> Histogram:
        return Histogram(name, help_text, labels, registry=self._registry, buckets=buckets)


class QueueMetrics:
    """Satisfies `QueueTally`."""

    def __init__(self, running: Gauge, waiting: Gauge, queued: Histogram) -> None:
        self._running = running
        self._waiting = waiting
        self._queued = queued

    def changed(self, running: int, waiting: int) -> None:
        """So many are in progress, and so many wait."""
        self._running.set(running)
        self._waiting.set(waiting)

    def waited(self, seconds: float) -> None:
        """One came in after so long."""
        self._queued.observe(seconds)


class VersionMetrics:
    """Satisfies `Tally`."""

    def __init__(self, calls: Counter, seconds: Histogram, in_service: Gauge, labels: tuple[str, str]) -> None:
        self._calls = calls
        self._seconds = seconds
        self._in_service = in_service
        self._labels = labels
        in_service.set(1)

    def attempted(self, outcome: str, seconds: float) -> None:
        """See `Tally`."""
        self._calls.labels(*self._labels, outcome).inc()
        if outcome == "ok":
            self._seconds.observe(seconds)

    def in_service(self, up: bool) -> None:
        """See `Tally`."""
        self._in_service.set(up)


class ReplicaMetrics:
    """Satisfies `Notices`."""

    def __init__(self, available: Gauge, loads: Counter) -> None:
        self._available = available
        self._loads = loads
        available.set(0)

    def available(self, up: bool) -> None:
        """See `Notices`."""
        self._available.set(up)

    def loaded(self) -> None:
        """See `Notices`."""
        self._loads.inc()


def _labelled(metric: Labelled, *labels: str) -> Labelled:
    return metric.labels(*labels)


def _forget_ended(folder: Path) -> None:
    """Delete what workers that have ended said of the present."""
    for file in folder.glob("gauge_live*.db"):
        found = _LIVE_FILE.fullmatch(file.name)
        if found and not _runs(int(found[1])):
            file.unlink(missing_ok=True)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
