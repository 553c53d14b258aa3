from __future__ import annotations

from copydesk.training.addresses import landmarks


def test_words_are_words() -> None:
    for words in (landmarks.HEADS, landmarks.COMPLEX, landmarks.COMPLEX_NAMES, landmarks.NOTES, landmarks.DIRECTIONS):
        assert len(words) > 15
        assert all(word and word == word.strip() for word in words)


def test_quotes_come_in_pairs_and_symbols_alone() -> None:
    assert all(len(mark) == 2 for mark in landmarks.QUOTES)
    assert all(len(mark) == 1 for mark in landmarks.SYMBOLS)
