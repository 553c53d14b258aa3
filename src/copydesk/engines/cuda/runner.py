"""Runs forwards: as recorded CUDA graphs where they are small, one kernel after the other where they are large.

Everything it does is put on the device's queue; nothing waits until `Outcome.fetch`. Knows no sequences: which tokens
stand where is settled by whoever hands it a `Part`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from copydesk.engines.cuda.cache import Cache
from copydesk.engines.cuda.forward import forward, forward_one
from copydesk.engines.cuda.layout import Part, Size, sections
from copydesk.engines.cuda.weights import Network

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]
Captured = TypeVar("Captured")

TOKENS = (
    *(1, 2, 4, 8, 16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 192, 224, 256, 320, 384, 448, 512, 640, 768, 896, 1024),
    *(1280, 1536, 1792, 2048, 2560, 3072, 4096),
)
"""Sizes of forwards that are recorded: below the last, launching kernels one by one takes longer than they do."""
SEQUENCES = (1, 8, 64)
SCORED_WITHIN = 256
"""Up to so many tokens a recording scores a position for each of them; above, scoring follows it."""
LISTED = 64
"""Single tokens that a recording has room for."""
NARROW = 64
"""Blocks of a sequence up to which recordings for short sequences do."""
_SMALL_TILE, _LARGE_TILE = 16, 64
_LARGE_FROM = 1024
LONGEST_CHAIN = 31
"""Tokens decoded in a row without coming back; block 0, where what is left over is written, holds one more."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a forward gave, still on the device."""

    hidden: Tensor
    """`[wanted, hidden_size]`."""
    values: Tensor
    """Float32: what `score` gives for `room` positions, `[3, room]`, then the log-probabilities of listed tokens."""
    room: int
    listed: int

    @property
    def argmax(self) -> Tensor:
        """Int32 `[wanted]`."""
        return self.values[: len(self.hidden)].view(torch.int32)

    def kept(self) -> Outcome:
        """The same, safe from recordings that are played before it is fetched: they share their memory."""
        return replace(self, values=self.values.clone())

    def fetch(self) -> tuple[Floats, Floats]:
        """`[3, wanted]` and `[listed]` on the host: here it waits for the device."""
        values: Floats = self.values.cpu().numpy()
        end = 3 * self.room
        return values[:end].reshape(3, self.room)[:, : len(self.hidden)], values[end : end + self.listed]


class _Input:
    """A layout that is filled again and again: on the host, and where it is copied to on the device."""

    def __init__(self, size: Size, device: torch.device) -> None:
        on_gpu = device.type == "cuda"
        self.size = size
        self.flat = torch.zeros(size.flat, dtype=torch.int32, device=device)
        self.batch = sections(self.flat, size)
        """The parts of `flat`."""
        self._host = torch.zeros(size.flat, dtype=torch.int32, pin_memory=on_gpu)
        self._views = sections(self._host.numpy(), size)
        self._copied = torch.cuda.Event() if on_gpu else None  # type: ignore[no-untyped-call]

    def put(self, part: Part) -> None:
        """Fill it; the copy to the device is queued."""
        if self._copied is not None:
            self._copied.synchronize()  # the copy before this one may not have been made yet
        part.fill(self._views, self.size)
        self.flat.copy_(self._host, non_blocking=True)
        if self._copied is not None:
            self._copied.record()


@dataclass(frozen=True, slots=True)
class _Recording:
    input: _Input
    graph: torch.cuda.CUDAGraph
    hidden: Tensor
    values: Tensor | None


@dataclass(frozen=True, slots=True)
class _Chain:
    input: _Input
    step: Tensor
    tokens: Tensor
    chances: Tensor
    graph: torch.cuda.CUDAGraph | None
    play: Callable[[], None]


