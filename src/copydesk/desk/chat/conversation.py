"""A conversation as tokens: the folder's chat template around messages that are data.

Only the template's own text may hold control tokens, so messages are rendered as stand-ins and put in as tokens. Knows
nothing of engines, nor of how long a prompt may be.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from copydesk.errors import ModelError
from copydesk.types import Messages

if TYPE_CHECKING:
    from copydesk.models.tokenizer import Tokenizer

_STAND_IN = "\ufdd0{}\ufdd1"
"""Unicode noncharacters, which no template holds."""
_STOOD_IN = re.compile("\ufdd0(\\d+)\ufdd1")
_REASONED = re.compile(r"\A\s*<think>.*?</think>\s*", re.DOTALL)
_OPEN, _CLOSE = "<think>", "</think>"
_USUAL_SEPARATOR = "\n\n"
_REMEMBERED = 256
"""Tokenised parts of templates that are kept."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """A prompt, up to where the reply begins."""

    tokens: tuple[int, ...]
    shared: int = 0
    """How many tokens at its beginning conversations with the same system message share; 0 where there is none."""
    reasons: bool = False
    """Whether the reply begins within reasoning."""
    may_reason: bool = False
    """Whether the reply may begin with reasoning that the prompt has not opened."""
    separator: tuple[int, ...] = ()
    """What stands between reasoning and content."""


class Conversations:
    """Renders for one tokenizer. Safe to share between threads."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._parts: dict[str, tuple[int, ...]] = {}

    def text(self, prompt: str) -> Rendered:
        """A text that is to be continued as it is."""
        return Rendered((*self._tokenizer.beginning, *self._tokenizer.encode(prompt)))

    def render(self, messages: Messages, *, thinking: bool) -> Rendered:
        """The prompt for a reply to `messages`.

        A template that can be told to reason opens reasoning itself or leaves that to the model: then it is opened
        here, so that `thinking` means the same everywhere. Errors: `ModelError` for a template that fails, or that
        drops messages.
        """
        with_thinking = self._parts_of(messages, thinking=True)
        without = self._parts_of(messages, thinking=False)
        parts = with_thinking if thinking else without
        opened = _opens(parts[-1])
        opens_now = thinking and not opened and with_thinking != without
        tokens: list[int] = []
        shared = 0
        leading = system_messages(messages)
        for place, part in enumerate(parts):
            if place % 2 == 0:
                tokens += self._encoded(part)
            else:
                message = messages[int(part)]
                if not shared and leading and int(part) == leading:
                    shared = len(tokens)
                tokens += self._tokenizer.encode(_content(message["role"], message["content"]))
        if opens_now:
            tokens += self._encoded(_OPEN)
        separator = without[-1].partition(_CLOSE)[2] or _USUAL_SEPARATOR
        return Rendered(
            tokens=tuple(tokens),
            shared=shared,
            reasons=opened or opens_now,
            may_reason=True,
            separator=tuple(self._tokenizer.encode(separator)),
        )

    def _parts_of(self, messages: Messages, *, thinking: bool) -> list[str]:
        """The template's texts and, between them, the numbers of the messages."""
        stand_ins = [{**message, "content": _STAND_IN.format(number)} for number, message in enumerate(messages)]
        parts = _STOOD_IN.split(self._tokenizer.render(stand_ins, thinking=thinking))
        if sorted(map(int, parts[1::2])) != list(range(len(messages))):
            raise ModelError(
                "The model's chat template does not hold each message once as it is; use a model whose template does.",
                code="model_unsupported",
            )
        return parts

    def _encoded(self, part: str) -> tuple[int, ...]:
        """The tokens of a template's own text."""
        tokens = self._parts.get(part)
        if tokens is None:
            if len(self._parts) >= _REMEMBERED:
                self._parts.clear()
            tokens = self._parts[part] = tuple(self._tokenizer.encode_control(part))
        return tokens


def system_messages(messages: Messages) -> int:
    """How many messages at the beginning are the system's."""
    return next((number for number, message in enumerate(messages) if message["role"] != "system"), len(messages))


def _content(role: str, content: str) -> str:
    """A message's text; what an assistant thought before an earlier reply is left out, as models are trained."""
    return _REASONED.sub("", content) if role == "assistant" else content


def _opens(text: str) -> bool:
    """Whether reasoning is open at the end of a template's text."""
    return text.rfind(_OPEN) > text.rfind(_CLOSE)
