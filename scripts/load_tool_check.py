"""A load tool that others use, guidellm, unmodified against a real server: what it says of addresses by many clients.

The tool is heavy, so it lives in an environment of its own:

    python -m venv tool
    tool/bin/pip install guidellm
    python scripts/load_tool_check.py FILE --guidellm tool/bin/guidellm

FILE is texts with an address each, as `copydesk extract -f` takes them. Starts the server on a free port with the
built-in model. Prints one JSON object a number of clients, and exits with 1 if a request failed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from copydesk.bench.server_process import ServerProcess
from copydesk.inputs import texts
from copydesk.tasks.builtin import ADDRESS

MODEL = "copydesk-nano"
_LATENCY, _FIRST = "request_latency", "time_to_first_token_ms"


def scenario(server: ServerProcess, data: Path, clients: Sequence[int], seconds: float, report: Path) -> dict[str, Any]:
    """What guidellm is told."""
    schema = ADDRESS.schema.json if ADDRESS.schema else {}
    form = {"type": "json_schema", "json_schema": {"name": "recipient", "schema": schema}}
    return {
        "spec": {
            "backend": {
                "kind": "openai_http",
                "target": server.url,
                "model": MODEL,
                "api_key": server.key,
                "extras": {"body": {"response_format": form, "temperature": 0}},
            },
            "profile": {"kind": "concurrent"},
            "constraints": [{"kind": "max_duration", "seconds": seconds}],
            "data": [{"kind": "json_file", "path": str(data)}],
            "outputs": [{"kind": "json", "path": str(report)}],
        },
        "benchmarks": [{"profile.streams": number} for number in clients],
    }


def figures(report: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Of each number of clients, as the tool counted and timed."""
    for benchmark in report["benchmarks"]:
        metrics = benchmark["metrics"]
        seconds, first_ms = (metrics[name]["successful"]["percentiles"] for name in (_LATENCY, _FIRST))
        yield {
            "clients": benchmark["config"]["strategy"]["streams"],
            "answered": metrics["request_totals"]["successful"],
            "failed": metrics["request_totals"]["errored"],
            "requests_per_second": round(metrics["requests_per_second"]["successful"]["mean"], 2),
            **{f"{name}_ms": round(seconds[name] * 1e3, 1) for name in ("p50", "p95", "p99")},
            "first_token_p50_ms": round(first_ms["p50"], 1),
        }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="texts with an address each: .txt, .jsonl or -")
    parser.add_argument("--guidellm", required=True, metavar="PATH", help="the tool")
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 10, 64], metavar="N")
    parser.add_argument("--seconds", type=float, default=10.0, help="for each number of clients (default: 10)")
    arguments = parser.parse_args()
    asked = [text for text in texts(arguments.file) if isinstance(text, str)]
    with tempfile.TemporaryDirectory(prefix="copydesk-load-") as name:
        folder = Path(name)
        data, told, report = (folder / part for part in ("data.jsonl", "scenario.json", "report.json"))
        data.write_text("".join(json.dumps({"prompt": text}) + "\n" for text in asked), encoding="utf-8")
        serve = [sys.executable, "-m", "copydesk", "serve", "--port", "0"]
        with ServerProcess(serve, has_key=True, environment=os.environ | {"COPYDESK_HOME": name}) as server:
            told.write_text(json.dumps(scenario(server, data, arguments.clients, arguments.seconds, report)))
            command = [str(Path(arguments.guidellm).resolve()), "run", "--config", str(told), "--disable-progress"]
            subprocess.run(command, check=True, cwd=folder, stdout=sys.stderr, env=os.environ | {"HF_HUB_OFFLINE": "1"})
        found = list(figures(json.loads(report.read_text(encoding="utf-8"))))
    for row in found:
        print(json.dumps(row))
    return int(any(row["failed"] or not row["answered"] for row in found))


if __name__ == "__main__":
    sys.exit(main())
