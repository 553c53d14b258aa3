"""A measured process: what it reports, and what becomes of one that fails or takes too long."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from copydesk.bench.engines import work
from copydesk.bench.engines.ways import WAYS, environment
from copydesk.bench.engines.work import Asked, Cannot, Ran, Work, run

OPENVINO = next(way for way in WAYS if way.name == "openvino")
JOBS = {
    "address": Asked(("天津市河西区珠江道21号",), ("天津市", "上海市"), "北京市"),
    "chat": Asked(("天津市",), ("上海市",), "北京市"),
}


def test_what_a_process_reports(tiny_model: Path) -> None:
    home = Path(os.environ["COPYDESK_HOME"])
    before = sorted(home.rglob("*"))
    ran = run(Work(OPENVINO, str(tiny_model), JOBS, 4), environment(OPENVINO))  # type: ignore[arg-type]
    assert isinstance(ran, Ran), ran
    assert {job: len(answered.answers) for job, answered in ran.jobs.items()} == {"address": 3, "chat": 2}
    address = ran.jobs["address"]
    assert all(answer.startswith('{"province": "') for answer in address.answers)
    assert len(address.ms) == 1
    assert address.first_ms[0] <= address.ms[0]
    assert ran.load_s > 0
    assert sorted(home.rglob("*")) == before


def test_one_that_cannot_says_why(tmp_path: Path) -> None:
    ran = run(Work(OPENVINO, str(tmp_path / "none"), {}, 4), environment(OPENVINO))
    assert isinstance(ran, Cannot)
    assert "there is no model" in ran.why


def test_one_that_ends_badly_and_one_that_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Work(OPENVINO, "", {}, 4)
    broken = run(asked, {"PYTHONHOME": "/nowhere"})
    assert isinstance(broken, Cannot)
    assert broken.why.startswith("failed: ")
    monkeypatch.setattr(work, "MOST_SECONDS", 0.01)
    assert run(asked, environment(OPENVINO)) == Cannot("took more than 0 s")
