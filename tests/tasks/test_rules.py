"""Answers without a model: true to the schema or none, never called verified, never slow."""

from __future__ import annotations

import time
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copydesk.tasks.builtin import ADDRESS, ADDRESS_FIELDS, AGNEWS, address
from copydesk.tasks.rules import rules_answer
from copydesk.tasks.task import extraction
from copydesk.types import Schema, Task

UNSURE = "浙江省湖州市吴兴区白鱼潭路3360号，湖州东门"
TEXT = "湖南长沙岳麓区桃花岭路189号润丰园B座1202室 江雨桐 13800138000"


def of(fields: dict[str, Any], **more: Any) -> Task:
    return extraction({"type": "object", "properties": fields, "required": list(fields), **more})


def test_the_address_task_is_answered_and_says_by_whom() -> None:
    answer = rules_answer(TEXT, ADDRESS)
    assert answer is not None
    assert answer.value["city"] == "长沙市"
    assert answer.value["phone"] == "13800138000"
    assert list(answer.value) == list(ADDRESS_FIELDS)
    assert (answer.verified, answer.draft, answer.passes) == (False, "rules", 0)
    span = answer.fields["phone"].spans[0]
    assert TEXT[span.start : span.end] == "13800138000"
    assert answer.to_dict()["verified"] is False


@pytest.mark.parametrize("text", [TEXT, "嗯", "朝阳区李", "王 12", "abc 北京 张", UNSURE])
def test_what_is_not_sure_is_left_out(text: str) -> None:
    answer = rules_answer(text, ADDRESS)
    assert answer is not None
    assert all(answer.fields[name].confidence >= 0.5 for name, value in answer.value.items() if value)


def test_a_guess_is_better_than_no_answer_where_the_schema_wants_text() -> None:
    fields = {name: {"type": "string"} for name in ADDRESS_FIELDS}
    left_out = rules_answer(UNSURE, of(fields))
    wanted = rules_answer(UNSURE, of(fields | {"specific_location": {"type": "string", "minLength": 1}}))
    assert left_out is not None
    assert wanted is not None
    assert left_out.value["specific_location"] == ""
    assert wanted.value["specific_location"] == "白鱼潭路3360号，湖州东门"
    assert wanted.confidence == 0


def test_tasks_without_rules_have_no_answer() -> None:
    assert rules_answer(TEXT, AGNEWS) is None
    assert rules_answer(TEXT, extraction({"type": "object", "properties": {"price": {"type": "number"}}})) is None
    assert rules_answer(TEXT, Task("address", "", Schema({}))) is None


@pytest.mark.parametrize(
    ("field", "answered"),
    [
        ({"type": "string"}, True),
        ({"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}, True),
        ({"type": "string", "minLength": 1}, True),
        ({"type": "string", "minLength": 500}, False),
        ({"enum": ["长沙市", "北京市"]}, True),
        ({"enum": ["北京市"]}, False),
        ({"type": "integer"}, False),
        ({"type": "string", "pattern": "^(a+)+$"}, False),
        ({"$ref": "#"}, False),
        ({"allOf": [{"type": "string"}]}, False),
        ({"anyOf": [{"anyOf": [{"type": "string"}]}]}, False),
        ({"type": "text"}, False),
        (True, False),
    ],
)
def test_an_answer_satisfies_the_callers_schema_or_there_is_none(field: Any, answered: bool) -> None:
    fields = {name: {"type": "string"} for name in ADDRESS_FIELDS} | {"city": field}
    task = of(fields)
    answer = rules_answer(TEXT, task)
    assert (answer is not None) == answered
    if answer is not None:
        jsonschema.validate(answer.value, task.schema.json if task.schema else {})


@pytest.mark.parametrize(
    "more",
    [
        {"additionalProperties": 3},
        {"minProperties": 7},
        {"allOf": [{}]},
        {"patternProperties": {"(a+)+": {}}},
        {"$defs": {}},
        {"required": "city"},
    ],
)
def test_what_the_record_as_a_whole_must_be_is_kept_or_not_answered(more: dict[str, Any]) -> None:
    fields = {name: {"type": "string"} for name in ADDRESS_FIELDS}
    assert (
        rules_answer(TEXT, Task("address", "", Schema({"type": "object", "properties": fields, **more}), builtin=True))
        is None
    )


def test_a_schema_that_is_no_json_is_not_answered() -> None:
    endless: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string", "default": None}}}
    endless["properties"]["city"]["default"] = endless
    assert rules_answer(TEXT, Task("address", "", Schema(endless), builtin=True)) is None


_anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "enum", "const", "anyOf", "minLength", "$ref", "pattern", "title", "x"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(field=_anything, text=st.text(max_size=40))
def test_whatever_the_schema_holds_the_answer_satisfies_it(field: Any, text: str) -> None:
    fields = {name: {"type": "string"} for name in ADDRESS_FIELDS} | {"name": field}
    schema = {"type": "object", "properties": fields}
    started = time.perf_counter()
    answer = rules_answer(text, Task("address", "", Schema(schema), builtin=True))
    assert time.perf_counter() - started < 10
    if answer is not None:
        jsonschema.validate(answer.value, schema)


def test_fewer_fields_in_another_order() -> None:
    answer = rules_answer(TEXT, address(("phone", "city")))
    assert answer is not None
    assert list(answer.value) == ["phone", "city"]
