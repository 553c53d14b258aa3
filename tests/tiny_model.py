"""A complete model folder in miniature: the built-in model's form with random weights, and a byte-level BPE tokenizer.

Its answers are nonsense, its folder is real: the true engine and tokenizer load it within a second.
"""

from __future__ import annotations

import json
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from engines.random_folders import Shape, write_folder

CONTROL_TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
SHAPE = Shape(vocab_size=400)

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
    write_folder(folder, SHAPE, "nano", seed=seed)
    return write_tokenizer(folder)


def write_tokenizer(folder: Path) -> Path:
    """Add only the tokenizer's files to `folder`."""
    tokenizer = _tokenizer()
    tokenizer.save(str(folder / "tokenizer.json"))
    _write_json(folder / "tokenizer_config.json", {"eos_token": "<|im_end|>", "chat_template": _TEMPLATE})
    _write_json(folder / "generation_config.json", {"eos_token_id": tokenizer.token_to_id("<|im_end|>")})
    return folder


def _tokenizer() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=SHAPE.vocab_size, initial_alphabet=alphabet, special_tokens=CONTROL_TOKENS)
    tokenizer.train_from_iterator(_CORPUS, trainer)
    return tokenizer


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
