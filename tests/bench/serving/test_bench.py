"""The comparison as a whole, with servers and clients that only say what they were told."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from copydesk.bench.serving import bench as whole
from copydesk.bench.serving.bench import Bench, Sizes
from copydesk.bench.serving.clients import Load, Reply, Window
from copydesk.bench.serving.modes import Mode
from copydesk.bench.serving.servers import LlamaCpp, Running
from copydesk.cli import main
from copydesk.errors import CopydeskError

SIZES = Sizes(repeats=2, clients=(1, 4), slots=(2, 3))
TWO, THREE = "2 slots, 1 thread", "3 slots, 1 thread"
RATES = {"ours": 40, TWO: 10, THREE: 20, f"{THREE}, ngram-simple": 5}


@dataclass
class Told:
    """What was started, and what was asked of it."""

    starts: list[str] = field(default_factory=list)
    options: list[list[str]] = field(default_factory=list)
    asked: list[tuple[str, str, int, float, tuple[str, ...]]] = field(default_factory=list)
    """Server, job, clients, seconds, texts."""
    fails_after: int = 10**6


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    told = Told()

    @contextmanager
    def ours(options: list[str]) -> Iterator[Running]:
        told.starts.append("ours")
        told.options.append(options)
        yield Running("copydesk", "ours", {}, 0)

    @contextmanager
    def start(peer: LlamaCpp, mode: Mode, connections: int) -> Iterator[Running]:
        assert connections == 4
        told.starts.append(str(mode))
        yield Running("llama.cpp", str(mode), {}, 0)

    def drive(
        url: str,
        headers: Mapping[str, str],
        texts: Iterator[str],
        body: Callable[[str], bytes],
        load: Load,
        processor_seconds: Callable[[], float],
    ) -> Window:
        if len(told.asked) == told.fails_after:
            raise CopydeskError("stopped here")
        some = list(itertools.islice(texts, RATES[url] // 4))
        job = some[0].split()[0]
        told.asked.append((url, job, load.clients, load.seconds, tuple(some[:5])))
        content = {"news": "World", "address": "{}"}[job]
        answer = json.dumps({"choices": [{"message": {"content": content}}], "usage": {"prompt_tokens": 7}}).encode()
        return Window(tuple(Reply(text, 200, answer, 5.0) for text in some), len(some) / RATES[url], 0.0, 0.0)

    monkeypatch.setattr(whole, "ours", ours)
    monkeypatch.setattr(LlamaCpp, "start", start)
    monkeypatch.setattr(LlamaCpp, "version", "1")
    monkeypatch.setattr(whole, "drive", drive)
    monkeypatch.setattr(whole, "available_cores", lambda: 1)
    monkeypatch.setattr(whole.machine, "_BYTES", 2**22)
    return told


@pytest.fixture
def gguf(tmp_path: Path) -> Path:
    (tmp_path / "a.gguf").touch()
    return tmp_path / "a.gguf"


def test_every_row(data: Path, gguf: Path, told: Told, tmp_path: Path) -> None:
    report = Bench(data, gguf=gguf, sizes=SIZES).run(tmp_path / "page.md")
    json.dumps(report, allow_nan=False)
    found = [(row["job"], row["clients"], row["server"]) for row in report["rows"]]
    assert found == list(itertools.product(("address", "news"), (1, 4), ("copydesk", "llama.cpp")))
    assert {row["per_second"]["median"] for row in report["rows"]} == {40.0, 20.0}
    assert {row["times_the_other"]["median"] for row in report["rows"] if row["server"] == "copydesk"} == {2.0}
    assert report["peer"]["used"] == {THREE: [1, 4]}
    for agreed in report["agreement"].values():
        assert agreed["compared"] == agreed["equal"] == agreed["equal_prompts"] > 0
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert page.count("| addresses |") == page.count("| news labels |") == 4
    assert "<!-- load: begin -->" in page


def test_turns(data: Path, gguf: Path, told: Told) -> None:
    Bench(data, gguf=gguf, sizes=SIZES).run()
    assert told.starts == [TWO, THREE, f"{THREE}, ngram-simple", "ours", THREE, THREE, "ours"]
    assert {seconds for *_, seconds, _ in told.asked[:6]} == {SIZES.choosing}
    measured = told.asked[6:]
    assert [clients for _, _, clients, _, _ in measured] == [1, 4] * 8
    assert {seconds for *_, seconds, _ in measured} == {SIZES.seconds}
    first = [texts for _, job, clients, _, texts in measured if (job, clients) == ("address", 1)]
    assert first[0] == first[1] != first[2] == first[3]


def test_what_was_measured_is_kept(data: Path, gguf: Path, told: Told, tmp_path: Path) -> None:
    told.fails_after = 9
    with pytest.raises(CopydeskError, match="stopped here"):
        Bench(data, gguf=gguf, sizes=SIZES).run(tmp_path / "page.md")
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert [page.count(f"| {job} |") for job in ("addresses", "news labels")] == [2, 1]


@pytest.mark.parametrize("quick", [True, False])
def test_the_command(
    quick: bool,
    data: Path,
    gguf: Path,
    told: Told,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    page = tmp_path / "docs" / "serving.md"
    page.write_text("# Serving\n", encoding="utf-8")
    monkeypatch.setattr(whole, "QUICK", SIZES)
    monkeypatch.setattr(whole, "Sizes", lambda: SIZES)
    options = ["--data", str(data), "--gguf", str(gguf), "--seed", "3", "--engine", "openvino"]
    assert main(["bench", "serve", *options, *(["--quick"] if quick else [])]) == 0
    captured = capsys.readouterr()
    report: dict[str, Any] = json.loads(captured.out)
    assert (report["seed"], report["model"]) == (3, "copydesk-nano")
    assert "repeat 2 of 2, news, 4 clients, llama.cpp: 20 requests/s, 0 errors" in captured.err
    assert ("| addresses |" in page.read_text(encoding="utf-8")) != quick
    assert told.options == [["--engine", "openvino"]] * 2
