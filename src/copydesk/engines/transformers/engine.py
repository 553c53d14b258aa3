"""The engine protocol over Transformers: sequences that share one KV cache, and forwards of many of them at once.

Knows no tokenizer, and nothing of how a model computes.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from copydesk.engines.protocol import Read, Scores, Wanted
from copydesk.engines.transformers.groups import Limits, Part, forwards, rounds
from copydesk.engines.transformers.inputs import rows_of_tokens
from copydesk.engines.transformers.loading import Loaded
from copydesk.engines.transformers.pool import Cells, Pool, Rows, pass_cache
from copydesk.engines.transformers.scores import score
from copydesk.engines.validation import check_cut, check_reads
from copydesk.errors import EngineError

CACHE_BYTES = 2 * 2**30
"""Default bound of the KV cache in the computer's memory."""
ON_CPU = Limits(tokens=1024, padding=64, cells=32_768)
ON_CARD = Limits(tokens=8192, padding=4096, cells=262_144)
"""A forward on a card costs tens of milliseconds however little it reads; on a CPU it costs what it reads."""
_NO_MEMORY = ("allocate memory", "ALLOC_FAILED")
"""What errors say, beside those with a class of their own, when memory runs out: of the CPU's allocator, of cuBLAS."""
_NONE: Cells = np.empty(0, np.int64)


@dataclass(slots=True)
class _Sequence:
    tokens: list[int] = field(default_factory=list)
    cells: Cells = field(default_factory=lambda: _NONE)
    """One a token; none where keys and values cannot be kept."""
    rows: dict[int, tuple[Tensor, int]] = field(default_factory=dict)
    """Of the last pass, by position: hidden states or logits, and which of them."""


