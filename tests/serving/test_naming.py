"""The model a request asks for."""

from __future__ import annotations

import pytest

from copydesk.serving.errors import ApiError
from copydesk.serving.naming import asked_model

NAMES = ["first", "org/second"]


@pytest.mark.parametrize(
    ("body", "query", "name"),
    [
        (None, b"", "first"),
        (None, b"other=1", "first"),
        ("org/second", b"", "org/second"),
        (None, b"model=org%2Fsecond", "org/second"),
        (None, b"a=1&model=org/second", "org/second"),
        ("first", b"model=first", "first"),
        (None, b"submodel=x", "first"),
    ],
)
def test_in_the_body_or_the_query(body: str | None, query: bytes, name: str) -> None:
    assert asked_model(body, query, NAMES) == name


@pytest.mark.parametrize(
    ("body", "query", "status"), [("x", b"", 404), ("", b"", 404), (None, b"model=x", 404), ("first", b"model=x", 400)]
)
def test_none_of_ours_and_contradictions(body: str | None, query: bytes, status: int) -> None:
    with pytest.raises(ApiError) as caught:
        asked_model(body, query, NAMES)
    assert (caught.value.status, caught.value.param) == (status, "model")
