"""A trivial source of examples, and a small tokenizer folder, for training something in seconds."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from copydesk.tasks.builtin import AGNEWS_LABELS, address, agnews
from copydesk.training.examples import Example

CONTROL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>")
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n<think>\n\n</think>\n\n{% endif %}"
)
FIELDS = ("name", "phone")


def tokenizer_folder(folder: Path) -> Path:
    """Bytes, a few merges, Qwen3's control tokens."""
    folder.mkdir(parents=True, exist_ok=True)
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: id for id, token in enumerate(alphabet)}
    merges = [("n", "a"), ("m", "e"), ("na", "me"), ("p", "h"), ("o", "n"), ('"', ":"), ("on", "e"), ("ph", "one")]
    for left, right in merges:
        vocabulary[left + right] = len(vocabulary)
    tokenizer = Tokenizer(models.BPE(vocabulary, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(list(CONTROL))
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {"chat_template": TEMPLATE, "eos_token": "<|im_end|>", "tokenizer_class": "PreTrainedTokenizerFast"}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return folder


def people(rng: random.Random, digits: int = 3) -> Iterator[Example]:
    """Finite, so that it is opened again and again."""
    for _ in range(200):
        name = rng.choice(("Ann", "Bob", "Cid", "Dee"))
        phone = "".join(rng.choice("0123456789") for _ in range(digits))
        text = rng.choice((f"{name} {phone}", f"{phone}, {name}"))
        yield Example(address(FIELDS), text, json.dumps({"name": name, "phone": phone}))


def headlines(rng: random.Random) -> Iterator[Example]:
    words = {"World": "war", "Sports": "goal", "Business": "bank", "Sci/Tech": "chip"}
    while True:
        label = rng.choice(AGNEWS_LABELS)
        soft = tuple(0.91 if other == label else 0.03 for other in AGNEWS_LABELS)
        yield Example(agnews(), f"a {words[label]} today", label, label_probabilities=soft)


def prose(rng: random.Random) -> Iterator[str]:
    while True:
        yield " ".join(rng.choice(("war", "goal", "bank", "chip", "today")) for _ in range(40))


def nothing(rng: random.Random) -> Iterator[Example]:
    return iter(())
