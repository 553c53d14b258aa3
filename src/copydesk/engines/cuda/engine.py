"""The engine that the desk sees: sequences in the cache, their reads as forwards, scores of what was wanted.

One copy to the device before a forward and one back after it; in between the host does not wait. Knows no tokenizer
and nothing of how a forward is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from copydesk.engines.cuda.cache import Cache
from copydesk.engines.cuda.layout import NONE, Part
from copydesk.engines.cuda.runner import LONGEST_CHAIN, Outcome, Runner
from copydesk.engines.packed import NO_TOKEN, PackedReads, PackedScores
from copydesk.engines.protocol import Read, Scores
from copydesk.engines.scoring import top_of
from copydesk.engines.validation import check_cut, check_reads
from copydesk.errors import EngineError

Ints = NDArray[np.int32]
_FEWEST_TOKENS = 1024
"""A forward that the device has no memory for is not split any further."""


@dataclass(frozen=True, slots=True)
class _Last:
    """A sequence's last pass: where its wanted positions stand among the hidden states of the forward."""

    hidden: list[Tensor]
    begin: int
    positions: Ints
    length: int


class CudaEngine:
    """`Engine` on one GPU; see the protocol for what its methods promise.

    A `KeyError` means that the handle was released or never opened.
    """

    name = "cuda"

    def __init__(
        self,
        model: str,
        runner: Runner,
        cache: Cache,
        *,
        vocab_size: int,
        context_length: int,
        tolerance: float,
        tokens_at_once: int,
        further: tuple[Callable[[], CudaEngine], ...] = (),
    ) -> None:
        """`tokens_at_once`: longer calls go through the network in parts, for activations take memory."""
        self.model = model
        self.vocab_size = vocab_size
        self.context_length = context_length
        self.tolerance = tolerance
        self.further = further
        """What loads the same engine on each further GPU, in a process of its own."""
        self._runner = runner
        self._table = cache.table
        self._tokens_at_once = tokens_at_once
        self._last: dict[int, _Last] = {}

    def open(self) -> int:
        return self._table.open()

    def fork(self, sequence: int) -> int:
        return self._table.fork(sequence)

    def length(self, sequence: int) -> int:
        return self._table.length(sequence)

    def run(self, reads: Sequence[Read]) -> list[list[Scores]]:
        check_reads(self, reads)
        packed = PackedReads.pack(reads)
        return self._run(packed).unpack(packed)

    def run_packed(self, reads: PackedReads) -> PackedScores:
        """As `run`, for reads whose sense was checked by whoever packed them."""
        return self._run(reads)

    def row(self, sequence: int, position: int) -> NDArray[np.float32]:
        last = self._last.get(sequence)
        index = -1
        if last is not None:
            wanted = position + last.length if position < 0 else position
            found = np.flatnonzero(last.positions == wanted)
            index = last.begin + int(found[0]) if len(found) else -1
        if last is None or index < 0:
            raise EngineError(
                f"position {position} was not wanted in the last pass of sequence {sequence}", code="engine_failed"
            )
        self._runner.enter()
        logits = self._runner.rows(_row(last.hidden, index))
        row: NDArray[np.float32] = logits.log_softmax(1)[0].cpu().numpy()
        return row

    def cut(self, sequence: int, length: int) -> None:
        check_cut(self, sequence, length)
        self._last.pop(sequence, None)
        self._table.cut(sequence, length)

    def release(self, sequence: int) -> None:
        self._last.pop(sequence, None)
        self._table.release(sequence)

    def close(self) -> None:
        self._last.clear()
        self._runner.close()

    def _run(self, reads: PackedReads) -> PackedScores:
        self._runner.enter()
        sequences = reads.sequences.tolist()
        starts = np.array([self._table.length(sequence) for sequence in sequences], np.int32)
        copies = self._table.extend(zip(sequences, reads.lengths.tolist(), strict=True))
        try:
            return self._scores(reads, sequences, starts, copies)
        except BaseException:
            for sequence, start in zip(sequences, starts.tolist(), strict=True):
                self._table.cut(sequence, start)
                self._last.pop(sequence, None)
            self._table.share_again(sequences, copies)
            raise

    def _scores(
        self, reads: PackedReads, sequences: list[int], starts: Ints, copies: list[tuple[int, int]]
    ) -> PackedScores:
        outcomes = self._read(reads, sequences, starts, copies)
        chained = self._decode(reads, sequences, starts, outcomes)
        fetched = [outcome.fetch() for outcome in outcomes]
        found = np.concatenate([part for part, _ in fetched], axis=1) if fetched else np.empty((3, 0), np.float32)
        listed = np.concatenate([part for _, part in fetched]) if fetched else np.empty(0, np.float32)
        if not np.isfinite(found[2]).all():
            raise EngineError("the model's scores are not numbers; its weights are damaged", code="engine_failed")
        hidden = [outcome.hidden for outcome in outcomes]
        ends = np.cumsum(reads.wanted_counts)
        for sequence, begin, end, length in zip(
            sequences, (ends - reads.wanted_counts).tolist(), ends.tolist(), reads.lengths.tolist(), strict=True
        ):
            self._last[sequence] = _Last(hidden, begin, reads.positions[begin:end], length)
        top_tokens, top_logprobs = self._tops(reads, hidden)
        ahead_tokens, ahead_logprobs = (part.cpu().numpy().T.reshape(-1) for part in chained)
        steps = len(chained[0])
        return PackedScores(
            found[0].view(np.int32),
            found[1],
            listed,
            top_tokens,
            top_logprobs,
            np.full(len(sequences), steps, np.int32),
            ahead_tokens,
            ahead_logprobs,
        )

    def _read(
        self, reads: PackedReads, sequences: list[int], starts: Ints, copies: list[tuple[int, int]]
    ) -> list[Outcome]:
        """The reads as forwards, of fewer tokens at once if the device has no memory for as many."""
        tried = False
        while True:
            try:
                return [self._runner.read(part) for part in self._parts(reads, sequences, starts, copies)]
            except torch.OutOfMemoryError as error:
                torch.cuda.empty_cache()
                if not tried:  # what was only kept for later may be enough
                    tried = True
                    continue
                at_once = min(self._tokens_at_once, len(reads.tokens))
                if at_once <= _FEWEST_TOKENS:
                    raise EngineError(
                        "the GPU has no memory left for a forward; free some, or load with a smaller cache_bytes",
                        code="engine_failed",
                    ) from error
                self._tokens_at_once = max(_FEWEST_TOKENS, at_once // 2)

    def _parts(
        self, reads: PackedReads, sequences: list[int], starts: Ints, copies: list[tuple[int, int]]
    ) -> list[Part]:
        ends = np.cumsum(reads.lengths, dtype=np.int64)
        begins = ends - reads.lengths
        wanted = np.repeat(begins, reads.wanted_counts) + reads.positions
        rows = np.repeat(np.arange(len(wanted), dtype=np.int32), reads.listed_counts) if len(reads.listed) else NONE
        parts = []
        for begin in range(0, len(reads.tokens), self._tokens_at_once):
            end = min(begin + self._tokens_at_once, len(reads.tokens))
            own = slice(int(np.searchsorted(ends, begin, "right")), int(np.searchsorted(begins, end, "left")))
            first = np.maximum(begins[own], begin)
            inside = slice(*np.searchsorted(wanted, (begin, end)).tolist())
            listed = slice(*np.searchsorted(rows, (inside.start, inside.stop)).tolist())
            parts.append(
                Part(
                    reads.tokens[begin:end],
                    (starts[own] + first - begins[own]).astype(np.int32),
                    (np.minimum(ends[own], end) - first).astype(np.int32),
                    (wanted[inside] - begin).astype(np.int32),
                    [self._table.blocks(sequence) for sequence in sequences[own]],
                    rows[listed] - inside.start,
                    reads.listed[listed],
                    copies if begin == 0 else [],
                )
            )
        return parts

    def _decode(
        self, reads: PackedReads, sequences: list[int], starts: Ints, outcomes: list[Outcome]
    ) -> tuple[Tensor, Tensor]:
        """What follows the reads if all of them have it decoded ahead: `[steps, sequences]`, twice; maybe no step."""
        lengths = starts + reads.lengths
        left = self.context_length - int(lengths.max(initial=0))
        steps = min(int(reads.aheads.min()) if len(sequences) else 0, left, LONGEST_CHAIN)
        if steps > 0 and len(outcomes) == 1 and len(sequences) <= 64 and (reads.wanted_counts > 0).all():
            try:
                # No copies: a sequence that was just read holds its last block alone.
                self._table.extend([(sequence, steps) for sequence in sequences])
            except EngineError:  # no room: the answers go on one by one, or make some
                steps = 0
            if steps:
                ones = np.ones(len(sequences), np.int32)
                blocks = [self._table.blocks(sequence) for sequence in sequences]
                order = np.arange(len(sequences), dtype=np.int32)
                last = torch.from_numpy(np.cumsum(reads.wanted_counts) - 1).to(outcomes[0].values.device)
                try:
                    outcomes[0] = outcomes[0].kept()
                    first = outcomes[0].argmax[last]
                    return self._runner.decode(Part(ones, lengths, ones, order, blocks), first, steps)
                except torch.OutOfMemoryError:  # the answers go on one by one
                    torch.cuda.empty_cache()
                    for sequence, length in zip(sequences, lengths.tolist(), strict=True):
                        self._table.cut(sequence, length)
        return torch.empty(0, len(sequences), dtype=torch.int32), torch.empty(0, len(sequences))

    def _tops(self, reads: PackedReads, hidden: list[Tensor]) -> tuple[Ints, NDArray[np.float32]]:
        tokens: list[int] = []
        logprobs: list[float] = []
        for index in np.flatnonzero(reads.tops).tolist():
            row = self._runner.rows(_row(hidden, index)).log_softmax(1)[0].cpu().numpy()
            count = int(reads.tops[index])
            best = top_of(row, count)
            tokens += [token for token, _ in best] + [NO_TOKEN] * (count - len(best))
            logprobs += [logprob for _, logprob in best] + [0.0] * (count - len(best))
        return np.array(tokens, np.int32), np.array(logprobs, np.float32)


def _row(hidden: list[Tensor], index: int) -> Tensor:
    """One hidden state, `[1, hidden_size]`, among those of a call's forwards."""
    for states in hidden:
        if index < len(states):
            return states[index : index + 1]
        index -= len(states)
    raise EngineError("no such hidden state", code="engine_failed")
