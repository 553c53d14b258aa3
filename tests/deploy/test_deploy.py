"""The files of deploy/ and the reference in docs/serving.md: they say what the server really takes, has and counts."""

from __future__ import annotations

import json
import re
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import pytest
import yaml

from copydesk.serving.admission import QueueSettings
from copydesk.serving.breaker import BreakerSettings
from copydesk.serving.config import VersionSettings, _Top, read_config
from copydesk.serving.keys import Key
from copydesk.serving.metrics import Metrics
from copydesk.serving.quotas import QuotaSettings
from copydesk.serving.record import JudgingSettings
from copydesk.serving.replica import HealthSettings
from copydesk.serving.routing import RouteSettings
from copydesk.serving.settings import Limits

ROOT = Path(__file__).parent.parent.parent
DEPLOY = ROOT / "deploy"
REFERENCE = (ROOT / "docs/serving.md").read_text()


def exposed() -> dict[str, str]:
    """The names of all samples that a server may expose, with their kinds."""
    found = {}
    for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", Metrics().expose()[0].decode(), re.MULTILINE):
        for suffix in ("_bucket", "_sum", "_count") if kind == "histogram" else ("",):
            found[name + suffix] = kind
    return found


def names_in(query: str) -> set[str]:
    """The metrics that a query asks for."""
    return set(re.findall(r"\b(?:(?:vllm|copydesk):\w+|process_\w+)", query))


def dashboard_queries() -> list[str]:
    dashboard = json.loads((DEPLOY / "grafana/copydesk.json").read_text())
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", ())]
    return queries + [variable["query"] for variable in dashboard["templating"]["list"] if variable["type"] == "query"]


def alert_queries() -> list[str]:
    rules = yaml.safe_load((DEPLOY / "alerts.yml").read_text())
    return [rule["expr"] for group in rules["groups"] for rule in group["rules"]]


@pytest.mark.parametrize("query", [*dashboard_queries(), *alert_queries()])
def test_every_query_names_metrics_that_there_are(query: str) -> None:
    names = names_in(query)
    assert names
    assert names <= set(exposed())


def test_what_the_dashboard_leaves_out_is_little() -> None:
    shown = {re.sub(r"_(bucket|sum|count)$", "", name) for query in dashboard_queries() for name in names_in(query)}
    there = {re.sub(r"_(bucket|sum|count)$", "", name) for name in exposed()}
    left_out = {name for name in there - shown if not name.endswith("_created") and not name.startswith("process_")}
    assert left_out == set()


def test_the_dashboards_panels_are_laid_out_without_overlap() -> None:
    panels = json.loads((DEPLOY / "grafana/copydesk.json").read_text())["panels"]
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not taken & cells
        assert at["x"] + at["w"] <= 24
        taken |= cells
    assert len({panel["id"] for panel in panels}) == len(panels)


def test_the_example_configuration_is_one() -> None:
    config = read_config(DEPLOY / "copydesk.toml")
    assert config.workers == 2
    assert [version.name for version in config.names[0].versions] == ["stable", "next"]


def test_compose_mounts_files_that_there_are_and_stops_patiently() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    for service in compose["services"].values():
        for volume in service.get("volumes", ()):
            source = volume.split(":")[0]
            assert source in compose["volumes"] or (DEPLOY / source).exists()
    server = compose["services"]["copydesk"]
    assert (DEPLOY / server["build"]["context"] / server["build"]["dockerfile"]).exists()
    limits = read_config(DEPLOY / "copydesk.toml").settings.limits
    assert int(server["stop_grace_period"].removesuffix("s")) > limits.linger_seconds + limits.drain_seconds + 10
    assert set(compose["services"]) == {"copydesk", "redis", "prometheus", "grafana"}


def kubernetes() -> dict[str, Any]:
    documents = yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text())
    return {document["kind"]: document for document in documents}


def test_kubernetes_configures_a_server_and_gives_it_time_to_stop(tmp_path: Path) -> None:
    found = kubernetes()
    (tmp_path / "copydesk.toml").write_text(found["ConfigMap"]["data"]["copydesk.toml"])
    limits = read_config(tmp_path / "copydesk.toml").settings.limits
    pod = found["Deployment"]["spec"]["template"]["spec"]
    assert pod["terminationGracePeriodSeconds"] > limits.linger_seconds + limits.drain_seconds + 10
    container = pod["containers"][0]
    assert container["readinessProbe"]["httpGet"]["path"] == "/health/ready"
    assert container["livenessProbe"]["httpGet"]["path"] == "/health"
    assert container["readinessProbe"]["timeoutSeconds"] > HealthSettings().deadline_seconds + 1
    mounted = {mount["name"] for mount in container["volumeMounts"]}
    assert mounted == {volume["name"] for volume in pod["volumes"]}


def test_nginx_takes_bodies_of_the_size_that_the_server_takes() -> None:
    written = (DEPLOY / "nginx.conf").read_text()
    size = re.search(r"client_max_body_size (\d+)m;", written)
    assert size is not None
    assert int(size[1]) << 20 == Limits().max_body_bytes
    assert written.count("{") == written.count("}")


def test_the_image_is_not_roots_and_says_how_it_is() -> None:
    written = (DEPLOY / "Dockerfile").read_text()
    assert re.search(r"^USER 10001", written, re.MULTILINE)
    assert "/health/ready" in written
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", written, re.MULTILINE)
    ignored = (ROOT / ".dockerignore").read_text()
    for name in " ".join(copied).split():
        assert (ROOT / name).exists()
        assert f"!{name}\n" in ignored


_PARTS: dict[str, type] = {
    "": _Top,
    "limits.": Limits,
    "quotas.": QuotaSettings,
    "queue.": QueueSettings,
    "health.": HealthSettings,
    "breaker.": BreakerSettings,
    "judging.": JudgingSettings,
    "keys.": Key,
    "models.": RouteSettings,
    "models.versions.": VersionSettings,
}


def settable() -> dict[str, Any]:
    """Every key of a configuration with its default."""
    found = {}
    for prefix, kind in _PARTS.items():
        for each in fields(kind):
            default = each.default_factory() if each.default_factory is not MISSING else each.default
            found[prefix + each.name] = None if default is MISSING else default
    return found | {"models.name": None}


def documented() -> dict[str, str]:
    """Every key of the reference with its default as written."""
    reference = REFERENCE[REFERENCE.index("## Configuration reference") : REFERENCE.index("## Deploying")]
    return dict(re.findall(r"^\| `([\w.]+)` \|[ ]*(.*?)[ ]*\|", reference, re.MULTILINE))


def test_the_reference_names_every_key_and_no_other() -> None:
    assert set(documented()) == set(settable())


@pytest.mark.parametrize("key", sorted(settable()))
def test_the_reference_has_the_right_default(key: str) -> None:
    default, written = settable()[key], documented()[key].strip("`")
    if default is None:
        assert written == ""
    elif isinstance(default, str | bool):
        assert written == json.dumps(default)
    elif isinstance(default, tuple | dict):
        assert json.loads(written) == ([] if isinstance(default, tuple) else {})
    else:
        assert float(written) == default


def test_the_reference_of_metrics_names_all_and_no_others() -> None:
    section = REFERENCE[REFERENCE.index("## Metrics") : REFERENCE.index("## Configuration reference")]
    told = set(re.findall(r"`((?:vllm|copydesk):\w+)`", section))
    there = {re.sub(r"_(bucket|sum|count)$", "", name) for name in exposed() if name.startswith(("vllm", "copydesk"))}
    assert told == {name for name in there if not name.endswith("_created")}
