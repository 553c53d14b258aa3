"""Short and long prompts for one task."""

from __future__ import annotations

from typing import Any

import pytest

from copydesk.errors import UsageError
from copydesk.tasks.builtin import ADDRESS, ADDRESS_FIELDS, AGNEWS, AGNEWS_LABELS, address, agnews
from copydesk.tasks.named_prompts import PROMPTS, instruction
from copydesk.tasks.task import classification, extraction

SCHEMA = {
    "properties": {
        "seller": {"type": "string", "description": "who is paid"},
        "kind": {"enum": ["sale", "return"]},
    },
    "required": ["seller"],
}


def test_the_short_prompts_of_the_built_in_tasks_are_their_own() -> None:
    assert PROMPTS == ("short", "guide")
    assert instruction(ADDRESS, "short") == ADDRESS.instruction
    assert instruction(address(["phone", "name"]), "short") == "提取收件人，输出JSON：phone, name"
    assert instruction(AGNEWS, "short") == AGNEWS.instruction


def test_the_guide_to_addresses_explains_the_fields_that_are_asked_for_in_their_order() -> None:
    guide = instruction(ADDRESS, "guide")
    places = [guide.index(f"- {name}：") for name in ADDRESS_FIELDS]
    assert places == sorted(places)
    some = instruction(address(["phone", "city"]), "guide")
    assert some.endswith('{"phone": "...", "city": "..."}')
    assert "- name：" not in some


def test_the_guide_to_news_explains_all_labels_whatever_their_order() -> None:
    guide = instruction(AGNEWS, "guide")
    assert all(f"\n- {label}: " in guide for label in AGNEWS_LABELS)
    assert instruction(agnews(AGNEWS_LABELS[::-1]), "guide") == guide


def test_the_guide_to_a_schema_has_its_names_descriptions_and_values() -> None:
    guide = instruction(extraction(SCHEMA), "guide")
    assert '- "seller": string, required (who is paid)' in guide
    assert '- "kind": "sale" | "return", optional' in guide
    assert guide.endswith('\n{"seller": string, "kind": "sale" | "return"}')


def test_braces_in_a_schema_or_label_are_words_like_others() -> None:
    assert '"{x}"' in instruction(extraction({"properties": {"{x}": {"type": "string"}}}), "guide")
    assert "\n- {labels}\n" in instruction(classification(["{labels}", "b"]), "guide")


@pytest.mark.parametrize(
    "task", [ADDRESS, AGNEWS, extraction(SCHEMA), classification(["a", "b"]), extraction({"enum": [1]})]
)
def test_a_guide_is_longer_and_says_how_the_answer_looks(task: Any) -> None:
    guide = instruction(task, "guide")
    assert len(guide) > 3 * len(instruction(task, "short"))
    assert "Output format" in guide or "输出格式" in guide


def test_an_unknown_prompt_is_refused() -> None:
    with pytest.raises(UsageError, match="no prompt 'long'; choose short or guide"):
        instruction(AGNEWS, "long")  # type: ignore[arg-type]
