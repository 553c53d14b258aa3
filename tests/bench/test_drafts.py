"""The comparison as a whole, with processes that only say what they were asked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from copydesk.bench import drafts
from copydesk.bench.drafts import Bench, Sizes, step_bytes
from copydesk.bench.llamacpp import LlamaCpp
from copydesk.bench.work import Done, Work
from copydesk.cli import main
from copydesk.models.config import ModelConfig

MS = {"drafted": 10.0, "undrafted": 60.0, "hostile": 63.0}
PASSES = {"drafted": 1, "undrafted": 46, "hostile": 46}


class Peers:
    """Stands in for `LlamaCpp`."""

    WHEEL, BUILD = LlamaCpp.WHEEL, LlamaCpp.BUILD
    names = (WHEEL, BUILD)

    def __init__(self, folder: Path, gguf: Path, build: Path | None, threads: int) -> None:
        self.folder = folder

    def choose(self, texts: Sequence[str]) -> None:
        self.chosen = texts

    def answer(self, name: str, texts: Sequence[str], warm_up: Sequence[str]) -> Done:
        return _done(texts, 70.0, 65)

    def description(self) -> dict[str, Any]:
        return {name: {"version": "1", "speculation": None} for name in self.names}


def _done(texts: Sequence[str], ms: float, passes: int) -> Done:
    return Done(({},) * len(texts), (ms,) * len(texts), (passes,) * len(texts), ms * len(texts) / 1e3, len(texts) / 4)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Work]:
    works: list[Work] = []

    def done(work: Work) -> Done:
        works.append(work)
        return _done(work.texts, MS[work.mode] / (2 if work.in_flight > 1 else 1), PASSES[work.mode])

    monkeypatch.setattr(drafts, "done", done)
    monkeypatch.setattr(drafts, "LlamaCpp", Peers)
    monkeypatch.setattr(drafts.machine, "_BYTES", 2**22)
    return works


@pytest.fixture
def bench(tmp_path: Path, tiny_model: Path) -> Bench:
    (tmp_path / "address").mkdir()
    for name in ("aliyun_sample", "messy_dev", "waybill_dev"):
        rows = [json.dumps({"text": f"{name} {row}", "expected": {}}) + "\n" for row in range(4)]
        (tmp_path / "address" / f"{name}.jsonl").write_text("".join(rows), encoding="utf-8")
    (tmp_path / "a.gguf").touch()
    sizes = Sizes(repeats=2, latency=3, throughput=5, worst=2, warm_up=1)
    return Bench(tmp_path, wide=tiny_model, gguf=tmp_path / "a.gguf", sizes=sizes)


def test_every_row_of_the_table(bench: Bench, asked: list[Work], tmp_path: Path) -> None:
    report = bench.run(tmp_path / "page.md")
    assert json.loads(json.dumps(report)) == report
    medians = {row["name"]: (row["ratio"] or row["ours"])["median"] for row in report["rows"]}
    assert medians == {
        "passes": 1.0,
        "grammar": 0.25,
        "latency against no draft": 6.0,
        "latency against llama.cpp's wheel": 7.0,
        "latency against llama.cpp's build": 7.0,
        "throughput against drafted, one at a time": 2.0,
        "throughput against no draft, batched": 6.0,
        "worst case": 1.05,
    }
    assert [row["name"] for row in report["rows"] if not row["reached"]] == ["latency against llama.cpp's wheel"]
    assert "| 7x | **no** |" in (tmp_path / "page.md").read_text(encoding="utf-8")


def test_those_compared_take_turns_on_the_same_lines(bench: Bench, asked: list[Work]) -> None:
    bench.run()
    latency = [work for work in asked if work.model == str(bench.wide)]
    assert [work.mode for work in latency] == ["drafted", "undrafted", "undrafted", "drafted"]
    assert len({work.texts for work in latency}) == 1
    assert [work.mode for work in asked if work.time_grammar] == ["drafted", "drafted"]
    assert [work.in_flight for work in asked if len(work.texts) == 5] == [64, 1, 64, 1, 64, 64]


def test_the_command_prints_one_object(
    bench: Bench, asked: list[Work], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    options = ["--data", str(bench.data), "--wide", str(bench.wide), "--gguf", str(bench.gguf), "--seed", "3"]
    assert main(["bench", "drafts", *options, "--quick", "--out", "page.md"]) == 0
    captured = capsys.readouterr()
    report = json.loads(captured.out)
    assert (report["seed"], report["sizes"]["repeats"]) == (3, 1)
    assert "worst case, repeat 1 of 1" in captured.err
    assert (tmp_path / "page.md").is_file()


def test_bytes_that_a_pass_reads(tiny_model: Path) -> None:
    config = ModelConfig.read(tiny_model)
    attention = 2 * config.head_dim * (config.num_attention_heads + config.num_key_value_heads)
    layer = config.hidden_size * (attention + 3 * config.intermediate_size)
    assert step_bytes(config) == config.num_hidden_layers * layer + config.vocab_size * config.hidden_size
