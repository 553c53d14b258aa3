"""Where values stand in their source."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copydesk.desk.spans import Source
from copydesk.types import Match, Span

TEXT = "天津市河西区 Pearl Ｒoad 21号, 慕容 修远, 022-1234, 21"


@pytest.mark.parametrize(
    ("value", "standing", "match"),
    [
        ("天津市", "天津市", "exact"),
        ("慕容修远", "慕容 修远", "normalized"),
        ("pearl road", "Pearl Ｒoad", "normalized"),
        (21, "21", "exact"),
        ("022-1234", "022-1234", "exact"),
        (22, None, "inferred"),
        ("上海市", None, "inferred"),
        ("", None, "inferred"),
        (True, None, "inferred"),
        (None, None, "inferred"),
        ([], None, "inferred"),
        ("　", None, "inferred"),
    ],
)
def test_where_a_value_stands(value: Any, standing: str | None, match: Match) -> None:
    spans, matched = Source(TEXT).find(value)
    assert matched == match
    assert [TEXT[span.start : span.end] for span in spans] == ([] if standing is None else [standing])


def test_a_value_that_stands_twice_is_found_at_both_places() -> None:
    source = Source("北京市，北京市朝阳区")
    assert source.find("北京市")[0] == (Span(0, 3),)
    assert source.find("北京市")[0] == (Span(4, 7),)
    assert source.find("北京市")[0] == (Span(0, 3),)


def test_a_number_within_a_longer_one_is_another_number() -> None:
    assert Source("room 1210, age 21").find(21)[0] == (Span(15, 17),)


def test_a_character_that_folds_to_several_keeps_its_place() -> None:
    assert Source("㎏ 单位").find("kg单位") == ((Span(0, 4),), "normalized")


@given(st.text(min_size=1, max_size=30), st.data())
def test_every_run_of_the_text_is_found_exactly(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    (span,), match = Source(text).find(text[start:end])
    assert match == "exact"
    assert text[span.start : span.end] == text[start:end]
