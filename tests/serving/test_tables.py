"""Tables to dataclasses: kinds, bounds, and errors that name the key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pytest

from copydesk.errors import UsageError
from copydesk.serving.tables import filled


@dataclass(frozen=True)
class Example:
    host: str = "here"
    port: int = 1
    wait_seconds: float = 1.0
    limit: int | None = None
    way: Literal["one", "other"] = "one"
    names: tuple[str, ...] = ()
    options: Mapping[str, Any] | None = None
    on: bool = True
    failed_share: float = 0.5


def test_what_is_given_goes_over_the_defaults() -> None:
    table = {"host": "there", "wait_seconds": 3, "limit": 4, "way": "other", "names": ["a"], "options": {"x": 1}}
    found = filled(Example, table, "example", on=False)
    assert found == Example("there", 1, 3.0, 4, "other", ("a",), {"x": 1}, on=False)
    assert isinstance(found.wait_seconds, float)
    assert filled(Example, {}, "example") == Example()


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"hots": "x"}, "example.hots is not known; did you mean host?"),
        ({"zzz": "x"}, "example.zzz is not known; there are host, port"),
        ({"host": 3}, "example.host is a text, not 3."),
        ({"port": "80"}, "example.port is a whole number, not '80'."),
        ({"port": True}, "example.port is a whole number, not True."),
        ({"port": 1.5}, "a whole number"),
        ({"port": 70000}, "example.port is at most 65535"),
        ({"port": -1}, "example.port is 0 or more, not -1."),
        ({"limit": 0}, "example.limit is more than 0, not 0."),
        ({"wait_seconds": float("inf")}, "a number that ends"),
        ({"wait_seconds": float("nan")}, "a number that ends"),
        ({"wait_seconds": True}, "example.wait_seconds is a number"),
        ({"way": "third"}, "example.way is 'one' or 'other', not 'third'."),
        ({"names": "a"}, "example.names is a list of texts"),
        ({"names": [""]}, "a list of texts"),
        ({"names": [1]}, "a list of texts"),
        ({"options": [1]}, "example.options is a table"),
        ({"on": 1}, "example.on is true or false, not 1."),
        ({"failed_share": 1.5}, "example.failed_share is a share, at most 1"),
        ({"host": ["x" * 100]}, "…"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(table: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as caught:
        filled(Example, table, "example")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
