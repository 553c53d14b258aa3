from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import save_file
from tokenizers import Tokenizer, models

from copydesk.training.news.minilm import Encoder, pack, read_minilm


def folder(path: Path) -> Path:
    random, size = np.random.default_rng(0), 32
    values = {
        "embeddings.word_embeddings.weight": (9, size),
        "embeddings.position_embeddings.weight": (8, size),
        "embeddings.token_type_embeddings.weight": (2, size),
        "embeddings.LayerNorm.weight": (size,),
        "embeddings.LayerNorm.bias": (size,),
    }
    layer = "encoder.layer.0."
    for name, shape in {
        "attention.self.query": (size, size),
        "attention.self.key": (size, size),
        "attention.self.value": (size, size),
        "attention.output.dense": (size, size),
        "attention.output.LayerNorm": (size,),
        "intermediate.dense": (40, size),
        "output.dense": (size, 40),
        "output.LayerNorm": (size,),
    }.items():
        values[f"{layer}{name}.weight"] = shape
        values[f"{layer}{name}.bias"] = shape[:1]
    arrays = {name: random.normal(size=shape).astype(np.float32) * 0.3 for name, shape in values.items()}
    save_file(arrays, path / "whole.safetensors")
    Tokenizer(models.WordLevel({"a": 0}, unk_token="a")).save(str(path / "tokenizer.json"))
    return path


def test_padding_changes_nothing() -> None:
    torch.manual_seed(0)
    encoder = Encoder(9, 32, 40, 1, 8).eval()
    with torch.no_grad():
        short = encoder(torch.tensor([[1, 5, 2]]), torch.tensor([3]))
        long = encoder(torch.tensor([[1, 5, 2, 0, 0]]), torch.tensor([3]))
    torch.testing.assert_close(short, long, atol=1e-5, rtol=1e-4)


def test_packed_weights_stay_close_at_a_quarter_of_the_size(tmp_path: Path) -> None:
    source = folder(tmp_path) / "whole.safetensors"
    pack(source, tmp_path / "packed.safetensors")
    tokens, lengths = torch.tensor([[1, 5, 2, 7]]), torch.tensor([4])
    with torch.no_grad():
        whole = read_minilm(source, tmp_path / "tokenizer.json")[0].eval()(tokens, lengths)
        packed = read_minilm(tmp_path / "packed.safetensors", tmp_path / "tokenizer.json")[0].eval()(tokens, lengths)
    assert torch.nn.functional.cosine_similarity(whole, packed).item() > 0.999
    assert not torch.equal(whole, packed)
