"""Answers in the making: what stands is followed, what is missing is written in the one layout."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copydesk.drafting.layout import Guess, values, write
from copydesk.drafting.shape import Leaf, read
from copydesk.types import Span

from .cases import record_and_values, written


class Fixed:
    """Guesses the same everywhere, and keeps what stood."""

    def __init__(self, text: str | None = '"x"', *, present: bool = True, items: int = 1) -> None:
        self.text, self.there, self.items = text, present, items
        self.stood: list[tuple[str, str]] = []
        self.begun: list[str] = []

    def value(self, path: str, leaf: Leaf, begun: str) -> Guess | None:
        self.begun.append(begun)
        return None if self.text is None else Guess(self.text, (Span(0, 1),))

    def given(self, path: str, text: str) -> None:
        self.stood.append((path, text))

    def present(self, path: str) -> bool:
        return self.there

    def more(self, path: str, index: int) -> bool:
        return index < self.items


STRING = {"type": "string"}
PAIR = read({"type": "object", "properties": {"a": STRING, "b": STRING}, "required": ["a", "b"]})
OPTIONAL = read({"type": "object", "properties": {"a": STRING, "ab": STRING, "c": STRING}, "required": ["c"]})


@pytest.mark.parametrize("so_far", ["", "{", '{"a', '{"a": ', '{"a": "', '{"a": "x"', '{"a": "x", "b": "x"'])
def test_an_answer_is_completed_wherever_it_stands(so_far: str) -> None:
    found = write(PAIR, so_far, Fixed())
    assert found is not None
    assert (found.text, found.complete) == ('{"a": "x", "b": "x"}', True)


def test_whole_values_are_noted_and_only_others_are_guessed() -> None:
    guesses = Fixed('"xyz"')
    found = write(PAIR, '{"a": "q", "b": "x', guesses)
    assert found is not None
    assert (guesses.stood, guesses.begun, found.spans) == ([("a", '"q"')], ['"x'], {"b": (Span(0, 1),)})


@pytest.mark.parametrize(
    "so_far", ["[", '{"b', '{"a": "x"]', '{"a": "x", "b": "x"} ', '{"a": "x", "b": "x"}', "nonsense"]
)
def test_there_is_no_draft_for_what_is_none_of_the_answer_or_all_of_it(so_far: str) -> None:
    assert write(PAIR, so_far, Fixed()) is None


def test_a_guess_that_does_not_begin_right_ends_the_draft() -> None:
    assert write(PAIR, '{"a": "q', Fixed()) is None
    found = write(PAIR, '{"a', Fixed(None))
    assert found is not None
    assert (found.text, found.complete) == ('{"a": ', False)


@pytest.mark.parametrize(
    ("so_far", "present", "text"),
    [
        ("{", True, '{"a": "x", "ab": "x", "c": "x"}'),
        ("{", False, '{"c": "x"}'),
        ('{"a', False, '{"ab": "x", "c": "x"}'),
        ('{"ab', False, '{"ab": "x", "c": "x"}'),
        ('{"', False, '{"c": "x"}'),
        ('{"a": "x", "', True, '{"a": "x", "ab": "x", "c": "x"}'),
    ],
)
def test_optional_keys_are_those_expected_or_those_begun(so_far: str, present: bool, text: str) -> None:
    found = write(OPTIONAL, so_far, Fixed(present=present))
    assert found is not None
    assert found.text == text


@pytest.mark.parametrize(
    ("so_far", "text"),
    [
        ("", '["x", "x"]'),
        ("[", '["x", "x"]'),
        ('["q"', '["q", "x"]'),
        ('["q",', '["q", "x"]'),
        ('["q", "x", ', '["q", "x", "x"]'),
    ],
)
def test_arrays_go_on_while_items_are_expected(so_far: str, text: str) -> None:
    found = write(read({"type": "array", "items": STRING}), so_far, Fixed(items=2))
    assert found is not None
    assert found.text == text


def test_arrays_keep_to_their_bounds() -> None:
    found = write(read({"type": "array", "items": STRING, "minItems": 2, "maxItems": 3}), "", Fixed(items=0))
    many = write(read({"type": "array", "items": STRING, "minItems": 2, "maxItems": 3}), "", Fixed(items=9))
    assert found is not None
    assert many is not None
    assert (found.text, many.text) == ('["x", "x"]', '["x", "x", "x"]')


def test_endless_arrays_are_cut() -> None:
    found = write(read({"type": "array", "items": STRING}), "", Fixed(items=10**9))
    assert found is not None
    assert not found.complete


def test_a_compound_that_may_be_null() -> None:
    shape = read({"anyOf": [{"type": "object", "properties": {"a": STRING}, "required": ["a"]}, {"type": "null"}]})
    texts = [
        write(shape, so_far, Fixed(present=there))
        for so_far, there in (("", True), ("", False), ("n", True), ("{", False))
    ]
    assert [found and found.text for found in texts] == ['{"a": "x"}', "null", "null", '{"a": "x"}']


def test_an_unknown_part_ends_the_draft_unless_it_stands() -> None:
    shape = read({"type": "object", "properties": {"a": {}, "b": STRING}, "required": ["a", "b"]})
    before, after = write(shape, "", Fixed()), write(shape, '{"a": {"any": [1]}, ', Fixed())
    assert before is not None
    assert after is not None
    assert (before.text, before.complete) == ('{"a": ', False)
    assert after.text == '{"a": {"any": [1]}, "b": "x"}'


def test_a_label_is_bare() -> None:
    found = write(Leaf(frozenset({"label"}), ("World", "Sports")), "Wo", Fixed("World"))
    assert found is not None
    assert found.text == "World"


@given(record_and_values().flatmap(lambda pair: st.tuples(st.just(pair[0]), pair[1])))
def test_a_whole_answer_is_taken_apart(case: tuple[dict[str, object], object]) -> None:
    schema, value = case
    found = values(read(schema), written(value))
    assert found is not None
    single = [text for text in found.values() if text not in ("[]", "{}")]
    assert sorted(single) == sorted(leaves(value))
    assert values(read(schema), written(value) + " ") is None


def test_what_is_no_whole_answer_is_not_taken_apart() -> None:
    assert values(PAIR, '{"a": "x", "b": "x"') is None
    assert values(PAIR, '{"a": "x"}') is None


def leaves(value: object) -> list[str]:
    if isinstance(value, dict):
        return [leaf for inner in value.values() for leaf in leaves(inner)]
    if isinstance(value, list):
        return [leaf for inner in value for leaf in leaves(inner)]
    return [json.dumps(value, ensure_ascii=False)]
