"""Reasoning told from what follows it, in text as it streams in: `<think>...</think>` before the reply.

For engines that do not keep the two apart themselves. Knows nothing of tokens.
"""

from __future__ import annotations

BEGIN, END = "<think>", "</think>"


class Thought:
    """Splits one reply."""

    def __init__(self) -> None:
        self._held = ""
        self._state = "start"

    def feed(self, text: str) -> tuple[str, str]:
        """What of the reply so far is certain and new: content, and reasoning."""
        self._held += text
        reasoning = ""
        if self._state == "start":
            begun = self._held.lstrip()
            if BEGIN.startswith(begun[: len(BEGIN)]) and len(begun) < len(BEGIN):
                return "", ""
            self._state = "reasoning" if begun.startswith(BEGIN) else "content"
            if self._state == "reasoning":
                self._held = begun[len(BEGIN) :].lstrip("\n")
        if self._state == "reasoning":
            reasoning, found, rest = self._held.partition(END)
            if not found:
                kept = _overlap(self._held, END)
                reasoning, self._held = self._held[: len(self._held) - kept], self._held[len(self._held) - kept :]
                return "", reasoning
            self._state, self._held = "space", rest
        if self._state == "space":
            self._held = self._held.lstrip()
            if self._held:
                self._state = "content"
        content, self._held = (self._held, "") if self._state == "content" else ("", self._held)
        return content, reasoning

    def end(self) -> tuple[str, str]:
        """What was still held back when the text ended."""
        held, self._held = self._held, ""
        return ("", held) if self._state == "reasoning" else (held.strip() if self._state == "space" else held, "")


def split(text: str) -> tuple[str, str]:
    """Content and reasoning of a whole reply."""
    thought = Thought()
    content, reasoning = thought.feed(text)
    last_content, last_reasoning = thought.end()
    return content + last_content, (reasoning + last_reasoning).strip()


def _overlap(text: str, mark: str) -> int:
    """How many characters at the end of `text` may be the beginning of `mark`."""
    return next((size for size in range(min(len(text), len(mark) - 1), 0, -1) if text.endswith(mark[:size])), 0)
