"""From written tokens to the answer a caller gets: value, spans, confidences, label probabilities.

Knows nothing of how the tokens came about.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any, Literal

from copydesk.desk.leaves import leaves
from copydesk.desk.spans import locate
from copydesk.types import Field


def parsed(text: str) -> Any:
    """The value of a JSON answer."""
    return json.loads(text)


def fields(
    text: str,
    pieces: Sequence[bytes],
    probabilities: Mapping[int, float],
    source: str,
    calibrated: Callable[[str, float], float],
    drafted: Mapping[int, bool],
) -> dict[str, Field]:
    """The fields of a JSON answer by their paths.

    `pieces` are the bytes of its tokens, `probabilities` those of the open ones among them by index. A field's
    confidence is the product over the open tokens that its text overlaps, as `calibrated` of its path and that product.
    `drafted` says of drafted open tokens, by index, whether they stand.
    """
    ends = list(accumulate(map(len, pieces)))
    offsets = [0, *accumulate(len(character.encode()) for character in text)]
    values = leaves(text)
    places = locate(source, [leaf.value for leaf in values])
    found = {}
    for leaf, (spans, match) in zip(values, places, strict=True):
        first = bisect_right(ends, offsets[leaf.start])
        last = bisect_left(ends, offsets[leaf.end])
        opened = [index for index in range(first, last + 1) if index in probabilities]
        confidence = math.prod(probabilities[index] for index in opened)
        found[leaf.path] = Field(spans, match, calibrated(leaf.path, confidence), _fate(opened, drafted))
    return found


def _fate(opened: Sequence[int], drafted: Mapping[int, bool]) -> Literal["kept", "corrected"] | None:
    """What became of the draft of a value with these open tokens."""
    if any(drafted.get(index) is False for index in opened):
        return "corrected"
    return "kept" if opened and all(index in drafted for index in opened) else None
