"""Answers as a web page."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copydesk.errors import CopydeskError
from copydesk.page import Page, row
from copydesk.types import Answer, Failure, Field, Span, Usage

TEXT = "张三 <b>\n北京市 & more"


class Read(HTMLParser):
    """What a browser would make of a page: the text of an element of class `text`, and the marks in it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.marks: list[tuple[str, str]] = []
        self._within = False
        self._mark: str | None = None
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        given = dict(attributes)
        self._within |= given.get("class") == "text"
        if tag == "mark":
            self._mark = given["title"]

    def handle_endtag(self, tag: str) -> None:
        self._within &= tag != "p"
        if tag == "mark":
            self._mark = None

    def handle_data(self, data: str) -> None:
        if self._within:
            self.text += data
        if self._mark is not None:
            self.marks.append((self._mark, data))


def answer(value: Any, fields: Mapping[str, Field], **others: Any) -> Answer[Any]:
    usage = Usage(10, 5, 5)
    options = {"draft": "rules", "accepted": 0.5, "passes": 2} | others
    return Answer(value, fields, 0.5, True, model="nano", engine="fake", usage=usage, ms=1.0, **options)


NAMED = answer(
    {"name": "张三", "city": "北京市", "none": ""},
    {
        "name": Field((Span(0, 2),), "exact", 0.99, "kept"),
        "city": Field((Span(7, 10),), "exact", 0.4, draft="corrected"),
        "none": Field((), "inferred", 0.9),
    },
)


def test_values_are_marked_where_they_stand() -> None:
    read = Read(row(TEXT, NAMED))
    assert read.text == TEXT
    assert read.marks == [("name", "张三"), ("city", "北京市")]


def test_fields_say_how_sure_they_are_and_what_became_of_their_drafts() -> None:
    shown = row(TEXT, NAMED)
    assert "99.0%" in shown
    assert '<td class="sure unsure">40.0%</td>' in shown
    assert "exact, as drafted" in shown
    assert "exact, draft corrected" in shown
    assert "draft by rules, 50% stood" in shown
    assert "draft" not in row(TEXT, answer({"none": ""}, {"none": NAMED.fields["none"]}, draft=None, accepted=None))


def test_a_place_that_several_share_shows_them_all() -> None:
    fields = {"province": Field((Span(0, 3),), "exact", 1.0), "city": Field((Span(1, 4), Span(5, 6)), "exact", 1.0)}
    shown = row("天津市河西区", answer({"province": "天津市", "city": "津市河区"}, fields))
    assert Read(shown).marks == [("province", "天"), ("province, city", "津市"), ("city", "河"), ("city", "区")]
    assert "linear-gradient" in shown


def test_labels_are_shown_with_their_shares() -> None:
    shown = row("a", answer("Sports", {}, labels={"World": 0.25, "Sports": 0.75}))
    assert "<strong>Sports</strong>" in shown
    assert "25.0%" in shown


def test_a_failure_stands_in_its_place() -> None:
    shown = row("", Failure("length", "does <not> fit"))
    assert "length: does &lt;not&gt; fit" in shown


@given(st.text(), st.text(min_size=1), st.text())
def test_whatever_a_text_holds_it_is_text(text: str, name: str, value: str) -> None:
    fields = {name: Field((Span(0, len(text)),) if text else (), "exact", 1.0)}
    plain = Read(row("a", answer({"b": "c"}, {"b": Field((Span(0, 1),), "exact", 1.0)})))
    read = Read(row(text, answer({name: value}, fields)))
    assert len(read.text) == len(text)
    assert set(read.tags) <= set(plain.tags)


def test_a_page_is_there_once_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.html"
    with Page(path) as page:
        page.add(TEXT, NAMED)
        assert not path.exists()
    written = path.read_text(encoding="utf-8")
    assert written.startswith("<!doctype html>")
    assert written.endswith("</html>\n")
    assert "<script" not in written
    assert "http" not in written.replace("http-equiv", "")
    assert list(tmp_path.iterdir()) == [path]
    assert stat.S_IMODE(path.stat().st_mode) & 0o444 == 0o444


def test_a_page_that_breaks_off_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "out.html"
    path.write_text("before")

    def broken() -> None:
        with Page(path) as page:
            page.add("a", NAMED)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        broken()
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_page_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    with pytest.raises(CopydeskError, match="no folder"):
        Page(tmp_path / "no folder" / "out.html")


def test_a_page_goes_through_a_pipe_and_a_link_and_leaves_them_there(tmp_path: Path) -> None:
    pipe, link, place = tmp_path / "pipe", tmp_path / "link.html", tmp_path / "place.html"
    os.mkfifo(pipe)
    place.write_text("before")
    link.symlink_to(place)
    with ThreadPoolExecutor() as reading:
        read = reading.submit(pipe.read_text, encoding="utf-8")
        with Page(pipe) as page:
            page.add(TEXT, NAMED)
        through = read.result(timeout=20)
    with Page(link) as page:
        page.add(TEXT, NAMED)
    assert link.is_symlink()
    assert through == place.read_text(encoding="utf-8")
    assert stat.S_ISFIFO(pipe.stat().st_mode)
