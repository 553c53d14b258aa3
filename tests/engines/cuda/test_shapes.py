"""Counts of a model's heads."""

from __future__ import annotations

from pathlib import Path

from copydesk.engines.cuda.shapes import Heads
from copydesk.models.config import ModelConfig
from engines.random_folders import Shape, write_folder


def test_heads_are_the_configurations(tmp_path: Path) -> None:
    config = ModelConfig.read(write_folder(tmp_path, Shape(heads=6, kv_heads=3, head_dim=16)))
    assert Heads.of(config) == Heads(query=6, kv=3, size=16)
