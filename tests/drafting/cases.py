"""Random tasks with answers, and a law that every drafter keeps."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import jsonschema
from hypothesis import strategies as st

from copydesk.types import Draft, Json, Schema, Task

NAMES = st.sampled_from(["name", "city", "total", "item_count", "is open", "市", 'q"uote', "a.b", "x[0]"])
TEXTS = st.text(max_size=60) | st.text(st.sampled_from("ab 12,.:\n姓名张三北京市0-9()"), max_size=60)
STRINGS = st.text(st.characters(exclude_categories=("Cs",)), max_size=8)
LEAVES: tuple[tuple[Json, st.SearchStrategy[Any]], ...] = (
    ({"type": "string"}, STRINGS),
    ({"type": "integer"}, st.integers(-10000, 10000)),
    ({"type": "number"}, st.integers(-100, 100) | st.integers(-9999, 9999).map(lambda mils: mils / 1000)),
    ({"type": "boolean"}, st.booleans()),
    ({"enum": ["red", "blue", "北京"]}, st.sampled_from(["red", "blue", "北京"])),
    ({"type": ["string", "null"]}, STRINGS | st.none()),
    ({"anyOf": [{"type": "number"}, {"type": "null"}]}, st.integers(0, 99) | st.none()),
)


@st.composite
def schema_and_values(draw: st.DrawFn, depth: int = 2) -> tuple[Json, st.SearchStrategy[Any]]:
    """A schema that drafts can be made of wholly, and the values that satisfy it."""
    kind = draw(st.sampled_from(["leaf", "leaf", "record", "array"])) if depth else "leaf"
    if kind == "leaf":
        return draw(st.sampled_from(LEAVES))
    if kind == "array":
        item, values = draw(schema_and_values(depth=depth - 1))
        return {"type": "array", "items": item}, st.lists(values, max_size=3)
    return draw(record_and_values(depth))


@st.composite
def record_and_values(draw: st.DrawFn, depth: int = 2) -> tuple[Json, st.SearchStrategy[Any]]:
    """The same, of an object."""
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    parts = {name: draw(schema_and_values(depth=depth - 1)) for name in names}
    required = [name for name in names if draw(st.booleans())]
    schema = {
        "type": "object",
        "properties": {name: part for name, (part, _) in parts.items()},
        "required": required,
        "additionalProperties": False,
    }
    present = {name: values for name, (_, values) in parts.items()}
    optional = {name: values for name, values in present.items() if name not in required}
    values = st.fixed_dictionaries(
        {name: values for name, values in present.items() if name in required}, optional=optional
    ).map(lambda value: {name: value[name] for name in names if name in value})
    return schema, values


def task_of(schema: Json) -> Task:
    return Task("case", "Extract.", Schema(schema))


def written(value: Any) -> str:
    """An answer as the desk writes it."""
    return json.dumps(value, ensure_ascii=False)


def check_law(draft: Callable[[Task, str, str], Draft | None], task: Task, text: str, so_far: str) -> None:
    """A draft goes on from what stands; one that is wanted from the start is a whole answer of the schema."""
    first = draft(task, text, so_far)
    assert first == draft(task, text, so_far)
    if first is not None:
        assert first.text.startswith(so_far)
        assert len(first.text) > len(so_far)
        for spans in first.spans.values():
            assert all(0 <= span.start < span.end <= len(text) for span in spans)
    if not so_far:
        assert first is not None
        schema = task.schema
        assert schema is not None
        jsonschema.validate(json.loads(first.text), schema.json)
        again = written(json.loads(first.text))
        assert first.text == again or "e-" in again  # answers write small numbers without exponents
