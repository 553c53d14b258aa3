"""What every engine refuses: reads and cuts that make no sense. Knows only the protocol."""

from __future__ import annotations

from collections.abc import Sequence

from copydesk.engines.protocol import Engine, Read
from copydesk.errors import EngineError


def check_reads(engine: Engine, reads: Sequence[Read]) -> None:
    """Errors: `EngineError` `engine_failed`, or `context_full` when a sequence would outgrow the context."""
    if len({read.sequence for read in reads}) < len(reads):
        raise EngineError("a sequence may be read only once a call", code="engine_failed")
    for read in reads:
        _check_positions(read)
        if read.tokens and not 0 <= min(read.tokens) <= max(read.tokens) < engine.vocab_size:
            raise EngineError(f"token ids must lie below {engine.vocab_size}", code="engine_failed")
        length = engine.length(read.sequence) + len(read.tokens)
        if length > engine.context_length:
            raise EngineError(
                f"a sequence of {length} tokens does not fit in the context of {engine.context_length}",
                code="context_full",
            )


def check_cut(engine: Engine, sequence: int, length: int) -> None:
    """Errors: `EngineError` `engine_failed` unless the sequence holds at least `length` tokens."""
    held = engine.length(sequence)
    if not 0 <= length <= held:
        raise EngineError(f"sequence {sequence} of {held} tokens cannot be cut to {length}", code="engine_failed")


def _check_positions(read: Read) -> None:
    previous = -1
    for one in read.wanted:
        if not previous < one.position < len(read.tokens):
            raise EngineError(
                f"position {one.position} is wanted after {previous} of {len(read.tokens)} tokens; "
                "positions must ascend within the tokens read",
                code="engine_failed",
            )
        previous = one.position
