"""What a tagger expects of a text, and of a value that has begun otherwise."""

from __future__ import annotations

import random
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copydesk.drafting.layout import Written, write
from copydesk.drafting.shape import Shape, read
from copydesk.drafting.tagger.fitting import fit
from copydesk.drafting.tagger.tagged import Tagged
from copydesk.drafting.tagger.tagger import Tagger
from copydesk.drafting.tagger.targets import targets_of
from copydesk.types import Draft, Json, Span, Task
from law_cases import cases

from ..cases import TEXTS, check_law, record_and_values, task_of, written

STRING = {"type": "string"}
SHAPE = read(
    {
        "type": "object",
        "properties": {"name": STRING, "place": STRING, "tone": STRING},
        "required": ["name", "place", "tone"],
    }
)
NAMES = ["Ann Lee", "Bob", "Cid Ray", "Dora", "Eve Low", "Finn"]
PLACES = ["Rome", "New York", "Oslo", "Paris"]


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    luck = random.Random(1)
    rows = []
    for _ in range(60):
        name, place = luck.choice(NAMES), luck.choice(PLACES)
        tone = luck.choice(["good", "bad"])
        said = {"good": "nice trip", "bad": "awful trip"}[tone]
        rows.append((f"{name} went to {place}, {said}", written({"name": name, "place": place, "tone": tone})))
    fitted = fit(SHAPE, rows)
    assert fitted is not None
    return fitted


def draft(tagger: Tagger, text: str, so_far: str = "", shape: Shape = SHAPE) -> Written | None:
    guesses = Tagged(tagger, targets_of(shape), text).guesses()
    return None if guesses is None else write(shape, so_far, guesses)


def test_an_answer_with_its_spans(tagger: Tagger) -> None:
    found = draft(tagger, "Gus went to Lima, awful trip")
    assert found is not None
    assert found.text == '{"name": "Gus", "place": "Lima", "tone": "bad"}'
    assert found.spans == {"name": (Span(0, 3),), "place": (Span(12, 16),), "tone": ()}


@pytest.mark.parametrize(
    ("so_far", "whole"),
    [
        ('{"name": "K', '{"name": "Kim Ray", "place": "San Remo", "tone": "good"}'),
        ('{"name": "Kim Ray", "place": "San', '{"name": "Kim Ray", "place": "San Remo", "tone": "good"}'),
        (
            '{"name": "Kim Ray", "place": "San Remo", "tone": "b',
            '{"name": "Kim Ray", "place": "San Remo", "tone": "bad"}',
        ),
        ('{"name": "Remo"', '{"name": "Remo", "place": "San Remo", "tone": "good"}'),
    ],
)
def test_a_value_that_begins_otherwise_goes_on_as_the_likeliest(tagger: Tagger, so_far: str, whole: str) -> None:
    found = draft(tagger, "Mr Lu and Kim Ray went to San Remo, nice trip", so_far)
    assert found is not None
    assert found.text == whole


@pytest.mark.parametrize("piece", ["Kim Ray went to Rome, nice trip. ", "市", "a", " ", "1 ("])
def test_time_is_in_proportion_to_the_text(tagger: Tagger, piece: str) -> None:
    def least(characters: int) -> float:
        text = (piece * characters)[:characters] + "x"
        times = []
        for _ in range(10):
            started = time.perf_counter()
            draft(tagger, text)
            times.append(time.perf_counter() - started)
        return min(times)

    assert least(1000) < 0.005  # a fifth of that on a machine of its own
    assert least(30_000) < 0.15


def test_there_is_nothing_to_expect_of_an_empty_text(tagger: Tagger) -> None:
    assert draft(tagger, " ") is None


LINES = read(
    {
        "type": "object",
        "properties": {
            "lines": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"item": STRING, "price": {"type": "number"}, "taxed": {"type": "boolean"}},
                    "required": ["item", "price", "taxed"],
                },
            }
        },
        "required": ["lines"],
    }
)


