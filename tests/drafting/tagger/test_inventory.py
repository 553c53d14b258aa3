"""What a tagger has to tell apart."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from copydesk.drafting.shape import Shape, read
from copydesk.drafting.tagger.alignment import STEM
from copydesk.drafting.tagger.inventory import inventory
from copydesk.drafting.tagger.samples import sample_of
from copydesk.drafting.tagger.tagger import Kind, Records, Tagger, as_value
from copydesk.drafting.tagger.targets import targets_of

STRING = {"type": "string"}


def record(**properties: Any) -> Any:
    return {"type": "object", "properties": properties, "required": list(properties)}


def counted(shape: Shape, rows: list[tuple[str, Any]], base: Tagger | None = None) -> Tagger:
    targets = targets_of(shape)
    samples = [sample_of(shape, targets, text, json.dumps(value, ensure_ascii=False)) for text, value in rows]
    return inventory(targets, [sample for sample in samples if sample], base)


def test_frequent_values_that_are_not_copied_and_those_that_say_nothing() -> None:
    shape = read(record(city=STRING, sure={"type": ["boolean", "null"]}))
    rows: list[tuple[str, Any]] = [("岳麓山", {"city": "长沙市", "sure": True})] * 3
    rows += [
        ("in Rome", {"city": "Rome", "sure": None}),
        ("west", {"city": "", "sure": True}),
        ("x", {"city": "y", "sure": False}),
    ]
    tagger = counted(shape, rows)
    assert tagger.kinds == (Kind("city"),)
    assert set(tagger.values) == {
        *(("city", '"长沙市"'), ("city", '""')),
        *(("sure", "true"), ("sure", "false"), ("sure", "null")),
    }


def test_how_values_are_written() -> None:
    shape = read(record(city=STRING, road=STRING))
    rows = [
        ("长沙 a\nb", {"city": "长沙市", "road": "a b"}),
        ("长沙 c", {"city": "长沙市", "road": "c"}),
        ("rome", {"city": "rome", "road": ""}),
    ]
    tagger = counted(shape, rows)
    assert tagger.edits == {"city": "as written", "road": "one space"}
    assert tagger.stems == {"city": {"长沙": '"长沙市"'}}
    assert STEM not in tagger.edits.values()


ENTITIES = read(record(found={"type": "array", "items": record(sort=STRING, text=STRING, sure={"type": "boolean"})}))


def entity(sort: str, text: str) -> dict[str, Any]:
    return {"sort": sort, "text": text, "sure": True}


def test_records_are_told_by_what_is_copied_and_sorted_by_what_is_not() -> None:
    rows = [
        ("Ann in Rome", {"found": [entity("place", "Rome"), entity("person", "Ann")]}),
        ("Bob in Oslo", {"found": [entity("place", "Oslo"), entity("person", "Bob")]}),
        ("Cid", {"found": [entity("person", "Cid")]}),
    ] * 2
    tagger = counted(ENTITIES, rows)
    assert tagger.records == {"found": Records(".text", (".sort", ".sure"), in_text_order=False)}
    assert tagger.kinds == (Kind("found[].text", ('"place"', "true")), Kind("found[].text", ('"person"', "true")))
    assert tagger.filled == {"found"}
    assert tagger.usual["found[].sort"] == '"person"'


def test_records_of_which_nothing_is_copied_are_values_as_a_whole() -> None:
    rows = [("x", {"found": [entity("place", "Rome")]})] * 3 + [("y", {"found": [entity("place", "Oslo")]})]
    tagger = counted(ENTITIES, rows + [("y", {"found": []})] * 3)
    assert (tagger.records, tagger.kinds, tagger.filled) == ({}, (), frozenset())
    assert tagger.values == (("found[]", as_value({".sort": '"place"', ".text": '"Rome"', ".sure": "true"})),)


def test_what_was_known_keeps_its_place() -> None:
    shape = read(record(tags={"type": "array", "items": STRING}, tone=STRING))
    first = counted(shape, [("x", {"tags": [], "tone": "good"})] * 2)
    first.weights.values[:, 0] = 1.5
    then = counted(shape, [("x", {"tags": ["new"], "tone": "bad"})] * 2, first)
    assert then.values[: len(first.values)] == first.values
    assert ("tone", '"bad"') in then.values
    assert ("tags[]", '"new"') in then.values
    assert then.weights.values.shape == (len(first.weights.values), len(then.values))
    np.testing.assert_array_equal(then.weights.values[:, 0], 1.5)


def test_rare_and_many_values_are_bounded() -> None:
    shape = read(record(tone=STRING))
    rows = [("x", {"tone": f"{number}!"}) for number in range(400) for _ in range(1 + number % 2)]
    tagger = counted(shape, rows)
    assert 0 < len(tagger.values) <= 64
    assert all(int(json.loads(text)[:-1]) % 2 for _, text in tagger.values)
