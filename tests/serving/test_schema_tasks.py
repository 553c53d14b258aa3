"""The same schema is the same task."""

from __future__ import annotations

import copy

from copydesk.serving.schema_tasks import schema_task
from copydesk.tasks.builtin import ADDRESS
from copydesk.tasks.task import extraction
from copydesk.types import Json

SCHEMA: Json = {"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "integer", "minimum": 1.0}}}


def test_it_is_what_the_schema_makes_it() -> None:
    assert schema_task(SCHEMA) == extraction(SCHEMA)
    assert ADDRESS.schema is not None
    assert schema_task(ADDRESS.schema.json) == ADDRESS


def test_it_is_the_same_every_time() -> None:
    first = schema_task(copy.deepcopy(SCHEMA))
    assert schema_task(copy.deepcopy(SCHEMA)) is first
    other = {"type": "object", "properties": dict(reversed(SCHEMA["properties"].items()))}
    assert schema_task(other) is not first
    assert schema_task(other).instruction != first.instruction


def test_what_callers_change_afterwards_is_no_matter() -> None:
    schema = copy.deepcopy(SCHEMA)
    task = schema_task(schema)
    schema["properties"].clear()
    assert task == extraction(SCHEMA)
