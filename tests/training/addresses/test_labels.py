from __future__ import annotations

import pytest

from copydesk.training.addresses import labels


@pytest.mark.parametrize("name", ["NAME_LABELS", "PHONE_LABELS", "ADDRESS_LABELS", "REGION_LABELS", "DETAIL_LABELS"])
def test_labels_are_words_without_the_marks_that_follow_them(name: str) -> None:
    words = getattr(labels, name)
    assert len(words) >= 10
    assert all(word and word == word.strip() and word[-1] not in ":：_" for word in words)


def test_phrases_have_one_place_for_the_value() -> None:
    assert all(phrase.count("{}") == 1 for phrase in (*labels.NAME_PHRASES, *labels.SECOND_PHONES))


def test_brackets_and_quotes_come_in_pairs() -> None:
    assert all(len(mark) == 2 for mark in labels.BRACKETS)
