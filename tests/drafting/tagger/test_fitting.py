"""Learning a tagger from answers."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copydesk.drafting.layout import write
from copydesk.drafting.shape import Leaf, Shape, read
from copydesk.drafting.tagger.fitting import fit
from copydesk.drafting.tagger.tagged import Tagged
from copydesk.drafting.tagger.tagger import Tagger
from copydesk.drafting.tagger.targets import targets_of
from copydesk.types import Json
from law_cases import cases

from ..cases import TEXTS, record_and_values, written

STRING = {"type": "string"}
PLACES = {"Rome": "Italy", "Oslo": "Norway", "Paris": "France", "Bergen": "Norway", "Milan": "Italy"}
NAMES = ["Ann", "Bob", "Cid", "Dora", "Eve", "Finn", "Gus", "Hal", "Ida", "Jon"]
SHAPE = read(
    {
        "type": "object",
        "properties": {"name": STRING, "country": STRING, "count": {"type": "integer"}, "note": STRING},
        "required": ["name", "country", "count", "note"],
    }
)


def row(luck: random.Random, names: list[str] = NAMES) -> tuple[str, str]:
    name, place, count = luck.choice(names), luck.choice(list(PLACES)), luck.randint(1, 99)
    text = luck.choice([f"{name} buys {count} tickets to {place}", f"to {place}, {count} seats, for {name}"])
    return text, written({"name": name, "country": PLACES[place], "count": count, "note": ""})


def rows(seed: int, count: int, names: list[str] = NAMES) -> list[tuple[str, str]]:
    luck = random.Random(seed)
    return [row(luck, names) for _ in range(count)]


def drafted(shape: Shape, tagger: Tagger | None, text: str) -> str:
    assert tagger is not None
    guesses = Tagged(tagger, targets_of(shape), text).guesses()
    found = None if guesses is None else write(shape, "", guesses)
    return found.text if found else ""


def share(tagger: Tagger | None, tested: list[tuple[str, str]]) -> float:
    return sum(drafted(SHAPE, tagger, text) == answer for text, answer in tested) / len(tested)


def test_it_learns_what_is_copied_what_is_inferred_and_what_is_empty() -> None:
    unseen = rows(2, 50, ["Kim", "Lou", "Max", "Ned"])
    assert share(fit(SHAPE, rows(1, 80)), unseen) > 0.9


def test_it_goes_on_from_what_it_knew() -> None:
    old = fit(SHAPE, rows(1, 80))
    new = [
        (f"{name}: {count} x Lima", written({"name": name, "country": "Peru", "count": count, "note": "far"}))
        for count, name in enumerate(NAMES * 3)
    ]
    both = fit(SHAPE, new, base=old)
    assert old is not None
    assert both is not None
    assert both.seen == 110
    assert share(both, rows(3, 50)) > 0.9
    countries = [json.loads(drafted(SHAPE, both, text))["country"] for text, _ in new]
    assert countries.count("Peru") > 15


def test_the_same_answers_and_seed_give_the_same_tagger() -> None:
    one, same, other = (fit(SHAPE, rows(1, 40), seed=seed) for seed in (1, 1, 2))
    assert one is not None
    assert same is not None
    assert other is not None
    np.testing.assert_array_equal(one.weights.runs, same.weights.runs)
    assert one.kinds == same.kinds
    assert not np.array_equal(one.weights.runs, other.weights.runs)


LIST = read(
    {
        "type": "object",
        "properties": {
            "found": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"sort": STRING, "text": STRING},
                    "required": ["sort", "text"],
                },
            },
            "names": {"type": "array", "items": STRING},
        },
        "required": ["found", "names"],
    }
)


def test_it_learns_arrays_and_records() -> None:
    luck = random.Random(1)
    made = []
    for _ in range(90):
        names, place = luck.sample(NAMES, luck.randint(1, 3)), luck.choice(list(PLACES))
        found = [{"sort": "person", "text": name} for name in names] + [{"sort": "place", "text": place}]
        made.append((f"{' and '.join(names)} went to {place} again", written({"found": found, "names": names})))
    tagger = fit(LIST, made[:60])
    right = [drafted(LIST, tagger, text) == answer for text, answer in made[60:]]
    assert sum(right) > 0.8 * len(right)


def test_it_learns_labels() -> None:
    shape = Leaf(frozenset({"label"}), ("Sports", "World"))
    made = [
        (f"the {word} was {kind}", label)
        for word, label in (("match", "Sports"), ("summit", "World"))
        for kind in ("good", "long", "short", "bad")
    ]
    tagger = fit(shape, made)
    assert [drafted(shape, tagger, text) for text in ("a match in May", "one summit")] == ["Sports", "World"]


@pytest.mark.parametrize(
    "answers", [[], [("text", "none")], [(" ", '{"name": "", "country": "", "count": 0, "note": ""}')]]
)
def test_there_is_nothing_to_learn_of_nothing(answers: list[tuple[str, str]]) -> None:
    assert fit(SHAPE, answers) is None


def test_what_a_pause_raises_ends_the_learning() -> None:
    class EnoughError(Exception):
        pass

    def pause() -> None:
        raise EnoughError

    with pytest.raises(EnoughError):
        fit(SHAPE, rows(1, 10), pause=pause)


@settings(max_examples=cases(40))
@given(
    record_and_values().flatmap(
        lambda pair: st.tuples(st.just(pair[0]), st.lists(st.tuples(TEXTS, pair[1]), min_size=1, max_size=4))
    )
)
def test_any_answers_can_be_learned(case: tuple[Json, list[tuple[str, Any]]]) -> None:
    schema, made = case
    shape = read(schema)
    tagger = fit(shape, [(text, written(value)) for text, value in made])
    for text, _ in made:
        if tagger is not None and text.strip():
            assert isinstance(json.loads(drafted(shape, tagger, text)), dict)
