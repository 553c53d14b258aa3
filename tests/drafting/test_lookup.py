"""Drafts by what stands in the text, nothing learned."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copydesk.drafting.lookup import draft
from copydesk.types import Json, Span, Task

from .cases import TEXTS, check_law, record_and_values, task_of, written

STRING: Json = {"type": "string"}


def record(**properties: Any) -> Json:
    return {"type": "object", "properties": properties, "required": list(properties)}


@pytest.mark.parametrize(
    ("schema", "text", "so_far", "whole"),
    [
        (record(city=STRING), "住在长沙市，湖南", '{"city": "长', '{"city": "长沙市"}'),
        (record(a=STRING, b=STRING), "Ann, Bob, Cid", '{"a": "Bob"', '{"a": "Bob", "b": "Cid"}'),
        (record(a=STRING, b=STRING), "Ann; Phone: 021-1761", "", '{"a": "Ann", "b": "021-1761"}'),
        (record(name=STRING), "order 7, name: Ann", "", '{"name": "Ann"}'),
        (record(phone=STRING), "call 138 1234 5678 now", '{"phone": "1381', '{"phone": "13812345678"}'),
        (
            record(address=STRING),
            "SUN CAFE\n1 SUN RD,\nROME",
            '{"address": "1 SUN RD, R',
            '{"address": "1 SUN RD, ROME"}',
        ),
        (record(mail={"type": "string", "format": "email"}), "Ann, a@b.org", "", '{"mail": "a@b.org"}'),
        (record(total={"type": "number"}), "2 cups, 1,234.50 in all", '{"total": 12', '{"total": 1234.50}'),
        (record(count={"type": "integer"}), "no. 007", "", '{"count": 7}'),
        (record(count={"type": "integer"}), "none", "", '{"count": 0}'),
        (record(tone={"enum": ["good", "bad"]}), "it was BAD", "", '{"tone": "bad"}'),
        (record(tone={"enum": ["good", "bad"]}), "it was bad", '{"tone": "g', '{"tone": "good"}'),
        (record(sure={"type": "boolean"}), "sure: yes", '{"sure": t', '{"sure": true}'),
        (record(a={"type": ["string", "null"]}), "", '{"a": ', '{"a": null}'),
        (record(tags={"type": "array", "items": STRING}), "red, blue", '{"tags": ["red', '{"tags": ["red", "blue"]}'),
        (record(a=STRING), "天气很好", '{"a": "xyz', '{"a": "xyz"}'),
    ],
)
def test_drafts(schema: Json, text: str, so_far: str, whole: str) -> None:
    found = draft(task_of(schema), text, so_far)
    assert found is not None
    assert (found.text, found.source) == (whole, "lookup")


def test_empty_values_are_followed_by_empty_ones() -> None:
    task = task_of(record(a=STRING, b=STRING, c=STRING))
    found = draft(task, "some words", '{"a": "", ')
    assert found is not None
    assert found.text == '{"a": "", "b": "", "c": ""}'


def test_spans_are_where_values_stand() -> None:
    found = draft(task_of(record(a=STRING, b=STRING)), "Ann, Bob", '{"a": "A')
    assert found is not None
    assert found.spans == {"a": (Span(0, 3),), "b": (Span(5, 8),)}


def test_the_end_of_a_value_is_enough_to_go_on() -> None:
    found = draft(task_of(record(a=STRING)), "第一段路，第二段路七号楼", '{"a": "第一段路第二段路七')
    assert found is not None
    assert found.text == '{"a": "第一段路第二段路七号楼"}'


def test_nothing_is_added_within_an_escape() -> None:
    assert draft(task_of(record(a=STRING)), 'say "x"', '{"a": "x\\') is None


def test_a_label_that_the_text_names() -> None:
    task = Task("news", "Classify.", labels=("World", "Sports"))
    named, begun = draft(task, "sports today", ""), draft(task, "sports today", "Wor")
    assert (named and named.text, begun and begun.text) == ("Sports", "World")


@pytest.mark.parametrize("piece", [" ", "a", "1", "a ", "1 (", "市 ", "name", "name: ", ", ", "\u3000", "1.", "\n"])
@pytest.mark.parametrize("so_far", ["", '{"name": "', '{"name": "a'])
def test_long_texts_take_no_long_time(piece: str, so_far: str) -> None:
    task = task_of(record(name=STRING, total={"type": "number"}, tags={"type": "array", "items": STRING}))
    started = time.perf_counter()
    draft(task, piece * (60_000 // len(piece)) + "x", so_far)
    assert time.perf_counter() - started < 1


@given(record_and_values().flatmap(lambda pair: st.tuples(st.just(pair[0]), pair[1])), TEXTS, st.integers(0, 200))
def test_the_law_within_answers(case: tuple[Json, Any], text: str, length: int) -> None:
    schema, value = case
    answer = written(value)
    check_law(draft, task_of(schema), text, "")
    check_law(draft, task_of(schema), text, answer[: length % (len(answer) + 1)])


@given(record_and_values(), TEXTS, st.text(max_size=20) | st.text(st.sampled_from('{}[]", :ab\\1-.nt'), max_size=20))
def test_the_law_for_anything_that_may_stand(case: tuple[Json, Any], text: str, so_far: str) -> None:
    check_law(draft, task_of(case[0]), text, so_far)
