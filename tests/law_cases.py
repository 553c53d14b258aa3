"""How often laws are tried: as often as a test says in CI, thousands of times in a long run (`scripts/laws`)."""

from __future__ import annotations

import os


def cases(usual: int) -> int:
    """Random cases of one law."""
    return int(os.environ.get("LAW_EXAMPLES", usual))


def steps(usual: int) -> int:
    """Steps of one long run, such as a scheduler's."""
    return int(os.environ.get("LAW_STEPS", usual))
