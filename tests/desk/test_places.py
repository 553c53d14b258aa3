"""Where in an answer the writing stands."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copydesk.desk.places import Place, after, following, start
from copydesk.desk.runs import Runs
from copydesk.desk.sites import site

STRING = {"type": "string"}
RUN = {"type": "string", "grounded": True}
SCHEMA = {
    "properties": {
        "free": STRING,
        'k"\\y': RUN,
        "list": {"type": "array", "items": {"properties": {"name": RUN, "note": STRING}}},
        "pair": {"prefixItems": [STRING, RUN]},
        "number": {"type": "number"},
    }
}
TEXT = '李雷 say "hi" \\ 天津\n路'


def written(answer: Any, cuts: list[int], schema: Any = SCHEMA, text: str = TEXT) -> Place | None:
    """The place after an answer that comes in pieces."""
    whole = (answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)).encode()
    ends = sorted({cut % (len(whole) + 1) for cut in cuts})
    runs = Runs(text)
    place: Place | None = start(site(schema, {}))
    for begin, end in zip([0, *ends], [*ends, len(whole)], strict=True):
        if place is not None:
            place = after(place, whole[begin:end], runs)
    return place


CUTS = st.lists(st.integers(0, 200), max_size=8)
RIGHT: list[Any] = [
    {"free": "anything", 'k"\\y': "李雷"},
    {'k"\\y': 'say "hi" \\', "number": 3.5, "free": 'a "quote" \\'},
    {"list": [{"name": "天津", "note": "x, y"}, {"note": "{[", "name": "路"}], 'k"\\y': ""},
    {"pair": ["free", "津\n路"], "unknown": ["x"]},
]
WRONG: list[Any] = [
    {'k"\\y': "李四"},
    {"list": [{"name": "天津", "note": "x"}, {"note": "天津", "name": "上海"}]},
    {"pair": ["天津", "free"]},
    {"number": -1, 'k"\\y': "天\\津"},
]


@pytest.mark.parametrize("answer", RIGHT)
@given(CUTS)
def test_what_the_text_holds_may_be_written_in_any_pieces(answer: Any, cuts: list[int]) -> None:
    place = written(answer, cuts)
    assert place is not None
    assert not place.is_grounded


@pytest.mark.parametrize("answer", WRONG)
@given(CUTS)
def test_what_it_does_not_hold_may_not(answer: Any, cuts: list[int]) -> None:
    assert written(answer, cuts) is None


def test_a_character_that_is_begun_must_be_one_that_may_follow() -> None:
    runs = Runs("天ａ")
    place = start(site(RUN, {}))
    assert after(place, b'"' + "天".encode()[:2], runs) is not None
    assert after(place, b'"' + "海".encode()[:2], runs) is None
    assert after(place, b'"' + "ａ".encode()[:1], runs) is not None
    assert after(place, b'"\\', runs) is None


def test_escapes_that_no_character_of_the_text_needs_are_refused() -> None:
    runs = Runs("a\tb")
    opened = after(start(site(RUN, {})), b'"a', runs)
    assert opened is not None
    assert following(opened, runs) == {" ", "b"}
    assert after(opened, b"\\tb", runs) is not None
    assert after(opened, b"\\u0009", runs) is None
