"""Making a request fit: what does not fit the context is cut, if the caller allows it, and asked again.

The engine alone knows how many tokens a text has, so it is asked until it takes it. Knows nothing of engines else.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from copydesk.desk.source import shortened
from copydesk.errors import TextError
from copydesk.types import Messages

Result = TypeVar("Result")
_KEPT = 0.75
"""How much of a text is kept at each cut."""
_CUTS = 24


async def fitted(text: str, truncate: bool, ask: Callable[[str], Awaitable[Result]]) -> Result:
    """What `ask` gives for the text, or for a beginning of it that fits. Errors: `TextError` `too_long`."""
    for _ in range(_CUTS):
        try:
            return await ask(text)
        except TextError as error:
            cut = shortened(text, int(len(text) * _KEPT))
            if error.code != "too_long" or not truncate or not cut.strip():
                raise
            text = cut
    return await ask(text)


async def fitted_turns(
    messages: Messages, truncate: bool, ask: Callable[[Messages], Awaitable[Result]]
) -> tuple[Result, bool]:
    """What `ask` gives for a conversation without its oldest turns, and whether any were left out.

    Where the last alone does not fit, its beginning is left out. Errors: `TextError` `too_long`.
    """
    kept: Messages = list(messages)
    for _ in range(len(messages) + _CUTS):
        try:
            return await ask(kept), list(kept) != list(messages)
        except TextError as error:
            fewer = _fewer(kept)
            if error.code != "too_long" or not truncate or fewer is None:
                raise
            kept = fewer
    return await ask(kept), True


def _fewer(messages: Messages) -> list[dict[str, str]] | None:
    """The conversation without its oldest exchange, or without the beginning of its last turn; None if that is all."""
    turns = [dict(message) for message in messages]
    first = next((index for index, turn in enumerate(turns) if turn["role"] != "system"), len(turns))
    later = next((index for index in range(first + 1, len(turns)) if turns[index]["role"] == "user"), None)
    if later is not None:
        return turns[:first] + turns[later:]
    content = turns[-1]["content"]
    rest = content[len(shortened(content, max(1, int(len(content) * (1 - _KEPT))))) :].lstrip()
    if not rest or rest == content:
        return None
    return [*turns[:-1], {**turns[-1], "content": rest}]
