"""Text to token ids and back, and the vocabulary as the grammar wants it.

Reads the tokenizer files of an ordinary Hugging Face folder (`tokenizer.json`, which may be gzipped, and
`tokenizer_config.json`). Knows nothing of tasks or engines. All calls are safe from several threads.
"""

from __future__ import annotations

import gzip
import json
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from copydesk.errors import ModelError, TextError
from copydesk.models.config import eos_token_ids, read_json
from copydesk.types import Messages

if TYPE_CHECKING:
    import llguidance
    import tokenizers

    from copydesk.models.template import ChatTemplate

_BYTE_TOKEN = re.compile(r"<0x([0-9A-F]{2})>")
# Normalisers that rewrite text (or put a space before it): without them every text decodes to itself, so an answer can
# be a run of its source, byte for byte. On text that is already in NFC, as nearly all is, the ids are the same.
_LOSSY_NORMALIZERS = frozenset({"NFC", "NFD", "NFKC", "NFKD", "Prepend", "Lowercase", "Strip", "StripAccents"})


class Tokenizer:
    """The tokenizer of one model folder.

    Text given to `encode` is data: control tokens such as `<|im_end|>` or `<think>` that stand in it are encoded as the
    ordinary characters they are written with. Only `encode_control`, for rendered templates, yields control ids.
    """

    def __init__(self, folder: Path) -> None:
        """Read the tokenizer in `folder`. Errors: `ModelError` `model_invalid` or `model_unsupported`."""
        self.folder = folder
        self._tokenizer = _load(folder)
        self._byte_level = _is_byte_level(self._tokenizer, folder)
        added = self._tokenizer.get_added_tokens_decoder()
        self._control = {token.content: id for id, token in added.items()}
        self._control_ids = frozenset(added)
        # Longest first: where one control token is a prefix of another, the longer is meant.
        parts = sorted(self._control, key=lambda content: (-len(content), content))
        self._control_pattern = re.compile("|".join(map(re.escape, parts))) if parts else None
        ids = self._tokenizer.get_vocab(with_added_tokens=True).values()
        self.vocab_size: int = max(ids) + 1
        """One more than the highest token id (an engine may have more rows)."""
        self._lock = threading.Lock()
        self._grammar_tokenizers: dict[int, llguidance.LLTokenizer] = {}

    def encode(self, text: str) -> list[int]:
        """Token ids of a text that is data; `decode` gives exactly this text back, and no id is a control token's.

        (SentencePiece's tokenizers write U+2581 for a space and cannot tell the two apart.)
        Errors: `TextError` `invalid_text` for a text that is no Unicode (lone surrogates).
        """
        try:
            ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        except TypeError:  # how the library says that a string cannot be UTF-8
            _refuse_surrogates(text)
            raise
        return ids

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """`encode` of each text, on all cores."""
        try:
            batch = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        except TypeError:
            for text in texts:
                _refuse_surrogates(text)
            raise
        return [encoding.ids for encoding in batch]

    def encode_control(self, text: str) -> list[int]:
        """Token ids of a rendered template: control tokens in it count. Never call it with a text from outside."""
        if self._control_pattern is None:
            return self.encode(text)
        ids: list[int] = []
        start = 0
        for match in self._control_pattern.finditer(text):
            ids += self.encode(text[start : match.start()])
            ids.append(self._control[match.group()])
            start = match.end()
        return ids + self.encode(text[start:])

    def decode(self, ids: Iterable[int]) -> str:
        """The text of token ids, control tokens written out; bytes that are no UTF-8 become U+FFFD."""
        return b"".join(map(self._bytes.__getitem__, ids)).decode("utf-8", errors="replace")

    def token_bytes(self, id: int) -> bytes:
        """The bytes of one token: of a control token its written form, of an unused id none."""
        return self._bytes[id]

    def id_of(self, token: str) -> int | None:
        """The id of the control token written `token`, or of the token whose bytes are this text, if there is one."""
        if token in self._control:
            return self._control[token]
        return self._id_by_bytes.get(token.encode("utf-8", errors="surrogatepass"))

    @property
    def control_ids(self) -> frozenset[int]:
        """Ids that `encode` never yields."""
        return self._control_ids

    @cached_property
    def eos_token_ids(self) -> tuple[int, ...]:
        """Ids that end an answer; the first is the one the chat template closes a turn with.

        Errors: `ModelError` `model_invalid` when the folder names none.
        """
        ids = list(eos_token_ids(self.folder))
        named = self._config_token("eos_token")
        if named is not None and (id := self.id_of(named)) is not None:
            ids.insert(0, id)
        if not ids:
            raise ModelError(
                f"{self.folder} does not say which token ends an answer: add eos_token_id to generation_config.json",
                code="model_invalid",
            )
        return tuple(dict.fromkeys(ids))

    @cached_property
    def beginning(self) -> tuple[int, ...]:
        """Control tokens that the folder's own tokenizer puts before a text that stands by itself, if any."""
        encoding = self._tokenizer.encode("a", add_special_tokens=True)
        ids: list[int] = encoding.ids
        count = next((place for place, special in enumerate(encoding.special_tokens_mask) if not special), 0)
        return tuple(ids[:count])

    def render(self, messages: Messages, *, thinking: bool = False, add_generation_prompt: bool = True) -> str:
        """The folder's chat template filled with `messages` (each with `role` and `content`).

        `thinking` is passed on as `enable_thinking`. A message's control tokens are indistinguishable from the
        template's own afterwards: render texts from outside as a placeholder, or refuse them.
        Errors: `ModelError` `model_invalid` when there is no template or it fails.
        """
        return self._template.render(
            messages=[dict(message) for message in messages],
            add_generation_prompt=add_generation_prompt,
            enable_thinking=thinking,
            bos_token=self._config_token("bos_token") or "",
            eos_token=self._config_token("eos_token") or "",
        )

    def grammar_tokenizer(self, vocab_size: int) -> llguidance.LLTokenizer:
        """This vocabulary for llguidance, padded to an engine's `vocab_size` rows; built once per size.

        Its own `tokenize_str` and `tokenize_bytes` are `encode`: they never yield control ids either.
        """
        with self._lock:
            if vocab_size not in self._grammar_tokenizers:
                self._grammar_tokenizers[vocab_size] = self._build_grammar_tokenizer(vocab_size)
            return self._grammar_tokenizers[vocab_size]

    def _build_grammar_tokenizer(self, vocab_size: int) -> llguidance.LLTokenizer:
        import llguidance

        if vocab_size < self.vocab_size:
            raise ModelError(
                f"{self.folder}: the tokenizer has {self.vocab_size} ids but the model only {vocab_size} rows; "
                "tokenizer.json and config.json do not belong together",
                code="model_invalid",
            )
        unused = [id for id, token in enumerate(self._bytes) if not token]
        padding = list(range(self.vocab_size, vocab_size))
        source = _GrammarSource(
            tokens=self._bytes + [f"<|unused_{id}|>".encode() for id in padding],
            special_token_ids=sorted({*self._control_ids, *unused, *padding}),
            eos_token_id=self.eos_token_ids[0],
            encode=self.encode,
        )
        wrapper = llguidance.TokenizerWrapper(source)
        return llguidance.LLTokenizer(wrapper, n_vocab=vocab_size, eos_token=list(self.eos_token_ids))

    @cached_property
    def _bytes(self) -> list[bytes]:
        written = [""] * self.vocab_size
        for token, id in self._tokenizer.get_vocab(with_added_tokens=False).items():
            written[id] = token
        table = list(map(_byte_level_bytes if self._byte_level else _sentencepiece_bytes, written))
        for content, id in self._control.items():
            table[id] = content.encode()
        return table

    @cached_property
    def _id_by_bytes(self) -> dict[bytes, int]:
        return {token: id for id, token in enumerate(self._bytes) if token and id not in self._control_ids}

    @cached_property
    def _config(self) -> dict[str, Any]:
        path = self.folder / "tokenizer_config.json"
        return read_json(path) if path.is_file() else {}

    def _config_token(self, key: str) -> str | None:
        """A token that `tokenizer_config.json` names, in either of the two ways it is written there."""
        value = self._config.get(key)
        return value["content"] if isinstance(value, Mapping) else value

    @cached_property
    def _template(self) -> ChatTemplate:
        from copydesk.models.template import ChatTemplate  # brings Jinja in, which not every command needs

        return ChatTemplate(self.folder, self._config)


