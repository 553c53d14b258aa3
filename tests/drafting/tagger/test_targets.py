"""What is learned of a shape, and answers sorted by it."""

from __future__ import annotations

from typing import Any

from copydesk.drafting.expected import ABSENT, PRESENT
from copydesk.drafting.layout import values
from copydesk.drafting.shape import read
from copydesk.drafting.tagger.targets import Answered, sort, targets_of

from ..cases import written

STRING = {"type": "string"}
SHAPE = read(
    {
        "type": "object",
        "properties": {
            "name": STRING,
            "tone": {"enum": ["good", "bad"]},
            "home": {"type": "object", "properties": {"city": STRING}, "required": ["city"]},
            "tags": {"type": "array", "items": STRING},
            "lines": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"item": STRING, "price": {"type": "number"}, "parts": {"type": "array"}},
                    "required": ["item", "price"],
                },
            },
            "deep": {"type": "array", "items": {"type": "array", "items": STRING}},
        },
        "required": ["name", "tone", "tags", "lines"],
    }
)
TARGETS = targets_of(SHAPE)


def answered(value: Any) -> Answered:
    found = values(SHAPE, written(value))
    assert found is not None
    return sort(TARGETS, found)


def test_targets() -> None:
    assert [(single.path, single.copied, single.optional) for single in TARGETS.singles] == [
        ("name", True, False),
        ("tone", False, False),
        ("home?", False, True),
        ("home.city", True, True),
        ("deep?", False, True),
    ]
    assert [(several.path, several.leaves()) for several in TARGETS.arrays] == [
        ("tags", [""]),
        ("lines", [".item", ".price"]),
    ]


def test_an_answer_sorted() -> None:
    found = answered(
        {"name": "Ann", "tone": "bad", "home": {"city": "Rome"}, "tags": ["a"], "lines": [{"item": "x", "price": 2}]}
    )
    assert found.singles == {
        "name": '"Ann"',
        "tone": '"bad"',
        "home?": PRESENT,
        "home.city": '"Rome"',
        "deep?": ABSENT,
    }
    assert found.arrays == {"tags": [{"": '"a"'}], "lines": [{".item": '"x"', ".price": "2"}]}


def test_what_is_left_out_or_empty() -> None:
    found = answered({"name": "", "tone": "bad", "tags": [], "lines": [], "deep": []})
    assert (found.singles["home?"], found.singles["home.city"], found.singles["deep?"]) == (ABSENT, ABSENT, PRESENT)
    assert found.arrays == {"tags": [], "lines": []}


def test_an_answer_that_is_one_value() -> None:
    targets = targets_of(read(STRING))
    assert sort(targets, {"": '"x"'}).singles == {"": '"x"'}
