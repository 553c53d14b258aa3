"""vLLM is found as whatever version is installed."""

from __future__ import annotations

import sys

import pytest

from copydesk.engines.vllm.installed import find
from copydesk.errors import EngineError
from engines.vllm.fake_vllm import FakeVllm, GuidedDecodingParams, StructuredOutputsParams


def test_todays(vllm: FakeVllm) -> None:
    found = find()
    assert (found.structured, found.structured_key) == (StructuredOutputsParams, "structured_outputs")
    assert {"model", "dtype", "max_model_len"} <= found.settings


def test_one_of_before(vllm: FakeVllm, monkeypatch: pytest.MonkeyPatch) -> None:
    vllm.install(monkeypatch, old=True)
    found = find()
    assert (found.structured, found.structured_key) == (GuidedDecodingParams, "guided_decoding")


def test_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(EngineError, match=r"pip install 'copydesk\[vllm\]'") as raised:
        find()
    assert raised.value.code == "missing_extra"


def test_one_that_cannot_be_used(vllm: FakeVllm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(sys.modules["vllm"], "AsyncLLMEngine")
    with pytest.raises(EngineError, match="installed but cannot be used: AttributeError") as raised:
        find()
    assert raised.value.code == "engine_unavailable"


def test_it_tells_nobody_anything(vllm: FakeVllm, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    monkeypatch.delenv("VLLM_NO_USAGE_STATS", raising=False)
    monkeypatch.setenv("VLLM_LOGGING_LEVEL", "DEBUG")
    find()
    assert os.environ["VLLM_NO_USAGE_STATS"] == "1"
    assert os.environ["VLLM_LOGGING_LEVEL"] == "DEBUG"
