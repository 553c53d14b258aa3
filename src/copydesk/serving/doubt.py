"""Answers that a sound model hardly gives are held until canaries say that the model is sound.

A model whose computation has gone wrong without an error (memory gone bad, a broken device) still gives answers that
satisfy their schema. What gives them away is that it seems hardly to believe them itself. Knows not what follows.
"""

from __future__ import annotations

import asyncio
from typing import Any

from copydesk.errors import EngineError
from copydesk.serving.backend import Backend
from copydesk.serving.canary import Proof, ask, differs
from copydesk.types import Answer

_DOUBTFUL = 0.01
"""Confidences below are. Sound models give such answers too, to questions they were not made for: those take longer."""
_CANARIES = 3
"""Asked together: nonsense may look right once."""


def doubtful(result: Any) -> bool:
    """Whether it is an answer that its model hardly believes."""
    return (
        isinstance(result, Answer)
        and result.verified
        and result.confidence is not None
        and result.confidence < _DOUBTFUL
    )


class Doubt:
    """Of one loaded model. All answers that came before canaries are asked share them."""

    def __init__(self, backend: Backend, first: Proof) -> None:
        """`first` is what a canary was answered at the beginning."""
        self._backend = backend
        self._first = first
        self._asking: asyncio.Task[None] | None = None
        self._waiting: asyncio.Task[None] | None = None

    async def dispelled(self) -> None:
        """Return once canaries that were asked from now on are answered as at first.

        Errors: `EngineError` if they are answered otherwise, and whatever keeps them from being answered.
        """
        if self._waiting is None:
            self._waiting = asyncio.create_task(self._ask_after(self._asking))
            self._waiting.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody may be left
        await asyncio.shield(self._waiting)

    async def _ask_after(self, before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await asyncio.wait((before,))
        self._asking, self._waiting = self._waiting, None
        for proof in await asyncio.gather(*(ask(self._backend) for _ in range(_CANARIES))):
            if differs(proof, self._first):
                raise EngineError("The model answers a canary otherwise than at first.", code="engine_failed")
