"""A complete model folder in miniature: Qwen3's architecture with random weights, and a byte-level BPE tokenizer.

Its answers are nonsense, its folder is real: the true engine and tokenizer load it within a second.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

CONTROL_TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
CONTEXT_LENGTH = 512
HIDDEN, FEED_FORWARD, HEADS, KV_HEADS, HEAD_DIM, LAYERS = 64, 128, 2, 1, 64, 2

_CORPUS = [
    '{"province": "天津市", "city": "天津市", "district": "河西区", "specific_location": "", "name": "", "phone": ""}',
    "天津市河西区珠江道21号金泰大厦3层 , 接收人慕容修远 , MOBILE：22323185576",
    "system user assistant World Sports Business Sci/Tech Classify the news",
] * 3

_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def write_tiny_model(folder: Path, *, seed: int = 0) -> Path:
    """Fill `folder` (made if need be) with the model; `seed` sets its weights."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = _tokenizer()
    tokenizer.save(str(folder / "tokenizer.json"))
    vocab_size = tokenizer.get_vocab_size()
    end = tokenizer.token_to_id("<|im_end|>")
    _write_json(
        folder / "config.json",
        {
            "architectures": ["Qwen3ForCausalLM"],
            "model_type": "qwen3",
            "hidden_size": HIDDEN,
            "intermediate_size": FEED_FORWARD,
            "num_hidden_layers": LAYERS,
            "num_attention_heads": HEADS,
            "num_key_value_heads": KV_HEADS,
            "head_dim": HEAD_DIM,
            "hidden_act": "silu",
            "vocab_size": vocab_size,
            "rms_norm_eps": 1e-6,
            "rope_theta": 1000000,
            "rope_scaling": None,
            "tie_word_embeddings": True,
            "attention_bias": False,
            "max_position_embeddings": CONTEXT_LENGTH,
            "eos_token_id": end,
        },
    )
    _write_json(folder / "tokenizer_config.json", {"eos_token": "<|im_end|>", "chat_template": _TEMPLATE})
    _write_json(folder / "generation_config.json", {"eos_token_id": end})
    save_file(_weights(vocab_size, np.random.default_rng(seed)), folder / "model.safetensors")
    return folder


def _tokenizer() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet, special_tokens=CONTROL_TOKENS)
    tokenizer.train_from_iterator(_CORPUS, trainer)
    return tokenizer


def _weights(vocab_size: int, random: np.random.Generator) -> dict[str, np.ndarray]:
    def matrix(rows: int, columns: int) -> np.ndarray:
        return random.normal(0, columns**-0.5, (rows, columns)).astype(np.float32)

    weights = {
        "model.embed_tokens.weight": matrix(vocab_size, HIDDEN),
        "model.norm.weight": np.ones(HIDDEN, np.float32),
    }
    for layer in range(LAYERS):
        prefix = f"model.layers.{layer}."
        weights |= {
            f"{prefix}input_layernorm.weight": np.ones(HIDDEN, np.float32),
            f"{prefix}post_attention_layernorm.weight": np.ones(HIDDEN, np.float32),
            f"{prefix}self_attn.q_proj.weight": matrix(HEADS * HEAD_DIM, HIDDEN),
            f"{prefix}self_attn.k_proj.weight": matrix(KV_HEADS * HEAD_DIM, HIDDEN),
            f"{prefix}self_attn.v_proj.weight": matrix(KV_HEADS * HEAD_DIM, HIDDEN),
            f"{prefix}self_attn.o_proj.weight": matrix(HIDDEN, HEADS * HEAD_DIM),
            f"{prefix}self_attn.q_norm.weight": np.ones(HEAD_DIM, np.float32),
            f"{prefix}self_attn.k_norm.weight": np.ones(HEAD_DIM, np.float32),
            f"{prefix}mlp.gate_proj.weight": matrix(FEED_FORWARD, HIDDEN),
            f"{prefix}mlp.up_proj.weight": matrix(FEED_FORWARD, HIDDEN),
            f"{prefix}mlp.down_proj.weight": matrix(HIDDEN, FEED_FORWARD),
        }
    return weights


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
