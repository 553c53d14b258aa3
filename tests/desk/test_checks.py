"""Options of a wrong kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from copydesk.desk import checks
from copydesk.errors import UsageError


@dataclass
class Given:
    value: Any


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        (checks.NUMBER, [0, 0.5, np.float32(1)], ["1", None, True]),
        (checks.WHOLE, [3, np.int64(3)], [3.0, "3", False]),
        (checks.WHOLE_OR_NONE, [None, 3], [3.5, True]),
        (checks.TRUTH, [True, False], [1, None]),
        (checks.TEXT_OR_NONE, ["", None], [b"", 1]),
    ],
)
def test_kinds(kind: checks.Kind, right: list[Any], wrong: list[Any]) -> None:
    for value in right:
        checks.check_kinds(Given(value), {"value": kind})
    for value in wrong:
        with pytest.raises(UsageError, match=r"^value is "):
            checks.check_kinds(Given(value), {"value": kind})


@pytest.mark.parametrize("seed", [-1, 2**64, 1.0, "1", True])
def test_seeds_that_are_none(seed: Any) -> None:
    with pytest.raises(UsageError, match="seed"):
        checks.check_seed(seed)


def test_the_largest_seed() -> None:
    checks.check_seed(2**64 - 1)
    checks.check_max_tokens(1)
    checks.check_max_tokens(None)
    with pytest.raises(UsageError):
        checks.check_max_tokens(0)