class _GrammarSource:
    """What `llguidance.TokenizerWrapper` asks of a tokenizer: attributes, and a call that encodes a `str`."""

    bos_token_id = None

    def __init__(self, tokens: list[bytes], special_token_ids: list[int], eos_token_id: int, encode: Any) -> None:
        self.tokens = tokens
        self.special_token_ids = special_token_ids
        self.eos_token_id = eos_token_id
        self._encode = encode

    def __call__(self, text: str) -> list[int]:
        ids: list[int] = self._encode(text)
        return ids


def read_tokenizer_json(folder: Path) -> str:
    """The text of `tokenizer.json`, or of `tokenizer.json.gz` unpacked. Errors: `ModelError` `model_invalid`."""
    plain, packed = folder / "tokenizer.json", folder / "tokenizer.json.gz"
    try:
        if not plain.is_file() and packed.is_file():
            return gzip.decompress(packed.read_bytes()).decode("utf-8")
        return plain.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise ModelError(f"{folder} is no model folder: it has no tokenizer.json", code="model_invalid") from error
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise ModelError(
            f"the tokenizer in {folder} cannot be read ({error}); fetch the model again", code="model_invalid"
        ) from error


def _load(folder: Path) -> tokenizers.Tokenizer:
    """The folder's tokenizer, set so that it takes every text as data and loses nothing of it."""
    import tokenizers

    text = read_tokenizer_json(folder)
    try:
        tokenizer = tokenizers.Tokenizer.from_str(text)
        added = tokenizer.get_added_tokens_decoder().values()
        if tokenizer.normalizer is not None or not all(token.special for token in added):
            tokenizer = tokenizers.Tokenizer.from_str(_as_data(text))
    except Exception as error:  # the library raises nothing narrower
        raise ModelError(
            f"the tokenizer in {folder} cannot be loaded ({error}); fetch the model again", code="model_invalid"
        ) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    return tokenizer


