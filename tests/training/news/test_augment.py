import random

from hypothesis import given
from hypothesis import strategies as st

from copydesk.training.news.augment import augment

TEXT = (
    "Oil prices rise again (Reuters) Reuters - Oil prices rose on Monday as traders didn #39;t expect OPEC to "
    "pump more. Analysts said the rise may last until spring."
)


@given(st.text(min_size=1), st.integers(0, 10_000))
def test_a_text_with_something_in_it_keeps_something(text: str, seed: int) -> None:
    result = augment(text, random.Random(seed))
    assert bool(result.strip()) == bool(text.strip())


@given(st.text(), st.integers(0, 10_000))
def test_equal_generators_give_equal_results(text: str, seed: int) -> None:
    assert augment(text, random.Random(seed)) == augment(text, random.Random(seed))


def test_no_strength_changes_nothing() -> None:
    assert all(augment(TEXT, random.Random(seed), strength=0.0) == TEXT for seed in range(50))


def test_every_kind_of_change_occurs() -> None:
    results = [augment(TEXT, random.Random(seed)) for seed in range(400)]
    assert TEXT in results
    assert any("Reuters" not in result and "Analysts" in result for result in results)
    assert any("didn't" in result for result in results)
    assert any("Analysts" not in result for result in results)
    assert any(result.islower() for result in results)
    assert len({len(result.split()) for result in results}) > 10


def test_most_of_the_text_survives_on_average() -> None:
    lengths = [len(augment(TEXT, random.Random(seed))) for seed in range(400)]
    assert sum(lengths) / len(lengths) > 0.75 * len(TEXT)
