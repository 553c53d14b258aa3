from __future__ import annotations

import gzip
import json
from pathlib import Path

from copydesk.training.addresses import material as module
from copydesk.training.addresses.divisions import Divisions


def test_company_addresses_are_split_where_divisions_are_named_in_full(divisions: Divisions) -> None:
    lines = [
        "湖南省长沙市岳麓区麓谷大道662号软件中心",
        "湖南长沙随便什么地方",
        "广东省东莞市长安镇乌沙振安路249号",
        "11",
    ]
    assert list(module.split_company_addresses(lines, divisions)) == [
        ("湖南省", "长沙市", "岳麓区", "麓谷大道662号软件中心"),
        ("广东省", "东莞市", "", "长安镇乌沙振安路249号"),
    ]


def test_lines_of_plain_and_gzipped_files(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("一\n\n二\n", encoding="utf-8")
    with gzip.open(tmp_path / "b.txt.gz", "wt", encoding="utf-8") as file:
        file.write("三\n")
    assert module.read_lines(tmp_path / "a.txt") == ["一", "二"]
    assert module.read_lines(tmp_path / "b.txt.gz") == ["三"]


def test_traditional_forms() -> None:
    forms = module.traditional_forms(set("长东一"))
    assert forms == {str(ord("长")): "長", str(ord("东")): "東"}


def test_read_rows(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(json.dumps({"text": "x"}) + "\n", encoding="utf-8")
    assert module.read_rows(tmp_path / "rows.jsonl") == [{"text": "x"}]
