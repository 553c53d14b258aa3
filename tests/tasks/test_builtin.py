"""The built-in tasks' instructions are what the model was trained on: they are pinned here word for word."""

from __future__ import annotations

from copydesk.tasks.builtin import ADDRESS, AGNEWS, address, agnews
from copydesk.types import Schema


def test_the_address_task_asks_for_its_six_fields() -> None:
    assert ADDRESS.instruction == "提取收件人，输出JSON：province, city, district, specific_location, name, phone"
    assert ADDRESS.schema is not None
    assert list(ADDRESS.schema.json["properties"]) == ADDRESS.schema.json["required"]
    assert ADDRESS.schema.json["additionalProperties"] is False
    assert ADDRESS.builtin


def test_the_address_task_takes_some_fields_in_another_order() -> None:
    task = address(["phone", "city"])
    assert task.instruction == "提取收件人，输出JSON：phone, city"
    assert task.schema is not None
    assert list(task.schema.json["properties"]) == ["phone", "city"]


def test_what_is_copied_is_grounded_unless_the_caller_asks_for_more_than_text() -> None:
    assert ADDRESS.grounded == {"specific_location": "runs", "name": "run", "phone": "run"}
    assert address(["city", "name"]).grounded == {"name": "run"}
    fields = {
        "name": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "phone": {"type": "string", "pattern": "^1[0-9]{10}$"},
        "specific_location": {"type": ["string", "integer"]},
    }
    assert address(list(fields), Schema({"properties": fields})).grounded == {"name": "run"}


def test_the_news_task_keeps_its_instruction_whatever_the_order_of_its_labels() -> None:
    assert AGNEWS.instruction == "Classify the news: World, Sports, Business, Sci/Tech"
    assert AGNEWS.labels == ("World", "Sports", "Business", "Sci/Tech")
    other = agnews(["Sports", "World", "Sci/Tech", "Business"])
    assert other.instruction == AGNEWS.instruction
    assert other.labels == ("Sports", "World", "Sci/Tech", "Business")
