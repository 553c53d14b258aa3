"""The sources that recipes name: generators of examples or plain text, from a seed and files named in their options.

Called in every worker process, so nothing here imports torch. Knows no tokens.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from copydesk.tasks.builtin import ADDRESS_FIELDS, AGNEWS, AGNEWS_LABELS, address
from copydesk.training.addresses import lines
from copydesk.training.addresses.material import load
from copydesk.training.examples import Example
from copydesk.training.news.augment import augment
from copydesk.training.news.taught import examples, read_taught


def addresses(rng: random.Random, material: str) -> Iterator[Example]:
    """Synthetic address lines without end; `material` is the file that `addresses.material` gathered."""
    return lines.examples(rng, load(Path(material)))


def address_lines(rng: random.Random, file: str, subsets: float = 0.2) -> Iterator[Example]:
    """Real gold lines, shuffled anew each time round; unlabelled fields are not asked for.

    `subsets`: share of the lines of which only some fields are asked for, in any order.
    """
    rows = _lines(Path(file))
    while True:
        rng.shuffle(rows)
        for row in rows:
            fields = [name for name in ADDRESS_FIELDS if name not in row.get("unlabelled", ())]
            if rng.random() < subsets:
                fields = rng.sample(fields, rng.randint(1, len(fields)))
            answer = json.dumps({name: row["expected"][name] for name in fields}, ensure_ascii=False)
            yield Example(address(tuple(fields)), row["text"], answer)


def news(rng: random.Random, file: str, strength: float = 1.0) -> Iterator[Example]:
    """Labelled news, `{"text", "label"}` lines with a name or an index as label, shuffled anew each time round.

    `strength`: how much the texts are changed each time they are drawn (0: not at all).
    """
    rows = _lines(Path(file))
    while True:
        rng.shuffle(rows)
        for row in rows:
            label = row["label"] if isinstance(row["label"], str) else AGNEWS_LABELS[row["label"]]
            yield Example(AGNEWS, augment(row["text"], rng, strength=strength), label)


def taught_news(
    rng: random.Random, folder: str, part: str = "train", hard: float = 0.5, strength: float = 1.0
) -> Iterator[Example]:
    """News with the teachers' probabilities, shuffled anew each time round.

    `part`: `train` (real rows) or `written` (by a model). `hard`: share of the true label where it is known.
    `strength`: as for `news`.
    """
    rows = [row for row in read_taught(Path(folder)) if row.part == part]
    while True:
        rng.shuffle(rows)
        for example in examples(rows, AGNEWS, hard=hard):
            yield replace(example, text=augment(example.text, rng, strength=strength))


def plain_text(rng: random.Random, file: str, key: str = "text") -> Iterator[str]:
    """Texts to model as they are: lines of a `.txt`, or one key of a `.jsonl`, either gzipped or not."""
    path = Path(file)
    texts = [line[key] for line in _lines(path)] if ".jsonl" in path.name else _read(path).splitlines()
    while True:
        rng.shuffle(texts)
        yield from (text for text in texts if text.strip())


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in _read(path).splitlines() if line.strip()]


def _read(path: Path) -> str:
    return gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text(encoding="utf-8")
