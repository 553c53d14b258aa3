"""How what is wrong with a body is said."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from copydesk.serving.errors import ApiError
from copydesk.serving.wire.base import Sampled, Wire, read, shown


class Leaf(Wire):
    type: Literal["leaf"]
    size: int


class Tree(Wire):
    name: str = ""
    content: str | list[Leaf] | None = None


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ([], None),
        ({"name": 1}, "name"),
        ({"content": 1}, "content"),
        ({"content": [1]}, "content[0]"),
        ({"content": [{"type": "leaf"}]}, "content[0].size"),
        ({"content": [{"type": "leaf", "size": 1}, {"type": "leaf", "size": "2"}]}, "content[1].size"),
        ({"content": [{"type": "twig", "size": 1}]}, "content[0].type"),
    ],
)
def test_the_field_is_named_and_its_value_is_not(body: Any, param: str | None) -> None:
    with pytest.raises(ApiError) as caught:
        read(Tree, body)
    assert (caught.value.status, caught.value.param, caught.value.code) == (400, param, "invalid_request")
    assert caught.value.message.startswith(f"{param}: " if param else "Input")
    assert caught.value.message.endswith(".")


def test_values_stay_out_of_messages() -> None:
    with pytest.raises(ApiError) as caught:
        read(Tree, {"name": ["secret"], "content": {"secret": 1}})
    assert "secret" not in caught.value.message


def test_unknown_fields_are_ignored_and_numbers_are_strict() -> None:
    assert read(Tree, {"name": "a", "more": {"x": 1}}).name == "a"
    assert read(Sampled, {"temperature": 1, "seed": None}).temperature == 1.0
    for body in ({"temperature": "1"}, {"temperature": True}, {"seed": 1.5}, {"top_k": -2}):
        with pytest.raises(ApiError):
            read(Sampled, body)


def test_places_as_openai_writes_them() -> None:
    assert shown(["messages", 0, "content", 1, "text"]) == "messages[0].content[1].text"
    assert shown([]) == ""
