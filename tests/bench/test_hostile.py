"""Hostile drafts are legal answers, random, of full length, and go on from whatever stands."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from copydesk.bench.hostile import HostileDrafters
from copydesk.tasks.builtin import ADDRESS, ADDRESS_FIELDS


def drafted(so_far: str, seed: int = 0) -> str | None:
    draft = HostileDrafters(seed).draft(ADDRESS, "text", so_far)
    return None if draft is None else draft.text


def test_a_whole_answer_of_usual_length() -> None:
    value = json.loads(drafted("") or "")
    assert list(value) == list(ADDRESS_FIELDS)
    assert min(map(len, value.values())) >= 3
    assert len(value["specific_location"]) == 20


def test_seeds_differ_and_hold() -> None:
    assert drafted("", 1) == drafted("", 1) != drafted("", 2)


@given(st.tuples(*(st.text(max_size=8) for _ in ADDRESS_FIELDS)), st.data())
def test_goes_on_from_any_beginning_of_an_answer(values: tuple[str, ...], data: st.DataObject) -> None:
    written = json.dumps(dict(zip(ADDRESS_FIELDS, values, strict=True)), ensure_ascii=False)
    so_far = written[: data.draw(st.integers(0, len(written)))]
    text = drafted(so_far)
    if text is None:
        assert so_far.endswith("\\") or "\\u" in so_far[-6:]
        return
    assert text.startswith(so_far)
    if "\\u" not in so_far[-6:]:
        assert list(json.loads(text)) == list(ADDRESS_FIELDS)
