"""A SmolLM2's GGUF file as a Hugging Face folder, for engines that read no GGUF. Knows small Llamas, and no more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tokenizers import AddedToken

from copydesk.errors import ModelError, UsageError
from copydesk.models.tensorfile import Stored, write_tensors
from copydesk.models.weights import SINGLE_FILE, to_bf16

_CONTROL = 3
"""A control token, as GGUF numbers kinds of tokens."""


def write_folder(gguf_file: Path, folder: Path) -> None:
    """Write the model in `gguf_file` to the new `folder`: weights as bfloat16, the tokenizer, the chat template.

    Errors: `UsageError` without the package `gguf` or the file, `ModelError` for a file of another kind.
    """
    try:
        from gguf import GGUFReader

        from copydesk.training.news.llama_gguf import read_tokenizer, value, weights
    except ImportError as error:
        raise UsageError("reading GGUF files needs the package gguf; pip install 'copydesk[bench]'") from error
    if not gguf_file.is_file():
        raise UsageError(f"there is no file {gguf_file}; give SmolLM2-135M-Instruct's GGUF file")
    try:
        reader = GGUFReader(gguf_file)
        config = _config(reader, value)
        tokenizer = read_tokenizer(reader)
        template = reader.fields["tokenizer.chat_template"].contents()
        stored: dict[str, Stored] = {name: ("bf16", to_bf16(values)) for name, values in weights(reader)}
    except (KeyError, ValueError, OSError) as error:
        raise ModelError(
            f"{gguf_file} is no small Llama with a chat template as GGUF, such as SmolLM2-135M-Instruct: {error}",
            code="model_unsupported",
        ) from error
    folder.mkdir(parents=True)
    tokens, kinds = (reader.fields[f"tokenizer.ggml.{name}"].contents() for name in ("tokens", "token_type"))
    control = [token for token, kind in zip(tokens, kinds, strict=True) if kind == _CONTROL]
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in control])
    tokenizer.save(str(folder / "tokenizer.json"))
    write_tensors(folder / SINGLE_FILE, stored)
    end = tokens[config["eos_token_id"]]
    _write(
        folder / "tokenizer_config.json",
        {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "chat_template": template,
            "eos_token": end,
            "pad_token": end,
            "clean_up_tokenization_spaces": False,
        },
    )
    _write(folder / "generation_config.json", {"eos_token_id": config["eos_token_id"]})
    _write(folder / "copydesk.json", {"name": gguf_file.stem})
    # Last: without it the folder is no model.
    _write(folder / "config.json", config | {"tie_word_embeddings": "lm_head.weight" not in stored})


def _config(reader: Any, value: Any) -> dict[str, Any]:
    width, heads = value(reader, "embedding_length"), value(reader, "attention.head_count")
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": value(reader, "vocab_size"),
        "hidden_size": width,
        "intermediate_size": value(reader, "feed_forward_length"),
        "num_hidden_layers": value(reader, "block_count"),
        "num_attention_heads": heads,
        "num_key_value_heads": value(reader, "attention.head_count_kv"),
        "head_dim": width // heads,
        "hidden_act": "silu",
        "attention_bias": False,
        "mlp_bias": False,
        "rms_norm_eps": value(reader, "attention.layer_norm_rms_epsilon"),
        "rope_theta": value(reader, "rope.freq_base"),
        "max_position_embeddings": value(reader, "context_length"),
        "eos_token_id": reader.fields["tokenizer.ggml.eos_token_id"].contents(),
        "torch_dtype": "bfloat16",
    }


def _write(path: Path, found: dict[str, Any]) -> None:
    path.write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")
