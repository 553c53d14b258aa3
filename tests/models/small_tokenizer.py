"""Tokenizer folders of a few hundred tokens: one built like Qwen3's, one like Llama 2's."""

from __future__ import annotations

import json
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
NOT_SPECIAL = ("<think>", "</think>")
CONTROL = SPECIAL + NOT_SPECIAL
SAMPLES = (
    '{"province": "天津市", "city": "天津市", "district": "河西区", "specific_location": "", "name": "", "phone": ""}',
    "天津市河西区珠江道21号金泰大厦3层 , 接收人慕容修远 , MOBILE：22323185576",
    'He said "no" and left.\n\nIt\'s 100 % true 😀 café, naïve; مرحبا',
    "system\nuser\nassistant\nClassify the news: World, Sports, Business, Sci/Tech",
)
_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_TEMPLATE = (
    "{%- for message in messages %}\n"
    "    {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}\n"
    "{%- endfor %}\n"
    "{%- if add_generation_prompt %}\n"
    "    {{- '<|im_start|>assistant\\n' }}\n"
    "    {%- if enable_thinking is defined and enable_thinking is false %}\n"
    "        {{- '<think>\\n\\n</think>\\n\\n' }}\n"
    "    {%- endif %}\n"
    "{%- endif %}"
)


def write_like_qwen3(folder: Path, *, size: int = 700) -> Path:
    """Qwen3's splitting, NFC, byte-level BPE and control tokens (`<think>` is not marked special), from a few lines."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    split = pre_tokenizers.Split(Regex(_PATTERN), behavior="isolated")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=size, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(SAMPLES * 3, trainer)
    tokenizer.add_tokens([AddedToken(token, normalized=False, special=token in SPECIAL) for token in CONTROL])
    config = {"eos_token": "<|im_end|>", "chat_template": _TEMPLATE, "tokenizer_class": "Qwen2Tokenizer"}
    return _write(folder, tokenizer, config)


def write_like_llama2(folder: Path) -> Path:
    """SentencePiece's BPE with byte fallback: spaces written as U+2581, one put before every text."""
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", "a", "b", "▁a", "ab", "市"]
    merges = [("▁", "a"), ("a", "b")]
    model = models.BPE({token: id for id, token in enumerate(tokens)}, merges, unk_token="<unk>", byte_fallback=True)
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    tokenizer.add_special_tokens(["<s>", "</s>"])
    return _write(folder, tokenizer, {"eos_token": {"content": "</s>"}})


def _write(folder: Path, tokenizer: Tokenizer, config: dict[str, object]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder
