"""The self-test passes where the cache is right and notices where it is not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from copydesk.engines.openvino.backbone import Segment
from copydesk.engines.openvino.runtime import EXACT, FAST
from copydesk.engines.openvino.selftest import check
from copydesk.errors import EngineError


class Remembering:
    """A backbone whose hidden state is a hash of all tokens so far. `wrong` says where it errs."""

    capacity = 1000

    def __init__(self, wrong: str = "", by: float = 1.0) -> None:
        self.wrong, self.by = wrong, by
        self.sequences: dict[int, list[int]] = {}
        self.opened = 0

    def open(self) -> int:
        self.opened += 1
        self.sequences[self.opened] = []
        return self.opened

    def fork(self, sequence: int) -> int:
        handle = self.open()
        shared = self.sequences[sequence]
        self.sequences[handle] = shared if self.wrong == "fork" else list(shared)
        return handle

    def length(self, sequence: int) -> int:
        return len(self.sequences[sequence])

    def read(self, segments: Sequence[Segment]) -> NDArray[np.float32]:
        rows = []
        for segment in segments:
            begin = self.length(segment.sequence)
            self.sequences[segment.sequence] += segment.tokens
            held = self.sequences[segment.sequence]
            rows += [self._state(held[: begin + index + 1]) for index in segment.wanted]
        found = np.stack(rows)
        if (self.wrong == "packed" and len(segments) > 1) or (self.wrong == "single" and len(found) == 1):
            found = found * (1 + self.by)
        return found

    def cut(self, sequence: int, length: int) -> None:
        if self.wrong != "cut":
            del self.sequences[sequence][length:]

    def release(self, sequence: int) -> None:
        del self.sequences[sequence]

    def close(self) -> None:
        self.sequences.clear()

    def _state(self, tokens: list[int]) -> NDArray[np.float32]:
        seed = abs(hash(tuple(tokens)))
        return np.random.default_rng(seed).standard_normal(16).astype(np.float32)


def test_a_right_cache_passes_and_is_left_empty() -> None:
    backbone = Remembering()
    check(backbone, 320, EXACT)
    assert backbone.sequences == {}


@pytest.mark.parametrize("wrong", ["packed", "fork", "cut", "single"])
@pytest.mark.parametrize("setting", [EXACT, FAST])
def test_a_wrong_one_is_noticed(wrong: str, setting: object) -> None:
    with pytest.raises(EngineError, match="paged attention is wrong on this machine"):
        check(Remembering(wrong), 320, setting)  # type: ignore[arg-type]


def test_roundings_count_only_in_the_exact_setting() -> None:
    check(Remembering("packed", by=0.01), 320, FAST)
    with pytest.raises(EngineError, match=r"packed rows differ by 0\.01"):
        check(Remembering("packed", by=0.01), 320, EXACT)


def test_rows_that_are_not_numbers_fail() -> None:
    with pytest.raises(EngineError, match="nan"):
        check(Remembering("packed", by=np.nan), 320, FAST)
