"""Worker processes: they start together, are replaced when they die or hang, and stop together."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from copydesk.errors import CopydeskError
from copydesk.serving import workers
from copydesk.serving.workers import run_workers
from serving import worker_work

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no several workers on Windows")


def supervise(
    folder: Path,
    work: Callable[..., None],
    enough: Callable[[set[int]], bool],
    *,
    count: int = 2,
    stop_seconds: float = 10.0,
    hung_seconds: float = 60.0,
) -> tuple[int, set[int], bool]:
    """Run workers until `enough` of the processes that listened; the signal, those processes, whether it was enough."""
    announced: list[set[int]] = []
    reached = []

    def watch() -> None:
        until = time.monotonic() + 20
        while not (done := enough(listened(folder))) and time.monotonic() < until:
            time.sleep(0.02)
        reached.append(done)
        os.kill(os.getpid(), signal.SIGTERM)

    watching = threading.Thread(target=watch)

    def all_ready() -> None:
        announced.append(listened(folder))
        watching.start()

    told = run_workers(
        count, partial(work, folder), all_ready=all_ready, stop_seconds=stop_seconds, hung_seconds=hung_seconds
    )
    watching.join()
    assert announced == [set()]  # nobody listened before that
    return told, listened(folder), reached[0]


def listened(folder: Path) -> set[int]:
    return {int(file.name.split()[1]) for file in folder.glob("worker *")}


def runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_all_start_listen_and_stop(tmp_path: Path) -> None:
    told, processes, reached = supervise(tmp_path, worker_work.answer, lambda found: len(found) == 2)
    assert reached
    assert told == signal.SIGTERM
    assert not any(map(runs, processes))


def test_one_that_dies_is_replaced(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    _, processes, reached = supervise(tmp_path, worker_work.die, lambda found: len(found) == 3)
    assert reached
    assert not any(map(runs, processes))
    assert "code 3" in caplog.text


def test_one_whose_event_loop_hangs_is_killed_and_replaced(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    _, processes, reached = supervise(tmp_path, worker_work.hang, lambda found: len(found) == 3, hung_seconds=2.0)
    assert reached
    assert not any(map(runs, processes))
    assert "no sign of life" in caplog.text


def test_one_that_does_not_stop_is_killed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    _, processes, reached = supervise(
        tmp_path, worker_work.cling, lambda found: len(found) == 1, count=1, stop_seconds=0.2
    )
    assert reached
    assert not any(map(runs, processes))
    assert "did not stop" in caplog.text


@pytest.mark.parametrize(
    ("work", "words"), [(worker_work.refuse, "there is no such folder"), (worker_work.vanish, "code 7")]
)
def test_what_cannot_even_start_ends_them_all(tmp_path: Path, work: Callable[..., None], words: str) -> None:
    with pytest.raises(CopydeskError, match=words):
        supervise(tmp_path, work, lambda found: False)


def test_told_to_stop_while_they_load_they_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_listen", lambda slots: os.kill(os.getpid(), signal.SIGINT))
    told = run_workers(
        1, partial(worker_work.answer, tmp_path), all_ready=lambda: pytest.fail("was ready"), stop_seconds=10
    )
    assert told == signal.SIGINT


def test_workers_whose_supervisor_is_killed_stop(tmp_path: Path) -> None:
    script = f"""
from functools import partial
from pathlib import Path
from copydesk.serving.workers import run_workers
from serving import worker_work
if __name__ == "__main__":
    run_workers(1, partial(worker_work.answer, Path({str(tmp_path)!r})), all_ready=lambda: None, stop_seconds=10)
"""
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent)}
    file = tmp_path / "supervise.py"
    file.write_text(script)
    with subprocess.Popen([sys.executable, file], env=environment) as supervisor:
        until = time.monotonic() + 20
        while not listened(tmp_path) and time.monotonic() < until:
            time.sleep(0.02)
        (worker,) = listened(tmp_path)
        supervisor.kill()
    while runs(worker) and time.monotonic() < until:
        time.sleep(0.05)
    assert not runs(worker)
