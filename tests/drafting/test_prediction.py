"""The caller's own guess, however it is laid out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copydesk.drafting.prediction import draft
from copydesk.types import Json, Task

from .cases import TEXTS, check_law, record_and_values, task_of

STRING: Json = {"type": "string"}
SCHEMA: Json = {
    "type": "object",
    "properties": {
        "name": STRING,
        "total": {"type": "number"},
        "tone": {"enum": ["good", "bad"]},
        "tags": {"type": "array", "items": STRING},
    },
    "required": ["name", "total", "tone", "tags"],
}
WHOLE = '{"name": "Ann", "total": 9.50, "tone": "good", "tags": ["a", "b"]}'


@pytest.mark.parametrize(
    "prediction",
    [
        {"name": "Ann", "total": "9.50", "tone": "good", "tags": ["a", "b"]},
        '{"tags":["a","b"],"tone":"GOOD","name":"Ann","total":"9.50"}',
        'Here it is:\n```json\n{"tags": ["a",\n "b"], "tone": "good",\n "name": "Ann", "total": "9.50"}\n```',
        '7 {"name": "Ann", "total": "9.50", "tone": "good", "tags": ["a", "b"]}',
    ],
)
def test_layouts(prediction: Any) -> None:
    found = draft(task_of(SCHEMA), "", "", prediction)
    assert found is not None
    assert (found.text, found.source) == (WHOLE, "prediction")


@pytest.mark.parametrize("prediction", ["", "no idea", "{", "[1]", 7, None, {}, {"other": 1}, "[" * 100_000, object()])
def test_garbage_is_no_draft(prediction: Any) -> None:
    assert draft(task_of(SCHEMA), "text", "", prediction) is None


def test_what_is_missing_or_does_not_fit_is_looked_up() -> None:
    found = draft(task_of(SCHEMA), "Ann paid 7", "", {"name": "Ann", "total": "much", "tags": "none"})
    assert found is not None
    assert json.loads(found.text)["name"] == "Ann"
    assert json.loads(found.text)["total"] == 7


def test_it_goes_on_after_a_correction() -> None:
    found = draft(task_of(SCHEMA), "Ann Lee", '{"name": "Ann L', json.loads(WHOLE))
    assert found is not None
    assert found.text == '{"name": "Ann Lee", "total": 9.5, "tone": "good", "tags": ["a", "b"]}'


@pytest.mark.parametrize(
    ("prediction", "label"), [("sports", "Sports"), (" Sports ", "Sports"), ("Cooking", None), (3, None)]
)
def test_labels(prediction: Any, label: str | None) -> None:
    found = draft(Task("news", "Classify.", labels=("World", "Sports")), "text", "", prediction)
    assert (found and found.text) == label


@given(record_and_values().flatmap(lambda pair: st.tuples(st.just(pair[0]), pair[1])), TEXTS)
def test_a_right_prediction_is_the_answer(case: tuple[Json, Any], text: str) -> None:
    schema, value = case
    if value:
        found = draft(task_of(schema), text, "", json.dumps(value, indent=1))
        assert found is not None
        assert json.loads(found.text) == value


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "city", "市"]), inner),
    max_leaves=8,
)


@given(record_and_values(), TEXTS, anything | st.text(max_size=30), st.sampled_from(["{", '{"name": "a', "x"]))
def test_the_law_for_any_prediction(case: tuple[Json, Any], text: str, prediction: Any, so_far: str) -> None:
    task = task_of(case[0])
    check_law(lambda task, text, so_far: draft(task, text, so_far, prediction), task, text, so_far)
    if draft(task, text, "", prediction) is not None:
        check_law(lambda task, text, so_far: draft(task, text, so_far, prediction), task, text, "")
