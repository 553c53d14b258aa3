"""What workers do in tests: functions that travel to other processes."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path

from copydesk.errors import ModelError
from copydesk.serving.workers import Line


def answer(folder: Path, line: Line) -> None:
    """Be ready, leave a file of one's own, and go on until told to stop."""
    _run(folder, line)


def hang(folder: Path, line: Line) -> None:
    """The first of all hangs in its event loop; those after it are well."""
    _run(folder, line, hangs=_is_first(folder))


def die(folder: Path, line: Line) -> None:
    """The first of all dies once it is ready; those after it are well."""
    _run(folder, line, dies=_is_first(folder))


def refuse(folder: Path, line: Line) -> None:
    """Have nothing to answer with."""
    raise ModelError("there is no such folder")


def vanish(folder: Path, line: Line) -> None:
    """End without a word."""
    os._exit(7)


def cling(folder: Path, line: Line) -> None:
    """Not stop when told to."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _run(folder, line)


def _is_first(folder: Path) -> bool:
    try:
        (folder / "first").touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _run(folder: Path, line: Line, *, hangs: bool = False, dies: bool = False) -> None:
    async def serve() -> None:
        await line.ready()
        (folder / f"worker {os.getpid()}").touch()
        if dies:
            os._exit(3)
        if hangs:
            time.sleep(60)
        await asyncio.sleep(60)

    asyncio.run(serve())
