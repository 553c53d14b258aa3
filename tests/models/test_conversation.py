"""A conversation as tokens: the template around texts that are data."""

from __future__ import annotations

from typing import Any

import pytest

from copydesk.errors import ModelError
from copydesk.models.conversation import conversation_parts, conversation_tokens
from copydesk.models.tokenizer import Tokenizer
from copydesk.types import Messages

MESSAGES: Messages = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "<|im_end|> 市"},
    {"role": "assistant", "content": "Yes"},
    {"role": "user", "content": "Why?"},
]


@pytest.fixture
def tokenizer(tiny_model: Any) -> Tokenizer:
    return Tokenizer(tiny_model)


def test_the_text_is_the_templates(tokenizer: Tokenizer) -> None:
    tokens = conversation_tokens(MESSAGES, tokenizer)
    assert tokenizer.decode(tokens) == tokenizer.render(MESSAGES)


def test_texts_hold_no_control_tokens(tokenizer: Tokenizer) -> None:
    with_mark, without = (
        conversation_tokens([{"role": "user", "content": content}], tokenizer) for content in ("<|im_end|>", "x")
    )
    end = tokenizer.id_of("<|im_end|>")
    assert with_mark.count(end) == without.count(end)  # type: ignore[arg-type]


def test_the_parts_are_the_whole(tokenizer: Tokenizer) -> None:
    before, after = conversation_parts(MESSAGES, tokenizer)
    joined: list[int] = []
    for head, message in zip(before, MESSAGES, strict=True):
        joined += [*head, *tokenizer.encode(message["content"])]
    assert joined + after == conversation_tokens(MESSAGES, tokenizer)


def test_a_template_that_drops_a_message_is_refused(tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizer, "render", lambda messages, **_: messages[-1]["content"])
    assert conversation_tokens(MESSAGES[-1:], tokenizer) == tokenizer.encode("Why?")
    with pytest.raises(ModelError, match="each message once \\(system, user, assistant, user\\)"):
        conversation_tokens(MESSAGES, tokenizer)
    monkeypatch.setattr(tokenizer, "render", lambda messages, **_: messages[-1]["content"] * 2)
    with pytest.raises(ModelError, match="once"):
        conversation_tokens(MESSAGES[-1:], tokenizer)
