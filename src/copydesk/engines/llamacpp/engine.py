"""The engine protocol over llama.cpp. Knows no tokenizer and nothing of how llama.cpp computes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from copydesk.engines.cores import available_cores
from copydesk.engines.llamacpp.network import SEQUENCES, Network
from copydesk.engines.protocol import Read, Scores
from copydesk.engines.scoring import normalizers_of, score_rows
from copydesk.engines.validation import check_cut, check_reads
from copydesk.errors import EngineError

CELLS = 16384
"""Tokens that all sequences together may hold by default."""
_TOKENS_AT_ONCE = 512


class LlamaCppEngine:
    """`Engine`; see the protocol for what its methods promise. A `KeyError` means that the handle is not open."""

    name = "llamacpp"
    # Quantised weights make it quantise activations on the fly, and its KV cache holds fp16.
    tolerance = 0.1

    def __init__(self, model: str, network: Network, context_length: int) -> None:
        self.model = model
        self.vocab_size = network.vocab_size
        self.context_length = context_length
        self._network = network
        self._free = list(range(SEQUENCES - 1, -1, -1))
        self._lengths: dict[int, int] = {}
        self._rows: dict[int, dict[int, NDArray[np.float32]]] = {}
        # Sequences whose rows lie in llama.cpp's own memory, which the next decode overwrites.
        self._borrowing: set[int] = set()

    def open(self) -> int:
        if not self._free:
            raise EngineError(f"llama.cpp keeps {SEQUENCES} sequences at most; release some", code="cache_full")
        sequence = self._free.pop()
        self._lengths[sequence] = 0
        return sequence

    def fork(self, sequence: int) -> int:
        length = self._lengths[sequence]
        fork = self.open()
        self._network.copy(sequence, fork)
        self._lengths[fork] = length
        return fork

    def length(self, sequence: int) -> int:
        return self._lengths[sequence]

    def run(self, reads: Sequence[Read]) -> list[list[Scores]]:
        check_reads(self, reads)
        before = {read.sequence: self._lengths[read.sequence] for read in reads}
        try:
            scores = self._run(reads)
        except BaseException:
            for sequence, length in before.items():
                self.cut(sequence, length)
            raise
        return scores

    def row(self, sequence: int, position: int) -> NDArray[np.float32]:
        rows = self._rows.get(sequence, {})
        if position not in rows:
            raise EngineError(
                f"position {position} was not wanted in the last pass of sequence {sequence}", code="engine_failed"
            )
        row = rows[position]
        logprobs: NDArray[np.float32] = row - normalizers_of(row[None])[0]
        return logprobs

    def cut(self, sequence: int, length: int) -> None:
        check_cut(self, sequence, length)
        self._forget_rows(sequence)
        self._network.cut(sequence, length)
        self._lengths[sequence] = length

    def release(self, sequence: int) -> None:
        self.cut(sequence, 0)
        del self._lengths[sequence]
        self._free.append(sequence)

    def close(self) -> None:
        self._rows.clear()
        self._borrowing.clear()
        self._network.close()

    def _run(self, reads: Sequence[Read]) -> list[list[Scores]]:
        for read in reads:
            self._forget_rows(read.sequence)
        scores: list[list[Scores]] = [[] for _ in reads]
        for entries, places in self._calls(reads):
            self._own_rows()
            if not self._network.decode(entries):
                raise EngineError(
                    f"the KV cache of {self._network.cells} tokens is full; release sequences, or load with more cells",
                    code="cache_full",
                )
            for index, (number, which) in places.items():
                read, wanted = reads[number], reads[number].wanted[which]
                logits = self._network.logits(index)
                scores[number] += score_rows(logits[None], normalizers_of(logits[None]), [wanted])
                rows = self._rows.setdefault(read.sequence, {})
                rows[wanted.position] = rows[wanted.position - len(read.tokens)] = logits
                self._borrowing.add(read.sequence)
        for read in reads:
            self._lengths[read.sequence] += len(read.tokens)
        return scores

    def _calls(
        self, reads: Sequence[Read]
    ) -> Iterator[tuple[list[tuple[int, int, int, bool]], dict[int, tuple[int, int]]]]:
        """The reads as calls of at most `_TOKENS_AT_ONCE` entries, `SEQUENCES` of them wanted.

        Each comes with the entries whose scores are wanted: index of the read, and of the wanted position in it.
        """
        entries: list[tuple[int, int, int, bool]] = []
        places: dict[int, tuple[int, int]] = {}
        for number, read in enumerate(reads):
            wanted = {one.position: which for which, one in enumerate(read.wanted)}
            begin = self._lengths[read.sequence]
            for index, token in enumerate(read.tokens):
                if len(entries) == _TOKENS_AT_ONCE or len(places) == SEQUENCES:
                    yield entries, places
                    entries, places = [], {}
                if index in wanted:
                    places[len(entries)] = (number, wanted[index])
                entries.append((read.sequence, token, begin + index, index in wanted))
        if entries:
            yield entries, places

    def _own_rows(self) -> None:
        """Copy the rows that the next decode would overwrite."""
        for sequence in self._borrowing:
            self._rows[sequence] = {position: row.copy() for position, row in self._rows[sequence].items()}
        self._borrowing.clear()

    def _forget_rows(self, sequence: int) -> None:
        self._rows.pop(sequence, None)
        self._borrowing.discard(sequence)


def load(
    path: Path, *, context_length: int | None = None, threads: int | None = None, cells: int = CELLS
) -> LlamaCppEngine:
    """The engine over the GGUF file at `path`.

    `context_length`: the most tokens a sequence may hold, by default the model's own limit, at most `cells`. `threads`:
    by default the physical cores that this process may use. `cells`: tokens that all sequences together may hold.
    Errors: `EngineError` `missing_extra` without llama.cpp, `ModelError` when the file is none or unreadable.
    """
    network = Network(
        path,
        cells=cells,
        threads=threads or available_cores(),
        tokens_at_once=_TOKENS_AT_ONCE,
    )
    longest = min(network.trained_length, cells)
    return LlamaCppEngine(path.stem, network, min(context_length or longest, longest))
