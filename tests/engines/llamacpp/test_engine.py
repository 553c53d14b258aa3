"""llama.cpp computes what OpenVINO computes; what it cannot do is said. The laws it keeps are in test_laws."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from copydesk.engines import openvino
from copydesk.engines.choose import load_engine
from copydesk.engines.protocol import Read
from copydesk.errors import EngineError, ModelError
from engines.random_folders import Shape, write_folder
from engines.reading import all_rows, append, read_all, rows_of

llamacpp = pytest.importorskip("copydesk.engines.llamacpp")
pytest.importorskip("xllamacpp", reason="copydesk[llamacpp] is not installed")
pytest.importorskip("gguf", reason="gguf is not installed")
TOKENS = tuple((29 * index + 11) % 320 for index in range(90))


@pytest.fixture(scope="module")
def gguf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from engines.random_gguf import write_gguf

    return write_gguf(tmp_path_factory.mktemp("gguf") / "random.gguf", Shape())


def test_as_openvino_from_the_same_weights(gguf: Path, tmp_path: Path) -> None:
    reference = openvino.load(write_folder(tmp_path, Shape()))
    np.testing.assert_allclose(all_rows(llamacpp.load(gguf), TOKENS), all_rows(reference, TOKENS), atol=0.01)


@pytest.mark.parametrize("tied", [True, False])
def test_as_openvino_with_8_bits(tied: bool, tmp_path: Path) -> None:
    from engines.random_gguf import write_gguf

    path = write_gguf(tmp_path / "q8.gguf", Shape(tied=tied), "q8_0")
    found = all_rows(llamacpp.load(path), TOKENS)
    expected = all_rows(openvino.load(write_folder(tmp_path / "folder", Shape(tied=tied))), TOKENS)
    assert np.corrcoef(found.ravel(), expected.ravel())[0, 1] > 0.999


def test_what_is_reported(gguf: Path) -> None:
    engine = load_engine("auto", gguf.parent, threads=1)
    assert (engine.name, engine.model, engine.vocab_size) == ("llamacpp", "random", 320)
    assert (engine.context_length, engine.tolerance) == (512, 0.1)
    assert llamacpp.load(gguf, context_length=100).context_length == 100
    assert llamacpp.load(gguf, cells=256).context_length == 256


def test_reads_longer_than_one_call_takes(gguf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = all_rows(llamacpp.load(gguf), TOKENS)
    monkeypatch.setattr(llamacpp.engine, "_TOKENS_AT_ONCE", 32)
    engine = llamacpp.load(gguf)
    one, two = engine.open(), engine.open()
    engine.run([read_all(one, TOKENS[::-1]), read_all(two, TOKENS)])
    np.testing.assert_allclose(rows_of(engine, two, len(TOKENS)), expected, atol=0.01)


def test_a_full_cache_names_itself_and_changes_nothing(gguf: Path) -> None:
    engine = llamacpp.load(gguf, cells=256)
    one, two = engine.open(), engine.open()
    append(engine, one, TOKENS)
    with pytest.raises(EngineError, match="KV cache of 256 tokens is full") as caught:
        engine.run([Read(two, TOKENS), Read(one, TOKENS)])
    assert caught.value.code == "cache_full"
    assert (engine.length(one), engine.length(two)) == (len(TOKENS), 0)
    np.testing.assert_allclose(append(engine, two, TOKENS), all_rows(llamacpp.load(gguf), TOKENS), atol=0.01)


def test_there_are_only_so_many_sequences(gguf: Path) -> None:
    engine = llamacpp.load(gguf)
    opened = [engine.open() for _ in range(128)]
    with pytest.raises(EngineError, match="128 sequences at most"):
        engine.open()
    engine.release(opened[7])
    assert engine.open() == opened[7]


def test_no_file_and_no_gguf(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="there is no file") as caught:
        llamacpp.load(tmp_path / "none.gguf")
    assert caught.value.code == "model_not_found"
    (tmp_path / "empty.gguf").write_bytes(b"no model")
    with pytest.raises(ModelError, match="no GGUF file") as caught:
        llamacpp.load(tmp_path / "empty.gguf")
    assert caught.value.code == "model_invalid"


def test_nothing_is_printed(gguf: Path, capfd: pytest.CaptureFixture[str]) -> None:
    engine = llamacpp.load(gguf)
    append(engine, engine.open(), TOKENS)
    engine.close()
    engine.close()
    assert capfd.readouterr() == ("", "")
