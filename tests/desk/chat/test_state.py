"""Where a reply stands: reasoning, content, end; and that rewinding leads back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from copydesk.desk.canonical import Canonical
from copydesk.desk.chat.state import Course, ReplyState, held_back
from copydesk.desk.chat.vocabulary import ReplyVocabulary
from copydesk.desk.grammar import Grammar
from copydesk.models.tokenizer import Tokenizer


def begun(tokenizer: Tokenizer, **course: Any) -> ReplyState:
    """An empty reply; `pattern` holds its content to a regular expression."""
    pattern = course.pop("pattern", None)
    if pattern is not None:
        grammar_tokenizer = tokenizer.grammar_tokenizer(tokenizer.vocab_size)
        course["grammar"] = Grammar.of_pattern(pattern, grammar_tokenizer, Canonical(tokenizer))
    return ReplyState(Course(ReplyVocabulary(tokenizer, tokenizer.vocab_size), **course))


def said(state: ReplyState, tokenizer: Tokenizer, text: str) -> bool:
    """Whether all of a text, control tokens too, was legal."""
    return all(state.accept(token) for token in tokenizer.encode_control(text))


def parts(state: ReplyState) -> tuple[bytes | None, bytes | None]:
    """Reasoning and content so far."""
    found = [None if part is None else bytes(state.text[slice(*part)]) for part in (state.reasoning, state.content)]
    return found[0], found[1]


def test_free_content_ends_at_an_end_token(thinking: Tokenizer) -> None:
    state = begun(thinking)
    assert not said(state, thinking, "天津<think>")  # a mark has no place in content
    state = begun(thinking)
    assert said(state, thinking, "天津<|im_end|>")
    assert state.finished
    assert parts(state) == (None, "天津".encode())
    assert not state.accept(thinking.encode("a")[0])
    assert state.forced() == ()


def test_control_tokens_have_no_place_in_a_reply(thinking: Tokenizer) -> None:
    state = begun(thinking)
    start = thinking.id_of("<|im_start|>")
    assert start is not None
    assert not state.allows(start)
    assert not state.legal()[start]
    assert not state.allows(thinking.vocab_size)
    assert state.best(np.eye(thinking.vocab_size)[start]) != start


@pytest.mark.parametrize("fixture", ["thinking", "opening"])
def test_reasoning_is_found_in_marks_and_in_letters(fixture: str, request: pytest.FixtureRequest) -> None:
    tokenizer: Tokenizer = request.getfixturevalue(fixture)
    opened = begun(tokenizer, reasons=True)
    assert said(opened, tokenizer, "hm\n</think>\n\nyes")
    assert parts(opened) == (b"hm\n", b"yes")
    by_itself = begun(tokenizer, may_reason=True)
    assert parts(by_itself) == (None, None)
    assert said(by_itself, tokenizer, "<think>hm</think>yes")
    assert parts(by_itself) == (b"hm", b"yes")
    neither = begun(tokenizer, may_reason=True)
    assert said(neither, tokenizer, "<thi")
    neither.settle()
    assert parts(neither)[1] == b"<thi"


def test_a_stop_text_ends_content_and_not_reasoning(thinking: Tokenizer) -> None:
    state = begun(thinking, reasons=True, stop=(b"b", b"\n\n", "津市".encode()))
    assert said(state, thinking, "b\n\n</think>\n\na天津")
    assert not state.finished
    assert said(state, thinking, "市")
    assert state.finished
    assert parts(state) == (b"b\n\n", "a天".encode())


def test_the_first_stop_text_counts(thinking: Tokenizer) -> None:
    state = begun(thinking, stop=(b"at", b"a"))
    token = thinking.id_of("at")
    assert token is not None
    assert state.accept(token)
    assert parts(state) == (None, b"")


def test_reasoning_ends_when_it_is_too_long(thinking: Tokenizer) -> None:
    state = begun(thinking, reasons=True, most_reasoning=2)
    assert said(state, thinking, "1")
    assert state.forced() == ()
    assert said(state, thinking, "1")
    assert state.reasoned_enough
    assert state.forced() == tuple(thinking.encode_control("</think>"))
    assert parts(state) == (b"11", b"")


def test_a_constraint_begins_after_reasoning(thinking: Tokenizer) -> None:
    separator = tuple(thinking.encode("\n\n"))
    state = begun(thinking, pattern="天津[ab]", reasons=True, separator=separator)
    assert not state.allows(thinking.eos_token_ids[0])
    assert said(state, thinking, "anything</think>")
    assert state.grammar is not None
    forced = state.forced()
    assert forced[: len(separator)] == separator
    assert parts(state)[1] == b""
    assert state.within == len(forced) - len(separator)
    assert said(state, thinking, "天津a")
    assert parts(state) == (b"anything", "天津a".encode())
    assert state.finished


def test_nothing_slips_through_with_the_end_of_reasoning(opening: Tokenizer) -> None:
    state = begun(opening, pattern="[ab]", reasons=True)
    assert said(state, opening, "hm</think")
    crossing = state._vocabulary.crossing
    assert crossing == () or not any(state.legal()[list(crossing)])
    assert said(state, opening, ">a")
    assert state.finished


def test_held_back_is_what_may_yet_become_an_ending() -> None:
    assert [held_back(text, (b"</think>", b"ab")) for text in (b"x", b"x<", b"x</thin", b"a", b"ab")] == [0, 1, 6, 1, 0]


@given(data=st.data())
def test_rewinding_leads_back(thinking: Tokenizer, data: st.DataObject) -> None:
    course = data.draw(st.sampled_from([{"stop": (b"a1",)}, {"pattern": "([a-z0-9]|天)*"}]))
    reasons = data.draw(st.booleans())
    state = begun(thinking, reasons=reasons, may_reason=True, most_reasoning=4, separator=(1,), **course)
    seen = []
    for token in data.draw(st.lists(st.integers(0, thinking.vocab_size - 1), max_size=30)):
        seen.append((state.count, parts(state), state.finished, state.within, bytes(state.text)))
        state.forced()
        state.accept(token)
    for count, *there in reversed(seen):
        state.rewind(state.count - count)
        assert [parts(state), state.finished, state.within, bytes(state.text)] == there
