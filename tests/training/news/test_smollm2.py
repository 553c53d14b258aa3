from pathlib import Path

import numpy as np
import torch

from copydesk.training.news.smollm2 import END_OF_DOCUMENT, read_smollm2
from training.news.llama_file import FEED, write_llama_file


def test_reads_weights_and_tokenizer(tmp_path: Path) -> None:
    arrays = write_llama_file(tmp_path / "model.gguf")
    model, tokenizer = read_smollm2(tmp_path / "model.gguf", positions=32)
    state = model.state_dict()
    query_key_value = [arrays[f"blk.0.attn_{part}"] for part in "qkv"]
    np.testing.assert_array_equal(state["blocks.0.query_key_value.weight"].numpy(), np.concatenate(query_key_value))
    np.testing.assert_array_equal(state["embedding"].numpy(), arrays["token_embd"])
    up = state["blocks.0.gate_up.weight"][FEED:].numpy()
    np.testing.assert_allclose(up, arrays["blk.0.ffn_up"], atol=0.02)
    assert torch.isfinite(model(torch.tensor([[1, 2, 3]]))).all()
    assert tokenizer.token_to_id(END_OF_DOCUMENT) == 0
