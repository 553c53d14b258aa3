"""The tokens around a text: what the engine reads before it and after it, up to where the answer begins.

Knows nothing of chat templates or instructions: whoever renders them hands the tokens over.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prompt:
    """A task's prompt without its text. The three parts (prefix, text, suffix) are tokenised apart from each other."""

    prefix: tuple[int, ...]
    """Shared by all texts of the task: read once, forked from then on."""
    suffix: tuple[int, ...]
    """From the end of the text to the first token of the answer."""

    @property
    def length(self) -> int:
        """Tokens beside the text."""
        return len(self.prefix) + len(self.suffix)
