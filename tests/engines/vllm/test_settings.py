"""How vLLM is set up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from copydesk.engines.vllm.settings import LONGEST, settings
from copydesk.errors import ModelError, UsageError

KNOWN = frozenset(
    {
        *("model", "dtype", "max_model_len", "gpu_memory_utilization", "enable_prefix_caching", "enable_lora"),
        *("max_lora_rank", "disable_log_stats", "trust_remote_code"),
    }
)
GIB = 1 << 30


def folder(path: Path, size: int = 100, **config: Any) -> Path:
    path.mkdir(exist_ok=True)
    (path / "config.json").write_text(json.dumps({"max_position_embeddings": 40960, **config}))
    with (path / "model.safetensors").open("wb") as file:
        file.truncate(size)  # a file of holes takes no room
    return path


def set_up(path: Path, memory: int | None = None, **options: Any) -> dict[str, Any]:
    return settings(path, KNOWN, lambda: memory, **options)


def test_by_default(tmp_path: Path) -> None:
    assert set_up(folder(tmp_path / "m")) == {
        "model": str(tmp_path / "m"),
        "dtype": "auto",
        "max_model_len": LONGEST,
        "enable_prefix_caching": True,
        "disable_log_stats": True,
        "trust_remote_code": False,
    }


@pytest.mark.parametrize(
    ("size", "memory", "share"),
    [
        (GIB, 24 * GIB, 0.221),
        (GIB, 80 * GIB, 0.2),
        (16 * GIB, 24 * GIB, 0.9),
        (GIB, None, None),
    ],
)
def test_no_more_memory_than_a_small_model_needs(
    tmp_path: Path, size: int, memory: int | None, share: float | None
) -> None:
    assert set_up(folder(tmp_path, size), memory).get("gpu_memory_utilization") == share


def test_as_told(tmp_path: Path) -> None:
    given = set_up(folder(tmp_path), 24 * GIB, dtype="bfloat16", context_length=512, memory_share=0.7)
    assert (given["dtype"], given["max_model_len"], given["gpu_memory_utilization"]) == ("bfloat16", 512, 0.7)


def test_the_models_own_limit(tmp_path: Path) -> None:
    path = folder(tmp_path, max_position_embeddings=4096)
    assert set_up(path)["max_model_len"] == 4096
    with pytest.raises(UsageError, match="at most 4096"):
        set_up(path, context_length=8192)
    assert (
        set_up(folder(tmp_path, max_position_embeddings=None, text_config={"max_position_embeddings": 99}))[
            "max_model_len"
        ]
        == 99
    )
    assert set_up(folder(tmp_path, max_position_embeddings=None))["max_model_len"] == LONGEST


@pytest.mark.parametrize(("rank", "allowed"), [(1, 8), (8, 8), (9, 16), (64, 64)])
def test_an_adapter(tmp_path: Path, rank: int, allowed: int) -> None:
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    (adapter / "adapter_config.json").write_text(json.dumps({"r": rank}))
    given = set_up(folder(tmp_path / "m"), adapter=adapter)
    assert (given["enable_lora"], given["max_lora_rank"]) == (True, allowed)


def test_no_adapter(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no adapter_config"):
        set_up(folder(tmp_path / "m"), adapter=tmp_path)
    (tmp_path / "adapter_config.json").write_text('{"r": 4096}')
    with pytest.raises(ModelError, match="rank 4096"):
        set_up(folder(tmp_path / "m"), adapter=tmp_path)


def test_further_arguments(tmp_path: Path) -> None:
    given = set_up(folder(tmp_path), engine_args={"dtype": "float16", "disable_log_stats": False})
    assert (given["dtype"], given["disable_log_stats"]) == ("float16", False)
    with pytest.raises(UsageError, match="no argument bogus, fake"):
        set_up(folder(tmp_path), engine_args={"fake": 1, "bogus": 2})


def test_a_version_without_a_setting_is_not_given_it(tmp_path: Path) -> None:
    assert set(settings(folder(tmp_path), {"model", "max_model_len"}, lambda: None)) == {"model", "max_model_len"}