class TransformersEngine:
    """`Engine` over any causal model; see the protocol for what its methods promise.

    A `KeyError` means that the handle was released or never opened.
    """

    name = "transformers"

    def __init__(
        self,
        loaded: Loaded,
        give_back: Callable[[], None],
        context_length: int | None = None,
        cache_bytes: int | None = None,
    ) -> None:
        """`give_back` is called when the engine is closed."""
        self._network, self._findings = loaded.network, loaded.findings
        # An engine that is dropped without being closed keeps no weights either.
        self._give_back = weakref.finalize(self, give_back)
        self._give_back.atexit = False
        self._device = self._network.device
        self._limits = ON_CPU if self._device.type == "cpu" else ON_CARD
        self.model = self._network.name
        self.vocab_size = self._findings.vocab_size
        self.tolerance = self._network.tolerance
        longest = self._network.context_length
        self._pool: Pool | None = None
        if self._findings.cell_bytes:
            most = (cache_bytes or self._cache_bytes()) // self._findings.cell_bytes
            self._pool = Pool(self._network.layers, most)
            longest = min(longest, most)
        self.context_length = min(context_length or longest, longest)
        self.notes = self._notes()
        """What a user should know of how this engine runs here, a sentence each; empty when all is as it should be."""
        self._sequences: dict[int, _Sequence] = {}
        self._next = 0

    def open(self) -> int:
        return self._new(_Sequence())

    def fork(self, sequence: int) -> int:
        origin = self._sequences[sequence]
        cells = origin.cells if self._pool is None else self._pool.share(origin.cells)
        return self._new(_Sequence(list(origin.tokens), cells))

    def length(self, sequence: int) -> int:
        return len(self._sequences[sequence].tokens)

    def run(self, reads: Sequence[Read]) -> list[list[Scores]]:
        check_reads(self, reads)
        before = [self.length(read.sequence) for read in reads]
        for read in reads:
            self._sequences[read.sequence].rows.clear()
        try:
            with self._room(reads):
                scores: list[list[Scores]] = [[] for _ in reads]
                for parts in self._forwards(reads, before):
                    self._forward(reads, parts, scores)
                return scores
        except BaseException:
            for read, length in zip(reads, before, strict=True):
                self.cut(read.sequence, length)
            raise

    def row(self, sequence: int, position: int) -> NDArray[np.float32]:
        rows = self._sequences[sequence].rows
        if position not in rows:
            raise EngineError(
                f"position {position} was not wanted in the last pass of sequence {sequence}", code="engine_failed"
            )
        kept, index = rows[position]
        logits = self._network.project(kept[index : index + 1]) if self._findings.projects else kept[index : index + 1]
        row: NDArray[np.float32] = logits[0].float().log_softmax(-1).cpu().numpy()
        return row

    def cut(self, sequence: int, length: int) -> None:
        check_cut(self, sequence, length)
        held = self._sequences[sequence]
        held.rows.clear()
        del held.tokens[length:]
        if self._pool is not None:
            self._pool.drop(held.cells[length:])
            held.cells = held.cells[:length]

    def release(self, sequence: int) -> None:
        self.cut(sequence, 0)
        del self._sequences[sequence]

    def close(self) -> None:
        self._sequences.clear()
        if self._pool is not None:
            self._pool.clear()
        self._give_back()

    def _new(self, sequence: _Sequence) -> int:
        handle, self._next = self._next, self._next + 1
        self._sequences[handle] = sequence
        return handle

    def _forwards(self, reads: Sequence[Read], before: Sequence[int]) -> Iterator[list[Part]]:
        counts = [len(read.tokens) for read in reads]
        if self._pool is None:  # every sequence from its beginning
            parts = [Part(read, 0, count, before[read]) for read, count in enumerate(counts) if count]
            yield from forwards(parts, self._limits)
            return
        for parts in rounds(counts, before, self._limits):
            yield from forwards(parts, self._limits)

    def _forward(self, reads: Sequence[Read], parts: Sequence[Part], scores: list[list[Scores]]) -> None:
        """Read these parts in one forward."""
        sequences = [self._sequences[reads[part.read].sequence] for part in parts]
        tokens = [list(reads[part.read].tokens[part.begin : part.end]) for part in parts]
        wanted = [[one for one in reads[part.read].wanted if part.begin <= one.position < part.end] for part in parts]
        places = [[one.position - part.begin for one in own] for part, own in zip(parts, wanted, strict=True)]
        cache, pasts, rows = None, [part.past for part in parts], tokens
        if self._pool is None:
            rows = [sequence.tokens + new for sequence, new in zip(sequences, tokens, strict=True)]
            places = [[part.past + place for place in own] for part, own in zip(parts, places, strict=True)]
            pasts = [0] * len(parts)
        else:
            held = [sequence.cells for sequence in sequences]
            for sequence, new in zip(sequences, tokens, strict=True):
                sequence.cells = np.concatenate([sequence.cells, self._pool.take(len(new))])
            news = [sequence.cells[len(cells) :] for sequence, cells in zip(sequences, held, strict=True)]
            cache = pass_cache(self._pool, self._network.layers, Rows.of(held, news))
        outputs = self._network.read(rows_of_tokens(rows, pasts, places, self._device), cache)
        flat: list[Wanted] = [one for own in wanted for one in own]
        scored = score(outputs.logits, flat)
        kept = outputs.hidden if self._findings.projects and outputs.hidden is not None else outputs.logits
        index = 0
        for part, sequence, new, own in zip(parts, sequences, tokens, wanted, strict=True):
            sequence.tokens += new
            for one in own:
                sequence.rows[one.position] = sequence.rows[one.position - len(reads[part.read].tokens)] = kept, index
                scores[part.read].append(scored[index])
                index += 1

    @contextmanager
    def _room(self, reads: Sequence[Read]) -> Iterator[None]:
        """Turn what is raised when memory runs out into what the protocol names it."""
        try:
            yield
        except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
            out_of_memory = isinstance(error, torch.OutOfMemoryError | MemoryError)
            if not out_of_memory and not any(words in str(error) for words in _NO_MEMORY):
                raise
            raise EngineError(
                f"{self._device} has no memory left to read {sum(len(read.tokens) for read in reads)} tokens of "
                f"{len(reads)} sequences; use a smaller dtype or context_length, or device_map='auto'",
                code="cache_full",
            ) from error

    def _cache_bytes(self) -> int:
        if self._device.type == "cpu":
            return CACHE_BYTES
        free, _ = torch.cuda.mem_get_info(self._device)
        return free // 2

    def _notes(self) -> tuple[str, ...]:
        if self._pool is not None:
            return ()
        return (
            "reads every sequence from its beginning in every pass, because this architecture keeps more than keys and "
            f"values: {self._findings.reason}",
        )
