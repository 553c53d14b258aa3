"""What the teachers leave for the student: texts with label probabilities, in compressed pieces of JSON lines.

Knows no teacher; needs no torch.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from copydesk.training.examples import Example
from copydesk.types import Task

REAL_FILE = "real.jsonl.xz"
WRITTEN_FILES = "written_*.jsonl.xz"
_PLACES = 4


@dataclass(frozen=True, slots=True)
class TaughtRow:
    """A text; its true label's index, None for a text that a model wrote; the teachers' probabilities, if any.

    `part` is `train`, `dev` (real rows of either part of the split) or `written`.
    """

    text: str
    part: str
    label: int | None
    probabilities: tuple[float, ...] | None

    def target(self, hard: float = 0.5) -> tuple[float, ...]:
        """What the student learns: the teachers' probabilities, with a share of `hard` on the true label if known."""
        if self.probabilities is None:
            return tuple(1.0 if self.label == label else 0.0 for label in range(4))
        share = 0.0 if self.label is None else hard
        total = sum(self.probabilities)
        return tuple(
            (1 - share) * probability / total + (share if self.label == label else 0.0)
            for label, probability in enumerate(self.probabilities)
        )


def write_taught(rows: Iterable[TaughtRow], path: Path) -> None:
    """Writes one piece; the file appears only when it is whole."""
    partial = path.with_name(path.name + ".part")
    lines = []
    for row in rows:
        probabilities = None if row.probabilities is None else [round(p, _PLACES) for p in row.probabilities]
        record = {"text": row.text, "part": row.part, "label": row.label, "p": probabilities}
        lines.append(json.dumps(record, ensure_ascii=False) + "\n")
    partial.write_bytes(lzma.compress("".join(lines).encode(), preset=4))
    partial.replace(path)


def read_taught(folder: Path) -> list[TaughtRow]:
    """All rows of a folder: the real ones first, then the written ones piece by piece. Missing pieces are no error."""
    rows = []
    for path in [folder / REAL_FILE, *sorted(folder.glob(WRITTEN_FILES))]:
        if not path.exists():
            continue
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                record = json.loads(line)
                probabilities = None if record["p"] is None else tuple(record["p"])
                rows.append(TaughtRow(record["text"], record["part"], record["label"], probabilities))
    return rows


def examples(
    rows: Iterable[TaughtRow], task: Task, *, hard: float = 0.5, written_weight: float = 1.0
) -> Iterator[Example]:
    """The rows as training examples of `task`, whose labels stand in the order World, Sports, Business, Sci/Tech."""
    for row in rows:
        target = row.target(hard)
        answer = task.labels[max(range(len(target)), key=target.__getitem__)]
        weight = written_weight if row.label is None else 1.0
        yield Example(task, row.text, answer, weight, target)
