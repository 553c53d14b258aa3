"""What only the paged cache does: filling calls up to few sizes, and refusing what it does not know."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from copydesk.engines.blocks import BLOCK_SIZE
from copydesk.engines.openvino.backbone import Segment
from copydesk.engines.openvino.compression import compress
from copydesk.engines.openvino.graph import build_backbone
from copydesk.engines.openvino.paged import PagedBackbone, padded
from copydesk.engines.openvino.runtime import EXACT, FAST, Setting
from copydesk.engines.tensors import Tensors
from copydesk.errors import EngineError
from copydesk.models.config import ModelConfig
from copydesk.models.weights import Weights


def backbone(folder: Path, setting: Setting = EXACT) -> PagedBackbone:
    config = ModelConfig.read(folder)
    tensors = Tensors(Weights(folder), config)
    model = build_backbone(tensors, config, compress(tensors.embedding(), 16), 16)
    return PagedBackbone(model, config, setting, 1, 2**22)


@given(st.integers(1, 5000))
def test_padding_fits_its_one_block_and_settles(tokens: int) -> None:
    assert 0 <= padded(tokens) - tokens < BLOCK_SIZE
    assert padded(padded(tokens)) == padded(tokens)
    assert padded(tokens) <= max(tokens, tokens * 1.4)


def test_there_are_few_sizes() -> None:
    assert len({padded(tokens) for tokens in range(1, 513)}) <= 50


def test_an_infer_that_fails_leaves_the_lengths(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paged = backbone(folder)
    sequence = paged.open()
    paged.read([Segment(sequence, [1, 2, 3], ())])

    def fail(_: object) -> None:
        raise EngineError("no")

    monkeypatch.setattr("copydesk.engines.openvino.paged.infer", fail)
    with pytest.raises(EngineError, match="no"):
        paged.read([Segment(sequence, [4] * 70, ())])
    assert paged.length(sequence) == 3


def test_nothing_wanted_gives_no_rows(folder: Path) -> None:
    paged = backbone(folder)
    assert paged.read([Segment(paged.open(), [1, 2, 3], ())]).shape == (0, 128)


def test_rows_are_the_callers_own(folder: Path) -> None:
    paged = backbone(folder)
    first = paged.read([Segment(paged.open(), [1, 2, 3], (0, 2))])
    before = first.copy()
    paged.read([Segment(paged.open(), [7, 8, 9], (0, 2))])
    np.testing.assert_array_equal(first, before)


def test_a_cache_of_another_kind_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("copydesk.engines.openvino.paged", fromlist=["x"])._CACHE_TYPES, "u8", np.uint8)
    with pytest.raises(EngineError, match="OpenVINO wants key_cache"):
        backbone(folder, Setting("f32", 0, "u8", 0.1))


def test_half_precision_caches_hold_what_they_are_given(folder: Path) -> None:
    exact, half = backbone(folder), backbone(folder, Setting("f32", 0, FAST.cache, 0.1))
    tokens = list(range(40))
    rows = [paged.read([Segment(paged.open(), tokens, range(40))]) for paged in (exact, half)]
    np.testing.assert_allclose(rows[0], rows[1], atol=0.02)
