"""Reasoning told from what follows it, however the text is cut into pieces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copydesk.desk.whole.thought import Thought, split

TEXTS = {
    "Hello": ("Hello", ""),
    " Hello <think>": (" Hello <think>", ""),
    "<think>\nHm, 2 < 3.\n</think>\n\nYes": ("Yes", "Hm, 2 < 3."),
    "<think>\n\n</think>\n\nYes": ("Yes", ""),
    "\n<think>Hm</think>Yes </think>": ("Yes </think>", "Hm"),
    "<think>Hm, and": ("", "Hm, and"),
    "<think>Hm</thi": ("", "Hm</thi"),
    "<thi": ("<thi", ""),
    "<thinking": ("<thinking", ""),
    "": ("", ""),
    "<think>Hm</think>": ("", "Hm"),
}


@pytest.mark.parametrize(("text", "parts"), TEXTS.items())
def test_a_whole_text(text: str, parts: tuple[str, str]) -> None:
    assert split(text) == parts


@given(st.sampled_from(list(TEXTS)), st.data())
def test_pieces_say_the_same(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)))))
    thought, content, reasoning = Thought(), "", ""
    for begin, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        new, inner = thought.feed(text[begin:end])
        content, reasoning = content + new, reasoning + inner
    new, inner = thought.end()
    assert (content + new, (reasoning + inner).strip()) == split(text)
