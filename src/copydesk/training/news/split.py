"""Cuts development and held-out rows off the news rows, story by story; `python -m` writes them as gold lines.

The same seed gives the same split everywhere: the teachers, the student and the evaluation all call `split`. Knows no
model.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from copydesk.training.news.rows import LABELS, NewsRow, distinct, read_rows, story_groups

SEED = 20261
PART_ROWS = 3000


@dataclass(frozen=True, slots=True)
class Split:
    """Three parts that share no story. `train` holds no copies; `dev` and `held_out` hold one whole row a story."""

    train: tuple[NewsRow, ...]
    dev: tuple[NewsRow, ...]
    held_out: tuple[NewsRow, ...]
    train_stories: tuple[int, ...]
    """For each row of `train` the number of its story: rows of one story belong in one fold."""


def split(rows: Sequence[NewsRow], seed: int = SEED, *, part_rows: int = PART_ROWS) -> Split:
    """Splits `rows`, as `read_rows` gives them: `part_rows` to develop on, as many held out, the rest to train on.

    Only stories that have a whole row (title and description) can be drawn for the two parts; all other rows of a drawn
    story are dropped.
    """
    groups = story_groups(rows)
    drawable = [number for number, group in enumerate(groups) if any(rows[index].whole for index in group)]
    random.Random(seed).shuffle(drawable)
    parts: list[list[NewsRow]] = []
    for start in (0, part_rows):
        chosen = drawable[start : start + part_rows]
        parts.append([next(rows[index] for index in groups[number] if rows[index].whole) for number in chosen])
    taken = set(drawable[: 2 * part_rows])
    train: list[NewsRow] = []
    stories: list[int] = []
    for number, group in enumerate(groups):
        if number not in taken:
            kept = list(distinct(rows[index] for index in group))
            train += kept
            stories += [number] * len(kept)
    return Split(tuple(train), tuple(parts[0]), tuple(parts[1]), tuple(stories))


def write_gold(rows: Sequence[NewsRow], path: Path) -> None:
    """Writes rows as gold lines: one JSON object a line with `text` and the label's name."""
    with path.open("w", encoding="utf-8") as lines:
        for row in rows:
            lines.write(json.dumps({"text": row.text, "label": LABELS[row.label]}, ensure_ascii=False) + "\n")


def main(arguments: Sequence[str] | None = None) -> None:
    """Writes the development or held-out rows of a data folder where the caller wants them."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds the news files")
    parser.add_argument("--dev", type=Path, help="write the development rows here")
    parser.add_argument("--held-out", type=Path, help="write the held-out rows here")
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args(arguments)
    parts = split(read_rows(options.data), options.seed)
    for path, rows in ((options.dev, parts.dev), (options.held_out, parts.held_out)):
        if path is not None:
            write_gold(rows, path)


if __name__ == "__main__":
    main()
