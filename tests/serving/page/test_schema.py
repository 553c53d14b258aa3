"""The schema editor's two views of one schema."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from copydesk.tasks.builtin import ADDRESS, ADDRESS_FIELDS
from serving.page.scripts import run

IMPORTS = (
    "import { ADDRESS, INVOICE, added, changed, isAddress, print, read, removed, rows, wrongName } from './schema.js';"
)
OTHER = {
    "title": "Thing",
    "type": "object",
    "properties": {
        "kind": {"type": "string", "enum": ["a", "b"], "description": "which"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "deep": {"type": "object", "properties": {"x": {"type": "integer"}}},
        "free": True,
    },
    "required": ["kind", "unknown"],
    "additionalProperties": False,
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text('ab\n"河𠮷', max_size=30),
    lambda inner: (
        st.lists(inner, max_size=5) | st.dictionaries(st.text("xy河", min_size=1, max_size=9), inner, max_size=5)
    ),
    max_leaves=15,
)


def edited(expression: str, schema: Any = OTHER) -> Any:
    return run(f"{IMPORTS}\nreturn {expression};", schema)


def test_the_default_is_the_address_task() -> None:
    assert ADDRESS.schema is not None
    assert edited("ADDRESS") == ADDRESS.schema.json
    assert list(edited("ADDRESS.properties")) == list(ADDRESS_FIELDS)
    assert edited("[isAddress(ADDRESS), isAddress(INVOICE), isAddress(given), isAddress({})]") == [
        True,
        False,
        False,
        False,
    ]


def test_rows_show_what_a_table_can() -> None:
    assert edited("rows(given)") == [
        {"name": "kind", "type": "string", "description": "which", "required": True},
        {"name": "tags", "type": "strings", "description": "", "required": False},
        {"name": "deep", "type": "other", "description": "", "required": False},
        {"name": "free", "type": "other", "description": "", "required": False},
    ]


def test_a_new_name_keeps_place_and_everything_else() -> None:
    schema = edited("changed(given, 0, { name: '__proto__' })")
    assert list(schema["properties"]) == ["__proto__", "tags", "deep", "free"]
    assert schema["properties"]["__proto__"] == OTHER["properties"]["kind"]  # type: ignore[index]
    assert schema["required"] == ["__proto__", "unknown"]
    assert {key: schema[key] for key in ("title", "type", "additionalProperties")} == {
        key: OTHER[key] for key in ("title", "type", "additionalProperties")
    }


def test_a_description_comes_goes_and_leaves_the_rest() -> None:
    kind = OTHER["properties"]["kind"]  # type: ignore[index]
    assert edited("changed(given, 0, { description: 'new' })")["properties"]["kind"] == kind | {"description": "new"}
    assert edited("changed(given, 0, { description: '' })")["properties"]["kind"] == {
        "type": "string",
        "enum": ["a", "b"],
    }
    assert edited("changed(given, 3, { description: 'x' })")["properties"]["free"] == {"description": "x"}


def test_a_new_type_drops_the_constraints_of_the_old() -> None:
    assert edited("changed(given, 0, { type: 'integer' })")["properties"]["kind"] == {
        "type": "integer",
        "description": "which",
    }
    assert edited("changed(given, 2, { type: 'strings' })")["properties"]["deep"] == {
        "type": "array",
        "items": {"type": "string"},
    }


def test_required_follows_the_order_of_the_fields() -> None:
    assert edited("changed(changed(given, 2, { required: true }), 1, { required: true })")["required"] == [
        "kind",
        "tags",
        "deep",
        "unknown",
    ]
    assert edited("changed(given, 0, { required: false })")["required"] == ["unknown"]


def test_fields_come_and_go() -> None:
    schema = edited("added(added(given))")
    assert list(schema["properties"])[-2:] == ["field_5", "field_6"]
    assert schema["required"] == ["kind", "field_5", "field_6", "unknown"]
    assert edited("added({ type: 'object' })")["properties"] == {"field_1": {"type": "string"}}
    schema = edited("removed(given, 0)")
    assert list(schema["properties"]) == ["tags", "deep", "free"]
    assert schema["required"] == ["unknown"]


def test_names_are_there_once() -> None:
    assert edited("['', ' ', 'tags', 'kind', 'new'].map((name) => wrongName(given, 0, name))") == [
        "nameEmpty",
        "nameEmpty",
        "nameTwice",
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[]", "schemaNoObject"),
        ("null", "schemaNoObject"),
        ('{"properties": []}', "schemaProperties"),
        ('{"properties": {"a": 1}}', "schemaField"),
        ('{"required": "a"}', "schemaRequired"),
        ('{"required": [1]}', "schemaRequired"),
    ],
)
def test_what_is_no_schema_is_named(text: str, error: str) -> None:
    assert edited("read(given)", text)["error"] == error


def test_what_is_no_json_is_shown_with_its_place() -> None:
    found = edited("read(given)", '{\n  "type" "object"\n}')
    assert found["error"] == "schemaNoJson"
    assert "line 2 column 10" in found["values"]["reason"]


@settings(max_examples=5, deadline=None)
@given(st.lists(JSON, min_size=20, max_size=40))
def test_print_says_the_same(cases: list[Any]) -> None:
    for value, text in zip(cases, edited("given.map((value) => print(value))", cases), strict=True):
        assert json.loads(text) == value


def test_print_puts_what_is_short_on_a_line() -> None:
    lines = edited("print(ADDRESS)").splitlines()
    assert '    "city": {"type": "string"},' in lines
    assert max(map(len, lines)) <= 88
