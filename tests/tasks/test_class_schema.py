"""What a pydantic class is written as, where that is not what pydantic itself writes."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field

from copydesk.errors import SchemaError
from copydesk.tasks.class_schema import class_schema

NUMBER = {"type": "number"}


class Empty(BaseModel):
    pass


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")


class Prices(BaseModel):
    plain: Decimal
    bounded: Decimal = Field(ge=0)
    maybe: Decimal | None
    text: Decimal | str


class Holder(BaseModel):
    empty: Empty
    rest: dict[str, int]


class Odd(BaseModel):
    call: Callable[[], int]


def properties(model: type[BaseModel]) -> Any:
    return {
        name: {key: value for key, value in field.items() if key != "title"}
        for name, field in class_schema(model)["properties"].items()
    }


def test_an_ordinary_class_is_as_pydantic_writes_it() -> None:
    class Plain(BaseModel):
        name: str
        size: int = Field(ge=0, description="in metres")

    assert class_schema(Plain) == Plain.model_json_schema()


def test_a_class_without_fields_is_closed_unless_it_keeps_others() -> None:
    assert class_schema(Empty)["additionalProperties"] is False
    assert class_schema(Open)["additionalProperties"] is True
    assert class_schema(Holder)["$defs"]["Empty"]["additionalProperties"] is False
    assert properties(Holder)["rest"]["additionalProperties"] == {"type": "integer"}


def test_a_decimal_is_a_number() -> None:
    assert properties(Prices) == {
        "plain": NUMBER,
        "bounded": {**NUMBER, "minimum": 0.0},
        "maybe": {"anyOf": [NUMBER, {"type": "null"}]},
        "text": {"anyOf": [NUMBER, {"type": "string"}]},
    }


def test_a_class_that_has_no_schema_is_refused() -> None:
    with pytest.raises(SchemaError, match="Odd cannot be written as a JSON Schema") as caught:
        class_schema(Odd)
    assert caught.value.code == "invalid_schema"
