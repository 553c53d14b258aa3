"""Single values in an answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copydesk.desk.leaves import leaves

VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=8,
)


def test_paths_and_places() -> None:
    text = '{"a": "x\\"y", "b": {"c": [1, {"d": true}], "e": []}, "f": null}'
    assert [(leaf.path, leaf.value, text[leaf.start : leaf.end]) for leaf in leaves(text)] == [
        ("a", 'x"y', '"x\\"y"'),
        ("b.c[0]", 1, "1,"),
        ("b.c[1].d", True, "true}"),
        ("b.e", [], "[]"),
        ("f", None, "null}"),
    ]


@pytest.mark.parametrize(("text", "value"), [("12", 12), ('"x"', "x"), ("[]", []), ("{}", {}), ("null", None)])
def test_an_answer_that_is_a_single_value(text: str, value: Any) -> None:
    (leaf,) = leaves(text)
    assert (leaf.path, leaf.value, leaf.start, leaf.end) == ("value", value, 0, len(text))


@given(VALUES)
def test_every_value_is_found_where_it_stands(value: Any) -> None:
    def count(part: Any) -> int:
        inner = list(part.values()) if isinstance(part, dict) else part if isinstance(part, list) else []
        return sum(map(count, inner)) if inner else 1

    text = json.dumps(value, ensure_ascii=False)
    found = leaves(text)
    assert len(found) == count(value)
    for leaf in found:
        assert json.JSONDecoder().raw_decode(text, leaf.start)[0] == leaf.value
        assert leaf.start < leaf.end <= len(text)
