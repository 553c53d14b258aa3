"""Keywords: what is malformed, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from copydesk.desk.schema.keywords import REFUSED, TYPES, check, types
from copydesk.errors import SchemaError


@pytest.mark.parametrize("keyword", REFUSED)
def test_a_refusal_names_the_keyword_the_place_and_a_way_out(keyword: str) -> None:
    with pytest.raises(SchemaError) as caught:
        check({keyword: {}}, "#/here")
    assert caught.value.code == "unsupported_schema"
    assert f"{keyword} at #/here" in str(caught.value)
    assert REFUSED[keyword] in str(caught.value)


@pytest.mark.parametrize(
    "schema",
    [
        None,
        [],
        {"enum": "a"},
        {"anyOf": {}},
        {"pattern": 1},
        {"$ref": 1},
        {"maxItems": 1.5},
        {"minimum": "1"},
        {"minimum": True},
        {"exclusiveMaximum": "1"},
        {"required": [1]},
        {"type": ["string", "text"]},
    ],
)
def test_what_is_malformed_is_no_schema(schema: Any) -> None:
    with pytest.raises(SchemaError, match="at #/x") as caught:
        check(schema, "#/x")
    assert caught.value.code == "invalid_schema"


@pytest.mark.parametrize(
    "schema",
    [
        True,
        {},
        {"title": 3, "x-vendor": {"not": {}}, "examples": [1]},
        {"maxItems": 2.0, "exclusiveMinimum": True, "type": ["string", "null"]},
    ],
)
def test_what_says_nothing_wrong_passes(schema: Any) -> None:
    check(schema, "#")


def test_a_node_without_a_type_has_them_all() -> None:
    assert types({}) == TYPES
    assert types({"type": "null"}) == ("null",)
    assert types({"type": ["null", "string"]}) == ("null", "string")