def _as_data(text: str) -> str:
    """A `tokenizer.json` without lossy normalisers, and with all added tokens special.

    `encode_special_tokens` only covers tokens marked special, which Qwen3's <think> is not.
    """
    definition: dict[str, Any] = json.loads(text)
    definition["normalizer"] = _without_lossy(definition.get("normalizer"))
    definition["added_tokens"] = [{**token, "special": True} for token in definition.get("added_tokens", [])]
    return json.dumps(definition, ensure_ascii=False)


def _without_lossy(normalizer: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    if normalizer is None or normalizer["type"] in _LOSSY_NORMALIZERS:
        return None
    if normalizer["type"] == "Sequence":
        kept = [part for part in map(_without_lossy, normalizer["normalizers"]) if part is not None]
        return {"type": "Sequence", "normalizers": kept} if kept else None
    return normalizer


def _is_byte_level(tokenizer: tokenizers.Tokenizer, folder: Path) -> bool:
    """Whether tokens are written in GPT-2's byte alphabet; otherwise they are SentencePiece's with byte fallback."""
    decoder = json.loads(tokenizer.decoder.__getstate__()) if tokenizer.decoder is not None else {}
    kinds = {part.get("type") for part in decoder.get("decoders", [decoder])}
    if "ByteLevel" in kinds:
        return True
    if not getattr(tokenizer.model, "byte_fallback", False):
        raise ModelError(
            f"{folder}: the tokenizer cannot write every text (it is neither byte-level nor has byte fallback); "
            "use another model",
            code="model_unsupported",
        )
    return False


def _byte_alphabet() -> dict[str, int]:
    """GPT-2's printable stand-ins for the 256 bytes: printable Latin-1 stands for itself, the rest from U+0100 on."""
    own = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in own]
    return {chr(byte): byte for byte in own} | {chr(0x100 + place): byte for place, byte in enumerate(others)}


BYTE_ALPHABET = _byte_alphabet()


def _byte_level_bytes(token: str) -> bytes:
    return bytes(map(BYTE_ALPHABET.__getitem__, token))


def _sentencepiece_bytes(token: str) -> bytes:
    byte = _BYTE_TOKEN.fullmatch(token)
    return bytes([int(byte[1], 16)]) if byte else token.replace("▁", " ").encode()


def _refuse_surrogates(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise TextError(
            f"the text is not UTF-8: what stands at position {error.start} is no character (a lone surrogate); "
            "save it as UTF-8"
        ) from error
