from __future__ import annotations

import json

from copydesk.drafting.rules import draft
from copydesk.types import Span

FIELDS = ("name", "city", "phone", "specific_location")


def test_a_draft_is_the_answer_as_one_line_of_json_with_spans() -> None:
    text = "张“伟 １３８ 1234 5678 南京市玄武区珠江路1号"
    answer = draft(text, FIELDS)
    written = answer.draft()
    assert written.text == json.dumps(dict(answer.values), ensure_ascii=False)
    assert list(json.loads(written.text)) == list(FIELDS)
    assert written.source == "rules"
    assert written.spans["city"] == (Span(text.index("南京市"), text.index("南京市") + 3),)


def test_only_what_is_certain_stands_alone() -> None:
    answer = draft("学院路1号 张伟 13812345678", FIELDS)
    certain = answer.certain()
    assert answer.values["specific_location"] == "学院路1号"
    assert certain.values["specific_location"] == ""
    assert certain.fields["specific_location"].spans == ()
    assert certain.values["phone"] == "13812345678"
    assert list(certain.values) == list(FIELDS)
