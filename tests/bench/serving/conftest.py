"""A folder of texts."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Twelve addresses and twelve news texts, of each one too long."""
    (tmp_path / "address").mkdir()
    rows = [json.dumps({"text": text, "expected": {}}) + "\n" for text in _texts("address")]
    (tmp_path / "address" / "some.jsonl").write_text("".join(rows), encoding="utf-8")
    with gzip.open(tmp_path / "agnews_train.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write("".join(json.dumps({"text": text, "label": 0}) + "\n" for text in _texts("news")))
    return tmp_path


def _texts(name: str) -> list[str]:
    return [f"{name} {row}" for row in range(12)] + [name * 800]
