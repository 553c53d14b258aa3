"""Models so small that processes and libraries take most of the time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engines.random_folders import write_folder
from tiny_model import SHAPE, write_tokenizer


@pytest.fixture(scope="session")
def plain_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that Transformers reads too."""
    folder = write_tokenizer(write_folder(tmp_path_factory.mktemp("models") / "plain", SHAPE, "f32"))
    file = folder / "tokenizer_config.json"
    more = {"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "<|endoftext|>"}
    file.write_text(json.dumps(json.loads(file.read_text(encoding="utf-8")) | more), encoding="utf-8")
    return folder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder of questions."""
    import gzip

    (tmp_path / "address").mkdir()
    for name in ("aliyun_sample", "messy_dev"):
        rows = [{"text": f"{name} {row}", "expected": {"city": "天津市", "name": ""}} for row in range(8)]
        lines = "".join(json.dumps(row | {"unlabelled": ["name"]}) + "\n" for row in rows)
        (tmp_path / "address" / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    with gzip.open(tmp_path / "agnews_train.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write("".join(json.dumps({"text": f"news {row}", "label": row % 4}) + "\n" for row in range(16)))
    return tmp_path
