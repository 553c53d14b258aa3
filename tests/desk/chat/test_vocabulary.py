"""Which tokens a reply may hold."""

from __future__ import annotations

from copydesk.desk.chat.vocabulary import ReplyVocabulary
from copydesk.models.tokenizer import Tokenizer


def test_control_tokens_stand_for_nothing_but_marks(thinking: Tokenizer, opening: Tokenizer) -> None:
    vocabulary = ReplyVocabulary(thinking, thinking.vocab_size + 3)
    ids = {name: thinking.id_of(name) or 0 for name in ("<|im_end|>", "<|im_start|>", "<think>", "</think>", "a")}
    texts = {name: vocabulary.text(id) for name, id in ids.items()}
    assert texts == {
        "<|im_end|>": b"",
        "<|im_start|>": b"",
        "<think>": b"<think>",
        "</think>": b"</think>",
        "a": b"a",
    }
    assert vocabulary.written(ids["<|im_end|>"]) == b"<|im_end|>"
    assert vocabulary.written(thinking.vocab_size + 1) == b""
    assert vocabulary.close == (ids["</think>"],)
    assert b"".join(map(opening.token_bytes, ReplyVocabulary(opening, opening.vocab_size).close)) == b"</think>"


def test_masks(thinking: Tokenizer) -> None:
    vocabulary = ReplyVocabulary(thinking, thinking.vocab_size + 3)
    control = sorted(thinking.control_ids)
    assert len(vocabulary.plain) == thinking.vocab_size + 3
    assert not vocabulary.plain[[*control, -1]].any()
    mask = vocabulary.mask(ends=True, closes=True)
    assert [thinking.token_bytes(id) for id in control if mask[id]] == [b"<|im_end|>", b"</think>"]
    assert vocabulary.mask(opens=True)[thinking.id_of("<think>")]
    assert mask is vocabulary.mask(ends=True, closes=True)
