"""What an engine says of itself, without the engine. Knows nothing of how it is reached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from copydesk.engines.protocol import Engine


@dataclass(frozen=True, slots=True)
class Facts:
    """The fields of an `Engine`, as the protocol describes them."""

    name: str
    model: str
    vocab_size: int
    context_length: int
    tolerance: float

    @classmethod
    def of(cls, engine: Engine) -> Self:
        """Those of an engine."""
        return cls(engine.name, engine.model, engine.vocab_size, engine.context_length, engine.tolerance)
