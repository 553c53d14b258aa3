"""Rows arrive as they were sent."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from copydesk.crew import rows
from copydesk.errors import EngineError
from copydesk.types import Answer, Failure, Field, Span, Usage

_TEXT = st.text(max_size=5)
_SHARE = st.floats(0, 1)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=4,
)
_SPANS = st.lists(st.builds(Span, st.integers(0, 99), st.integers(0, 99)), max_size=3).map(tuple)
_FIELDS = st.builds(
    Field, _SPANS, st.sampled_from(["exact", "normalized", "inferred"]), _SHARE, st.sampled_from([None, "kept"])
)
_ANSWERS = st.builds(
    Answer,
    value=_JSON,
    fields=st.dictionaries(_TEXT, _FIELDS, max_size=3),
    confidence=_SHARE,
    ms=_SHARE,
    accepted=st.none() | _SHARE,
    label_mass=st.none() | _SHARE,
    usage=st.builds(Usage, st.integers(0), st.integers(0), st.integers(0)),
    labels=st.dictionaries(_TEXT, _SHARE, max_size=3),
)
_ROWS = st.lists(_ANSWERS | st.builds(Failure, _TEXT, _TEXT), max_size=3)


@settings(deadline=None)
@given(_ROWS)
def test_rows_arrive_as_they_were_sent(sent: list[rows.Row]) -> None:
    found = rows.unpacked(rows.packed(sent))
    assert found == sent
    # Equality leaves out what became of a draft.
    assert repr(found) == repr(sent)


def test_errors_arrive_with_their_codes() -> None:
    [error] = rows.unpacked(rows.packed([EngineError("full", code="cache_full")]))
    assert isinstance(error, EngineError)
    assert (str(error), error.code) == ("full", "cache_full")
