"""The built-in tasks' instructions are what the model was trained on: they are pinned here word for word."""

from __future__ import annotations

from copydesk.tasks.builtin import ADDRESS, AGNEWS, address, agnews


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


def test_the_news_task_keeps_its_instruction_whatever_the_order_of_its_labels() -> None:
    assert AGNEWS.instruction == "Classify the news: World, Sports, Business, Sci/Tech"
    assert AGNEWS.labels == ("World", "Sports", "Business", "Sci/Tech")
    other = agnews(["Sports", "World", "Sci/Tech", "Business"])
    assert other.instruction == AGNEWS.instruction
    assert other.labels == ("Sports", "World", "Sci/Tech", "Business")
