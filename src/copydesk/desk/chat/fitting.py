"""Making a conversation fit the context: its oldest turns are left out, or it is refused.

Knows nothing of engines or of what a reply is to be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from copydesk.desk import source
from copydesk.desk.chat.conversation import Conversations, Rendered, system_messages
from copydesk.errors import TextError
from copydesk.types import Messages

if TYPE_CHECKING:
    from copydesk.models.tokenizer import Tokenizer


class Fitting:
    """Fits prompts of one tokenizer."""

    def __init__(self, conversations: Conversations, tokenizer: Tokenizer) -> None:
        self._conversations = conversations
        self._tokenizer = tokenizer

    def text(self, prompt: str, most: int, *, truncate: bool) -> tuple[Rendered, bool]:
        """A text to be continued in at most `most` tokens, and whether its beginning was left out.

        Errors: `TextError` `too_long`.
        """
        rendered = self._conversations.text(prompt)
        if len(rendered.tokens) <= most:
            return rendered, False
        left = most - len(self._tokenizer.beginning)
        if truncate and left > 0:
            kept, _ = source.cut_beginning(prompt, self._tokenizer.encode(prompt), left, self._tokenizer)
            if kept:
                return self._conversations.text(kept), True
        raise _too_long("text", len(rendered.tokens), most)

    def conversation(self, messages: Messages, most: int, *, thinking: bool, truncate: bool) -> tuple[Rendered, bool]:
        """A conversation in at most `most` tokens, and whether any of it was left out.

        System messages at its beginning stay. It begins with a user's turn then, the oldest from which on all of it
        fits; where not even the last turn does, that begins after a sentence end. Errors: `TextError` `too_long`.
        """
        rendered = self._conversations.render(messages, thinking=thinking)
        if len(rendered.tokens) <= most:
            return rendered, False
        if truncate:
            fitted = self._fitted(list(map(dict, messages)), most, thinking)
            if fitted:
                return fitted, True
        raise _too_long("conversation", len(rendered.tokens), most)

    def _fitted(self, messages: list[dict[str, str]], most: int, thinking: bool) -> Rendered | None:
        first = system_messages(messages)
        system, turns = messages[:first], messages[first:]
        sizes = [len(self._tokenizer.encode(message["content"])) for message in turns]
        for start in range(1, len(turns)):
            if turns[start]["role"] == "user" and sum(sizes[start:]) <= most:
                rendered = self._conversations.render([*system, *turns[start:]], thinking=thinking)
                if len(rendered.tokens) <= most:
                    return rendered
        return self._with_the_last_cut(system, turns[-1:], most, thinking) if turns else None

    def _with_the_last_cut(
        self, system: list[dict[str, str]], last: list[dict[str, str]], most: int, thinking: bool
    ) -> Rendered | None:
        message = last[0]
        tokens = self._tokenizer.encode(message["content"])
        whole = self._conversations.render([*system, message], thinking=thinking)
        left = most - (len(whole.tokens) - len(tokens))
        if left < 1:
            return None
        kept, _ = source.cut_beginning(message["content"], tokens, left, self._tokenizer)
        if not kept:
            return None
        return self._conversations.render([*system, {**message, "content": kept}], thinking=thinking)


def _too_long(what: str, tokens: int, most: int) -> TextError:
    return TextError(
        f"The {what} is {tokens:,} tokens long, but at most {most:,} fit beside the reply; shorten it, have it cut "
        "(truncate=True, --truncate), or ask for a shorter reply (max_tokens).",
        code="too_long",
    )
