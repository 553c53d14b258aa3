"""Verified answers beside their texts."""

from __future__ import annotations

from copydesk.drafting.shape import read
from copydesk.drafting.tagger.samples import Gold, Sample, sample_of
from copydesk.drafting.tagger.targets import targets_of

STRING = {"type": "string"}
SHAPE = read(
    {
        "type": "object",
        "properties": {"name": STRING, "tone": {"enum": ["good", "bad"]}, "tags": {"type": "array", "items": STRING}},
        "required": ["name", "tone", "tags"],
    }
)


def sample(text: str, answer: str) -> Sample | None:
    return sample_of(SHAPE, targets_of(SHAPE), text, answer)


def test_copied_values_are_found_and_listed_ones_are_not_sought() -> None:
    found = sample("good Ann, Bob", '{"name": "Ann", "tone": "good", "tags": []}')
    assert found is not None
    assert [found.run(copy) for copy in found.singles["name"].copies] == ["Ann"]
    assert found.singles["tone"] == Gold('"good"')


def test_each_item_has_a_place_of_its_own_in_order() -> None:
    found = sample("Bob Ann Bob Ann", '{"name": "", "tone": "bad", "tags": ["Ann", "Bob", "Ann", "Ann"]}')
    assert found is not None
    places = [[copy.first for copy in item[""].copies] for item in found.arrays["tags"]]
    assert places == [[1], [2], [3], []]


def test_there_is_no_sample_of_an_empty_text_or_of_another_answer() -> None:
    assert sample(" \n", '{"name": "", "tone": "bad", "tags": []}') is None
    assert sample("text", '{"name": ""}') is None
    assert sample("text", "World") is None
