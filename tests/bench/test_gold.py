"""Gold lines as they are read from a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from copydesk.bench.gold import Gold, read_gold
from copydesk.errors import UsageError
from copydesk.tasks.builtin import ADDRESS, AGNEWS


def write(folder: Path, *rows: Any) -> str:
    path = folder / "gold.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def test_unlabelled_fields_are_left_out(tmp_path: Path) -> None:
    row = {"text": "天津市", "expected": {"city": "天津市", "name": "", "phone": ""}, "unlabelled": ["name", "phone"]}
    assert read_gold(write(tmp_path, row), ADDRESS) == [Gold("天津市", {"city": "天津市"})]


def test_a_label_may_be_its_name_or_its_place(tmp_path: Path) -> None:
    path = write(tmp_path, {"text": "a", "label": "Sci/Tech"}, {"text": "b", "label": 1})
    assert read_gold(path, AGNEWS) == [Gold("a", {}, "Sci/Tech"), Gold("b", {}, "Sports")]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ([], "line 2 is not a JSON object"),
        ({"expected": {}}, "line 2 is without a string under the key text"),
        ({"text": "a"}, "line 2 is without an object under the key expected"),
        ({"text": "a", "expected": {}, "unlabelled": "name"}, "line 2 is without a list under the key unlabelled"),
    ],
)
def test_a_line_that_is_no_gold_record_is_named(tmp_path: Path, row: Any, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        read_gold(write(tmp_path, {"text": "a", "expected": {}}, row), ADDRESS)


@pytest.mark.parametrize("label", ["Weather", 4, -1, True, None, ["World"]])
def test_a_label_that_is_none_of_the_tasks_is_named(tmp_path: Path, label: Any) -> None:
    with pytest.raises(UsageError, match=r"line 1 is labelled .*, which is none of World, Sports, Business, Sci/Tech"):
        read_gold(write(tmp_path, {"text": "a", "label": label}), AGNEWS)


def test_a_line_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    (tmp_path / "gold.jsonl").write_bytes(b"\xff\n")
    with pytest.raises(UsageError, match="Line 1 is not UTF-8"):
        read_gold(str(tmp_path / "gold.jsonl"), ADDRESS)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no gold line"):
        read_gold(write(tmp_path), ADDRESS)
