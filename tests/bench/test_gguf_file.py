"""A model folder written as GGUF: llama.cpp computes from it what we compute from the folder, with the same tokens."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from copydesk.bench.gguf_file import gguf_name, write_gguf
from copydesk.engines import openvino
from copydesk.errors import ModelError
from copydesk.models.tokenizer import Tokenizer
from engines.reading import all_rows

gguf = pytest.importorskip("gguf", reason="gguf is not installed")
TOKENS = tuple((29 * index + 11) % 320 for index in range(40))


@pytest.fixture(scope="module")
def written(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    write_gguf(tiny_model, path)
    return path


def test_tokens_keep_their_ids(written: Path, tiny_model: Path) -> None:
    field = gguf.GGUFReader(written).fields["tokenizer.ggml.tokens"]
    tokenizer = Tokenizer(tiny_model)
    for token in tokenizer.encode("province"):
        assert bytes(field.parts[field.data[token]]).decode() == tokenizer.decode([token]).replace(" ", "Ġ")


def test_logits_are_the_same_but_for_quantising(written: Path, tiny_model: Path) -> None:
    pytest.importorskip("xllamacpp", reason="copydesk[llamacpp] is not installed")
    from copydesk.engines import llamacpp

    found = all_rows(llamacpp.load(written), TOKENS)
    expected = all_rows(openvino.load(tiny_model), TOKENS)
    assert np.corrcoef(found.ravel(), expected.ravel())[0, 1] > 0.999


def test_nothing_half_written_is_left(written: Path) -> None:
    assert [path.name for path in written.parent.iterdir()] == ["tiny.gguf"]


def test_names() -> None:
    assert gguf_name("model.layers.3.mlp.down_proj.weight") == "blk.3.ffn_down.weight"
    assert gguf_name("lm_head.weight") == "output.weight"
    with pytest.raises(ModelError, match="visual"):
        gguf_name("visual.patch.weight")
