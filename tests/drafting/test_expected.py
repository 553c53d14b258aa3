"""What is still expected of an answer after some of it turned out otherwise."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from copydesk.drafting.expected import ABSENT, Expected, Items, offer
from copydesk.drafting.layout import Guess, write
from copydesk.drafting.lookup import Lookup
from copydesk.drafting.shape import Leaf, read
from copydesk.types import Json, Span

from .cases import task_of

STRING: Json = {"type": "string"}
ENTITY: Json = {"type": "object", "properties": {"type": STRING, "text": STRING}, "required": ["type", "text"]}
TEXT = "Ann; met Bob, Cid, Rome"


def drafted(schema: Json, so_far: str, singles: Mapping[str, Guess], items: Items = ()) -> str:
    found = offer(task_of(schema), TEXT, so_far, "test", singles, {"list": items})
    return "" if found is None else found.text


def record(**properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": list(properties)}


def name(text: str) -> Guess:
    start = TEXT.find(text)
    return Guess(f'"{text}"', (Span(start, start + len(text)),))


def test_values_are_those_expected_and_corrected_ones_are_looked_up() -> None:
    schema = record(a=STRING, b=STRING)
    singles = {"a": name("Bob"), "b": name("Rome")}
    assert drafted(schema, "", singles) == '{"a": "Bob", "b": "Rome"}'
    assert drafted(schema, '{"a": "C', singles) == '{"a": "Cid", "b": "Rome"}'


def test_what_is_left_out_stays_out() -> None:
    schema = {"type": "object", "properties": {"a": STRING, "b": STRING}, "required": ["b"]}
    assert drafted(schema, "", {"a": Guess(ABSENT), "b": name("Bob")}) == '{"b": "Bob"}'
    assert drafted(schema, '{"a": "A', {"a": Guess(ABSENT), "b": name("Bob")}) == '{"a": "Ann", "b": "Bob"}'


NAMES = ({"": name("Ann")}, {"": name("Bob")}, {"": name("Cid")})


@pytest.mark.parametrize(
    ("so_far", "whole"),
    [
        ('{"list": [', '{"list": ["Ann", "Bob", "Cid"]}'),
        ('{"list": ["Ann", ', '{"list": ["Ann", "Bob", "Cid"]}'),
        ('{"list": ["Bob", ', '{"list": ["Bob", "Cid"]}'),
        ('{"list": ["Rome", ', '{"list": ["Rome", "Ann", "Bob", "Cid"]}'),
        ('{"list": ["Ann; met", ', '{"list": ["Ann; met", "Bob", "Cid"]}'),
        ('{"list": ["Ann", "Bob", "Cid", "R', '{"list": ["Ann", "Bob", "Cid", "Rome"]}'),
    ],
)
def test_items_left_out_put_in_and_replaced(so_far: str, whole: str) -> None:
    assert drafted(record(list={"type": "array", "items": STRING}), so_far, {}, NAMES) == whole


ENTITIES = ({".type": Guess('"per"'), ".text": name("Bob")}, {".type": Guess('"place"'), ".text": name("Rome")})


@pytest.mark.parametrize(
    ("so_far", "whole"),
    [
        ('{"list": [{"type": "place", ', '{"list": [{"type": "place", "text": "Rome"}]}'),
        (
            '{"list": [{"type": "org", "text": "Bob"}',
            '{"list": [{"type": "org", "text": "Bob"}, {"type": "place", "text": "Rome"}]}',
        ),
        (
            '{"list": [{"type": "per", "text": "Ann"}, {"ty',
            '{"list": [{"type": "per", "text": "Ann"}, {"type": "per", "text": "Bob"}, '
            '{"type": "place", "text": "Rome"}]}',
        ),
    ],
)
def test_records_are_told_by_all_that_stands_of_them(so_far: str, whole: str) -> None:
    assert drafted(record(list={"type": "array", "items": ENTITY}), so_far, {}, ENTITIES) == whole


def test_another_guess_is_asked_for_with_what_stands_of_its_item() -> None:
    asked: list[tuple[str, str, Mapping[str, str], int]] = []

    def again(path: str, begun: str, item: Mapping[str, str], after: int) -> Guess | None:
        asked.append((path, begun, dict(item), after))
        return None

    expected = Expected({}, {"list": ENTITIES}, Lookup(TEXT), again)
    expected.given("list[0].type", '"per"')
    expected.given("list[0].text", '"Bob"')
    expected.given("list[1].type", '"org"')
    guess = expected.value("list[1].text", Leaf(frozenset({"string"})), '"R')
    assert guess == name("Rome")
    assert asked == [("list[1].text", '"R', {".type": '"org"'}, TEXT.find("Bob") + 3)]


def test_of_an_item_that_is_only_guessed_the_rest_goes_with_the_guess() -> None:
    wholes = [{".type": '"a"', ".text": '"x"'}, {".type": '"b"', ".text": ABSENT}]

    def again(path: str, begun: str, item: Mapping[str, str], after: int) -> Guess | None:
        leaf = path.removeprefix("list[0]")
        fitting = (one[leaf] for one in wholes if all(one[other] == text for other, text in item.items()))
        return next((Guess(text) for text in fitting if text.startswith(begun)), None)

    shape = read(record(list={"type": "array", "items": {**ENTITY, "required": ["type"]}}))
    for so_far, whole in (
        ('{"list": [{"type": "', '{"list": [{"type": "a", "text": "x"}]}'),
        ('{"list": [{"type": "b', '{"list": [{"type": "b"}]}'),
    ):
        written = write(shape, so_far, Expected({}, {"list": ()}, Lookup(TEXT), again))
        assert written is not None
        assert written.text == whole


def test_what_an_expected_item_has_not_is_left_out_of_it() -> None:
    schema = record(list={"type": "array", "items": {**ENTITY, "required": ["text"]}})
    items = ({".text": name("Ann")}, {".type": Guess('"x"'), ".text": name("Bob")})
    assert drafted(schema, "", {}, items) == '{"list": [{"text": "Ann"}, {"type": "x", "text": "Bob"}]}'
