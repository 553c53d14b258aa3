"""Which blocks of a paged KV cache hold the tokens of which sequence.

Blocks are shared between forks and copied when one of them is about to write into a shared one. Knows block numbers
and lengths only: neither tensors nor tokens.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from copydesk.errors import EngineError

BLOCK_SIZE = 32
"""Tokens a block holds: the only size that OpenVINO's CPU kernels know, and as good as any on a GPU."""


@dataclass(slots=True)
class _Sequence:
    length: int = 0
    blocks: list[int] = field(default_factory=list)


class BlockTable:
    """Sequences over blocks numbered from `reserved` up to `blocks - 1`; low numbers are handed out first."""

    def __init__(self, blocks: int, *, reserved: int = 0) -> None:
        self._free = list(range(blocks - 1, reserved - 1, -1))
        self._users = [0] * blocks
        self._sequences: dict[int, _Sequence] = {}
        self._next = 0

    @property
    def free_blocks(self) -> int:
        """How many blocks no sequence holds."""
        return len(self._free)

    def open(self) -> int:
        """A new empty sequence; returns its handle."""
        return self._add(_Sequence())

    def fork(self, sequence: int) -> int:
        """A new sequence over the same blocks."""
        origin = self._sequences[sequence]
        for block in origin.blocks:
            self._users[block] += 1
        return self._add(_Sequence(origin.length, list(origin.blocks)))

    def length(self, sequence: int) -> int:
        """How many tokens the sequence holds. Errors: `KeyError` for a handle that is not open."""
        return self._sequences[sequence].length

    def blocks(self, sequence: int) -> list[int]:
        """Numbers of the blocks that hold the sequence, in order. Not to be changed."""
        return self._sequences[sequence].blocks

    def extend(self, additions: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """Make room for more tokens: `(sequence, tokens to add)` each; all of it or, on an error, none.

        Returns the copies `(from block, to block)` to make before anything is written. Errors: `EngineError`
        `cache_full` when there are not enough free blocks.
        """
        additions = list(additions)
        needed = sum(self._needed(sequence, count) for sequence, count in additions)
        if needed > len(self._free):
            raise EngineError(
                f"the KV cache is full: {needed * BLOCK_SIZE} more tokens do not fit in the "
                f"{len(self._free) * BLOCK_SIZE} left; release sequences, or load with a larger cache_bytes",
                code="cache_full",
            )
        copies = []
        for sequence, count in additions:
            held = self._sequences[sequence]
            if count and self._shares_tail(held):
                shared, own = held.blocks[-1], self._take()
                self._drop(shared)
                held.blocks[-1] = own
                copies.append((shared, own))
            held.length += count
            held.blocks.extend(self._take() for _ in range(_blocks_for(held.length) - len(held.blocks)))
        return copies

    def share_again(self, sequences: Iterable[int], copies: Iterable[tuple[int, int]]) -> None:
        """Take back copies that `extend` asked for and that were not made; `sequences` are cut back already."""
        shared_by_own = {own: shared for shared, own in copies}
        for sequence in sequences if shared_by_own else ():
            held = self._sequences[sequence]
            if held.blocks and (shared := shared_by_own.get(held.blocks[-1])) is not None:
                self._drop(held.blocks[-1])
                self._users[shared] += 1
                held.blocks[-1] = shared

    def cut(self, sequence: int, length: int) -> None:
        """Keep the first `length` tokens."""
        held = self._sequences[sequence]
        kept = _blocks_for(length)
        for block in held.blocks[kept:]:
            self._drop(block)
        del held.blocks[kept:]
        held.length = length

    def release(self, sequence: int) -> None:
        """Give the sequence's blocks back; its handle is invalid from then on."""
        for block in self._sequences.pop(sequence).blocks:
            self._drop(block)

    def _add(self, sequence: _Sequence) -> int:
        handle = self._next
        self._next += 1
        self._sequences[handle] = sequence
        return handle

    def _needed(self, sequence: int, count: int) -> int:
        held = self._sequences[sequence]
        return _blocks_for(held.length + count) - len(held.blocks) + (count > 0 and self._shares_tail(held))

    def _shares_tail(self, held: _Sequence) -> bool:
        """Whether the next token would be written into a block that another sequence reads."""
        return held.length % BLOCK_SIZE != 0 and self._users[held.blocks[-1]] > 1

    def _take(self) -> int:
        block = self._free.pop()
        self._users[block] = 1
        return block

    def _drop(self, block: int) -> None:
        self._users[block] -= 1
        if self._users[block] == 0:
            self._free.append(block)


def _blocks_for(tokens: int) -> int:
    return -(-tokens // BLOCK_SIZE)
