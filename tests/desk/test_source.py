"""Texts that can be read, and cutting those that are too long."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copydesk.desk import source
from copydesk.errors import TextError
from copydesk.models.tokenizer import Tokenizer
from law_cases import cases


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("", "empty_text", "empty"),
        (" \n\t　", "empty_text", "empty"),
        ("ab\0c", "invalid_text", "NUL byte at character 2"),
        ("ab\ud800", "invalid_text", "not UTF-8: what stands at character 2"),
    ],
)
def test_what_cannot_be_read(text: str, code: str, said: str) -> None:
    with pytest.raises(TextError, match=said) as caught:
        source.check(text)
    assert caught.value.code == code


@pytest.mark.parametrize("text", ["a", "😀", "שלום", "<|im_end|>", "\ufeffx", "x" * 1_000_000])
def test_what_can_be_read(text: str) -> None:
    source.check(text)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("First one. Second one. Third one that is long", "First one. Second one."),
        ("甲乙丙。丁戊己！庚辛壬癸癸癸癸癸癸癸癸", "甲乙丙。丁戊己！"),
        ("line one\nline two and more words in it", "line one\n"),
        ("no sentence ends here, only words and words", "no sentence ends here, only words"),
        ("版本3.14没有句号也很长很长很长很长很长", "版本3.14没有句号也很"),
    ],
)
def test_a_text_is_cut_at_a_sentence_end_or_else_a_word(tokenizer: Tokenizer, text: str, kept: str) -> None:
    tokens = tokenizer.encode(text)
    most = len(tokenizer.encode(kept)) + 2
    cut, cut_tokens = source.cut(text, tokens, most, tokenizer)
    assert cut == kept
    assert cut_tokens == tokenizer.encode(kept)


@settings(max_examples=cases(100), deadline=None)
@given(text=st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=80), most=st.integers(1, 60))
def test_what_is_kept_is_a_beginning_that_fits(tokenizer: Tokenizer, text: str, most: int) -> None:
    cut, tokens = source.cut(text, tokenizer.encode(text), most, tokenizer)
    assert text.startswith(cut)
    assert tokens == tokenizer.encode(cut)
    assert len(tokens) <= most
