"""Cutting a byte-level BPE tokenizer down to the tokens that a domain needs.

Starts from the `tokenizer.json` of a large model (Qwen3's) and texts of the domain, and keeps the tokens without which
those texts would grow most. What is left is an ordinary tokenizer: all 256 bytes, the control tokens of the chat
template, and a set of tokens closed under merges. Knows neither tasks nor where the texts come from.
"""

from __future__ import annotations

import argparse
import gzip
import heapq
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import tokenizers

from copydesk.errors import UsageError
from copydesk.models.tokenizer import BYTE_ALPHABET, read_tokenizer_json
from copydesk.tasks.builtin import ADDRESS, ADDRESS_FIELDS, AGNEWS
from copydesk.training.corpus import characters, corpus

CONTROL_TOKENS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>")
"""The control tokens that Qwen3's chat template needs without tools."""
PROMPT_TEXTS = (
    *("system\n", "user\n", "assistant\n", "\n\n"),
    ADDRESS.instruction,
    json.dumps(dict.fromkeys(ADDRESS_FIELDS, "")),
    AGNEWS.instruction,
    *AGNEWS.labels,
)
"""Texts of the built-in tasks' prompts and answers, whose tokens are kept."""
MULTIPLE = 64
"""Vocabulary sizes are multiples of this: matrix kernels like it."""
# Quotes only where JSON has them: brackets and an opening quote, a closing quote and what follows, an empty string.
_JSON_QUOTES = re.compile(r' ?[{\[]*"|"[:,}\]]+| ?""[:,}\]]*')


@dataclass(frozen=True)
class Vocabulary:
    """A tokenizer definition (the content of `tokenizer.json`) seen as tokens with the pair each is merged from.

    Tokens are given by their ids in the definition's model; control tokens are not among them.
    """

    definition: Mapping[str, Any]

    @classmethod
    def read(cls, folder: Path) -> Vocabulary:
        """The vocabulary of the tokenizer in `folder`. Errors: `ModelError` when there is none."""
        return cls(json.loads(read_tokenizer_json(folder)))

    @cached_property
    def tokens(self) -> list[bytes]:
        """The bytes of each token, by id."""
        vocab: dict[str, int] = self.definition["model"]["vocab"]
        return [bytes(map(BYTE_ALPHABET.__getitem__, token)) for token, _ in sorted(vocab.items(), key=lambda i: i[1])]

    @cached_property
    def parents(self) -> dict[int, tuple[int, int]]:
        """The two tokens that each token is merged from, in merge order; the 256 bytes have none."""
        vocab: dict[str, int] = self.definition["model"]["vocab"]
        return {vocab[left + right]: (vocab[left], vocab[right]) for left, right in _merges(self.definition)}

    def counts(self, texts: Iterable[str]) -> np.ndarray:
        """How often each token occurs in the texts: int64 `[tokens]`."""
        encoder, total, rest = self.encoder(), np.zeros(len(self.tokens), dtype=np.int64), iter(texts)
        while some := list(islice(rest, 2_000)):
            ids = [id for encoding in encoder.encode_batch_fast(some) for id in encoding.ids]
            total += np.bincount(np.asarray(ids, dtype=np.int64), minlength=len(total))
        return total

    def encoder(self) -> tokenizers.Tokenizer:
        """The tokenizer for texts alone: without control tokens and without a normaliser."""
        plain = {**self.definition, "added_tokens": [], "normalizer": None}
        encoder: tokenizers.Tokenizer = tokenizers.Tokenizer.from_str(json.dumps(plain, ensure_ascii=False))
        return encoder


def cut(source: Vocabulary, texts: Iterable[str], size: int, keep: Collection[str] = ()) -> Vocabulary:
    """The vocabulary of `size` ids, control tokens included, in which `texts` take the fewest tokens.

    `keep`: texts whose own tokens are kept in any case, when they can be. Left out in any case: tokens that mix part of
    a character with anything else, tokens with a quotation mark that is not JSON's, and whatever is merged from them.
    Errors: `UsageError` for a size that is no multiple of 64, too small for what must be kept, or larger than what is
    left of the source.
    """
    if size % MULTIPLE:
        raise UsageError(f"a vocabulary of {size} is no multiple of {MULTIPLE}; take {-(-size // MULTIPLE) * MULTIPLE}")
    allowed = _allowed(source)
    kept = _closed(source, _tokens_of(keep, source), allowed)
    chosen = _prune(source, source.counts(texts), allowed, kept, size - len(CONTROL_TOKENS))
    return Vocabulary(_definition(source, chosen))


