"""The comparison as a whole, with processes that only say what they were asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from copydesk.bench.engines import bench as whole
from copydesk.bench.engines import subjects
from copydesk.bench.engines.bench import Bench, Sizes
from copydesk.bench.engines.questions import questions
from copydesk.bench.engines.subjects import Subject
from copydesk.bench.engines.ways import WAYS
from copydesk.bench.engines.work import Answered, Cannot, Ran, Work
from copydesk.cli import main

SIZES = Sizes(repeats=3, one_by_one=2, at_once=3, guide_tokens=4)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Work]:
    """What processes were to do; the Nth of a way takes N times as long, and all answers are right but chats'."""
    works: list[Work] = []

    def run(work: Work, environment: dict[str, str]) -> Ran | Cannot:
        works.append(work)
        if work.way.name == "LangChain":
            return Cannot("is not | installed:\npip install it")
        times = sum(before.way == work.way and before.jobs.keys() == work.jobs.keys() for before in works)
        ms = 100.0 * times * (10 if work.way.slow else 1)
        jobs = {}
        for job, texts in work.jobs.items():
            count = len(texts.one_by_one) + len(texts.at_once)
            own = len(texts.one_by_one)
            answer = {"address": '{"city": "天津市"}', "news": "World", "chat": "?"}[job]
            jobs[job] = Answered((answer,) * count, (ms / 2,) * own, (ms,) * own, 1e3 / ms)
        return Ran(float(times), 10.0 * times, None, jobs)

    monkeypatch.setattr(whole, "run", run)
    monkeypatch.setattr(whole.machine, "_BYTES", 2**22)
    monkeypatch.setattr(
        subjects, "widened", lambda *_, seed: Subject("wide", ("address",), Path("wide"), None, "no gguf here")
    )
    monkeypatch.setattr(
        subjects, "smollm2", lambda gguf, _: Subject("small", ("news", "chat"), gguf, gguf, "" if gguf else "not given")
    )
    return works


def test_every_row_of_every_job(data: Path, asked: list[Work], tmp_path: Path) -> None:
    report = Bench(data, smollm2=Path("small"), sizes=SIZES, seed=1).run(tmp_path / "page.md")
    assert json.loads(json.dumps(report)) == report
    assert [row["name"] for row in report["rows"]] == 3 * [way.name for way in WAYS]
    rows = {(row["job"], row["name"]): row for row in report["rows"]}
    openvino = rows["address", "openvino"]
    assert openvino["p50_ms"] == {"median": 200.0, "low": 100.0, "high": 300.0}
    assert (openvino["right"], openvino["answers"], openvino["held_mb"]) == (5, 5, None)
    assert (rows["address", "start"]["answers"], rows["address", "direct call"]["answers"]) == (1, 2)
    assert rows["address", "llamacpp"]["why_not"] == "no gguf here"
    world = sum(question.right == "World" for question in questions("news", data, 6, 1)[1:])
    assert rows["chat", "memory"]["right"] == 0 < rows["news", "memory"]["right"] == world
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert "<!-- engines: begin -->\n**Addresses**, wide" in page
    assert "does not run here: is not / installed: pip install it |" in page
    assert "| 200 (100-300) | 5x |" in page


def test_turns(data: Path, asked: list[Work]) -> None:
    Bench(data, smollm2=Path("small"), sizes=SIZES).run()
    wide = [work for work in asked if "address" in work.jobs]
    names = [work.way.name for work in wide]
    assert names.count("openvino") == 3
    assert names.count("start") == names.count("parameters") == names.count("LangChain") == 1
    assert names[:3] == ["start", "environment", "loading"]
    second = names.index("openvino", names.index("openvino") + 1)
    assert names[second - 1] == "transformers"
    by_way = {work.way.name: work.jobs["address"] for work in wide}
    assert len(by_way["start"].one_by_one) == 1
    assert by_way["start"].one_by_one == by_way["openvino"].one_by_one[:1]
    assert (len(by_way["openvino"].at_once), by_way["direct call"].at_once) == (3, ())
    assert len({by_way["openvino"].warm_up, *by_way["openvino"].one_by_one, *by_way["openvino"].at_once}) == 6


def test_the_command_without_smollm2(
    data: Path, asked: list[Work], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    assert main(["bench", "engines", "--data", str(data), "--seed", "3", "--quick"]) == 0
    captured = capsys.readouterr()
    report = json.loads(captured.out)
    assert (report["seed"], report["sizes"]["repeats"]) == (3, 1)
    assert {row["why_not"] for row in report["rows"] if row["model"] == "small"} == {"not given"}
    assert "wide, repeat 1 of 1: openvino, 0 s" in captured.err
    assert not any((tmp_path / "docs").iterdir())
