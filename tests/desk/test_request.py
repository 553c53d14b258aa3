"""Requests that make no sense are refused where they are made."""

from __future__ import annotations

from typing import Any

import pytest

from copydesk.desk.request import Request
from copydesk.errors import UsageError
from copydesk.tasks.builtin import ADDRESS, AGNEWS


@pytest.mark.parametrize(
    "options",
    [
        {"temperature": -0.1},
        {"temperature": float("nan")},
        {"temperature": float("inf")},
        {"max_tokens": 0},
        {"seed": -1},
        {"abstain_below": 1.1},
        {"abstain_below": -0.1},
        {"abstain_below": float("nan")},
        {"abstain_below": "0.5"},
    ],
)
def test_senseless_options(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(options))):
        Request(AGNEWS, "text", **options)


def test_only_a_classification_abstains() -> None:
    assert Request(AGNEWS, "text", abstain_below=1).abstain_below == 1
    with pytest.raises(UsageError, match="for classifications"):
        Request(ADDRESS, "text", abstain_below=0.5)


def test_defaults() -> None:
    request = Request(AGNEWS, "text")
    assert (request.temperature, request.seed, request.max_tokens, request.draft, request.prediction) == (
        0.0,
        0,
        None,
        True,
        None,
    )
