"""Where references lead."""

from __future__ import annotations

from typing import Any

import pytest

from copydesk.desk.schema.document import Document, Node
from copydesk.errors import SchemaError

TREE = {
    "$defs": {
        "leaf": {"type": "null"},
        "node": {"properties": {"child": {"$ref": "#/$defs/node"}, "leaf": {"$ref": "#/$defs/leaf"}}},
        "one": {"$ref": "#/$defs/two"},
        "two": {"items": {"$ref": "#/$defs/one"}},
        "lost": {"$ref": "#/$defs/missing"},
    }
}


def follow(reference: str, schema: Any = TREE) -> Node:
    return Document(schema).follow(Node({"$ref": reference}, "#/here", depth=1))


@pytest.mark.parametrize(
    ("reference", "path", "depth"),
    [
        ("#", "#", 1),
        ("#/$defs/leaf", "#/$defs/leaf", 1),
        ("#/$defs/node", "#/$defs/node", 2),
        ("#/$defs/node/properties/child", "#/$defs/node/properties/child", 2),
        ("#/$defs/one", "#/$defs/one", 2),
        ("#/$defs/two", "#/$defs/two", 2),
        ("#/$defs/lost", "#/$defs/lost", 1),
    ],
)
def test_a_reference_into_a_cycle_is_one_deeper(reference: str, path: str, depth: int) -> None:
    node = follow(reference)
    assert (node.path, node.depth) == (path, depth)


def test_an_index_leads_into_a_list() -> None:
    assert follow("#/anyOf/1", {"anyOf": [True, {"type": "null"}]}).schema == {"type": "null"}


@pytest.mark.parametrize("reference", ["#/nowhere", "#/$defs/node/3", "#anchor"])
def test_a_reference_to_nothing_is_invalid(reference: str) -> None:
    with pytest.raises(SchemaError) as caught:
        follow(reference)
    assert caught.value.code == "invalid_schema"


def test_a_reference_to_another_document_is_refused() -> None:
    with pytest.raises(SchemaError, match=r"\$ref at #/here") as caught:
        follow("https://example.org/schema.json")
    assert caught.value.code == "unsupported_schema"


def test_the_documents_own_address_is_no_other_document() -> None:
    schema = {"$id": "https://example.org/schema.json", "$defs": {"a": {"type": "null"}}}
    assert follow("https://example.org/schema.json#/$defs/a", schema).schema == {"type": "null"}


def test_a_child_knows_its_place() -> None:
    node = Node({"properties": {"a/b": [True]}}, "#", depth=3).child("properties", "a/b", 0)
    assert node == Node(True, "#/properties/a~1b/0", depth=3)
