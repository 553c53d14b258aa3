"""Jobs and engines to try the scheduler with."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any

from copydesk.desk.scheduler import Asked, Branch, Effort, Scheduler
from copydesk.desk.writer import Written
from copydesk.engines.protocol import Engine, Read, Scores, Wanted
from copydesk.errors import EngineError
from fake_engine import FakeEngine, hashed


class Job:
    """Reads a prompt, then one token for each of its passes."""

    conversation: tuple[int, ...] = ()

    def __init__(
        self, passes: int = 2, *, prompt: int = 3, prefix: tuple[int, ...] = (1, 2), error: Exception | None = None
    ) -> None:
        self.prefix = prefix
        self.passes = passes
        self.prompt = (*prefix, *range(5, 5 + prompt))
        self.error = error
        self.cancelled = False
        self.result: Written | Exception | None = None
        self.effort: Effort | None = None
        self.seen: list[Scores] = []

    def write(
        self, engine: Engine, sequence: int, held: int, others: Callable[[], int]
    ) -> Generator[Asked, list[Scores], Written]:
        tokens = self.prompt[held:]
        for _ in range(self.passes):
            (scores,) = yield Read(sequence, tokens, (Wanted(len(tokens) - 1),))
            self.seen.append(scores)
            if self.error:
                raise self.error
            tokens = (scores.argmax,)
        return Written([scores.argmax for scores in self.seen])

    def is_cancelled(self) -> bool:
        return self.cancelled

    def finish(self, written: Written, effort: Effort) -> None:
        self.result, self.effort = written, effort

    def fail(self, error: Exception) -> None:
        self.result = error


class BranchJob(Job):
    """Reads a prompt, then branches off it all at once, then what the best of them says."""

    def __init__(self, branches: Sequence[tuple[int, ...]], **options: Any) -> None:
        super().__init__(**options)
        self.branches = branches
        self.of_branches: list[Scores] = []

    def write(
        self, engine: Engine, sequence: int, held: int, others: Callable[[], int]
    ) -> Generator[Asked, list[Scores], Written]:
        tokens = self.prompt[held:]
        self.seen = yield Read(sequence, tokens, (Wanted(len(tokens) - 1),))
        if self.error:
            raise self.error
        self.of_branches = yield tuple(
            Branch(branch, tuple(map(Wanted, range(len(branch))))) for branch in self.branches
        )
        self.seen += yield Read(sequence, (self.of_branches[0].argmax,), (Wanted(0),))
        return Written([scores.argmax for scores in self.seen])


class SmallEngine(FakeEngine):
    """Has room for so many tokens in all, copies counted, and says so when they do not fit, changing nothing."""

    def __init__(self, room: int) -> None:
        super().__init__(50, hashed(50))
        self.room = room

    def run(self, reads: Sequence[Read]) -> list[list[Scores]]:
        held = sum(len(sequence.tokens) for sequence in self._sequences.values())
        if held + sum(len(read.tokens) for read in reads) > self.room:
            raise EngineError("The KV cache is full.", code="cache_full")
        return super().run(reads)


def finish(scheduler: Scheduler) -> None:
    """Write all that was handed in."""
    while not scheduler.idle:
        scheduler.step()
