"""copydesk's own calls, as another copydesk takes and answers them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copydesk.engines.remote.native import native_answer, native_body, native_path
from copydesk.errors import EngineError
from copydesk.tasks.builtin import ADDRESS, AGNEWS
from copydesk.types import Answer, Field, Span, Usage

SPANS = st.lists(st.builds(Span, st.integers(0, 9), st.integers(0, 9)), max_size=3).map(tuple)
FIELDS = st.builds(
    Field,
    SPANS,
    st.sampled_from(["exact", "normalized", "inferred"]),
    st.none() | st.floats(0, 1),
    st.sampled_from([None, "kept", "corrected"]),
)


def answer(**changes: Any) -> Answer[Any]:
    return Answer(
        **{
            "value": {"a": "x"},
            "fields": {},
            "confidence": 0.5,
            "verified": True,
            "draft": "rules",
            "accepted": 0.9,
            "passes": 2,
            "model": "m",
            "engine": "openvino",
            "usage": Usage(3, 2, 1),
            "ms": 1.5,
            **changes,
        }
    )


@given(st.dictionaries(st.text(max_size=3), FIELDS, max_size=3), st.none() | st.floats(0, 1), st.booleans())
def test_an_answer_comes_as_it_was(fields: dict[str, Field], confidence: float | None, truncated: bool) -> None:
    sent = answer(fields=fields, confidence=confidence, truncated=truncated)
    found = native_answer(sent.to_dict(), "openvino")
    assert found == sent
    assert [field.draft for field in found.fields.values()] == [field.draft for field in fields.values()]


def test_a_label_comes_as_it_was() -> None:
    sent = answer(value=None, labels={"a": 0.6, "b": 0.4}, label_mass=0.9, abstained=True)
    assert native_answer(sent.to_dict(), "openvino") == sent


@pytest.mark.parametrize("change", [{"usage": None}, {"fields": {"a": {}}}, {"passes": "many"}, {"fields": [1]}])
def test_what_is_none_is_told(change: dict[str, Any]) -> None:
    with pytest.raises(EngineError, match="use one version"):
        native_answer(answer().to_dict() | change, "http://host/v1")


def test_the_requests() -> None:
    assert (native_path(ADDRESS), native_path(AGNEWS)) == ("extract", "classify")
    body = native_body(ADDRESS, "text", {"draft": False, "max_tokens": None}, "m")
    assert body == {
        "model": "m",
        "text": "text",
        "prompt": "short",
        "details": True,
        "schema": ADDRESS.schema.json if ADDRESS.schema else None,
        "draft": False,
    }
    assert native_body(AGNEWS, "text", {}, "m")["labels"] == list(AGNEWS.labels)
