"""schemathesis over the OpenAPI document: requests made up from it, and answers held to it.

Against a server with all its parts but a model. schemathesis is best kept in an environment of its own:

    python scripts/openapi_check.py --schemathesis clients/bin/schemathesis
"""

from __future__ import annotations

import argparse
import multiprocessing
import socket
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

NOT_CHECKED = "positive_data_acceptance"
"""Requests that the document allows may still be refused: two constraints at once, a schema that cannot be honoured."""


def main() -> int:
    """Run it; returns schemathesis's exit code."""
    from copydesk.serving.server import bound_socket
    from server_overhead import serve_fake
    from serving.fakes import KEY

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--schemathesis", default="schemathesis", metavar="PATH")
    parser.add_argument("--examples", type=int, default=100, help="for each operation (default: 100)")
    arguments = parser.parse_args()
    listener = bound_socket("127.0.0.1", 0)
    host, port = listener.getsockname()
    server = multiprocessing.get_context("spawn").Process(target=serve_fake, args=(listener,), daemon=True)
    server.start()
    try:
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex((host, port)) == 0:
                    break
            time.sleep(0.1)
        command = [arguments.schemathesis, "run", f"http://{host}:{port}/openapi.json"]
        command += ["-H", f"Authorization: Bearer {KEY}", "--max-examples", str(arguments.examples)]
        command += ["--exclude-checks", NOT_CHECKED, "--generation-deterministic"]
        return subprocess.run(command, check=False).returncode
    finally:
        server.terminate()
        server.join(10)


if __name__ == "__main__":
    sys.exit(main())
