"""A conversation as tokens: the folder's chat template around texts that are data.

Knows nothing of what is said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from copydesk.errors import ModelError
from copydesk.types import Messages

if TYPE_CHECKING:
    from copydesk.models.tokenizer import Tokenizer

_MARK = "\ufdd0"
"""A Unicode noncharacter, which no template holds; texts that do are not looked into."""


def conversation_parts(
    messages: Messages, tokenizer: Tokenizer, *, thinking: bool = False
) -> tuple[list[list[int]], list[int]]:
    """The tokens of the template before each message's text, and after the last one.

    Only the template's own text may hold control tokens. Errors: `ModelError` `model_unsupported` for a template that
    drops a message or rewrites it.
    """
    marked = [{**message, "content": f"{_MARK}{number}{_MARK}"} for number, message in enumerate(messages)]
    rest = tokenizer.render(marked, thinking=thinking)
    before = []
    for message in marked:
        head, found, rest = rest.partition(message["content"])
        if not found or _MARK in head:
            raise _unsupported(messages)
        before.append(tokenizer.encode_control(head))
    if _MARK in rest:
        raise _unsupported(messages)
    return before, tokenizer.encode_control(rest)


def conversation_tokens(messages: Messages, tokenizer: Tokenizer, *, thinking: bool = False) -> list[int]:
    """All tokens, up to where the reply begins. Errors: as `conversation_parts`."""
    before, after = conversation_parts(messages, tokenizer, thinking=thinking)
    tokens: list[int] = []
    for head, message in zip(before, messages, strict=True):
        tokens += (*head, *tokenizer.encode(message["content"]))
    return tokens + after


def _unsupported(messages: Messages) -> ModelError:
    roles = ", ".join(message["role"] for message in messages)
    return ModelError(
        f"The model's chat template must hold each message once ({roles}); use a model whose template does.",
        code="model_unsupported",
    )
