"""Where the page says that values stand: in code points, as Python counts."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from copydesk.desk.leaves import leaves
from serving.page.scripts import run

TEXTS = st.text(st.sampled_from("ab 河西𠮷𠀾👍\u200d\u0301\n"), max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab河𠮷", max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("xy河", min_size=1, max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)


@st.composite
def marked(draw: st.DrawFn) -> dict[str, Any]:
    text = draw(TEXTS)
    pairs = st.tuples(st.integers(0, len(text)), st.integers(0, len(text))).map(sorted)
    fields = draw(st.dictionaries(st.sampled_from("pqr"), st.lists(pairs, max_size=3)))
    return {"text": text, "fields": {name: {"span": spans or None} for name, spans in fields.items()}}


@settings(max_examples=5, deadline=None)
@given(st.lists(marked(), min_size=20, max_size=60))
def test_parts_hold_each_character_with_the_fields_that_stand_there(cases: list[dict[str, Any]]) -> None:
    found = run(
        "import { parts } from './spans.js';\nreturn given.map(({ text, fields }) => parts(text, fields));", cases
    )
    for case, parts in zip(cases, found, strict=True):
        text, fields = case["text"], case["fields"]
        assert "".join(part["text"] for part in parts) == text
        there = [names for part in parts for names in [part["names"]] * len(part["text"])]
        assert there == [
            [name for name, field in fields.items() if any(start <= place < end for start, end in field["span"] or [])]
            for place in range(len(text))
        ]


@settings(max_examples=5, deadline=None)
@given(st.lists(JSON, min_size=20, max_size=60))
def test_values_have_the_paths_that_answers_give_them(cases: list[Any]) -> None:
    found = run("import { leaves } from './spans.js';\nreturn given.map((value) => [...leaves(value)]);", cases)
    for value, pairs in zip(cases, found, strict=True):
        assert dict(pairs) == {leaf.path: leaf.value for leaf in leaves(json.dumps(value))}


def test_one_span_and_several() -> None:
    script = "import { spansOf } from './spans.js';\nreturn given.map((span) => spansOf({ span }));"
    assert run(script, [None, [0, 2], [[0, 2], [4, 5]]]) == [[], [[0, 2]], [[0, 2], [4, 5]]]


def test_what_would_not_show_is_replaced() -> None:
    shown = run("import { shown } from './spans.js';\nreturn given.map(shown);", ["a\n𠮷👍", "\0\u202ex", "\ud800y"])
    assert shown == ["a\n𠮷👍", "\ufffd\ufffdx", "\ufffdy"]


def test_several_fields_share_a_background_in_stripes() -> None:
    one, two = run("import { background } from './spans.js';\nreturn given.map(background);", [[45], [45, 200]])
    assert one == "hsl(45 85% var(--shade))"
    assert two.startswith("linear-gradient(hsl(45 85% var(--shade)) 0% 50%, hsl(200")
