"""What loading a model and its first token take is measured, and everything is freed again."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from copydesk import trial
from copydesk.engines.completions import Completion
from copydesk.errors import EngineError
from copydesk.trial import peak_memory, try_model
from copydesk.types import Usage
from desk.whole.fake_completions import FakeCompletions
from fake_engine import FakeEngine


def test_what_it_takes(tiny_model: Path) -> None:
    found = try_model(str(tiny_model), "openvino", context_length=40)
    assert set(found) == {"load_s", "first_token_ms", "context_length", "notes", *peak_memory()}
    assert (found["context_length"], found["notes"]) == (40, [])


def test_an_engine_that_writes_whole_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = FakeCompletions(lambda asked: Completion("One", "length", Usage(3, 0, 1)), context_length=99)
    monkeypatch.setattr(trial, "load_completions", lambda *_, **__: engine)
    found = try_model("its name", "http://localhost:1")
    assert (found["model"], found["context_length"], found["notes"]) == ("fake-model", 99, [])
    assert found["first_token_ms"] >= 0
    assert [asked.max_tokens for asked in engine.asked] == [1]
    assert engine.closed == 1


def test_an_engine_that_fails_is_closed(tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = []

    engine = FakeEngine(300, lambda tokens: np.zeros(300, np.float32))
    engine.failing = EngineError("it broke", code="engine_failed")
    monkeypatch.setattr(engine, "close", lambda: closed.append(engine))
    monkeypatch.setattr(trial, "load_engine", lambda *_: engine)
    with pytest.raises(EngineError, match="it broke"):
        try_model(str(tiny_model), "openvino")
    assert closed == [engine]


def test_memory_of_cards_that_pytorch_uses(monkeypatch: pytest.MonkeyPatch) -> None:
    cuda = SimpleNamespace(
        is_initialized=lambda: True, device_count=lambda: 2, max_memory_allocated=lambda card: (card + 1) * 10**6
    )
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    assert peak_memory()["gpu_peak_mb"] == 3
    monkeypatch.delitem(sys.modules, "torch")
    assert "gpu_peak_mb" not in peak_memory()
