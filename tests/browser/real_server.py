"""The real server with the built-in model, as a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_LINK = re.compile(r"http://127\.0\.0\.1:\d+/#key=\S+")
_PATIENCE = 120.0
"""Seconds until it must have printed its link."""


@contextmanager
def real_server() -> Iterator[str]:
    """The link to its page, with the key."""
    command = [sys.executable, "-m", "copydesk", "serve", "--port", "0", "--no-learn"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    printed: list[str] = []
    threading.Thread(target=lambda: [printed.append(line) for line in process.stdout or ()], daemon=True).start()
    try:
        until = time.monotonic() + _PATIENCE
        while (link := _LINK.search("".join(printed))) is None:
            if time.monotonic() > until or process.poll() is not None:
                raise RuntimeError(f"the server did not start; it printed {''.join(printed)!r}")
            time.sleep(0.05)
        yield link[0]
    finally:
        process.terminate()
        process.wait(60)
