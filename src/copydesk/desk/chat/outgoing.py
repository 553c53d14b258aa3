"""What of a reply can be handed out already: whole characters that neither a stop text nor a mark can still claim.

Knows nothing of tokens but the log-probabilities that go with them.
"""

from __future__ import annotations

import codecs
from collections import deque
from collections.abc import Sequence

from copydesk.desk.chat.state import ReplyState, held_back
from copydesk.desk.chat.vocabulary import CLOSE
from copydesk.types import Delta, TokenLogprob

_SPACE = b" \t\r\n"


class _Channel:
    """Bytes of one part of the reply, handed out as characters."""

    def __init__(self) -> None:
        self.text = ""
        """All that was handed out."""
        self.sent: int | None = None
        """As far as it was handed out, in bytes of the reply's whole text; None before it begins."""
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def take(self, text: bytearray, start: int, end: int) -> str:
        """The characters that are complete in `text` up to `end`, since last time."""
        sent = start if self.sent is None else self.sent
        if end <= sent:
            return ""
        self.sent = end
        written = self._decoder.decode(bytes(text[sent:end]))
        self.text += written
        return written


class Outgoing:
    """One reply on its way out."""

    def __init__(self, stop: Sequence[bytes] = ()) -> None:
        """`stop` are the texts before which content ends."""
        self._stop = tuple(stop)
        self._reasoning = _Channel()
        self._content = _Channel()
        self._logprobs: deque[tuple[int, int, TokenLogprob]] = deque()
        """Of tokens not handed out yet: where in the whole text they begin and end."""
        self.logprobs: list[TokenLogprob] = []
        """Of all tokens handed out."""

    @property
    def content(self) -> str:
        """The content handed out."""
        return self._content.text

    @property
    def reasoning(self) -> str:
        """The reasoning handed out."""
        return self._reasoning.text

    def add(self, start: int, end: int, logprob: TokenLogprob) -> None:
        """Take note of the log-probability of a token, by where in the whole text it stands."""
        self._logprobs.append((start, end, logprob))

    def retract(self, length: int) -> None:
        """Tokens that begin at `length` of the whole text or later do not stand any more."""
        while self._logprobs and self._logprobs[-1][0] >= length:
            self._logprobs.pop()

    def next(self, state: ReplyState, *, last: bool = False) -> Delta | None:
        """What can be handed out now; with `last`, all that is left."""
        reasoning = self._next_reasoning(state, last)
        content = self._next_content(state, last)
        logprobs = self._next_logprobs(state)
        return Delta(content, reasoning, logprobs) if content or reasoning or logprobs else None

    def _next_reasoning(self, state: ReplyState, last: bool) -> str:
        if state.reasoning is None:
            return ""
        start, end = state.reasoning
        text = state.text
        if end is None:
            end = len(text) if last else len(text) - held_back(text, (CLOSE,))
        while start < end and text[start] in _SPACE:
            start += 1
        while end > start and text[end - 1] in _SPACE:
            end -= 1
        return self._reasoning.take(text, start, end)

    def _next_content(self, state: ReplyState, last: bool) -> str:
        if state.content is None:
            return ""
        start, end = state.content
        if end is None:
            end = len(state.text) if last or state.finished else len(state.text) - held_back(state.text, self._stop)
        return self._content.take(state.text, start, end)

    def _next_logprobs(self, state: ReplyState) -> tuple[TokenLogprob, ...]:
        """Those of the tokens that begin in what was handed out of the content."""
        if self._content.sent is None:
            return ()
        start = state.content[0] if state.content else 0
        found = []
        while self._logprobs and self._logprobs[0][0] < self._content.sent:
            _, end, logprob = self._logprobs.popleft()
            if end > start:
                found.append(logprob)
        self.logprobs += found
        return tuple(found)
