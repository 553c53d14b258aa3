from __future__ import annotations

from copydesk.drafting.rules.folding import fold
from copydesk.drafting.rules.wordings import Kind, wordings


def test_every_kind_of_label_has_words_and_none_is_listed_twice() -> None:
    lists = wordings()
    assert set(lists.sure) == set(Kind)
    for table in (lists.sure, lists.unsure):
        for words in table.values():
            assert len(set(words)) == len(words)


def test_words_are_folded() -> None:
    lists = wordings()
    for table in (lists.sure, lists.unsure):
        assert all(word == fold(word) for words in table.values() for word in words)


def test_rules_for_single_words_name_words_that_there_are() -> None:
    lists = wordings()
    unsure = {word for words in lists.unsure.values() for word in words}
    for some in (lists.bare, lists.verbs, lists.colon_only, lists.people, lists.space_is_enough):
        assert some <= unsure