def write_folder(vocabulary: Vocabulary, source: Path, destination: Path) -> None:
    """Write the tokenizer files of a model folder: `tokenizer.json.gz`, `tokenizer_config.json` with the chat template
    of the tokenizer in `source`, and `generation_config.json`. The same vocabulary gives the same bytes."""
    added = vocabulary.definition["added_tokens"]
    control = {token["content"]: token["id"] for token in added}
    config = json.loads((source / "tokenizer_config.json").read_text(encoding="utf-8"))
    config |= {
        # The class built for Qwen2 would put its own normaliser back; this one takes tokenizer.json as it is.
        "tokenizer_class": "PreTrainedTokenizerFast",
        "additional_special_tokens": list(CONTROL_TOKENS[1:]),
        "added_tokens_decoder": {
            str(token["id"]): {key: value for key, value in token.items() if key != "id"} for token in added
        },
    }
    generation = {
        "eos_token_id": [control["<|im_end|>"], control["<|endoftext|>"]],
        "pad_token_id": control["<|endoftext|>"],
        "do_sample": False,
    }
    destination.mkdir(parents=True, exist_ok=True)
    text = json.dumps(vocabulary.definition, ensure_ascii=False, separators=(",", ":"))
    (destination / "tokenizer.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    for name, content in (("tokenizer_config.json", config), ("generation_config.json", generation)):
        text = json.dumps(content, ensure_ascii=False, indent=2)
        (destination / name).write_text(text + "\n", encoding="utf-8")


def excess(reference: Vocabulary, reduced: Vocabulary, texts: Sequence[str]) -> float:
    """How many more tokens the texts take in `reduced` than in `reference`, as a share of the latter."""
    return float(reduced.counts(texts).sum() / reference.counts(texts).sum() - 1)


def is_clean(token: bytes) -> bool:
    """Whether a token is whole characters or a part of one single character, and its quotation marks are JSON's."""
    try:
        text = token.decode("utf-8")
    except UnicodeDecodeError:
        return _is_part_of_one_character(token)
    return '"' not in text or _JSON_QUOTES.fullmatch(text) is not None


def _is_part_of_one_character(token: bytes) -> bool:
    continuation = [byte & 0xC0 == 0x80 for byte in token]
    if all(continuation):
        return len(token) <= 3
    length = 2 if token[0] < 0xE0 else 3 if token[0] < 0xF0 else 4
    return token[0] >= 0xC0 and all(continuation[1:]) and len(token) < length


def _allowed(source: Vocabulary) -> set[int]:
    """Clean tokens all of whose ancestors are clean."""
    allowed = {id for id, token in enumerate(source.tokens) if len(token) == 1}
    for id, (left, right) in source.parents.items():
        if left in allowed and right in allowed and is_clean(source.tokens[id]):
            allowed.add(id)
    return allowed


def _tokens_of(texts: Collection[str], source: Vocabulary) -> Iterator[int]:
    return map(int, np.flatnonzero(source.counts(texts)))


def _closed(source: Vocabulary, ids: Iterable[int], allowed: set[int]) -> set[int]:
    """The allowed ones of `ids`, everything they are merged from, and all bytes."""
    closed = allowed - source.parents.keys()
    waiting = [id for id in ids if id in allowed]
    while waiting:
        id = waiting.pop()
        if id not in closed:
            closed.add(id)
            waiting += source.parents[id]
    return closed


def _prune(source: Vocabulary, counts: np.ndarray, allowed: set[int], kept: set[int], size: int) -> set[int]:
    """Take away, one by one, the least used token that nothing else is merged from, until `size` are left.

    Where a token is taken away, its two parents stand instead; they inherit its count.
    """
    if len(kept) > size:
        raise UsageError(f"{size} tokens have no room for the {len(kept)} that must be kept; ask for more")
    if len(allowed) < size:
        raise UsageError(f"only {len(allowed)} tokens can be kept of the {size} asked for; ask for fewer")
    used = counts.copy()
    for id in reversed(source.parents):
        if id not in allowed:
            _inherit(source, used, id)
    left = set(allowed)
    children = np.zeros(len(used), dtype=np.int64)
    for id in left & source.parents.keys():
        for parent in source.parents[id]:
            children[parent] += 1
    removable = [(int(used[id]), -id) for id in left if not children[id] and id not in kept]
    heapq.heapify(removable)
    while len(left) > size:
        count, id = heapq.heappop(removable)
        id = -id
        if count != used[id]:  # it has inherited since it was put here
            heapq.heappush(removable, (int(used[id]), -id))
            continue
        left.remove(id)
        _inherit(source, used, id)
        for parent in source.parents[id]:
            children[parent] -= 1
            if not children[parent] and parent not in kept:
                heapq.heappush(removable, (int(used[parent]), -parent))
    return left


def _inherit(source: Vocabulary, used: np.ndarray, id: int) -> None:
    for parent in source.parents[id]:
        used[parent] += used[id]


def _definition(source: Vocabulary, chosen: set[int]) -> dict[str, Any]:
    """`tokenizer.json` of the chosen tokens: dense ids in the source's order, control tokens last."""
    definition = source.definition
    written = {id: token for token, id in definition["model"]["vocab"].items()}
    vocab = {written[id]: place for place, id in enumerate(sorted(chosen))}
    # Two merges of the source may give the same token; only those whose three tokens are kept still work.
    merges = [[left, right] for left, right in _merges(definition) if {left, right, left + right} <= vocab.keys()]
    added = {token["content"]: token for token in definition["added_tokens"]}
    control = [
        {**added[content], "id": len(vocab) + place, "special": True} for place, content in enumerate(CONTROL_TOKENS)
    ]
    model = {**definition["model"], "vocab": vocab, "merges": merges}
    return {**definition, "normalizer": None, "added_tokens": control, "model": model}


def _merges(definition: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for merge in definition["model"]["merges"]:
        left, right = merge.split(" ") if isinstance(merge, str) else merge
        yield left, right


def main(arguments: Sequence[str] | None = None) -> None:
    """Cut the tokenizer of a data folder down and write it as the tokenizer files of a model folder."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds qwen3/, address/, gen/ and news")
    parser.add_argument("--out", type=Path, required=True, help="folder to write")
    parser.add_argument("--size", type=int, default=30_080, help="token ids, a multiple of 64 (default: %(default)s)")
    options = parser.parse_args(arguments)
    source = Vocabulary.read(options.data / "qwen3")
    reduced = cut(source, corpus(options.data), options.size, [*characters(options.data), *PROMPT_TEXTS])
    write_folder(reduced, options.data / "qwen3", options.out)


if __name__ == "__main__":
    main()
