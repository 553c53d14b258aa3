"""What only the plain cache does: copies for forks, states put back when a read fails. Its laws are in test_laws."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from copydesk.engines.openvino.backbone import Segment
from copydesk.engines.openvino.compression import compress
from copydesk.engines.openvino.graph import build_backbone
from copydesk.engines.openvino.runtime import EXACT
from copydesk.engines.openvino.selftest import check
from copydesk.engines.openvino.stateful import StatefulBackbone
from copydesk.engines.tensors import Tensors
from copydesk.errors import EngineError
from copydesk.models.config import ModelConfig
from copydesk.models.weights import Weights

TOKENS = [(13 * index + 1) % 320 for index in range(50)]


@pytest.fixture(scope="module")
def backbone(folder: Path) -> StatefulBackbone:
    config = ModelConfig.read(folder)
    tensors = Tensors(Weights(folder), config)
    model = build_backbone(tensors, config, compress(tensors.embedding(), 16), 16)
    return StatefulBackbone(model, config, EXACT, 1)


def test_it_passes_the_test_that_the_paged_one_must_pass(backbone: StatefulBackbone) -> None:
    check(backbone, 320, EXACT)


def test_nothing_wanted_gives_no_rows(backbone: StatefulBackbone) -> None:
    assert backbone.read([Segment(backbone.open(), TOKENS[:3], ())]).shape == (0, 128)
    assert backbone.read([]).shape == (0, 128)


def test_an_empty_sequence_can_be_forked_and_cut(backbone: StatefulBackbone) -> None:
    empty = backbone.open()
    fork = backbone.fork(empty)
    backbone.cut(fork, 0)
    rows = [backbone.read([Segment(sequence, TOKENS, (49,))]) for sequence in (empty, fork)]
    np.testing.assert_array_equal(rows[0], rows[1])


def test_a_read_that_fails_leaves_every_sequence_as_it_was(
    backbone: StatefulBackbone, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = backbone.open(), backbone.open()
    backbone.read([Segment(one, TOKENS[:20], ()), Segment(two, TOKENS[:20], ())])
    with monkeypatch.context() as patch:
        calls: list[object] = []

        def fail_the_second(request: object) -> None:
            calls.append(request)
            if len(calls) == 2:
                raise EngineError("no")
            request.start_async()  # type: ignore[attr-defined]
            request.wait()  # type: ignore[attr-defined]

        patch.setattr("copydesk.engines.openvino.stateful.infer", fail_the_second)
        with pytest.raises(EngineError, match="no"):
            backbone.read([Segment(one, [1, 2], ()), Segment(two, [3], ())])
    assert (backbone.length(one), backbone.length(two)) == (20, 20)
    rows = backbone.read([Segment(one, TOKENS[20:], (29,)), Segment(two, TOKENS[20:], (29,))])
    np.testing.assert_allclose(rows[0], rows[1], atol=1e-5)
    fresh = backbone.open()
    np.testing.assert_allclose(rows[:1], backbone.read([Segment(fresh, TOKENS, (49,))]), atol=1e-4)
