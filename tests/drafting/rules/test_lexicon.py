from __future__ import annotations

from copydesk.drafting.rules.lexicon import lexicon
from copydesk.drafting.rules.wordings import Kind


def test_divisions_are_found_longest_first() -> None:
    words = lexicon().find("科尔沁左翼后旗")
    assert [(end, form.text) for end, form in words.forms[0]] == [(7, "科尔沁左翼后旗"), (3, "科尔沁")]


def test_labels_are_found_with_their_kind_and_talk_with_its_place() -> None:
    words = lexicon().find("😀收件人:张伟 手机:1 谢谢")
    assert (1, 4, Kind.NAME) in words.sure
    assert (8, 10, Kind.PHONE) in words.unsure
    assert words.chatter == [13]
