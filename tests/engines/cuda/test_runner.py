"""Which forwards are recorded, and in which size; that recordings compute the same is checked on a GPU."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from copydesk.engines import cuda
from copydesk.engines.cuda.layout import Part, Size
from copydesk.engines.cuda.runner import LISTED, NARROW, SEQUENCES, TOKENS, Runner, _Input
from engines.random_folders import Shape, write_folder


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    engine = cuda.load(write_folder(tmp_path / "random", Shape()), device="cpu", dtype="float32")
    engine._runner._record = True  # only asked for sizes
    engine._runner._blocks = 1280
    return engine._runner


def part(lengths: list[int], *, blocks: int = 1, wanted: int = 1, listed: int = 0) -> Part:
    numbers: Any = np.array(lengths, np.int32)
    total = int(numbers.sum())
    none = np.zeros(listed, np.int32)
    return Part(
        np.zeros(total, np.int32),
        numbers * 0,
        numbers,
        np.arange(wanted, dtype=np.int32),
        [[1] * blocks for _ in lengths],
        none,
        none,
    )


@pytest.mark.parametrize("lengths", [[1], [2], [100], [256], [60, 60], [1] * 64, [50] * 64, [4096]])
def test_a_recording_has_room_for_the_part(lengths: list[int], runner: Runner) -> None:
    own = part(lengths, wanted=min(sum(lengths), 200))
    size = runner._recorded_size(own)
    assert size is not None
    least = own.size(size.tile)
    for name in ("tokens", "tiles", "sequences", "width", "wanted", "listed"):
        assert getattr(size, name) >= getattr(least, name), name
    assert size.tokens in TOKENS
    assert size.sequences in (*SEQUENCES, size.tokens)


def test_a_recording_has_room_for_the_copies_of_a_call_that_was_split(runner: Runner) -> None:
    own = replace(part([2048]), copies=[(1, 2)] * 12)
    size = runner._recorded_size(own)
    assert size is not None
    assert size.sequences >= 12
    assert runner._recorded_size(replace(own, copies=[(1, 2)] * 65)) is None
    assert runner._recorded_size(replace(part([2]), copies=[(1, 2)] * 3)) is None


@pytest.mark.parametrize(
    "own", [part([4097]), part([1] * 65), part([8], listed=LISTED + 1)], ids=["long", "many", "many listed"]
)
def test_what_is_too_large_is_not_recorded(own: Part, runner: Runner) -> None:
    assert runner._recorded_size(own) is None


def test_long_sequences_have_recordings_of_their_own(runner: Runner) -> None:
    short, long = (runner._recorded_size(part([8], blocks=count)) for count in (NARROW, NARROW + 1))
    assert short is not None
    assert long is not None
    assert (short.width, long.width) == (NARROW, 1280)


def test_few_sizes_cover_all(runner: Runner) -> None:
    """Each takes memory and a moment to record."""
    sizes: set[Size | None] = {runner._recorded_size(part([count])) for count in range(1, 4097)}
    assert len(sizes) == len(TOKENS)
    assert None not in sizes


def test_an_input_is_not_filled_again_while_it_is_copied() -> None:
    """The device copies from the host's memory whenever it comes to that."""
    events: list[str] = []

    class Event:
        def synchronize(self) -> None:
            events.append(f"waits with {first()}")

        def record(self) -> None:
            events.append(f"copies {first()}")

    def first() -> int:
        return int(own._views["tokens"][0])

    own = _Input(part([2]).size(16), torch.device("cpu"))
    own._copied = Event()  # type: ignore[assignment]
    for token in (7, 8):
        own.put(replace(part([2]), tokens=np.array([token, token], np.int32)))
    assert events == ["waits with 0", "copies 7", "waits with 7", "copies 8"]
    assert own.batch["tokens"].tolist() == [8, 8]