def test_records_take_what_stands_after_their_anchor() -> None:
    luck = random.Random(1)
    rows = []
    for _ in range(60):
        bought = [(luck.choice(["tea", "cake", "milk", "pie"]), luck.randint(2, 99)) for _ in range(luck.randint(1, 3))]
        lines = [{"item": item, "price": price, "taxed": True} for item, price in bought]
        rows.append(("\n".join(f"1 {item} RM {price}" for item, price in bought), written({"lines": lines})))
    fitted = fit(LINES, rows)
    assert fitted is not None
    found = draft(fitted, "1 soup RM 77\n1 tea RM 8", shape=LINES)
    assert found is not None
    assert found.text == (
        '{"lines": [{"item": "soup", "price": 77, "taxed": true}, {"item": "tea", "price": 8, "taxed": true}]}'
    )


MARKS = read(
    {
        "type": "object",
        "properties": {
            "marks": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"kind": STRING, "weight": {"type": "integer"}, "note": STRING},
                    "required": ["kind", "weight"],
                },
            }
        },
        "required": ["marks"],
    }
)
MEANT = {
    "late": {"kind": "delivery", "weight": 2},
    "broken": {"kind": "quality", "weight": 5, "note": "urgent"},
    "rude": {"kind": "service", "weight": 3},
}


@pytest.fixture(scope="module")
def marks() -> Tagger:
    luck = random.Random(1)
    rows = []
    for _ in range(80):
        said = [word for word in MEANT if luck.random() < 0.4]
        rows.append((f"it was {', '.join(said)} again", written({"marks": [MEANT[word] for word in said]})))
    fitted = fit(MARKS, rows)
    assert fitted is not None
    return fitted


@pytest.mark.parametrize(
    ("text", "so_far", "marked"),
    [
        ("it was broken again", "", ["broken"]),
        ("it was fine again", "", []),
        ("it was fine again", '{"marks": [{"kind": "s', ["rude"]),
        ("it was late again", '{"marks": [{"kind": "quality", "wei', ["broken", "late"]),
    ],
)
def test_records_of_which_nothing_is_copied(marks: Tagger, text: str, so_far: str, marked: list[str]) -> None:
    found = draft(marks, text, so_far, MARKS)
    assert found is not None
    assert found.text == written({"marks": [MEANT[word] for word in marked]})


def test_an_array_that_is_always_empty_is_expected_to_be() -> None:
    rows = [(f"it was {word} again", written({"marks": [], "tone": word})) for word in ("fine", "good", "fair")] * 9
    tone = {
        "type": "object",
        "properties": {
            "marks": {
                "type": "array",
                "items": {"type": "object", "properties": {"kind": STRING}, "required": ["kind"]},
            },
            "tone": STRING,
        },
        "required": ["marks", "tone"],
    }
    fitted = fit(read(tone), rows)
    assert fitted is not None
    found = draft(fitted, "it was poor again", shape=read(tone))
    assert found is not None
    assert found.text == '{"marks": [], "tone": "poor"}'


@settings(max_examples=cases(60))
@given(
    record_and_values().flatmap(
        lambda pair: st.tuples(st.just(pair[0]), st.lists(st.tuples(TEXTS, pair[1]), min_size=2, max_size=4))
    ),
    st.integers(0, 200),
)
def test_the_law(case: tuple[Json, list[tuple[str, Any]]], length: int) -> None:
    schema, made = case
    shape = read(schema)
    fitted = fit(shape, [(text, written(value)) for text, value in made])
    text, answer = made[0][0], written(made[1][1])

    def drafted(task: Task, text: str, so_far: str) -> Draft | None:
        found = draft(fitted, text, so_far, shape) if fitted else None
        return None if found is None else Draft(found.text, "tagger", found.spans)

    if fitted is not None and text.strip():
        check_law(drafted, task_of(schema), text, "")
        check_law(drafted, task_of(schema), text, answer[: length % (len(answer) + 1)])
        check_law(drafted, task_of(schema), text, answer[length % (len(answer) + 1) :] or "x")
