"""News rows as the data folder holds them, and what makes two of them the same story.

AG News circulates in copies that differ in quoting, in remnants of HTML entities (` #39;`, `&lt;b&gt;`, `quot;`) and in
whether the title stands before the description. Knows nothing of splits, models or tokens.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

LABELS = ("World", "Sports", "Business", "Sci/Tech")
MAIN_FILE = "agnews_train.jsonl.gz"
LOWERCASE_FILE = "agnews_train_lowercase_extra.jsonl.gz"

_ENTITY = re.compile(r"&lt;.*?&gt;|&?\b(?:lt|gt|amp|quot|nbsp)\b;?|&?#\d{1,4};")
_NOT_ALPHANUMERIC = re.compile(r"[^a-z0-9]+")
_HEAD, _TAIL, _SHORTEST_TITLE = 60, 50, 24


@dataclass(frozen=True, slots=True)
class NewsRow:
    """One labelled text. `label` is an index into `LABELS`; `title` and `description` are None where not told apart."""

    text: str
    label: int
    kind: str
    title: str | None = None
    description: str | None = None

    @property
    def whole(self) -> bool:
        """Whether the text is a title and a description, as the benchmark's own rows are."""
        return self.kind == "title+description"

    @property
    def lowercased(self) -> bool:
        """Whether the text is a lower-cased or re-tokenised copy."""
        return "lower-cased" in self.kind


def read_rows(data: Path) -> list[NewsRow]:
    """All rows of the data folder's two news files, in file order, copies included. The second file may be missing."""
    rows: list[NewsRow] = []
    for name in (MAIN_FILE, LOWERCASE_FILE):
        path = data / name
        if name == LOWERCASE_FILE and not path.exists():
            continue
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                rows.append(NewsRow(row["text"], row["label"], row["kind"], row["title"], row["description"]))
    return rows


def normalise(text: str) -> str:
    """The text's letters a-z and digits alone, lower-cased, without entity remnants: equal for copies of one row."""
    return _NOT_ALPHANUMERIC.sub("", _ENTITY.sub("", text.lower()))


def story_keys(row: NewsRow) -> set[str]:
    """Keys of which two rows of one story share at least one: its title, how its text starts, how it ends."""
    text = normalise(row.text)
    keys = {"head:" + text[:_HEAD], "tail:" + text[-_TAIL:]}
    if row.title is not None:
        title = normalise(row.title)
        if len(title) >= _SHORTEST_TITLE:
            keys.add("title:" + title)
        if row.description:
            description = normalise(row.description)
            keys |= {"head:" + description[:_HEAD], "tail:" + description[-_TAIL:]}
    return keys


def story_groups(rows: Sequence[NewsRow]) -> list[list[int]]:
    """Indices of `rows`, gathered by story (rows linked by shared keys), in order of each story's first row."""
    parents = list(range(len(rows)))

    def root(index: int) -> int:
        while parents[index] != index:
            parents[index] = parents[parents[index]]
            index = parents[index]
        return index

    owners: dict[str, int] = {}
    for index, row in enumerate(rows):
        for key in story_keys(row):
            if key in owners:
                first, second = sorted((root(index), root(owners[key])))
                parents[second] = first
            else:
                owners[key] = index
    groups: dict[int, list[int]] = {}
    for index in range(len(rows)):
        groups.setdefault(root(index), []).append(index)
    return list(groups.values())


def distinct(rows: Iterable[NewsRow]) -> Iterator[NewsRow]:
    """The rows without copies: of rows whose normalised texts are equal, or one is the other's end, the fullest stays.

    Whole rows go first, lower-cased copies last.
    """
    ranked = sorted(rows, key=lambda row: (row.lowercased, not row.whole, -len(row.text)))
    seen_texts: set[str] = set()
    seen_ends: set[str] = set()
    for row in ranked:
        text = normalise(row.text)
        if text in seen_texts or (not row.whole and text[-_TAIL:] in seen_ends):
            continue
        seen_texts.add(text)
        seen_ends.add(text[-_TAIL:])
        yield row
