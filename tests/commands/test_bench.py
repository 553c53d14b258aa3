"""What the words of a bench mean; what it measures is tested with it, and not measured here."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from copydesk.cli import main

MODULES = {"drafts": "drafts", "engines": "engines.bench", "serve": "serving.bench", "gpu": "gpu"}


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    (tmp_path / "texts.txt").write_text("one\ntwo\n", encoding="utf-8")
    return tmp_path / "texts.txt"


def words(bench: str, texts: Path) -> list[str]:
    if bench == "gpu":
        return [bench, "--model", str(texts.parent), "--addresses", str(texts), "--news", str(texts)]
    return [bench, "--data", str(texts.parent)]


def measured(bench: str, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, Path | None]]:
    """Each bench that is run from now on, and the page that it writes."""
    runs: list[tuple[Any, Path | None]] = []
    kind = import_module(f"copydesk.bench.{MODULES[bench]}").Bench
    monkeypatch.setattr(kind, "run", lambda self, out=None: runs.append((self, out)) or {"figures": bench})
    return runs


@pytest.mark.parametrize("bench", MODULES)
def test_it_prints_what_was_measured(
    bench: str, texts: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = measured(bench, monkeypatch)
    monkeypatch.chdir(texts.parent)
    out = texts.parent / "page.md"
    assert main(["bench", *words(bench, texts)]) == 0
    assert main(["bench", *words(bench, texts), "--quick", "--out", str(out)]) == 0
    assert [page for _, page in runs] == [None, out]
    assert runs[0][0].sizes != runs[1][0].sizes
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [{"figures": bench}] * 2


@pytest.mark.parametrize(("bench", "page"), [("drafts", "benchmarks"), ("engines", "benchmarks"), ("serve", "serving")])
def test_in_the_project_its_page_is_written(
    bench: str, page: str, texts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = measured(bench, monkeypatch)
    monkeypatch.chdir(texts.parent)
    own = Path("docs", f"{page}.md")
    own.parent.mkdir()
    own.touch()
    assert main(["bench", *words(bench, texts), "--seed", "7"]) == 0
    assert main(["bench", *words(bench, texts), "--quick"]) == 0
    assert [page for _, page in runs] == [own, None]
    assert runs[0][0].seed == 7


def test_texts_and_settings_for_vllm(texts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = measured("gpu", monkeypatch)
    assert main(["bench", *words("gpu", texts), "--vllm-options", '{"a": 1}', "--workers", "3"]) == 0
    bench = runs[0][0]
    assert (bench.addresses, bench.news) == (["one", "two"], ["one", "two"])
    assert (bench.vllm_options, bench.workers) == ({"a": 1}, 3)


@pytest.mark.parametrize("settings", ["{", "[1]"])
def test_settings_that_are_none(settings: str, texts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", *words("gpu", texts), "--vllm-options", settings]) == 2
    assert "JSON" in capsys.readouterr().err
