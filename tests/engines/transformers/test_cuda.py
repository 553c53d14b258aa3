"""On a card: the same scores, parts of a model elsewhere, and memory that runs out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from copydesk.engines.protocol import Read
from copydesk.engines.transformers import load
from copydesk.engines.transformers.engine import TransformersEngine
from copydesk.errors import EngineError, UsageError
from engines.random_folders import Shape, write_folder
from engines.reading import all_rows, append, read_all, rows_of
from engines.reference import reference_rows
from engines.transformers.architectures import CONFIGS, write_architecture

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch finds no CUDA device")
TOKENS = tuple((29 * index + 11) % 320 for index in range(90))
OTHERS = tuple((31 * index + 7) % 320 for index in range(90))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folder(tmp_path_factory.mktemp("models") / "random", Shape(layers=4))


def check(engine: TransformersEngine, folder: Path) -> None:
    """Reads of different lengths after different pasts, in the same calls, are as the reference."""
    expected, others = reference_rows(folder, TOKENS), reference_rows(folder, OTHERS)
    one, two = engine.open(), engine.open()
    engine.run([Read(one, TOKENS[:37]), Read(two, OTHERS[:3])])
    fork = engine.fork(one)
    engine.run([read_all(one, TOKENS[37:]), read_all(two, OTHERS[3:])])
    np.testing.assert_allclose(rows_of(engine, one, 53), expected[37:], rtol=0, atol=1e-3)
    np.testing.assert_allclose(rows_of(engine, two, 87), others[3:], rtol=0, atol=1e-3)
    np.testing.assert_allclose(append(engine, fork, TOKENS[37:]), expected[37:], rtol=0, atol=1e-3)
    engine.close()


def test_the_card_is_taken_and_says_the_same(folder: Path) -> None:
    engine = load(folder)
    assert {parameter.device for parameter in engine._network._model.parameters()} == {torch.device("cuda:0")}
    check(engine, folder)


@pytest.mark.parametrize("special", CONFIGS)
def test_other_architectures(special: str, tmp_path: Path) -> None:
    folder = write_architecture(tmp_path, CONFIGS[special]())
    check(load(folder, device="cuda"), folder)


@pytest.mark.parametrize(
    "options",
    [
        {"device_map": "auto"},
        {"device_map": "layers-on-gpu=1"},
        {"device_map": "layers-on-gpu=0"},
        {"max_memory": {0: "1MB"}},
        {"max_memory": {0: "1MB", "cpu": "700KB"}},
    ],
)
def test_parts_elsewhere(options: dict[str, Any], folder: Path) -> None:
    engine = load(folder, **options)
    places = {parameter.device.type for parameter in engine._network._model.parameters()}
    assert places == ({"cuda"} if options == {"device_map": "auto"} else {"cuda", "meta"})
    check(engine, folder)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_half_precision(dtype: str, folder: Path) -> None:
    engine = load(folder, dtype=dtype)
    found, expected = all_rows(engine, TOKENS), reference_rows(folder, TOKENS)
    assert np.corrcoef(found.ravel(), expected.ravel())[0, 1] > 0.999
    engine.close()


def test_memory_that_runs_out_is_a_full_cache_and_changes_nothing(folder: Path) -> None:
    engine = load(folder, cache_bytes=2**40)
    sequence = engine.open()
    append(engine, sequence, TOKENS)
    torch.cuda.empty_cache()
    used, (_, whole) = torch.cuda.memory_reserved(), torch.cuda.mem_get_info()
    torch.cuda.set_per_process_memory_fraction((used + 2**22) / whole)
    try:
        many = [engine.open() for _ in range(512)]
        with pytest.raises(EngineError, match="cuda:0 has no memory left") as caught:
            engine.run([Read(one, 4 * TOKENS) for one in many])
        assert caught.value.code == "cache_full"
        assert engine.length(sequence) == 90
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    for one in many:
        engine.release(one)
    np.testing.assert_allclose(append(engine, sequence, OTHERS[:9])[-1].shape, (320,))
    engine.close()


def test_freed_with_the_last_engine(folder: Path) -> None:
    used = []
    for _ in range(2):  # the first leaves the libraries' own memory behind
        engine = load(folder, dtype="bfloat16")
        all_rows(engine, TOKENS)
        used.append(torch.cuda.memory_allocated())
        engine.close()
        used.append(torch.cuda.memory_allocated())
    assert used[0] > used[1]
    assert used[3] == used[1]


def test_a_card_that_is_not_there(folder: Path) -> None:
    with pytest.raises(UsageError, match="a CUDA device that is not there"):
        load(folder, device="cuda:99")
