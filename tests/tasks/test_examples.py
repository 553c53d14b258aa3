"""Examples are checked, and written as answers are."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, field_validator

from copydesk.errors import UsageError
from copydesk.tasks.builtin import ADDRESS, AGNEWS
from copydesk.tasks.examples import checked_examples
from copydesk.tasks.task import extraction
from copydesk.types import Example, Task


class Line(BaseModel):
    item: str
    price: float = Field(ge=0)


class Order(BaseModel):
    buyer: str
    lines: list[Line]
    note: str | None = None

    @field_validator("buyer")
    @classmethod
    def known(cls, buyer: str) -> str:
        if buyer == "nobody":
            raise ValueError("nobody buys nothing")
        return buyer


ORDER = extraction(Order)


def checked(task: Task, *pairs: Any) -> tuple[Example, ...]:
    return checked_examples(task, list(pairs), "file.jsonl: line {}".format)


def test_a_record_is_written_on_one_line_in_the_order_of_the_schema() -> None:
    record = {
        "note": "a\n“b”\x01",
        "lines": [{"price": 0.000001, "item": "x"}, {"price": 2.0, "item": "y"}],
        "buyer": "é",
    }
    (example,) = checked(ORDER, ("text", record))
    assert example.answer == (
        '{"buyer": "é", "lines": [{"item": "x", "price": 0.000001}, {"item": "y", "price": 2.0}], '
        '"note": "a\\n“b”\\u0001"}'
    )
    assert json.loads(example.answer) == record


def test_an_instance_of_the_class_is_taken_as_its_record() -> None:
    order = Order(buyer="B", lines=[Line(item="x", price=1)])
    assert checked(ORDER, ("text", order)) == (
        Example("text", '{"buyer": "B", "lines": [{"item": "x", "price": 1.0}], "note": null}'),
    )


def test_labels_are_written_bare() -> None:
    assert checked(AGNEWS, ("a", "World"), ["b", "Sci/Tech"]) == (Example("a", "World"), Example("b", "Sci/Tech"))


@pytest.mark.parametrize(
    ("task", "pair", "reason"),
    [
        (AGNEWS, ("text", "Weather"), "none of the labels World, Sports"),
        (AGNEWS, ("text", None), "none of the labels"),
        (AGNEWS, ("", "World"), "text is empty"),
        (AGNEWS, (None, "World"), "text is empty, or no text"),
        (AGNEWS, ("text",), r"an example is \(text, answer\)"),
        (AGNEWS, "ab", r"an example is \(text, answer\)"),
        (ADDRESS, ("text", {"name": "A"}), "'province' is a required property"),
        (
            ORDER,
            ("text", {"buyer": "A", "lines": [{"item": "x", "price": -1}]}),
            r"lines\[0\].price: -1.* minimum of 0",
        ),
        (ORDER, ("text", {"buyer": "A", "lines": "none"}), "lines: 'none' is not of type 'array'"),
        (ORDER, ("text", "a text"), "is not of type 'object'"),
        (ORDER, ("text", {"buyer": "A", "lines": [], "note": {1}}), "no JSON"),
        (ORDER, ("text", {"buyer": "A", "lines": [{"item": "x", "price": float("nan")}]}), "JSON"),
        (ORDER, ("text", {"buyer": "nobody", "lines": []}), "Order refuses its answer: .*nobody buys nothing"),
    ],
)
def test_what_is_no_example_is_refused_by_its_line(task: Task, pair: Any, reason: str) -> None:
    fine = ("a", "World") if task is AGNEWS else None
    pairs = [fine, pair] if fine else [pair]
    with pytest.raises(UsageError, match=rf"(?s)^file.jsonl: line {len(pairs)}: .*{reason}") as caught:
        checked(task, *pairs)
    assert caught.value.code == "invalid_example"


def test_reasons_are_short(tmp_path: Any) -> None:
    with pytest.raises(UsageError) as caught:
        checked(ORDER, ("text", {"buyer": "A", "lines": ["x" * 5000]}))
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("pairs", ["text", {"text": "World"}, 3, iter([("a", "World")])])
def test_examples_are_a_list(pairs: Any) -> None:
    with pytest.raises(UsageError, match="a list"):
        checked_examples(AGNEWS, pairs, "{}".format)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(-1e9, 1e9) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(VALUES)
def test_what_is_written_means_what_was_given(value: Any) -> None:
    (example,) = checked(extraction({}), ("text", value))
    assert json.loads(example.answer) == value
    assert "\n" not in example.answer
