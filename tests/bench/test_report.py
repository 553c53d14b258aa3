"""A comparison as JSON and Markdown, and where it goes in a page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from copydesk.bench.report import Row, markdown, write
from copydesk.bench.spread import Spread
from copydesk.errors import CopydeskError

ONE, TWO, SIX = (Spread(number, number, number) for number in (1.0, 2.0, 6.0))


def test_what_is_reached() -> None:
    assert Row("a", "a", 5, "ms", ONE, "peer", SIX, SIX).reached
    assert not Row("a", "a", 5, "ms", ONE, "peer", TWO, TWO).reached
    assert Row("a", "a", 1.5, "passes", ONE, "peer", SIX, most=True).reached
    assert not Row("a", "a", 1.5, "s", ONE, "peer", TWO, TWO, most=True).reached


def test_a_table_row_says_all() -> None:
    table = markdown([Row("a", "speed", 5, "ms", ONE, "peer", SIX, SIX, of_limit=0.25)], ["seed 0"])
    assert table.splitlines()[2] == "| speed | 5x | 1 ms | peer: 6 ms | 6x | yes | 25% / - |"
    assert table.endswith("\n\n- seed 0")


def test_json_has_plain_values() -> None:
    row = Row("a", "speed", 5, "ms", ONE, "peer", SIX, TWO).to_dict()
    assert json.loads(json.dumps(row)) == row
    assert row["ratio"] == {"median": 2.0, "low": 2.0, "high": 2.0}
    assert row["reached"] is False


def test_only_what_stands_between_the_marks_is_replaced(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Mine\n\nBefore.\n", encoding="utf-8")
    write(page, "drafts", "old")
    page.write_text(page.read_text(encoding="utf-8") + "After.\n", encoding="utf-8")
    write(page, "drafts", "new\nlines")
    assert page.read_text(encoding="utf-8") == (
        "# Mine\n\nBefore.\n\n<!-- drafts: begin -->\nnew\nlines\n<!-- drafts: end -->\nAfter.\n"
    )


def test_a_new_page_gets_a_heading(tmp_path: Path) -> None:
    write(tmp_path / "page.md", "drafts", "text")
    assert (tmp_path / "page.md").read_text(encoding="utf-8").startswith("# Benchmarks\n\n<!-- drafts: begin -->\ntext")


def test_where_it_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(CopydeskError, match="page"):
        write(tmp_path / "nowhere" / "page.md", "drafts", "text")
