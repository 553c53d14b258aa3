"""An engine that writes what it is told to write."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence

from copydesk.engines.completions import Asked, Completion, Verified
from copydesk.types import Delta, TokenLogprob, Usage

Write = Callable[[Asked], Completion | Exception]


class FakeCompletions:
    """Satisfies `Completions`; `write` says what is written, or what is raised."""

    name = "fake"
    model = "fake-model"
    notes = ()
    verifies = False

    def __init__(self, write: Write, *, context_length: int | None = None, most_top: int = 5) -> None:
        self._write = write
        self.context_length = context_length
        self.most_top = most_top
        self.asked: list[Asked] = []
        self.cancelled = 0
        self.closed = 0

    async def complete(self, asked: Asked) -> Completion:
        self.asked.append(asked)
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        found = self._write(asked)
        if isinstance(found, Exception):
            raise found
        return found

    async def stream(self, asked: Asked) -> AsyncGenerator[Delta | Completion, None]:
        found = await self.complete(asked)
        try:
            for character in found.text:
                await asyncio.sleep(0)
                yield Delta(character)
        except (asyncio.CancelledError, GeneratorExit):
            self.cancelled += 1
            raise
        yield found

    async def verify(self, asked: Asked, draft: str) -> Verified:
        raise NotImplementedError

    async def close(self) -> None:
        self.closed += 1


class Verifying(FakeCompletions):
    """One whose model would write `own`, as characters, and verifies drafts by it."""

    verifies = True

    def __init__(self, own: Callable[[Asked], str]) -> None:
        super().__init__(lambda asked: written(own(asked), *tokens(*own(asked))))
        self._own = own
        self.read: list[str] = []
        """The drafts that were verified."""

    async def verify(self, asked: Asked, draft: str) -> Verified:
        await asyncio.sleep(0)
        self.read.append(draft)
        own = self._own(asked)
        stands = next((place for place, one in enumerate(draft) if own[place : place + 1] != one), len(draft))
        scored = tuple(tokens(*draft[:stands]))
        return Verified(draft[:stands], USAGE, own[stands : stands + 1], own == draft, scored)


USAGE = Usage(10, 4, 6)


def written(text: str, *tokens: TokenLogprob, finish: str = "stop", reasoning: str | None = None) -> Completion:
    """A completion of some tokens, three characters each where none are given."""
    return Completion(text, finish, USAGE, reasoning, tokens)  # type: ignore[arg-type]


def in_turn(*found: Completion | Exception) -> Write:
    """One after the other."""
    left = iter(found)
    return lambda asked: next(left)


def tokens(*texts: str, logprob: float = -0.1) -> Sequence[TokenLogprob]:
    """Tokens, all as probable."""
    return [TokenLogprob(text.encode(), logprob) for text in texts]
