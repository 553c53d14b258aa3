"""Worker processes, their blocks, and what happens when they lag or die."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from copydesk.errors import CopydeskError
from copydesk.training.blocks import BlockSize, views
from copydesk.training.feeding import Feeder
from copydesk.training.recipe import Recipe, Source

SIZE = BlockSize(tokens=2048, row=512, longest=160)
RECIPE = Recipe(sources=(Source("people", "toy:people"),), block=SIZE, workers=2, replay_blocks=3, replay_at_most=2)


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))


@pytest.fixture
def feeder(toy_folder: Path) -> Iterator[Feeder]:
    with Feeder(RECIPE, toy_folder, seed=5) as feeding:
        yield feeding


def test_blocks_come_from_all_workers_and_the_folder_goes_away(feeder: Feeder) -> None:
    blocks = [feeder.next() for _ in range(6)]
    assert all(views(block, SIZE).bounds[-1] == SIZE.tokens for block in blocks)
    fresh = {block.tobytes() for block in blocks}
    assert len(fresh) == feeder.fresh
    feeder.close()
    assert not feeder.folder.exists()


def test_earlier_blocks_bridge_a_gap_but_not_for_ever(feeder: Feeder, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = [feeder.next() for _ in range(3)]
    real, dry = feeder._take, 2
    monkeypatch.setattr(feeder, "_take", lambda: None)
    for _ in range(dry):
        again = feeder.next()
        assert any(np.array_equal(again, block) for block in seen)
    assert feeder.replayed == dry
    monkeypatch.setattr(feeder, "_take", real)
    time.sleep(0.5)
    feeder.next()
    assert (feeder.fresh, feeder.replayed) == (4, dry)


def test_workers_that_die_are_quoted(toy_folder: Path) -> None:
    broken = replace(RECIPE, sources=(Source("gone", "no_such_module:f"),))
    with Feeder(broken, toy_folder, seed=0) as feeder, pytest.raises(CopydeskError, match="no_such_module"):
        feeder.next()
