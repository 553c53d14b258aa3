"""A process that makes training blocks: draws examples from the mixture, packs them, leaves files for the trainer.

The folder it is given is the whole protocol: `recipe.json` to read, `progress` (a number between 0 and 1) that the
trainer rewrites, `block-*.bin` files to leave there, `stop` to end at. Imports no torch: a dozen start at once.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from copydesk.errors import UsageError
from copydesk.models.tokenizer import Tokenizer
from copydesk.training.blocks import BlockSize
from copydesk.training.examples import Example
from copydesk.training.packing import Encoder, Segment, pack
from copydesk.training.recipe import Recipe, Source, read_recipe

_CHUNK = 32
"""Examples drawn from a source at a time."""
_SPARE = 1.15
"""Tokens held before a block is packed, as a multiple of the block: the choice that packing has."""
Examples = Iterator[Example | str]


def generator(source: Source) -> Callable[..., Examples]:
    """The function that a source names. Errors: `UsageError` when there is none."""
    module, _, name = source.generator.partition(":")
    try:
        found: Callable[..., Examples] = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"Source {source.name!r}: {source.generator!r} cannot be imported ({error}).") from error
    return found


class Mixer:
    """Draws segments so that every source keeps its share of the tokens. The same seed draws the same."""

    def __init__(self, recipe: Recipe, tokenizer: Tokenizer, seed: int) -> None:
        self.recipe, self.encoder = recipe, Encoder(tokenizer, recipe.block.longest)
        self._rng = random.Random(seed)
        self._numpy = np.random.default_rng(seed)
        self._streams = [self._open(source) for source in recipe.sources]
        self._owed = [0.0] * len(recipe.sources)
        self._pool: list[Segment] = []
        self._pooled = 0

    def block(self, progress: float) -> np.ndarray:
        """The next packed block, with the mixture of `progress`."""
        size: BlockSize = self.recipe.block
        shares = [source.share(progress) for source in self.recipe.sources]
        while self._pooled < size.tokens * _SPARE:
            index = max((i for i, share in enumerate(shares) if share > 0), key=self._owed.__getitem__)
            drawn = self._draw(index)
            tokens = sum(len(segment.tokens) for segment in drawn)
            self._owed = [owed + tokens * share / sum(shares) for owed, share in zip(self._owed, shares, strict=True)]
            self._owed[index] -= max(1, tokens)
            self._pool += drawn
            self._pooled += tokens
        self._rng.shuffle(self._pool)
        flat = pack(self._pool, size, self._numpy)
        self._pooled = sum(len(segment.tokens) for segment in self._pool)
        return flat

    def _draw(self, index: int) -> list[Segment]:
        source = self.recipe.sources[index]
        examples: list[Example | str] = []
        while len(examples) < _CHUNK:
            example = next(self._streams[index], None)
            if example is None:
                self._streams[index] = self._open(source)
                example = next(self._streams[index], None)
                if example is None:
                    raise UsageError(f"Source {source.name!r} yields nothing.")
            examples.append(example)
        return self.encoder.encode(examples, index, source.weighting, self._rng)

    def _open(self, source: Source) -> Examples:
        return iter(generator(source)(random.Random(self._rng.getrandbits(64)), **source.options))


def run(folder: Path, index: int, seed: int, ahead: int = 4) -> None:
    """Makes blocks until `stop` appears or the trainer is gone, at most `ahead` unread ones at a time."""
    parent = os.getppid()
    settings = json.loads((folder / "worker.json").read_text(encoding="utf-8"))
    mixer = Mixer(read_recipe(folder / "recipe.json"), Tokenizer(Path(settings["tokenizer"])), seed + 7919 * index)
    unread: list[Path] = []
    number = 0
    while True:
        block = mixer.block(_progress(folder))
        while len(unread := [path for path in unread if path.exists()]) >= ahead:
            if (folder / "stop").exists() or os.getppid() != parent:
                return
            time.sleep(0.01)
        if (folder / "stop").exists() or os.getppid() != parent:
            return
        path = folder / f"block-{number:06d}-{index:03d}.bin"
        hidden = path.with_suffix(".part")
        block.tofile(hidden)
        hidden.rename(path)
        unread.append(path)
        number += 1


def _progress(folder: Path) -> float:
    try:
        return float((folder / "progress").read_text() or 0.0)
    except (FileNotFoundError, ValueError):
        return 0.0


def main(arguments: list[str]) -> None:
    folder, index, seed = arguments
    run(Path(folder), int(index), int(seed))


if __name__ == "__main__":
    main(sys.argv[1:])
