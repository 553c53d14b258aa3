"""Sources that read files: endless, seeded, faithful to the lines."""

from __future__ import annotations

import gzip
import itertools
import json
import random
from pathlib import Path
from typing import Any

from copydesk.training.news.taught import REAL_FILE, TaughtRow, write_taught
from copydesk.training.sources import address_lines, news, plain_text, taught_news

FULL = {
    "province": "湖北省",
    "city": "仙桃市",
    "district": "",
    "specific_location": "沔街1号",
    "name": "王五",
    "phone": "",
}


def write(path: Path, lines: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    return str(path)


def test_real_lines_ask_only_for_what_is_labelled(tmp_path: Path) -> None:
    lines = [{"text": "仙桃市沔街1号 王五", "expected": FULL, "unlabelled": ["phone", "name"]}]
    file = write(tmp_path / "lines.jsonl", lines)
    (whole,) = itertools.islice(address_lines(random.Random(0), file, subsets=0), 1)
    assert whole.answer == json.dumps({k: FULL[k] for k in list(FULL)[:4]}, ensure_ascii=False)
    assert whole.task.instruction.endswith("：province, city, district, specific_location")
    asked = {
        tuple(json.loads(e.answer)) for e in itertools.islice(address_lines(random.Random(0), file, subsets=1), 50)
    }
    assert len(asked) > 10
    assert not any({"phone", "name"} & set(fields) for fields in asked)


def test_news_takes_names_and_indices_and_goes_round(tmp_path: Path) -> None:
    lines = [{"text": f"text {i}", "label": label} for i, label in enumerate(["Sports", 3])]
    file = write(tmp_path / "news.jsonl", lines)
    drawn = list(itertools.islice(news(random.Random(1), file, strength=0), 6))
    assert {(e.text, e.answer) for e in drawn} == {("text 0", "Sports"), ("text 1", "Sci/Tech")}
    changed = list(itertools.islice(news(random.Random(1), file, strength=5), 50))
    assert len({e.text for e in changed}) > 2


def test_taught_news_carries_the_teachers_shares_of_one_part(tmp_path: Path) -> None:
    rows = [
        TaughtRow("a", "train", 1, (0.2, 0.6, 0.1, 0.1)),
        TaughtRow("b", "dev", 0, None),
        TaughtRow("c", "written", None, (0, 0, 1, 0)),
    ]
    write_taught(rows, tmp_path / REAL_FILE)
    drawn = list(itertools.islice(taught_news(random.Random(0), str(tmp_path), hard=0.5, strength=0), 3))
    assert {(e.text, e.answer, e.label_probabilities) for e in drawn} == {("a", "Sports", (0.1, 0.8, 0.05, 0.05))}


def test_plain_text_comes_from_lines_or_a_key_packed_or_not(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n\ntwo\n", encoding="utf-8")
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(b'{"body": "one"}\n{"body": "two"}\n'))
    for name, key in (("a.txt", "text"), ("b.jsonl.gz", "body")):
        drawn = list(itertools.islice(plain_text(random.Random(0), str(tmp_path / name), key), 4))
        assert sorted(drawn) == ["one", "one", "two", "two"]
