"""What running the built-in model costs on this machine: start, second text, memory, installed size. Prints JSON.

    python scripts/footprint.py [--model NAME] [--repeats N]

Each start is a new process. The first has an empty state folder; it is the very first run but for the disk cache of the
operating system. Linux and macOS.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TEXT = "天津市河西区珠江道21号金泰大厦3层 , 接收人慕容修远 , MOBILE：22323185576"
SECOND = """
import sys, time, resource, copydesk
with copydesk.load(sys.argv[1] or None) as model:
    model.extract(sys.argv[2])
    start = time.perf_counter()
    model.extract(sys.argv[2][3:])
    print(1000 * (time.perf_counter() - start))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="", help="default: the built-in model")
    parser.add_argument("--repeats", type=int, default=5, help="warm starts (default: 5)")
    arguments = parser.parse_args()
    model = ["--model", arguments.model] if arguments.model else []
    command = [sys.executable, "-m", "copydesk", "extract", *model, TEXT]
    with tempfile.TemporaryDirectory() as home:
        environment = os.environ | {"COPYDESK_HOME": home}
        first = _seconds(command, environment)
        warm = [_seconds(command, environment) for _ in range(arguments.repeats)]
        second = [_second_text(arguments.model, environment) for _ in range(arguments.repeats)]
        memory = _peak_memory_mb(command, environment)
    report = {
        "first_start_s": round(first, 2),
        "warm_start_s": round(statistics.median(warm), 2),
        "warm_start_spread_s": [round(min(warm), 2), round(max(warm), 2)],
        "second_text_ms": round(statistics.median(second), 1),
        "peak_memory_mb": memory,
        "installed_mb": _installed_mb("copydesk"),
    }
    print(json.dumps(report))


def _seconds(command: list[str], environment: dict[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, env=environment, check=True, capture_output=True)
    return time.perf_counter() - start


def _second_text(model: str, environment: dict[str, str]) -> float:
    command = [sys.executable, "-c", SECOND, model, TEXT]
    return float(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)


def _peak_memory_mb(command: list[str], environment: dict[str, str]) -> int:
    """Highest resident size of the command, as the system counts it for a child that has ended."""
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    return round(usage.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3))


def _installed_mb(name: str) -> int:
    """The files of a distribution and of all it needs without extras, compiled bytecode included.

    One that is installed to be edited lists none of its own: they are those of its package.
    """
    waiting, seen = [name], set[str]()
    listed = importlib.metadata.distribution(name).files or []
    own = [] if any(path.suffix == ".py" and path.parts[0] == name for path in listed) else _package(name).rglob("*")
    size = sum(path.stat().st_size for path in own if path.is_file())
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        distribution = importlib.metadata.distribution(name)
        size += sum(Path(path.locate()).stat().st_size for path in distribution.files or [] if path.locate().is_file())
        for requirement in distribution.requires or []:
            needed, _, marker = requirement.partition(";")
            if "extra" not in marker and _is_installed(needed := re.split(r"[\s<>=!~\[(]", needed.strip())[0]):
                waiting.append(needed.lower().replace("_", "-"))
    return round(size / 1e6)


def _package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise SystemExit(f"{name} is not installed")
    return Path(spec.origin).parent


def _is_installed(name: str) -> bool:
    try:
        importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


if __name__ == "__main__":
    main()
