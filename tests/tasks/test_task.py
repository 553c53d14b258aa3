"""Schemas and label sets become tasks, and are recognised as built-in ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel, Field

from copydesk.errors import SchemaError
from copydesk.tasks.builtin import ADDRESS, ADDRESS_FIELDS, AGNEWS
from copydesk.tasks.task import classification, extraction
from copydesk.types import Schema

STRING = {"type": "string"}


class Recipient(BaseModel):
    name: str
    phone: str = Field(description="digits")


class Order(BaseModel):
    buyer: Recipient
    total: float
    note: str = Field(json_schema_extra={"grounded": True})


class Odd(BaseModel):
    call: Callable[[], int]


def test_a_schema_with_the_six_fields_is_the_address_task_in_its_own_order() -> None:
    fields = list(reversed(ADDRESS_FIELDS))
    task = extraction({"type": "object", "properties": dict.fromkeys(fields, STRING), "required": fields})
    assert task.builtin
    assert task.instruction == "提取收件人，输出JSON：" + ", ".join(fields)


def test_the_six_fields_keep_the_callers_constraints() -> None:
    properties: dict[str, Any] = dict.fromkeys(ADDRESS_FIELDS, STRING)
    properties["phone"] = {"type": "string", "maxLength": 11}
    task = extraction({"properties": properties})
    assert task.builtin
    assert task.instruction == ADDRESS.instruction
    assert task.schema is not None
    assert task.schema.json["properties"]["phone"]["maxLength"] == 11


def test_a_pydantic_class_over_some_of_the_fields_is_the_address_task() -> None:
    task = extraction(Recipient)
    assert task.builtin
    assert task.instruction == "提取收件人，输出JSON：name, phone"
    assert task.schema is not None
    assert task.schema.model is Recipient


@pytest.mark.parametrize(
    "properties",
    [
        {"name": STRING, "age": STRING},
        {"name": {"type": "integer"}},
        {"name": {"type": "string", "enum": ["a"]}},
        {},
    ],
)
def test_other_fields_and_other_types_are_not_the_address_task(properties: dict[str, Any]) -> None:
    assert not extraction({"type": "object", "properties": properties}).builtin


def test_another_schema_gets_an_instruction_of_its_own() -> None:
    task = extraction(Order)
    assert task.name == "Order"
    assert task.instruction == (
        'Extract from the text, output JSON: {"buyer": {"name": string, "phone": string (digits)}, '
        '"total": number, "note": string}'
    )
    assert task.schema is not None
    assert task.schema.json["properties"]["note"]["grounded"] is True


def test_a_schema_object_is_taken_as_it_is() -> None:
    schema = Schema({"type": "object", "properties": {"x": STRING}})
    assert extraction(schema).schema is schema


@pytest.mark.parametrize("schema", [Odd, int, "a string", 3, None, ["x"], {"enum": [{1}]}, {"const": float("nan")}])
def test_what_is_no_schema_is_refused(schema: Any) -> None:
    with pytest.raises(SchemaError) as caught:
        extraction(schema)
    assert caught.value.code == "invalid_schema"


def test_the_four_news_labels_are_the_news_task() -> None:
    task = classification(list(reversed(AGNEWS.labels)))
    assert task.builtin
    assert task.instruction == AGNEWS.instruction
    assert task.labels == tuple(reversed(AGNEWS.labels))


def test_other_labels_get_an_instruction_of_their_own() -> None:
    task = classification(["yes", "no"])
    assert not task.builtin
    assert task.instruction == "Classify the text: yes, no"


@pytest.mark.parametrize(
    "labels",
    [[], ["one"], ["a", " "], ["a", "a"], ["a", "b\n"], ["a", " a"], "ab", [1, 2], 5, {"a", "b"}, iter("ab"), b"ab"],
)
def test_labels_that_make_no_choice_are_refused(labels: Any) -> None:
    with pytest.raises(SchemaError) as caught:
        classification(labels)
    assert caught.value.code == "invalid_labels"
