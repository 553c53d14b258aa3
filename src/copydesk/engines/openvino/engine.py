"""The engine that the desk sees: sequences of the backbone, scores of the head.

`load` decides how a folder's weights are stored and how exactly they are computed with. Knows no tokenizer.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from copydesk.engines.cores import available_cores
from copydesk.engines.openvino.backbone import Backbone, Segment
from copydesk.engines.openvino.compression import Bits, Matrix, compress
from copydesk.engines.openvino.graph import build_backbone
from copydesk.engines.openvino.head import Head, Scored
from copydesk.engines.openvino.paged import PagedBackbone
from copydesk.engines.openvino.runtime import EXACT, FAST, FAST_4_BIT, HALF, Setting, multiplies_bf16
from copydesk.engines.openvino.selftest import check
from copydesk.engines.openvino.stateful import StatefulBackbone
from copydesk.engines.protocol import Read, Scores
from copydesk.engines.tensors import Tensors
from copydesk.engines.validation import check_cut, check_reads
from copydesk.errors import EngineError
from copydesk.models.config import ModelConfig
from copydesk.models.weights import Weights

CACHE_BYTES = 2 * 2**30
"""Default bound of the KV cache; the system commits it only as it fills."""
_LARGE = 100_000_000
"""Weights from which a model is compressed to 8 bits and computed fast unless the caller says otherwise."""
_TOKENS_AT_ONCE = 2048
"""Longer reads go through the network in parts: activations take memory."""


class OpenVinoEngine:
    """`Engine` on a CPU; see the protocol for what its methods promise.

    A `KeyError` means that the handle was released or never opened.
    """

    name = "openvino"

    def __init__(
        self,
        model: str,
        backbone: Backbone,
        head: Head,
        *,
        context_length: int,
        tolerance: float,
        notes: tuple[str, ...],
    ) -> None:
        self.model = model
        self.vocab_size = head.vocab_size
        self.context_length = min(context_length, backbone.capacity)
        self.tolerance = tolerance
        self.notes = notes
        """What a user should know of how this engine runs here, a sentence each; empty when all is as it should be."""
        self._backbone = backbone
        self._head = head
        # Of each sequence's last pass: where the scores of which position lie.
        self._last: dict[int, tuple[Scored, dict[int, int]]] = {}

    def open(self) -> int:
        return self._backbone.open()

    def fork(self, sequence: int) -> int:
        return self._backbone.fork(sequence)

    def length(self, sequence: int) -> int:
        return self._backbone.length(sequence)

    def run(self, reads: Sequence[Read]) -> list[list[Scores]]:
        check_reads(self, reads)
        before = [self._backbone.length(read.sequence) for read in reads]
        try:
            hidden = self._read(reads)
            scored = self._head.score(hidden, [one for read in reads for one in read.wanted])
        except BaseException:
            for read, length in zip(reads, before, strict=True):
                self._backbone.cut(read.sequence, length)
            raise
        result, begin = [], 0
        for read in reads:
            places = {one.position: begin + i for i, one in enumerate(read.wanted)}
            self._last[read.sequence] = scored, places | {p - len(read.tokens): i for p, i in places.items()}
            result.append(scored.scores[begin : begin + len(read.wanted)])
            begin += len(read.wanted)
        return result

    def row(self, sequence: int, position: int) -> NDArray[np.float32]:
        scored, indices = self._last.get(sequence, (None, {}))
        if scored is None or position not in indices:
            raise EngineError(
                f"position {position} was not wanted in the last pass of sequence {sequence}", code="engine_failed"
            )
        return self._head.row(scored, indices[position])

    def cut(self, sequence: int, length: int) -> None:
        check_cut(self, sequence, length)
        self._last.pop(sequence, None)
        self._backbone.cut(sequence, length)

    def release(self, sequence: int) -> None:
        self._last.pop(sequence, None)
        self._backbone.release(sequence)

    def close(self) -> None:
        self._last.clear()
        self._head.close()
        self._backbone.close()

    def _read(self, reads: Sequence[Read]) -> NDArray[np.float32]:
        """Hidden states of all wanted positions, `[positions, hidden_size]`."""
        hidden: list[list[NDArray[np.float32]]] = [[] for _ in reads]
        for part in _parts(reads):
            states, begin = self._backbone.read([segment for _, segment in part]), 0
            for index, segment in part:
                hidden[index].append(states[begin : begin + len(segment.wanted)])
                begin += len(segment.wanted)
        found = [states for parts in hidden for states in parts]
        return np.concatenate(found) if found else np.empty((0, 0), np.float32)


def load(
    folder: Path,
    *,
    bits: Bits | None = None,
    exact: bool | None = None,
    context_length: int | None = None,
    threads: int | None = None,
    cache_bytes: int = CACHE_BYTES,
) -> OpenVinoEngine:
    """The engine over the model in `folder` (`config.json` and safetensors).

    `bits`: 8 or 4 compress on load, 16 leaves the weights as they stand; by default large models (from 100 million
    weights) get 8 and others stay as they are. `exact`: every sum in fp32; by default only where it is cheap.
    `context_length`: the most tokens a sequence may hold, by default the model's own limit. `threads`: by default the
    physical cores that this process may use. `cache_bytes`: bound of the KV cache.
    Errors: `ModelError` for the folder, `EngineError` for OpenVINO, `UsageError` for too few `cache_bytes`.
    """
    config = ModelConfig.read(folder)
    tensors = Tensors(Weights(folder), config)
    large = tensors.count >= _LARGE
    stored: Bits = bits or (8 if large else 16)
    threads = threads or available_cores()
    # Gathered and projected with, the embedding suffers most from few bits.
    compact: Bits = 8 if stored == 4 else stored
    embedding = compress(tensors.embedding(), compact)
    projection = embedding if config.tie_word_embeddings else compress(tensors.projection(), compact)
    setting = EXACT if exact or (exact is None and not large) else _fast_setting(stored, embedding)
    head = Head(projection, setting, threads)
    notes: tuple[str, ...] = ()
    backbone: Backbone
    try:
        model = build_backbone(tensors, config, embedding, stored)
        tensors.check_all_picked()
        backbone = PagedBackbone(model, config, setting, threads, cache_bytes)
        check(backbone, head.vocab_size, setting)
    except EngineError as error:
        notes = (f"runs without paged attention, sequences one after the other, because {error}",)
        backbone = StatefulBackbone(build_backbone(tensors, config, embedding, stored), config, setting, threads)
    return OpenVinoEngine(
        config.name,
        backbone,
        head,
        context_length=min(context_length or config.max_position_embeddings, config.max_position_embeddings),
        tolerance=setting.tolerance,
        notes=notes,
    )


def _fast_setting(bits: Bits, embedding: Matrix) -> Setting:
    if bits == 4:
        return FAST_4_BIT
    if embedding.kind == "i8":
        return FAST
    return HALF if multiplies_bf16() else EXACT


def _parts(reads: Sequence[Read]) -> list[list[tuple[int, Segment]]]:
    """The reads as engine calls of at most `_TOKENS_AT_ONCE` tokens, each segment with the index of its read."""
    parts: list[list[tuple[int, Segment]]] = []
    room = 0
    for index, read in enumerate(reads):
        begin = 0
        while begin < len(read.tokens):
            if room == 0:
                parts.append([])
                room = _TOKENS_AT_ONCE
            end = min(begin + room, len(read.tokens))
            wanted = [one.position - begin for one in read.wanted if begin <= one.position < end]
            parts[-1].append((index, Segment(read.sequence, read.tokens[begin:end], wanted)))
            room -= end - begin
            begin = end
    return parts
