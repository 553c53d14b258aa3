"""Reads are divided among forwards: each token once, in order, within limits, and with little padding."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from copydesk.engines.transformers.groups import Limits, Part, forwards, rounds

LIMITS = Limits(tokens=64, padding=16, cells=512)
counts = st.lists(st.tuples(st.integers(0, 200), st.integers(0, 300)), max_size=20)


@given(counts)
def test_every_token_is_read_once_and_in_order(reads: list[tuple[int, int]]) -> None:
    done = [0] * len(reads)
    for parts in rounds([count for count, _ in reads], [past for _, past in reads], LIMITS):
        found = [part for group in forwards(parts, LIMITS) for part in group]
        assert sorted(map(repr, found)) == sorted(map(repr, parts))
        for part in found:
            assert (part.begin, part.past) == (done[part.read], reads[part.read][1] + done[part.read])
            assert 0 < part.count <= LIMITS.tokens
            done[part.read] = part.end
    assert done == [count for count, _ in reads]


@given(counts)
def test_limits_are_kept_but_by_what_is_over_them_alone(reads: list[tuple[int, int]]) -> None:
    parts = [Part(read, 0, count, past) for read, (count, past) in enumerate(reads) if count]
    for group in forwards(parts, LIMITS):
        width, past = max(part.count for part in group), max(part.past for part in group)
        assert len(group) == 1 or len(group) * width <= LIMITS.tokens
        assert len(group) == 1 or len(group) * (width + past) <= LIMITS.cells
        assert sum(width - part.count for part in group) <= LIMITS.padding


def test_as_few_forwards_as_that_allows() -> None:
    parts = [Part(read, 0, count, 0) for read, count in enumerate((1, 30, 4, 2, 28, 3))]
    groups = [sorted(part.count for part in group) for group in forwards(parts, LIMITS)]
    assert groups == [[28, 30], [1, 2, 3, 4]]
    assert len(list(forwards([Part(read, 0, 1, 0) for read in range(64)], LIMITS))) == 1
    assert list(forwards([], LIMITS)) == list(rounds([0, 0], [5, 6], LIMITS)) == []