class Runner:
    """Forwards of one network over one cache."""

    def __init__(self, network: Network, cache: Cache, operations: ModuleType, *, blocks: int, record: bool) -> None:
        """`blocks` is the most that a sequence may hold; without `record`, nothing is recorded."""
        self._network, self._cache, self._operations = network, cache, operations
        self._device = network.embedding.device
        self._blocks = blocks
        self._record = record
        self._recordings: dict[Size, _Recording] = {}
        self._chains: dict[tuple[int, int], _Chain] = {}
        self._pool: Any = None

    def enter(self) -> None:
        """Make the device the calling thread's: each thread has one of its own."""
        if self._device.type == "cuda":
            torch.cuda.set_device(self._device)

    def read(self, part: Part) -> Outcome:
        """Read the tokens of a part and score its wanted positions."""
        size = self._recorded_size(part)
        if size is None:
            return self._read_now(part)
        recording = self._recordings.get(size)
        if recording is None:
            recording = self._recordings[size] = self._make_recording(size)
        recording.input.put(part)
        recording.graph.replay()
        part.copies.clear()
        count = len(part.wanted)
        hidden = recording.hidden[:count].clone()  # the next replay writes over it
        if recording.values is None:
            return self._scored(hidden, recording.input.batch, len(part.listed_rows))
        return Outcome(hidden, recording.values, size.wanted, len(part.listed_rows))

    def decode(self, part: Part, first: Tensor, steps: int) -> tuple[Tensor, Tensor]:
        """Decode greedily after a forward: tokens int32 and log-probabilities `[steps, sequences]`, on the device.

        `part` has one token a sequence, whose value does not count: `first`, int32 `[sequences]`, holds them. At most
        `LONGEST_CHAIN` steps; the sequences' blocks have room for all of them.
        """
        chain = self._chain(part)
        count = len(part.tokens)
        chain.input.put(part)
        chain.input.batch["tokens"][:count].copy_(first)
        chain.step.zero_()
        for _ in range(steps):
            chain.play()
        return chain.tokens[:steps, :count].clone(), chain.chances[:steps, :count].clone()

    def rows(self, hidden: Tensor) -> Tensor:
        """Logits, float32 `[rows, vocab_size]`, of hidden states."""
        logits: Tensor = self._operations.project(hidden, self._network.projection)
        return logits

    def prepare(self, tokens: int) -> None:
        """Record the forwards of one short sequence, up to so many tokens, before they are needed."""
        if self._record:
            for count in TOKENS[: TOKENS.index(tokens) + 1]:
                size = _size(count, 1, min(NARROW, self._blocks), count)
                if size not in self._recordings:
                    self._recordings[size] = self._make_recording(size)

    def close(self) -> None:
        """Give the memory of recordings, cache and weights back; nothing can be read any more."""
        self._recordings.clear()
        self._chains.clear()
        self._pool = None
        with suppress(AttributeError):  # closed before
            del self._network, self._cache
        if self._device.type == "cuda":
            torch.cuda.empty_cache()

    def _recorded_size(self, part: Part) -> Size | None:
        """The size of the recording that has room for a part; None if none has."""
        count = len(part.tokens)
        if not self._record or not count or count > TOKENS[-1] or part.sequences > min(count, SEQUENCES[-1]):
            return None
        if len(part.listed_rows) > LISTED:
            return None
        tokens = next(size for size in TOKENS if size >= count)
        sequences = next(size for size in SEQUENCES if size >= part.sequences)
        wanted = tokens
        if tokens > SCORED_WITHIN:
            wanted = min(tokens, 1 << max(4, (len(part.wanted) - 1).bit_length()))
        return _size(tokens, sequences, self._width(part), wanted)

    def _width(self, part: Part) -> int:
        return min(NARROW, self._blocks) if max(map(len, part.blocks)) <= NARROW else self._blocks

    def _read_now(self, part: Part) -> Outcome:
        size = part.size(_SMALL_TILE if len(part.tokens) < _LARGE_FROM else _LARGE_TILE)
        host = torch.empty(size.flat, dtype=torch.int32, pin_memory=self._device.type == "cuda")
        part.fill(sections(host.numpy(), size), size)
        batch = sections(host.to(self._device, non_blocking=True), size)
        self._copy_blocks(batch)
        part.copies.clear()
        return self._scored(self._forward(batch, size), batch, len(part.listed_rows))

    def _scored(self, hidden: Tensor, batch: Mapping[str, Tensor], listed: int) -> Outcome:
        return Outcome(hidden, self._values(hidden, batch, listed), len(hidden), listed)

    def _values(self, hidden: Tensor, batch: Mapping[str, Tensor], listed: int) -> Tensor:
        found = self._operations.score(hidden, self._network.projection)
        if not listed:
            return found.view(-1)  # type: ignore[no-any-return]
        rows, tokens = batch["listed_rows"][:listed], batch["listed_tokens"][:listed]
        chosen = self._operations.listed(hidden, self._network.projection, found[2], rows, tokens)
        return torch.cat([found.view(-1), chosen])

    def _copy_blocks(self, batch: Mapping[str, Tensor]) -> None:
        self._operations.copy_blocks(self._cache.keys, self._cache.values, batch["origins"], batch["targets"])

    def _forward(self, batch: Mapping[str, Tensor], size: Size) -> Tensor:
        if size.tokens == 1 and self._record:
            return forward_one(self._network, self._cache, batch)
        return forward(self._network, self._cache, batch, size.tile, self._operations)

    def _make_recording(self, size: Size) -> _Recording:
        read = _Input(size, self._device)

        def compute() -> tuple[Tensor, Tensor | None]:
            self._copy_blocks(read.batch)
            hidden = self._forward(read.batch, size)
            inside = size.tokens <= SCORED_WITHIN
            return hidden, self._values(hidden, read.batch, size.listed) if inside else None

        graph, (hidden, values) = self._captured(compute)
        return _Recording(read, graph, hidden, values)

    def _chain(self, part: Part) -> _Chain:
        count = 1 << (len(part.tokens) - 1).bit_length()
        width = self._width(part)
        if (count, width) not in self._chains:
            self._chains[count, width] = self._make_chain(Size(count, count, count, width, count, 0, _SMALL_TILE))
        return self._chains[count, width]

    def _make_chain(self, size: Size) -> _Chain:
        read = _Input(size, self._device)
        step = torch.zeros(1, dtype=torch.int32, device=self._device)
        tokens = torch.zeros(LONGEST_CHAIN + 1, size.tokens, dtype=torch.int32, device=self._device)
        chances = torch.zeros(LONGEST_CHAIN + 1, size.tokens, dtype=torch.float32, device=self._device)
        # One tile a token: both move on together.
        batch = read.batch | {"tile_positions": read.batch["positions"]}

        def compute() -> None:
            hidden = self._forward(batch, size)
            found = self._operations.score(hidden, self._network.projection)
            self._operations.advance(
                batch["tokens"], batch["positions"], found[0].view(torch.int32), found[1], step, tokens, chances
            )

        if not self._record:
            return _Chain(read, step, tokens, chances, None, compute)
        graph, _ = self._captured(compute)
        return _Chain(read, step, tokens, chances, graph, graph.replay)

    def _captured(self, compute: Callable[[], Captured]) -> tuple[torch.cuda.CUDAGraph, Captured]:
        """A recording of `compute`, which runs once before: kernels compile when they are first launched."""
        side = torch.cuda.Stream(self._device)  # type: ignore[no-untyped-call]
        side.wait_stream(torch.cuda.current_stream(self._device))
        with torch.cuda.stream(side):
            compute()
        torch.cuda.current_stream(self._device).wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self._pool, capture_error_mode="thread_local"):
            outcome = compute()
        self._pool = self._pool or graph.pool()
        return graph, outcome


def _size(tokens: int, sequences: int, width: int, wanted: int) -> Size:
    tile = _SMALL_TILE if tokens < _LARGE_FROM else _LARGE_TILE
    sequences = min(sequences, tokens)
    tiles = -(-tokens // tile) + (sequences if sequences > 1 else 0)
    return Size(tokens, tiles, sequences, width, wanted, LISTED, tile)
