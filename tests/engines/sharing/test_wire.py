"""Messages say again what was put into them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from copydesk.engines.packed import Packed, PackedReads, PackedScores
from copydesk.engines.sharing import wire
from copydesk.engines.sharing.wire import Change, Changes
from copydesk.errors import EngineError

_CHANGES = st.lists(st.tuples(st.sampled_from(Change), st.integers(0, 2**62), st.integers(0, 2**40)))


def _any(kind: type[Packed]) -> st.SearchStrategy[Any]:
    """Arrays of the right types and any lengths."""
    return st.tuples(*(arrays(dtype, st.integers(0, 5)) for dtype in kind.dtypes)).map(lambda parts: kind(*parts))


def _bytes(packed: Packed) -> list[tuple[str, bytes]]:
    return [(array.dtype.str, array.tobytes()) for array in packed.arrays()]


@settings(deadline=None)
@given(_CHANGES, _any(PackedReads))
def test_a_pass(changes: Changes, reads: PackedReads) -> None:
    said, asked = wire.requested(wire.request(changes, reads))
    assert said == changes
    assert isinstance(asked, PackedReads)
    assert _bytes(asked) == _bytes(reads)


@settings(deadline=None)
@given(_CHANGES, st.tuples(st.integers(0, 2**62), st.integers(-(2**31), 2**31)) | st.none())
def test_a_row_or_nothing(changes: Changes, asked: tuple[int, int] | None) -> None:
    assert wire.requested(wire.request(changes, asked)) == (changes, asked)


@settings(deadline=None)
@given(_any(PackedScores))
def test_scores(scores: PackedScores) -> None:
    assert _bytes(wire.scored(wire.scores(scores))) == _bytes(scores)


def test_a_row_is_float32() -> None:
    row = np.linspace(-5, 0, 7)
    np.testing.assert_array_equal(wire.answered_row(wire.row(row)), row.astype(np.float32))  # type: ignore[arg-type]


@pytest.mark.parametrize("answered", [wire.scored, wire.answered_row])
def test_failures_are_raised_where_they_arrive(answered: Any) -> None:
    with pytest.raises(EngineError, match=r"^nein: 满$") as failed:
        answered(wire.failure(EngineError("nein: 满", code="cache_full")))
    assert failed.value.code == "cache_full"
    with pytest.raises(EngineError, match=r"The engine failed: KeyError\(3\)") as failed:
        answered(wire.failure(KeyError(3)))
    assert failed.value.code == "engine_failed"
