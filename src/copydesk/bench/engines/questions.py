"""What is asked in each job, what would be right, and whether an answer is. Knows no models.

Jobs: addresses to extract, news to label, short chats.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from copydesk.bench import address_lines
from copydesk.errors import UsageError
from copydesk.tasks.builtin import AGNEWS_LABELS

Job = Literal["address", "news", "chat"]
_NEWS = "agnews_train.jsonl.gz"
_ROWS = 400
"""Rows of the news file that questions are taken from."""
_CHATS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("What is the capital of France?", ("Paris",)),
    ("How many days are there in a week?", ("seven", "7")),
    ("What is the opposite of hot?", ("cold",)),
    ("What color is the sky on a clear day?", ("blue",)),
    ("Which planet do we live on?", ("Earth",)),
    ("What do bees make?", ("honey",)),
    ("What is frozen water called?", ("ice",)),
    ("Which is the largest ocean on Earth?", ("Pacific",)),
    ("Who wrote Romeo and Juliet?", ("Shakespeare",)),
    ("What is the capital of Japan?", ("Tokyo",)),
    ("How many legs does a spider have?", ("eight", "8")),
    ("What gas do plants take from the air?", ("carbon", "CO2")),
)
"""Questions, and words of which a right answer has one."""
_REASONING = re.compile(r".*</think>", re.DOTALL)
_CONTROL = re.compile(r"<\|[^|<>]*\|>")


@dataclass(frozen=True, slots=True)
class Question:
    """A text, and what is right."""

    text: str
    right: Any
    """An address's labelled fields, a news text's label, a chat's words of which one must occur."""


def questions(job: Job, data: Path, count: int, seed: int) -> list[Question]:
    """So many questions of a job, the same for the same seed. `data` holds `address/*.jsonl` and the news.

    Errors: `UsageError` when `data` lacks them, or there are not so many.
    """
    found = {"address": _addresses, "news": _news, "chat": _chats}[job](data)
    if len(found) < count:
        raise UsageError(f"{count} questions of {job} are needed, and there are {len(found)}; ask for fewer.")
    random.Random(seed).shuffle(found)
    return found[:count]


def is_right(job: Job, answer: str, right: Any) -> bool:
    """Whether what was answered is right, whatever was written around it."""
    said = _CONTROL.sub("", _REASONING.sub("", answer)).strip()
    if job == "address":
        record = _record(said)
        return all(record.get(field) == value for field, value in right.items())
    if job == "news":
        return bool(first_label(said) == right)
    return any(re.search(rf"\b{re.escape(word)}\b", said, re.IGNORECASE) for word in right)


def first_label(said: str) -> str | None:
    """The label that is named first."""
    places = {label: said.find(label) for label in AGNEWS_LABELS}
    named = [label for label, place in places.items() if place >= 0]
    return min(named, key=lambda label: places[label], default=None)


def _record(said: str) -> dict[str, Any]:
    """The first JSON object in what was said; empty if there is none."""
    start = said.find("{")
    if start < 0:
        return {}
    try:
        found, _ = json.JSONDecoder().raw_decode(said, start)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _addresses(data: Path) -> list[Question]:
    return [Question(gold.text, gold.expected) for gold in address_lines.gold(data)]


def _news(data: Path) -> list[Question]:
    try:
        with gzip.open(data / _NEWS, "rt", encoding="utf-8") as file:
            rows = [json.loads(line) for _, line in zip(range(_ROWS), file, strict=False)]
        return [Question(row["text"], AGNEWS_LABELS[row["label"]]) for row in rows]
    except (OSError, EOFError, ValueError, KeyError, IndexError) as error:
        raise UsageError(f"{data / _NEWS} gives no news ({error}); give the folder that holds it.") from error


def _chats(_: Path) -> list[Question]:
    return [Question(text, words) for text, words in _CHATS]


def texts(asked: Sequence[Question]) -> tuple[str, ...]:
    """Theirs, in order."""
    return tuple(question.text for question in asked)
