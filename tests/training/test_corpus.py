"""The corpus holds what may be trained on, and nothing that is measured on."""

from __future__ import annotations

import functools
import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from copydesk.training import corpus
from copydesk.training.news.rows import read_rows
from copydesk.training.news.split import split

EXPECTED = dict.fromkeys(("province", "city", "district", "specific_location", "name", "phone"), "")


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of a few rows; one news row each to develop on and to hold out."""
    monkeypatch.setattr(corpus, "split", functools.partial(split, part_rows=1))
    (tmp_path / "address").mkdir()
    (tmp_path / "gen").mkdir()
    rows = [
        {
            "text": f"{title} {title[::-1]}",
            "label": 0,
            "kind": "title+description",
            "title": title,
            "description": title[::-1],
        }
        for title in (
            "Storms cross the northern coast",
            "Bank lowers rates again",
            "Chips grow smaller",
            "Cup final drawn",
        )
    ]
    _gzip(tmp_path / "agnews_train.jsonl.gz", "\n".join(map(json.dumps, rows)))
    for name, text in (
        ("waybill_train", "运单收货人"),
        ("rule_labelled", "规则标注"),
        ("waybill_dev", "开发"),
        ("messy_dev", "杂乱"),
    ):
        line = json.dumps({"text": text, "expected": EXPECTED}, ensure_ascii=False)
        (tmp_path / "address" / f"{name}.jsonl").write_text(line + "\n", encoding="utf-8")
    (tmp_path / "gen" / "surnames.txt").write_text("慕容\n", encoding="utf-8")
    (tmp_path / "gen" / "given_chars.txt").write_text("氏\t268\n", encoding="utf-8")
    _gzip(tmp_path / "gen" / "companies.txt.gz", "桃花岭路\n\n")
    person = {"first_names": ["伟"], "weights": {"a": [1, None]}}
    (tmp_path / "gen" / "faker_zh_CN_person.json").write_text(json.dumps(person), encoding="utf-8")
    district = {"name": "岳麓区", "streets": ["望月湖街道"]}
    province = {"name": "湖南省", "short": "湖南", "cities": [{"name": "长沙市", "districts": [district]}]}
    _gzip(tmp_path / "divisions.json.gz", json.dumps({"provinces": [province]}))
    return tmp_path


def _gzip(path: Path, text: str) -> None:
    path.write_bytes(gzip.compress(text.encode()))


def test_training_rows_lists_divisions_and_traditional_forms_are_in(data: Path) -> None:
    texts = set(corpus.corpus(data))
    assert texts >= {"运单收货人", "规则标注", json.dumps(EXPECTED), "慕容", "氏", "桃花岭路", "伟"}
    assert texts >= {"湖南省长沙市岳麓区", "湖南 长沙市 岳麓区", "望月湖街道", "湖南省長沙市嶽麓區"}


def test_rows_that_are_measured_on_are_out(data: Path) -> None:
    texts = set(corpus.corpus(data))
    assert not texts & {"开发", "杂乱"}
    parts = split(read_rows(data), part_rows=1)
    assert len(parts.train) == 2
    assert {row.text for row in parts.train} <= texts
    assert not texts & {row.text for row in parts.dev + parts.held_out}


def test_lines_weigh_more_than_parts(data: Path) -> None:
    counts = Counter(corpus.corpus(data))
    assert counts["运单收货人"] > counts["桃花岭路"] > 0


def test_characters_are_those_of_names_punctuation_and_everyday(data: Path) -> None:
    characters = corpus.characters(data)
    assert set("慕容伟，：（Ａ~收") <= set(characters)
    assert {"岳", "啊", "座"} <= set(characters)
    assert "瀹" not in characters
    assert list(characters) == sorted(set(characters))
