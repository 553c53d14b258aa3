"""The Triton kernels, general ones, the head's and those for one token, beside their plain twins.

They run in Triton's interpreter here (see `conftest.py`), on tensors of the CPU; what they do on a GPU,
`scripts/gpu_check.py` says.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch

from copydesk.engines import cuda
from copydesk.engines.cuda import reference
from copydesk.engines.cuda.engine import CudaEngine
from copydesk.engines.cuda.forward import forward, forward_one
from copydesk.engines.cuda.layout import Part, sections
from copydesk.engines.protocol import Read, Scores, Wanted
from engines.random_folders import Shape, write_folder

TEXT = tuple((29 * index + 11) % 320 for index in range(37))

pytestmark = pytest.mark.skipif(os.environ.get("TRITON_INTERPRET") != "1", reason="scripts/gpu_check.py checks the GPU")


@pytest.fixture
def kernels(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    from copydesk.engines.cuda import kernels, single

    monkeypatch.setattr(single, "has_early_launch", lambda: False)
    return kernels


@pytest.fixture(params=["Qwen3", "Llama"])
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    return write_folder(tmp_path / "random", Shape(model_type=request.param.lower(), layers=1))


def loaded(folder: Path) -> CudaEngine:
    return cuda.load(folder, device="cpu", dtype="float32", cache_bytes=2**22)


def history(engine: CudaEngine) -> list[list[Scores]]:
    """Sequences that share blocks and part, read together, with all that can be asked for."""
    one = engine.open()
    engine.run([Read(one, TEXT)])
    two, three = engine.fork(one), engine.open()
    wanted = (Wanted(0, (5, 319), top=3), Wanted(2))
    results = engine.run([Read(one, TEXT[:3], wanted), Read(two, TEXT[5:8], wanted), Read(three, TEXT[:20])])
    return results + engine.run([Read(one, (7,), (Wanted(0, ahead=3),)), Read(three, (8,), (Wanted(0, ahead=3),))])


def test_the_engine_says_the_same_on_either(kernels: ModuleType, folder: Path) -> None:
    plain, own = loaded(folder), loaded(folder)
    own._runner._operations = kernels
    for expected, found in zip(history(plain), history(own), strict=True):
        for one, other in zip(expected, found, strict=True):
            assert (one.argmax, [token for token, _ in one.top]) == (other.argmax, [token for token, _ in other.top])
            assert other.logprob == pytest.approx(one.logprob, abs=1e-4)
            assert other.listed == pytest.approx(one.listed, abs=1e-4)
            assert [token for token, _ in one.ahead] == [token for token, _ in other.ahead]


def test_one_token_is_as_among_others(kernels: ModuleType, folder: Path) -> None:
    for before in (0, 33):
        engine = loaded(folder)
        sequence = engine.open()
        engine.run([Read(sequence, TEXT[:before])] if before else [])
        engine._table.extend([(sequence, 1)])
        blocks = [engine._table.blocks(sequence)]
        part = Part(*(np.array([value], np.int32) for value in (7, before, 1, 0)), blocks)
        size = part.size(16)
        flat = torch.zeros(size.flat, dtype=torch.int32)
        part.fill(sections(flat.numpy(), size), size)
        batch, runner = sections(flat, size), engine._runner
        expected = forward(runner._network, runner._cache, batch, 16, reference)
        torch.testing.assert_close(forward_one(runner._network, runner._cache, batch), expected, atol=1e-4, rtol=0)


def test_equal_scores_go_to_the_lowest_id(kernels: ModuleType) -> None:
    states, weight = torch.ones(2, 16), torch.ones(300, 16)
    weight[5] = weight[290] = 2.0
    found = kernels.score(states, weight)
    assert int(found[0].view(torch.int32)[0]) == 5


def test_every_kernel_has_a_twin(kernels: ModuleType) -> None:
    own = (name for name, value in vars(reference).items() if getattr(value, "__module__", "") == reference.__name__)
    assert sorted(name for name in own if not name.startswith("_")) == kernels.__all__
