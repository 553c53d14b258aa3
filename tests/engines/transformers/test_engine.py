"""The transformers engine says what Transformers says, of any architecture; the laws it keeps are in test_laws."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from copydesk.engines.protocol import Engine, Read, Wanted
from copydesk.engines.transformers import load
from copydesk.engines.transformers.engine import TransformersEngine
from copydesk.engines.transformers.groups import Limits
from copydesk.errors import EngineError
from engines.random_folders import Shape, write_folder
from engines.reading import all_rows, append, read_all, rows_of
from engines.reference import reference_rows
from engines.transformers.architectures import CONFIGS, write_architecture

TOKENS = tuple((29 * index + 11) % 320 for index in range(90))
OTHERS = tuple((31 * index + 7) % 320 for index in range(90))
SHAPES = {
    "qwen3": Shape(),
    "llama": Shape(model_type="llama", tied=False),
    "llama with biases": Shape(model_type="llama", attention_bias=True, kv_heads=4),
}


@pytest.fixture(scope="module", params=[*SHAPES, *CONFIGS])
def architecture(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("architecture") / "model"
    if request.param in SHAPES:
        return write_folder(folder, SHAPES[request.param])
    return write_architecture(folder, CONFIGS[request.param]())


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folder(tmp_path_factory.mktemp("plain") / "random", Shape())


@pytest.fixture
def loaded(plain: Path) -> Iterator[TransformersEngine]:
    opened = load(plain)
    yield opened
    opened.close()


def test_as_transformers_says_however_it_is_read(architecture: Path) -> None:
    """Reads of different lengths after different pasts, forks and cuts among them, in the same calls."""
    engine = load(architecture)
    expected, others = reference_rows(architecture, TOKENS), reference_rows(architecture, OTHERS)
    one, two, three = engine.open(), engine.open(), engine.open()
    engine.run([Read(one, TOKENS[:37]), Read(two, OTHERS[:3])])
    fork = engine.fork(one)
    engine.run([read_all(one, TOKENS[37:]), Read(two, OTHERS[3:5]), read_all(three, TOKENS[:60])])
    near = {"rtol": 0, "atol": 1e-4}
    np.testing.assert_allclose(rows_of(engine, one, 53), expected[37:], **near)
    np.testing.assert_allclose(rows_of(engine, three, 60), expected[:60], **near)
    engine.cut(fork, 21)
    engine.run([read_all(fork, TOKENS[21:40]), read_all(two, OTHERS[5:]), read_all(three, TOKENS[60:61])])
    np.testing.assert_allclose(rows_of(engine, fork, 19), expected[21:40], **near)
    np.testing.assert_allclose(rows_of(engine, two, 85), others[5:], **near)
    np.testing.assert_allclose(rows_of(engine, three, 1), expected[60:61], **near)
    engine.close()


@pytest.mark.parametrize("architecture", ["qwen3", "llama", "learned positions"], indirect=True)
def test_a_batch_of_n_is_as_n_single_runs(architecture: Path) -> None:
    engine = load(architecture)
    rng = np.random.default_rng(5)
    texts = [tuple(int(token) for token in rng.integers(0, 320, count)) for count in (1, 40, 3, 17, 17, 28)]
    alone = []
    for text in texts:
        sequence, chosen = engine.open(), []
        rows = append(engine, sequence, text)
        for _ in range(4):
            chosen.append(int(rows[-1].argmax()))
            rows = append(engine, sequence, [chosen[-1]])
        alone.append((chosen, rows[-1]))
        engine.release(sequence)
    sequences = [engine.open() for _ in texts]
    results = engine.run(
        [Read(one, text, (Wanted(len(text) - 1),)) for one, text in zip(sequences, texts, strict=True)]
    )
    together: list[list[int]] = [[] for _ in texts]
    for _ in range(4):
        for chosen, [scores] in zip(together, results, strict=True):
            chosen.append(scores.argmax)
        results = engine.run(
            [Read(one, (chosen[-1],), (Wanted(0),)) for one, chosen in zip(sequences, together, strict=True)]
        )
    for sequence, chosen, (expected, row) in zip(sequences, together, alone, strict=True):
        assert chosen == expected
        np.testing.assert_allclose(engine.row(sequence, 0), row, rtol=0, atol=1e-4)
    engine.close()


def test_nothing_that_padding_computes_reaches_a_token(tmp_path: Path) -> None:
    """Id 0, which pads, has an embedding that is no number."""
    engine = load(write_folder(tmp_path, Shape(tied=False)))
    texts = [tuple(max(token, 1) for token in text) for text in (TOKENS[:9], OTHERS[:60], TOKENS[:31])]
    expected = [all_rows(engine, text) for text in texts]
    engine._network._model.get_input_embeddings().weight.data[0] = float("nan")
    sequences = [engine.open() for _ in texts]
    parts = list(zip(sequences, texts, (8, 1, 25), strict=True))
    engine.run([Read(sequence, text[:begin]) for sequence, text, begin in parts])
    engine.run([read_all(sequence, text[begin:]) for sequence, text, begin in parts])
    for (sequence, _, begin), rows in zip(parts, expected, strict=True):
        np.testing.assert_allclose(rows_of(engine, sequence, len(rows) - begin), rows[begin:], rtol=0, atol=1e-4)
    engine.close()


def test_reads_longer_than_a_forward_go_in_parts(loaded: TransformersEngine) -> None:
    expected = all_rows(loaded, TOKENS)
    loaded._limits = Limits(tokens=32, padding=8, cells=200)
    widths = []
    read = loaded._network.read
    loaded._network.read = lambda inputs, cache: (widths.append(inputs.tokens.shape), read(inputs, cache))[1]  # type: ignore[method-assign]
    try:
        one, two = loaded.open(), loaded.open()
        loaded.run([read_all(one, OTHERS[:45]), read_all(two, TOKENS)])
        np.testing.assert_allclose(rows_of(loaded, two, len(TOKENS)), expected, rtol=0, atol=1e-4)
    finally:
        loaded._network.read = read  # type: ignore[method-assign]
    assert sum(rows * width for rows, width in widths) >= 135
    assert max(rows * width for rows, width in widths) <= 32


def test_only_wanted_places_are_projected(loaded: TransformersEngine) -> None:
    seen = []
    head = loaded._network._model.get_output_embeddings()
    hook = head.register_forward_hook(lambda module, inputs, output: seen.append(tuple(output.shape)))
    one, two = loaded.open(), loaded.open()
    loaded.run([Read(one, TOKENS, (Wanted(3), Wanted(89))), Read(two, OTHERS[:50], (Wanted(7),))])
    hook.remove()
    assert seen == [(1, 3, 320)]


def test_forks_share_what_they_hold(loaded: TransformersEngine) -> None:
    pool = loaded._pool
    assert pool is not None
    origin = loaded.open()
    loaded.run([Read(origin, TOKENS)])
    free = len(pool._free)
    forks = [loaded.fork(origin) for _ in range(10)]
    assert len(pool._free) == free
    for sequence in (origin, *forks):
        loaded.release(sequence)
    assert len(pool._free) == free + len(TOKENS)


def test_a_full_cache_names_itself_and_changes_nothing(plain: Path) -> None:
    cell = 2 * 2 * 2 * 32 * 4
    small = load(plain, cache_bytes=100 * cell)
    assert small.context_length == 100
    one, two = small.open(), small.open()
    append(small, one, TOKENS)
    with pytest.raises(EngineError, match="KV cache of 100 tokens is full") as caught:
        small.run([Read(one, TOKENS[:2]), Read(two, OTHERS[:20])])
    assert caught.value.code == "cache_full"
    assert (small.length(one), small.length(two)) == (90, 0)
    np.testing.assert_allclose(append(small, two, OTHERS[:10]), all_rows(load(plain), OTHERS[:10]), atol=1e-4)
    small.close()


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
        RuntimeError("[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory: you tried ..."),
        MemoryError(),
    ],
)
def test_memory_that_runs_out_is_a_full_cache_and_changes_nothing(
    error: Exception, loaded: TransformersEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = all_rows(loaded, TOKENS)
    sequence = loaded.open()
    append(loaded, sequence, TOKENS[:50])

    def fails(*_: object) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(loaded._network, "read", fails)
        with pytest.raises(EngineError, match="cpu has no memory left to read 40 tokens of 1 sequences") as caught:
            loaded.run([Read(sequence, TOKENS[50:])])
    assert caught.value.code == "cache_full"
    assert loaded.length(sequence) == 50
    np.testing.assert_allclose(append(loaded, sequence, TOKENS[50:]), expected[50:], rtol=0, atol=1e-4)


def test_any_other_failure_is_itself(loaded: TransformersEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("a bug")

    sequence = loaded.open()
    with monkeypatch.context() as patch:
        patch.setattr(loaded._network, "read", fails)
        with pytest.raises(RuntimeError, match="a bug"):
            loaded.run([Read(sequence, TOKENS)])
    assert loaded.length(sequence) == 0


def test_what_is_reported(plain: Path) -> None:
    engine = load(plain)
    assert (engine.name, engine.model, engine.vocab_size) == ("transformers", "random", 320)
    assert (engine.context_length, engine.tolerance, engine.notes) == (512, 1e-3, ())
    assert load(plain, context_length=100).context_length == 100
    assert load(plain, context_length=10_000).context_length == 512


def test_a_state_that_cannot_be_cut_is_said(tmp_path: Path) -> None:
    [note] = load(write_architecture(tmp_path, CONFIGS["a state that cannot be cut"]())).notes
    assert "from its beginning in every pass" in note


@pytest.mark.parametrize(("dtype", "tolerance"), [("bfloat16", 0.05), ("float16", 0.05), ("float32", 1e-3)])
def test_dtypes(plain: Path, dtype: str, tolerance: float) -> None:
    engine: Engine = load(plain, dtype=dtype)
    assert engine.tolerance == tolerance
    found, expected = all_rows(engine, TOKENS), reference_rows(plain, TOKENS)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4 if dtype == "float32" else 0.5)
    assert np.corrcoef(found.ravel(), expected.ravel())[0, 1] > 0.999
    engine.close()


def test_damaged_weights_are_named(plain: Path) -> None:
    engine = load(plain)
    weight = engine._network._model.get_input_embeddings().weight
    kept = weight.data.clone()
    try:
        weight.data.fill_(float("nan"))
        with pytest.raises(EngineError, match="not numbers"):
            append(engine, engine.open(), TOKENS)
    finally:
        weight.data.copy_(kept)
        engine.close()


def test_an_engine_that_is_dropped_frees_its_weights(tmp_path: Path) -> None:
    import weakref

    engine = load(write_folder(tmp_path, Shape()))
    weight = weakref.ref(engine._network._model)
    del engine
    gc.collect()
    assert weight() is None
