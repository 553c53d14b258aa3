"""Which strings of a schema are grounded."""

from __future__ import annotations

from typing import Any

import pytest

from copydesk.desk.runs import MOST_RUNS
from copydesk.desk.sites import Site, site
from copydesk.errors import SchemaError

RUN = {"type": "string", "grounded": True}
RUNS = {"type": "string", "grounded": "runs", "minLength": 2}
FREE = {"type": "string"}


def at(root: Site | None, *path: str | int) -> Site | None:
    for step in path:
        if root is None:
            return None
        root = root.member(step) if isinstance(step, str) else root.item(step)
    return root


def runs(schema: Any, *path: str | int, **grounded: Any) -> int:
    found = at(site(schema, grounded), *path)
    return 0 if found is None else found.runs


def test_fields_are_grounded_as_they_say() -> None:
    schema = {"properties": {"a": RUN, "b": RUNS, "c": FREE}}
    assert [runs(schema, key) for key in "abcd"] == [1, MOST_RUNS, 0, 0]
    found = at(site(schema, {}), "b")
    assert found is not None
    assert found.least == 2


def test_a_task_grounds_top_level_fields() -> None:
    schema = {"properties": {"a": FREE, "b": FREE, "c": FREE}}
    assert runs(schema, "a", a="run", b="runs") == 1
    assert runs(schema, "b", a="run", b="runs") == MOST_RUNS
    assert runs(schema, "c", a="run", b="runs") == 0
    assert runs(schema, "d", d="run") == 0


def test_items_are_grounded_with_their_array() -> None:
    items = {"type": "array", "items": FREE, "grounded": True}
    assert runs({"properties": {"a": items}}, "a", 3) == 1
    tuples = {"type": "array", "prefixItems": [FREE, RUN], "items": RUNS}
    assert [runs(tuples, index) for index in range(3)] == [0, 1, MOST_RUNS]


def test_references_and_alternatives_are_followed() -> None:
    schema = {
        "$defs": {"name": RUN, "node": {"properties": {"is": RUN, "has": {"$ref": "#/$defs/node"}}}},
        "properties": {
            "a": {"$ref": "#/$defs/name"},
            "b": {"anyOf": [RUN, {"type": "null"}]},
            "c": {"anyOf": [FREE, {"type": "null"}], "grounded": True},
            "tree": {"$ref": "#/$defs/node"},
        },
        "patternProperties": {"^x": {"allOf": [RUN]}},
        "additionalProperties": RUNS,
    }
    assert [runs(schema, key) for key in "abc"] == [1, 1, 1]
    assert runs(schema, "tree", "has", "has", "has", "is") == 1
    assert runs(schema, "other") == 1


def test_lengths_of_alternatives_do_not_bind() -> None:
    found = at(site({"properties": {"a": {"anyOf": [RUNS, RUN]}}}, {}), "a")
    assert found is not None
    assert (found.runs, found.least) == (1, 0)


@pytest.mark.parametrize(
    "field", [{"type": "integer", "grounded": True}, {"type": "object", "grounded": True}, {"grounded": "some"}]
)
def test_what_cannot_be_grounded_is_refused_by_name(field: Any) -> None:
    with pytest.raises(SchemaError, match="grounded"):
        site({"properties": {"a": field}}, {})
