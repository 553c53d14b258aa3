"""The trainer's side of the worker processes: starts them, hands over their blocks, repeats earlier ones if they lag.

Knows no model. Blocks travel as files in a folder in memory (`/dev/shm` where there is one).
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType

import numpy as np

from copydesk.errors import CopydeskError
from copydesk.training.recipe import Recipe

_PATIENCE = 120.0
"""Seconds without any block after which something must be wrong."""


class Feeder:
    """A context manager around the worker processes. Not safe to share between threads."""

    def __init__(self, recipe: Recipe, tokenizer: Path, seed: int) -> None:
        self.recipe = recipe
        self.fresh = 0
        """Blocks handed over for the first time."""
        self.replayed = 0
        """Blocks handed over again."""
        self._kept: list[np.ndarray] = []
        self._rng = random.Random(seed)
        self._ready: list[Path] = []
        self._in_a_row = 0
        memory = Path("/dev/shm")
        self.folder = Path(tempfile.mkdtemp(prefix="copydesk-", dir=memory if os.access(memory, os.W_OK) else None))
        (self.folder / "recipe.json").write_text(recipe.to_json(), encoding="utf-8")
        (self.folder / "worker.json").write_text(json.dumps({"tokenizer": str(tokenizer.resolve())}))
        self.progress(0.0)
        environment = os.environ | {"RAYON_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
        self._workers: list[subprocess.Popen[bytes]] = []
        for index in range(recipe.workers):
            with (self.folder / f"worker-{index}.log").open("wb") as log:
                command = [sys.executable, "-m", "copydesk.training.worker", str(self.folder), str(index), str(seed)]
                self._workers.append(subprocess.Popen(command, env=environment, stderr=log, stdout=log))

    def __enter__(self) -> Feeder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def progress(self, value: float) -> None:
        """Tells the workers how far the run is, between 0 and 1."""
        hidden = self.folder / "progress.part"
        hidden.write_text(f"{value:.6f}")
        hidden.rename(self.folder / "progress")

    def next(self) -> np.ndarray:
        """A flat block: fresh if there is one, else one of those kept, else (after too many of those) the next fresh.

        Errors: `CopydeskError` when the workers have died.
        """
        block = self._take()
        may_replay = (
            len(self._kept) >= min(16, self.recipe.replay_blocks) and self._in_a_row < self.recipe.replay_at_most
        )
        if block is None and may_replay:
            self._in_a_row += 1
            self.replayed += 1
            return self._rng.choice(self._kept)
        since = time.monotonic()
        while block is None:
            time.sleep(0.002)
            block = self._take()
            if block is None and (time.monotonic() - since > _PATIENCE or not self._alive()):
                raise CopydeskError(f"No training data arrives. {self._last_words()}", code="training")
        self._in_a_row = 0
        self.fresh += 1
        self._keep(block)
        return block

    def close(self) -> None:
        """Ends the workers and removes the folder; a second call does nothing."""
        if not self.folder.exists():
            return
        (self.folder / "stop").touch()
        for worker in self._workers:
            try:
                worker.wait(timeout=5)
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def troubles(self) -> str:
        """What workers that ended on their own last said; empty while all run."""
        return self._last_words() if any(worker.poll() is not None for worker in self._workers) else ""

    def _take(self) -> np.ndarray | None:
        if not self._ready:
            self._ready = sorted(self.folder.glob("block-*.bin"), reverse=True)
        if not self._ready:
            return None
        path = self._ready.pop()
        block = np.fromfile(path, dtype=np.int32)
        path.unlink()
        return block

    def _keep(self, block: np.ndarray) -> None:
        if len(self._kept) < self.recipe.replay_blocks:
            self._kept.append(block)
        elif self._kept:
            self._kept[self._rng.randrange(len(self._kept))] = block

    def _alive(self) -> bool:
        return any(worker.poll() is None for worker in self._workers)

    def _last_words(self) -> str:
        for index, worker in enumerate(self._workers):
            if worker.poll() is not None:
                lines = (self.folder / f"worker-{index}.log").read_text(errors="replace").strip().splitlines()
                return f"Worker {index} ended with {worker.returncode}: {' | '.join(lines[-3:])}"
        return "The workers run but are silent."
