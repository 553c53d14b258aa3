"""A bounded sample of all that came."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from copydesk.drafting.tagger.reservoir import Reservoir


@given(st.lists(st.text(max_size=30)), st.integers(1, 10), st.integers(1, 60))
def test_bounds(texts: list[str], most: int, most_characters: int) -> None:
    reservoir = Reservoir(most=most, most_characters=most_characters)
    for text in texts:
        reservoir.add(text, text)
    kept = [text for text, _ in reservoir.all()]
    assert reservoir.seen == len(texts)
    assert len(kept) <= most
    assert sum(map(len, kept)) <= most_characters
    assert set(kept) <= set(texts)


def test_all_is_kept_while_there_is_room() -> None:
    reservoir = Reservoir(most=3)
    for text in "abc":
        reservoir.add(text, text.upper())
    assert reservoir.all() == [("a", "A"), ("b", "B"), ("c", "C")]


def test_each_has_about_the_same_chance() -> None:
    kept = [0] * 100
    for seed in range(300):
        reservoir = Reservoir(most=10, seed=seed)
        for number in range(100):
            reservoir.add(str(number), "")
        for text, _ in reservoir.all():
            kept[int(text)] += 1
    assert 10 < min(kept) <= max(kept) < 60


def test_the_same_seed_keeps_the_same() -> None:
    samples = []
    for _ in range(2):
        reservoir = Reservoir(most=5, seed=7)
        for number in range(50):
            reservoir.add(str(number), "")
        samples.append(reservoir.all())
    assert samples[0] == samples[1]


def test_very_long_texts_are_not_kept() -> None:
    reservoir = Reservoir()
    reservoir.add("x" * 1_000_000, "")
    assert (reservoir.all(), reservoir.seen) == ([], 1)
