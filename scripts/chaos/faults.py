"""An engine that breaks when told to, and a server that runs on it: the real `copydesk serve`, in this process.

The faults are put in here, around what loads engines; the product has no switch for them. Orders come in on standard
input, a line each: `kill`, `freeze`, `slow`, `noise`, `nan`, and `heal`.
"""

from __future__ import annotations

import random
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from copydesk.engines.protocol import Engine, Read, Scores

KINDS = ("kill", "freeze", "slow", "noise", "nan")
"""Of faults; `noise` is scores that look like any others, `nan` is what a broken computation gives."""
HEAL = "heal"
_SLOWEST = 0.3
"""Seconds that a slowed engine call takes more, at most."""


class Faults:
    """The order in force. Engines made after a `kill` are whole again, as a new process would be."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.kills = 0
        self._order = HEAL
        self._thawed = threading.Event()
        self._thawed.set()

    @property
    def order(self) -> str:
        """What engines do now."""
        return self._order

    def obey(self, order: str) -> None:
        """Take an order."""
        if order not in (*KINDS, HEAL):
            raise ValueError(order)
        if order == "kill":
            self.kills += 1
            order = HEAL
        self._order = order
        if order == "freeze":
            self._thawed.clear()
        else:
            self._thawed.set()

    def wait_for_thaw(self) -> None:
        """Block while frozen."""
        self._thawed.wait()


class FaultyEngine:
    """Satisfies `Engine`: passes everything on, and breaks as ordered."""

    def __init__(self, engine: Engine, faults: Faults) -> None:
        self._engine = engine
        self._faults = faults
        self._kills = faults.kills

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def run(self, reads: Sequence[Read]) -> list[list[Scores]]:
        """See `Engine`."""
        faults = self._faults
        if faults.kills > self._kills:
            raise RuntimeError("the engine was killed")
        if faults.order == "freeze":
            faults.wait_for_thaw()
        elif faults.order == "slow":
            time.sleep(faults.random.uniform(0, _SLOWEST))
        found = self._engine.run(reads)
        if faults.order in ("noise", "nan"):
            return [[self._spoilt(scores) for scores in each] for each in found]
        return found

    def row(self, sequence: int, position: int) -> np.ndarray:
        """See `Engine`."""
        row = self._engine.row(sequence, position)
        if self._faults.order == "nan":
            return np.full_like(row, np.nan)
        if self._faults.order == "noise":
            noise = self._faults.numbers.normal(size=row.shape).astype(np.float32)
            row = np.subtract(noise, np.log(np.exp(noise).sum()), dtype=np.float32)
        return row

    def _spoilt(self, scores: Scores) -> Scores:
        if self._faults.order == "nan":
            nan = float("nan")
            top = tuple((token, nan) for token, _ in scores.top)
            return replace(scores, logprob=nan, listed=(nan,) * len(scores.listed), top=top)
        size, random_ = self._engine.vocab_size, self._faults.random
        return replace(
            scores,
            argmax=random_.randrange(size),
            logprob=-random_.uniform(0, 12),
            listed=tuple(-random_.uniform(0, 12) for _ in scores.listed),
            top=tuple((random_.randrange(size), -random_.uniform(0, 12)) for _ in scores.top),
        )


def serve(arguments: Sequence[str], seed: int) -> int:
    """Run `copydesk serve` with breakable engines until it ends; returns its exit code."""
    from copydesk import cli, loading

    faults = Faults(seed)
    load_engine = vars(loading)["load_engine"]

    def breakable(*given: Any, **options: Any) -> Any:
        return FaultyEngine(load_engine(*given, **options), faults)

    vars(loading)["load_engine"] = breakable
    threading.Thread(target=_listen, args=(faults,), daemon=True).start()
    return cli.main(["serve", *arguments])


def _listen(faults: Faults) -> None:
    for line in sys.stdin:
        faults.obey(line.strip())
