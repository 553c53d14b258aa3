from __future__ import annotations

import json

from copydesk.drafting.rules import drafter
from copydesk.tasks.builtin import ADDRESS, AGNEWS, address

TEXT = "收件人：张伟，电话：13812345678，南京市玄武区珠江路1号"
ANSWER = {
    "province": "江苏省",
    "city": "南京市",
    "district": "玄武区",
    "specific_location": "珠江路1号",
    "name": "张伟",
    "phone": "13812345678",
}


def test_a_whole_answer_is_drafted() -> None:
    draft = drafter.draft(ADDRESS, TEXT, "")
    assert draft is not None
    assert (draft.text, draft.source) == (json.dumps(ANSWER, ensure_ascii=False), "rules")
    [span] = draft.spans["name"]
    assert TEXT[span.start : span.end] == "张伟"


def test_after_a_correction_the_rest_is_drafted_again() -> None:
    so_far = '{"province": "江苏省", "city": "南京市", "district": "鼓楼区"'
    draft = drafter.draft(ADDRESS, TEXT, so_far)
    assert draft is not None
    assert json.loads(draft.text) == ANSWER | {"district": "鼓楼区"}


def test_some_fields_in_another_order() -> None:
    draft = drafter.draft(address(("phone", "city")), TEXT, "")
    assert draft is not None
    assert draft.text == '{"phone": "13812345678", "city": "南京市"}'


def test_other_tasks_and_finished_answers_have_none() -> None:
    assert drafter.draft(AGNEWS, TEXT, "") is None
    assert drafter.draft(ADDRESS, TEXT, json.dumps(ANSWER, ensure_ascii=False)) is None
