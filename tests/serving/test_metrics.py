"""Metrics: what is counted of which event, names that dashboards know, several processes added up."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families

from copydesk.serving.admission import Queue, QueueSettings
from copydesk.serving.events import Finished
from copydesk.serving.metrics import Metrics
from copydesk.types import Usage

OK = Finished(
    request="1",
    method="POST",
    route="/v1/extract",
    status=200,
    outcome="ok",
    seconds=0.2,
    model="nano",
    first_token_seconds=0.05,
    usage=Usage(100, 40, 20),
    answers=2,
    passes=6,
    accepted=0.9,
    source="rules",
)


def samples(metrics: Metrics) -> dict[tuple[str, str], float]:
    """Values by name and labels, the labels written one after the other."""
    families = text_string_to_metric_families(metrics.expose()[0].decode())
    return {
        (sample.name, ",".join(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }


def test_an_answered_request_is_counted_under_the_names_that_dashboards_know() -> None:
    metrics = Metrics()
    metrics.request_started("/v1/extract")
    assert samples(metrics)["copydesk:requests_open", "/v1/extract"] == 1
    metrics.request_finished(OK)
    found = samples(metrics)
    assert found["copydesk:requests_open", "/v1/extract"] == 0
    assert found["copydesk:requests_total", "nano,ok,/v1/extract,200"] == 1
    assert found["vllm:prompt_tokens_total", "0,nano"] == 100
    assert found["vllm:generation_tokens_total", "0,nano"] == 20
    assert found["vllm:prefix_cache_queries_total", "0,nano"] == 100
    assert found["vllm:prefix_cache_hits_total", "0,nano"] == 40
    assert found["vllm:e2e_request_latency_seconds_sum", "0,nano"] == 0.2
    assert found["vllm:time_to_first_token_seconds_sum", "0,nano"] == 0.05
    assert found["copydesk:answers_total", "rules,nano"] == 2
    assert found["copydesk:passes_per_answer_sum", "nano"] == 3
    assert found["copydesk:accepted_share_sum", "nano"] == 0.9
    assert not any(name.startswith(("copydesk:fallbacks_total", "copydesk:rejections_total")) for name, _ in found)


def test_what_no_model_verified_is_a_fallback_and_what_is_turned_away_a_rejection() -> None:
    metrics = Metrics()
    fallback = Finished(
        "2", "POST", "/v1/extract", 200, "ok", 0.1, model="nano", answers=1, source="rules", verified=False
    )
    metrics.request_started("/v1/extract")
    metrics.request_finished(fallback)
    for status, outcome in ((429, "rate_limit_exceeded"), (503, "saturated"), (401, "invalid_api_key"), (400, "usage")):
        metrics.request_started("/v1/extract")
        metrics.request_finished(Finished("3", "POST", "/v1/extract", status, outcome, 0.01))
    found = samples(metrics)
    assert found["copydesk:fallbacks_total", "nano,rules"] == 1
    assert ("copydesk:passes_per_answer_count", "nano") not in found
    rejected = {labels for name, labels in found if name == "copydesk:rejections_total"}
    assert rejected == {"rate_limit_exceeded,/v1/extract", "saturated,/v1/extract", "invalid_api_key,/v1/extract"}


@pytest.mark.anyio
async def test_a_queue_tells_how_long_it_is() -> None:
    metrics = Metrics()
    queue = Queue(QueueSettings(), metrics.queue("nano"))
    one, two = await queue.enter(1), await queue.enter(1)
    assert samples(metrics)["vllm:num_requests_running", "0,nano"] == 2
    assert samples(metrics)["vllm:num_requests_waiting", "0,nano"] == 0
    queue.leave(one)
    queue.leave(two)
    found = samples(metrics)
    assert found["vllm:num_requests_running", "0,nano"] == 0
    assert found["vllm:request_queue_time_seconds_count", "0,nano"] == 2


def test_versions_and_replicas_tell_their_news() -> None:
    metrics = Metrics()
    version, replica = metrics.version("nano", "new"), metrics.replica("nano", "new", "0")
    assert samples(metrics)["copydesk:version_in_service", "nano,new"] == 1
    assert samples(metrics)["copydesk:replica_available", "nano,0,new"] == 0
    replica.loaded()
    replica.available(True)
    version.attempted("ok", 0.5)
    version.attempted("failed", 0.5)
    version.in_service(False)
    assert samples(metrics)["copydesk:quota_storage_up", ""] == 1
    metrics.quota_storage(False)
    found = samples(metrics)
    assert found["copydesk:replica_available", "nano,0,new"] == 1
    assert found["copydesk:replica_loads_total", "nano,0,new"] == 1
    assert found["copydesk:version_in_service", "nano,new"] == 0
    assert found["copydesk:version_calls_total", "nano,ok,new"] == 1
    assert found["copydesk:version_calls_total", "nano,failed,new"] == 1
    assert found["copydesk:version_seconds_count", "nano,new"] == 1
    assert found["copydesk:quota_storage_up", ""] == 0


def test_both_forms_are_well_formed() -> None:
    metrics = Metrics()
    metrics.request_started("/v1/extract")
    metrics.request_finished(OK)
    plain, content_type = metrics.expose()
    assert content_type.startswith("text/plain")
    assert any(
        family.name == "process_resident_memory_bytes" for family in text_string_to_metric_families(plain.decode())
    )
    written, content_type = metrics.expose("application/openmetrics-text; version=1.0.0")
    assert content_type.startswith("application/openmetrics-text")
    assert len(list(openmetrics(written.decode()))) > 10


_WORKER = """
import os, sys
from copydesk.serving.metrics import Metrics
from copydesk.serving.events import Finished
metrics = Metrics()
queue = metrics.queue("nano")
queue.changed(3, 1)
for _ in range(5):
    metrics.request_started("/v1/extract")
    metrics.request_finished(Finished("1", "POST", "/v1/extract", 200, "ok", 0.1, model="nano"))
if sys.argv[1] == "show":
    sys.stdout.write(metrics.expose()[0].decode())
else:
    print("ready", flush=True)
    sys.stdin.read()
"""


def test_workers_are_added_up_and_what_ended_ones_had_in_progress_is_forgotten(tmp_path: Path) -> None:
    environment = os.environ | {"PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}

    def worker(does: str) -> list[str]:
        return [sys.executable, "-c", _WORKER, does]

    subprocess.run(worker("end"), env=environment, stdin=subprocess.DEVNULL, check=True, timeout=60)
    with subprocess.Popen(
        worker("stay"), env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "ready\n"
        shown = subprocess.run(worker("show"), env=environment, capture_output=True, text=True, check=True, timeout=60)
        other.communicate("")
    values = {
        sample.name: sample.value
        for family in text_string_to_metric_families(shown.stdout)
        for sample in family.samples
        if "le" not in sample.labels
    }
    assert values["copydesk:requests_total"] == 15
    assert values["vllm:num_requests_running"] == 6
    assert values["vllm:num_requests_waiting"] == 2
