"""Requests that make no sense are refused where they are made."""

from __future__ import annotations

from typing import Any

import pytest

from copydesk.desk.request import Request
from copydesk.errors import UsageError
from copydesk.tasks.builtin import AGNEWS


@pytest.mark.parametrize(
    "options",
    [
        {"temperature": -0.1},
        {"temperature": float("nan")},
        {"temperature": float("inf")},
        {"max_tokens": 0},
        {"seed": -1},
    ],
)
def test_senseless_options(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(options))):
        Request(AGNEWS, "text", **options)


def test_defaults() -> None:
    request = Request(AGNEWS, "text")
    assert (request.temperature, request.seed, request.max_tokens, request.draft, request.prediction) == (
        0.0,
        0,
        None,
        True,
        None,
    )
