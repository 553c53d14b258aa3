"""Which lines are measured with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from copydesk.bench import address_lines
from copydesk.errors import UsageError


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "address").mkdir()
    for name, texts in {"aliyun_sample": "ab", "messy_dev": "bc", "waybill_dev": "defa"}.items():
        rows = [json.dumps({"text": text, "expected": {"city": "天津市"}}) + "\n" for text in texts]
        (tmp_path / "address" / f"{name}.jsonl").write_text("".join(rows), encoding="utf-8")
    return tmp_path


def test_development_lines_in_order(data: Path) -> None:
    assert address_lines.development(data) == ("a", "b", "b", "c")


def test_warming_up_uses_others(data: Path) -> None:
    assert address_lines.warm_up(data, 2) == ("d", "e")


def test_many_are_distinct_as_long_as_there_are_enough(data: Path) -> None:
    assert sorted(address_lines.many(data, 6, 0)) == list("abcdef")
    assert address_lines.many(data, 4, 1) == address_lines.many(data, 4, 1)
    assert len(address_lines.many(data, 20, 0)) == 20


def test_a_folder_without_lines(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="address"):
        address_lines.many(tmp_path, 1, 0)
