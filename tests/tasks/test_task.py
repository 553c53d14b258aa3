"""Schemas and label sets become tasks, and are recognised as built-in ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from pydantic import BaseModel, Field

from copydesk.errors import SchemaError, UsageError
from copydesk.tasks.builtin import ADDRESS, ADDRESS_FIELDS, AGNEWS
from copydesk.tasks.task import classification, extraction, is_derived, prompted
from copydesk.types import Example, Schema, Task

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


def test_another_prompt_changes_the_instruction_and_nothing_else() -> None:
    guide = prompted(ADDRESS, "guide")
    assert guide.instruction != ADDRESS.instruction
    assert replace(guide, prompt="short", instruction=ADDRESS.instruction) == ADDRESS
    assert ADDRESS.trained
    assert not guide.trained
    assert prompted(guide, "short") == ADDRESS
    assert prompted(ADDRESS) is ADDRESS


@pytest.mark.parametrize("make", [partial(extraction, Order), partial(classification, ["a", "b"])])
def test_a_task_can_be_made_with_either_prompt(make: Callable[..., Task]) -> None:
    assert make(prompt="guide") == prompted(make(), "guide")
    assert prompted(make(prompt="guide"), "short") == make(prompt="short") == make()
    with pytest.raises(UsageError, match="choose short or guide"):
        make(prompt="long")


def test_a_callers_own_instruction_stays_unless_another_prompt_is_asked_for() -> None:
    own = Task("mine", "Is it so?", labels=("yes", "no"))
    assert prompted(own).instruction == "Is it so?"
    assert prompted(own, "short").instruction == "Is it so?"
    assert prompted(own, "guide").instruction == classification(["yes", "no"], prompt="guide").instruction


def test_a_task_with_examples() -> None:
    task = classification(["yes", "no"], examples=[("so", "yes"), ("not so", "no")])
    assert task.examples == (Example("so", "yes"), Example("not so", "no"))
    assert not prompted(AGNEWS, examples=[("so", "World")]).trained
    (example,) = extraction(Recipient, examples=[("A 1", {"phone": "1", "name": "A"})]).examples
    assert example == Example("A 1", '{"name": "A", "phone": "1"}')
    with pytest.raises(UsageError, match=r"^Example 2: "):
        classification(["yes", "no"], examples=[("so", "yes"), ("so", "maybe")])
    with pytest.raises(UsageError, match=r"^line 1: "):
        prompted(AGNEWS, examples=[("so", "yes")], named="line {}".format)


def test_what_a_schema_or_labels_say_all_of() -> None:
    for prompt in ("short", "guide"):
        assert is_derived(extraction({"type": "object", "properties": {"a": {"type": "string"}}}, prompt=prompt))
        assert is_derived(classification(["a", "b"], prompt=prompt))
        assert is_derived(extraction(ADDRESS.schema, prompt=prompt))  # type: ignore[arg-type]
    assert is_derived(ADDRESS)
    assert is_derived(AGNEWS)
    for own in ({"instruction": "Mine."}, {"grounded": {"a": "run"}}, {"examples": (Example("a", "b"),)}):
        assert not is_derived(replace(extraction({"type": "object"}), **own))  # type: ignore[arg-type]
    assert not is_derived(replace(AGNEWS, labels=("a",)))
