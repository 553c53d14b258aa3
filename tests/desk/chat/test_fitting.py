"""Conversations that do not fit: what is left out, and when they are refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copydesk.desk.chat.conversation import Conversations
from copydesk.desk.chat.fitting import Fitting
from copydesk.errors import TextError
from copydesk.models.tokenizer import Tokenizer

SYSTEM = {"role": "system", "content": "Be brief."}
TURNS = [
    {"role": "user", "content": "the first question"},
    {"role": "assistant", "content": "the first answer"},
    {"role": "user", "content": "the second question"},
    {"role": "assistant", "content": "the second answer"},
    {"role": "user", "content": "One thing. Another thing! The last thing?"},
]


def fitting(tokenizer: Tokenizer) -> Fitting:
    return Fitting(Conversations(tokenizer), tokenizer)


def size(tokenizer: Tokenizer, messages: list[dict[str, str]]) -> int:
    return len(Conversations(tokenizer).render(messages, thinking=False).tokens)


def fitted(tokenizer: Tokenizer, most: int) -> str:
    """What is left of the conversation."""
    rendered, truncated = fitting(tokenizer).conversation([SYSTEM, *TURNS], most, thinking=False, truncate=True)
    assert truncated
    assert len(rendered.tokens) <= most
    return tokenizer.decode(rendered.tokens)


def test_what_fits_is_left_alone(thinking: Tokenizer) -> None:
    most = size(thinking, [SYSTEM, *TURNS])
    rendered, truncated = fitting(thinking).conversation([SYSTEM, *TURNS], most, thinking=False, truncate=False)
    assert (len(rendered.tokens), truncated) == (most, False)


def test_it_is_refused_with_both_numbers(thinking: Tokenizer) -> None:
    whole = size(thinking, [SYSTEM, *TURNS])
    with pytest.raises(TextError, match=f"{whole} tokens long, but at most {whole - 1}") as caught:
        fitting(thinking).conversation([SYSTEM, *TURNS], whole - 1, thinking=False, truncate=False)
    assert caught.value.code == "too_long"


def test_the_oldest_turns_go_first_and_the_system_message_stays(thinking: Tokenizer) -> None:
    left = fitted(thinking, size(thinking, [SYSTEM, *TURNS]) - 1)
    assert left == thinking.render([SYSTEM, *TURNS[2:]], thinking=False)
    left = fitted(thinking, size(thinking, [SYSTEM, *TURNS[2:]]) - 1)
    assert left == thinking.render([SYSTEM, TURNS[4]], thinking=False)


def test_the_last_turn_begins_after_a_sentence_end(thinking: Tokenizer) -> None:
    left = fitted(thinking, size(thinking, [SYSTEM, TURNS[4]]) - 1)
    assert left == thinking.render([SYSTEM, {"role": "user", "content": "Another thing! The last thing?"}])
    empty = size(thinking, [SYSTEM, {"role": "user", "content": ""}])
    left = fitted(thinking, empty + 3)
    assert "user\n<" not in left
    with pytest.raises(TextError):
        fitted(thinking, empty)


def test_a_text_keeps_its_end(thinking: Tokenizer) -> None:
    text = "One thing. Another thing! The last thing?"
    whole = len(thinking.encode(text))
    rendered, truncated = fitting(thinking).text(text, whole - 1, truncate=True)
    assert (thinking.decode(rendered.tokens), truncated) == ("Another thing! The last thing?", True)
    with pytest.raises(TextError, match="text is"):
        fitting(thinking).text(text, whole - 1, truncate=False)


@given(text=st.text(alphabet="ab 天.。\n", min_size=1), most=st.integers(1, 30))
def test_what_is_left_of_a_text_is_its_end_and_fits(thinking: Tokenizer, text: str, most: int) -> None:
    try:
        rendered, truncated = fitting(thinking).text(text, most, truncate=True)
    except TextError:
        return
    left = thinking.decode(rendered.tokens)
    assert text.endswith(left)
    assert len(rendered.tokens) <= most
    assert truncated == (left != text)
